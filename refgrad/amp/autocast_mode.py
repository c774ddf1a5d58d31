"""`torch.autocast` and its helpers, and the functions that ask and set its state."""

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np

from refgrad import casting, dtypes
from refgrad.modes import state
from refgrad.namespaces import Overload, front
from refgrad.op import Composite
from refgrad.tensor import Tensor
from refgrad.types import Device

NO_CALLABLE = (
    "autocast()(func) requires a callable, but got {}. Did you mean to use autocast as a context manager? "
    "For example:\n    with torch.autocast(device_type=...):\n        output = model(input)"
)
NO_BACKEND = (
    "Tried to use AMP with the `privateuseone` backend, but the backend has not registered a module or  the "
    "module miss some necessary funcs. The backend should register a module by "
    "`torch._register_device_module`, and the module must have these funcs: \n"
    "`get_amp_supported_dtype() -> List[torch.dtype]`. \n"
)


def is_autocast_available(device_type: str) -> bool:
    """Whether there is autocast for a device type.

    Raises:
        TypeError: it is no text.
    """
    if not isinstance(device_type, str):
        raise TypeError(
            "_is_autocast_available(): argument 'device_type' (position 1) must be str, not "
            + type(device_type).__name__
        )
    return Device(device_type).type in casting.DEFAULTS


class autocast:
    """A region in which ops run in a precision of their own: a context manager, and a decorator.

    Raises:
        ValueError: the device type is no text.
        RuntimeError: it has no autocast.
    """

    def __init__(
        self,
        device_type: str,
        dtype: dtypes.DType | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device_type
        self.fast_dtype = casting.lower_type(device_type) if dtype is None else dtype
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        if device_type == "privateuseone":
            raise AssertionError(NO_BACKEND)
        self._cache_enabled = state.casting.keeps_casts if cache_enabled is None else cache_enabled
        self._enabled = enabled and self._can_be_enabled()

    def _can_be_enabled(self) -> bool:
        """Whether the device has this lower precision; warns where it does not."""
        if self.device == "cuda":
            refusal = "CUDA is not available or torch_xla is imported. Disabling autocast."
        elif self.fast_dtype in dtypes.HALVES:
            return True
        else:
            name = self.device.upper()
            refusal = (
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n{name} "
                "Autocast only supports dtypes of torch.bfloat16, torch.float16 currently."
            )
        warnings.warn(refusal, UserWarning, stacklevel=4 if type(self) is not autocast else 3)
        return False

    def __enter__(self) -> "autocast":
        mode = state.casting
        self.prev_cache_enabled = mode.keeps_casts
        self.prev = is_autocast_enabled(self.device)
        self.prev_fastdtype = casting.lower_type(self.device)
        set_autocast_dtype(self.device, self.fast_dtype)
        casting.set_enabled(self.device, self._enabled)
        mode.nesting += 1
        mode.keeps_casts = self._cache_enabled
        return self

    def __exit__(self, *raised: object) -> Literal[False]:
        if autocast_decrement_nesting() == 0:
            casting.CASTS.clear()
        casting.set_enabled(self.device, self.prev)
        set_autocast_dtype(self.device, self.prev_fastdtype)
        state.casting.keeps_casts = self.prev_cache_enabled
        return False

    def __call__(self, func: Callable) -> Callable:
        if not callable(func):
            raise TypeError(NO_CALLABLE.format(type(func).__name__))

        @functools.wraps(func)
        def decorate_autocast(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return decorate_autocast


# Custom Functions -------------------------------------------------------------------------------------------


def cast_all(value: Any, device_type: str, dtype: dtypes.DType) -> Any:
    """A value with the floating tensors in it, but for float64, cast to a type."""
    if isinstance(value, Tensor):
        return value.to(dtype) if casting.is_eligible(value) and device_type == "cpu" else value
    if isinstance(value, (str, bytes, np.ndarray)):
        return value
    if isinstance(value, Mapping):
        return {
            cast_all(key, device_type, dtype): cast_all(item, device_type, dtype)
            for key, item in value.items()
        }
    if isinstance(value, Iterable):
        items = (cast_all(item, device_type, dtype) for item in value)
        return type(value)(items) if isinstance(value, (list, tuple)) else items
    return value


def check_device_type(device_type: object) -> None:
    """Refuse what is no text.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(
    fwd: Callable | None = None, *, device_type: str, cast_inputs: dtypes.DType | None = None
) -> Callable:
    """Decorate the forward of a Function: in a region it gets its inputs cast, if a type is given, and runs
    without autocast; else its backward will run as it does.

    Raises:
        ValueError: the device type is no text.
    """
    check_device_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    function = fwd

    @functools.wraps(function)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        ctx._dtype = casting.lower_type(device_type)
        is_on = is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = is_on and cast_inputs is None
        if cast_inputs is None or not is_on:
            return function(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return function(
                *cast_all(args, device_type, cast_inputs), **cast_all(kwargs, device_type, cast_inputs)
            )

    return decorate_fwd


def custom_bwd(bwd: Callable | None = None, *, device_type: str) -> Callable:
    """Decorate the backward of a Function, so that it runs with the autocast of its forward.

    Raises:
        ValueError: the device type is no text.
    """
    check_device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    function = bwd

    @functools.wraps(function)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return function(*args, **kwargs)

    return decorate_bwd


# State ------------------------------------------------------------------------------------------------------


def bound(*schemas: str) -> Callable[[Callable], Callable]:
    """Make a function check its arguments as one that PyTorch has in C++."""

    def declare(function: Callable) -> Callable:
        overloads = [Overload(Composite(f"{function.__name__}.form{i}({text}) -> Any", function), False)
                     for i, text in enumerate(schemas)]  # fmt: skip
        return front(function.__name__, overloads, method=False)

    return declare


@bound("str device_type='cuda'")
def is_autocast_enabled(device_type: str) -> bool:
    """Whether autocast is on for a device type, in this thread."""
    return casting.checked_device(device_type) in state.casting.enabled


@bound("bool enabled", "str device_type, bool enabled")
def set_autocast_enabled(*arguments: Any) -> None:
    """Switch autocast for a device type, CUDA by default: `(device_type, enabled)` or `(enabled)`."""
    *device_type, enabled = arguments
    casting.set_enabled(device_type[0] if device_type else "cuda", enabled)


@bound("str device_type")
def get_autocast_dtype(device_type: str) -> dtypes.DType:
    """The lower precision of a device type, in this thread."""
    return casting.lower_type(device_type)


@bound("str device_type, ScalarType dtype")
def set_autocast_dtype(device_type: str, dtype: dtypes.DType) -> None:
    """Choose the lower precision of a device type, in this thread."""
    state.casting.dtypes[Device(device_type).type] = dtype


def is_autocast_cache_enabled() -> bool:
    """Whether casts of weights are kept within a region."""
    return state.casting.keeps_casts


def set_autocast_cache_enabled(enabled: bool, /) -> None:
    """Choose whether casts of weights are kept within a region.

    Raises:
        TypeError: it is no bool.
    """
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    state.casting.keeps_casts = enabled


def clear_autocast_cache() -> None:
    """Forget the casts of weights."""
    casting.CASTS.clear()


def autocast_increment_nesting() -> int:
    """Count one region more; returns how many there are."""
    state.casting.nesting += 1
    return state.casting.nesting


def autocast_decrement_nesting() -> int:
    """Count one region less; returns how many there are."""
    state.casting.nesting -= 1
    return state.casting.nesting


def old_functions() -> dict[str, Callable]:
    """The deprecated functions, which name one device type each."""
    return {function.__name__: function for kind in ("cpu", "gpu", "ipu", "xla") for function in of_one(kind)}


def of_one(kind: str) -> list[Callable]:
    """The deprecated functions for one device type."""
    device_type = "cuda" if kind == "gpu" else kind

    def is_enabled() -> bool:
        casting.warn_old(f"is_autocast_{kind}_enabled()", f"is_autocast_enabled('{device_type}')")
        return is_autocast_enabled(device_type)

    def set_enabled(enabled: bool, /) -> None:
        new = f"set_autocast_enabled('{device_type}', enabled)"
        casting.warn_old(f"set_autocast_{kind}_enabled(enabled)", new)
        casting.set_enabled(device_type, enabled)

    def get_dtype() -> dtypes.DType:
        casting.warn_old(f"get_autocast_{kind}_dtype()", f"get_autocast_dtype('{device_type}')")
        return casting.lower_type(device_type)

    def set_dtype(dtype: dtypes.DType, /) -> None:
        new = f"set_autocast_dtype('{device_type}', dtype)"
        casting.warn_old(f"set_autocast_{kind}_dtype(dtype)", new)
        set_autocast_dtype(device_type, dtype)

    is_enabled.__name__, set_enabled.__name__ = f"is_autocast_{kind}_enabled", f"set_autocast_{kind}_enabled"
    get_dtype.__name__, set_dtype.__name__ = f"get_autocast_{kind}_dtype", f"set_autocast_{kind}_dtype"
    return [get_dtype, set_dtype] if kind == "gpu" else [is_enabled, set_enabled, get_dtype, set_dtype]


PUBLIC = {
    function.__name__: function
    for function in (
        autocast,
        autocast_decrement_nesting,
        autocast_increment_nesting,
        clear_autocast_cache,
        get_autocast_dtype,
        is_autocast_cache_enabled,
        is_autocast_enabled,
        set_autocast_cache_enabled,
        set_autocast_dtype,
        set_autocast_enabled,
    )
} | old_functions()
"""What stands in the package itself."""
