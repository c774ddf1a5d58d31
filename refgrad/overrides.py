"""`torch.overrides`: what classes and modes with a `__torch_function__` are written with.

Source: "Extending torch" in PyTorch's docs.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from inspect import isclass
from types import ModuleType
from typing import Any

from refgrad import modes, surface, watched  # noqa: F401 - the surface has to be there
from refgrad.namespaces import method_names
from refgrad.overriding import (
    current_modes,
    is_overriding,
    pop_mode,
    push_mode,
)
from refgrad.overriding import handle_torch_function as handle_torch_function
from refgrad.tensor import Tensor

__all__ = [
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "resolve_name",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "wrap_torch_function",
    "enable_reentrant_dispatch",
]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the values, or a mode, has calls handed to it; exact tensors and parameters have not."""
    is_enabled = modes.state.overrides == 0
    return bool(current_modes()) or is_enabled and any(is_overriding(value) for value in relevant_args)


def has_torch_function_unary(value: Any) -> bool:
    """Whether a value, or a mode, has calls handed to it."""
    return has_torch_function((value,))


def has_torch_function_variadic(*values: Any) -> bool:
    """Whether one of the values, or a mode, has calls handed to it."""
    return has_torch_function(values)


def is_tensor_like(inp: Any) -> bool:
    """Whether a value is a tensor or has a `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def wrap_torch_function(dispatcher: Callable) -> Callable:
    """A decorator for functions whose calls may be handed on; `dispatcher` gives the values to ask."""

    def decorate(function: Callable) -> Callable:
        @wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def get_default_nowrap_functions() -> set[Callable]:
    """The functions whose results `Tensor.__torch_function__` leaves as they are."""
    return set(watched.nowrap_functions())


# Names ------------------------------------------------------------------------------------------------------

SPACES = ("special", "fft", "linalg", "nn.init", "nn.functional")  # the last to name a function comes first


def space(path: str) -> Any:
    """A public namespace."""
    return import_module(f"refgrad.{path}" if path else "refgrad")


def resolve_name(f: Any) -> str | None:
    """The public name of a function, method or property that a `__torch_function__` was given."""
    owner = getattr(f, "__self__", None)
    if isinstance(owner, watched.Attribute):
        is_known = f.__name__ in ("__get__", "__set__")
        return f"torch.Tensor.{owner.__name__}.{f.__name__}" if is_known else None
    name = getattr(f, "__name__", "")
    for path in SPACES:
        found = name_in(space(path), f)
        if found is not None and not (path == "nn.functional" and name_in(space(""), f)):
            return f"torch.{path}.{found}"
    if name and getattr(Tensor, name, None) is f:
        return f"torch.Tensor.{name}"
    found = name_in(space(""), f)
    prefix = "torch.functional." if found in watched.OF_FUNCTIONAL else "torch."
    return None if found is None else prefix + found


def name_in(namespace: Any, function: Any) -> str | None:
    """The name of a function in a namespace, as far as it was made."""
    try:
        return next((name for name, value in vars(namespace).items() if value is function), None)
    except TypeError:
        return None


def is_tensor_method_or_property(func: Callable) -> bool:
    """Whether a function that a `__torch_function__` was given is a method or a property of `Tensor`."""
    return func.__name__ == "__get__" or getattr(Tensor, func.__name__, None) is func


def get_overridable_functions() -> dict[Any, list[Callable]]:
    """The functions that can be overridden, by the namespace that they are in."""
    found: dict[Any, list[Callable]] = {}
    for path in ("", "nn.functional", "nn.init", "linalg", "fft", "special"):
        namespace = space(path)
        found[namespace] = [
            value
            for name, value in vars(namespace).items()
            if name[0].islower() and not name.endswith("_") and callable(value) and is_function(value)
        ]
    found[Tensor] = [
        getattr(Tensor, name) for name in sorted({*method_names(), *watched.TWINS}) if is_method(name)
    ]
    for name, twin in watched.TWINS.items():
        if isinstance(twin, watched.Attribute):
            found[getattr(Tensor, name)] = [twin.__get__]
    return found


def is_function(value: Any) -> bool:
    """Whether it is a function rather than a class or a module."""
    return not (isclass(value) or isinstance(value, ModuleType))


def is_method(name: str) -> bool:
    """Whether `Tensor` has a method, not a property, of this name."""
    return callable(getattr(Tensor, name, None))


def get_ignored_functions() -> set[Callable]:
    """Functions that cannot be overridden, as far as they are there."""
    torch = space("")
    names = "tensor is_tensor manual_seed get_default_dtype set_default_dtype finfo iinfo save load no_grad"
    return {getattr(torch, name) for name in names.split()}


def get_testing_overrides() -> dict[Callable, Callable]:
    """For each function that can be overridden, one that takes the same arguments and returns -1."""
    functions = [function for each in get_overridable_functions().values() for function in each]
    return {function: lambda *args, **kwargs: -1 for function in functions}


# Modes ------------------------------------------------------------------------------------------------------


class TorchFunctionMode:
    """Base of modes: while one is entered, its `__torch_function__` gets every call, itself taken out."""

    inner: "TorchFunctionMode"

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: tuple, args: tuple = (), kwargs: Any = None) -> Any:
        """Called with each function; returns its result. To be overridden."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        push_mode(self)
        return self

    def __exit__(self, *exception: object) -> None:
        pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a mode; the old way."""
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that runs each function as it is."""

    def __torch_function__(self, func: Any, types: tuple, args: tuple = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> Any:
    """The innermost mode, or None."""
    stack = modes.state.function_modes
    return stack[-1] if stack else None


def _get_current_function_mode_stack() -> list:
    """The modes entered, innermost last."""
    return list(modes.state.function_modes)


@contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    mode = pop_mode()
    try:
        yield mode
    finally:
        push_mode(mode)


@contextmanager
def _enable_torch_function() -> Iterator[None]:
    """Switch `__torch_function__` on, where it was off."""
    before, modes.state.overrides = modes.state.overrides, 0
    try:
        yield
    finally:
        modes.state.overrides = before


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """For `__torch_dispatch__`, which is not here; changes nothing."""
    yield


for _function in (TorchFunctionMode, BaseTorchFunctionMode, *(globals()[name] for name in __all__)):
    _function.__module__ = "torch.overrides"
