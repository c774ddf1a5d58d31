"""What a script may set for a whole process: threads, determinism, precision, the default device.

They are kept and told again; arithmetic here is always deterministic, on one thread, in full precision.
"""

import os
import warnings
from typing import Any

from refgrad import dtypes
from refgrad.modes import warn_once
from refgrad.ops.legacy import TENSOR_TYPES
from refgrad.storage import TypedStorage, UntypedStorage
from refgrad.tensor import Tensor
from refgrad.types import Device

DEBUG_MODES = ("default", "warn", "error")
PRECISIONS = ("highest", "high", "medium")


class Settings:
    """The values that were set."""

    threads = interop_threads = os.cpu_count() or 1
    deterministic = warn_only = False
    precision = "highest"


def get_num_threads() -> int:
    """How many threads an operation may use."""
    return Settings.threads


def set_num_threads(num: int, /) -> None:
    """Say how many threads an operation may use.

    Raises:
        RuntimeError: it is no positive integer.
    """
    Settings.threads = positive(num, "set_num_threads")


def get_num_interop_threads() -> int:
    """How many operations may run at once."""
    return Settings.interop_threads


def set_num_interop_threads(num: int, /) -> None:
    """Say how many operations may run at once.

    Raises:
        RuntimeError: it is no positive integer.
    """
    Settings.interop_threads = positive(num, "set_num_interop_threads")


def positive(number: Any, name: str) -> int:
    """A number of threads.

    Raises:
        RuntimeError: it is no positive integer.
    """
    if isinstance(number, bool) or not isinstance(number, int):
        raise RuntimeError(f"{name} expects an int, but got {type(number).__name__}")
    if number <= 0:
        raise RuntimeError(f"{name} expects a positive integer")
    return number


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for deterministic operations; here they always are.

    Raises:
        TypeError: it is no bool.
    """
    if not isinstance(mode, bool):
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
            f"{type(mode).__name__}"
        )
    Settings.deterministic, Settings.warn_only = mode, bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether deterministic operations were asked for."""
    return Settings.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether others would only warn."""
    return Settings.warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Ask for deterministic operations by level or name: default, warn, error.

    Raises:
        RuntimeError: there is no such level.
    """
    if isinstance(debug_mode, str):
        if debug_mode not in DEBUG_MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        debug_mode = DEBUG_MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    Settings.deterministic, Settings.warn_only = debug_mode > 0, debug_mode == 1


def get_deterministic_debug_mode() -> int:
    """The level that was asked for: 0 default, 1 warn, 2 error."""
    return 0 if not Settings.deterministic else 1 if Settings.warn_only else 2


def get_float32_matmul_precision() -> str:
    """How exact products of float32 matrices were asked to be."""
    return Settings.precision


def set_float32_matmul_precision(precision: str) -> None:
    """Say how exact products of float32 matrices have to be; here they always are in full precision."""
    if precision in PRECISIONS:
        Settings.precision = precision
        return
    warnings.warn(
        f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
        "setFloat32MatmulPrecision call has no effect.",
        UserWarning,
        stacklevel=2,
    )


def set_flush_denormal(mode: bool, /) -> bool:
    """Whether subnormal numbers could be made zero: not here."""
    return False


def get_default_device() -> Device:
    """Where tensors are made: always the CPU."""
    return Device("cpu")


def set_default_device(device: Any) -> None:
    """Make tensors there from now on; only the CPU can be named.

    Raises:
        RuntimeError: there is no such device.
        NotImplementedError: the device is not the CPU.
    """
    wanted = Device("cpu") if device is None else Device(device)
    if wanted.type != "cpu":
        raise NotImplementedError(f"set_default_device({wanted.type!r})")


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default floating type by the name of an old tensor type.

    Raises:
        TypeError: it is no such type.
    """
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives."
    )
    name = t.removeprefix("torch.") if isinstance(t, str) else getattr(t, "__name__", "")
    kind = TENSOR_TYPES.get(name)
    if kind is None:
        raise TypeError(f"invalid type object: {t!r}" if not isinstance(t, str) else f"unknown type {t}")
    dtypes.set_default(kind.dtype)


def typename(obj: Any, /) -> str:
    """The name of an object's type as PyTorch tells it, such as `torch.FloatTensor`."""
    if isinstance(obj, Tensor):
        return f"torch.{obj.dtype.scalar_type}Tensor"
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", "") or ""
    module = module.replace("refgrad", "torch", 1)
    return kind.__qualname__ if module in ("", "builtins") else f"{module}.{kind.__qualname__}"


def is_storage(obj: object, /) -> bool:
    """Whether an object is the memory of a tensor."""
    return isinstance(obj, (TypedStorage, UntypedStorage))
