"""`torch.cpu`: what scripts ask of the one device there is."""

from typing import Any

from refgrad.cpu import amp as amp


def is_available() -> bool:
    """Whether the CPU can be used."""
    return True


def device_count() -> int:
    """The number of CPUs, which counts as one."""
    return 1


def current_device() -> str:
    """The device in use."""
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Wait for what runs: nothing here."""
