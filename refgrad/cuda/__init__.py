"""`torch.cuda` on a machine without it: what scripts ask before they choose a device."""

from typing import Any, NoReturn

from refgrad.cuda import amp as amp


def is_available() -> bool:
    """Whether a CUDA device can be used."""
    return False


def device_count() -> int:
    """The number of CUDA devices."""
    return 0


def is_initialized() -> bool:
    """Whether CUDA was started."""
    return False


def manual_seed(seed: int) -> None:
    """Seed the current device's random numbers, if there is one."""


def manual_seed_all(seed: int) -> None:
    """Seed every device's random numbers."""


def empty_cache() -> None:
    """Give unused memory back."""


def memory_allocated(device: Any = None) -> int:
    """Bytes in use."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def refused(*args: Any, **kwargs: Any) -> NoReturn:
    """Stands for every function that needs a device.

    Raises:
        AssertionError: always.
    """
    raise AssertionError("Torch not compiled with CUDA enabled")


synchronize = current_device = get_device_name = get_device_properties = set_device = current_stream = refused
