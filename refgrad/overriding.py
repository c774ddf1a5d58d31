"""How calls are handed to `__torch_function__`: of subclasses of `Tensor`, of other objects, and of modes.

*Overriding*: a value is overriding if its class has a `__torch_function__` that is not `DISABLED`. *Watched*:
a function or attribute that looks for overriding values before it runs.

# Note [Ordinary tensors do not pay for overriding ones]
The operators of `Tensor` are the generated functions themselves, and a front runs what it learnt for the
classes of its arguments. So that none of them has to look for overriding values, each is watched only where
there can be some. A subclass finds watched twins of all operators, methods and properties before those of
`Tensor` (see `Watched` in metaclass.py). A front that meets a class for the first time asks whether it is an
overriding one (see `front` in namespaces.py). Functions written in Python get watched code, and `Tensor`
the watched twins, only once there is a subclass or a mode (see watched.py).

# Note [Calls from inside are not watched]
What PyTorch does in C++ reads its tensors without asking anybody. What stands for it here is Python code
that uses the same methods as a user does; so a watched method runs straight through if it is called from a
file of this package, but for those parts that PyTorch writes in Python too.
"""

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

from refgrad import modes

ENABLED, NO_SUBCLASSES, ALL_DISABLED = range(3)

PLAIN: set[type] = {
    *(bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, slice, range),
    *(type(None), type(...), type),
}
"""The classes that are known not to be overriding."""

MODES: set[int] = set()
"""Beacon: threads in which a function mode is entered."""

PACKAGE = os.path.dirname(__file__)
PYTHON_IN_TORCH = tuple(
    os.path.join(PACKAGE, *name.split("/"))
    for name in (
        *("nn/", "optim/", "utils/", "distributions/", "testing/"),
        *("overrides.py", "overriding.py", "watchable.py", "watched.py"),
    )
)
MULTIPLE = (
    "Multiple dispatch failed for '{}'; all __torch_function__ handlers returned NotImplemented:\n\n{}\n"
    "For more information, try re-running with TORCH_LOGS=not_implemented"
)
PLAIN_METHOD = (
    "Defining your `__torch_function__{} as a plain method is deprecated and will be an error in future, "
    "please define it as a classmethod."
)


class Disabled:
    """`torch._C._disabled_torch_function_impl`: runs the function, unseen by subclasses."""

    __slots__ = ()
    __name__ = "_disabled_torch_function_impl"

    def __call__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        with disabled(NO_SUBCLASSES):
            return func(*args, **(kwargs or {}))

    def __repr__(self) -> str:
        return "<built-in function _disabled_torch_function_impl>"


DISABLED = Disabled()


class disabled:
    """Switches `__torch_function__` of subclasses, or of modes too, off in this thread."""

    __slots__ = ("_before", "_level")

    def __init__(self, level: int):
        self._level = level

    def __enter__(self) -> None:
        self._before = modes.state.overrides
        modes.state.overrides = max(self._before, self._level)

    def __exit__(self, *exception: object) -> None:
        modes.state.overrides = self._before


# Who overrides ----------------------------------------------------------------------------------------------


def is_overriding(value: Any) -> bool:
    """Whether a value's class has a `__torch_function__` that calls are handed to."""
    if value.__class__ in PLAIN:
        return False
    return getattr(value, "__torch_function__", DISABLED) is not DISABLED


def current_modes() -> list:
    """The function modes that see the next call of this thread, innermost last."""
    return modes.state.function_modes if MODES and modes.state.overrides < ALL_DISABLED else []


def is_watching() -> bool:
    """Whether any call of this thread may be handed on."""
    return modes.state.overrides == ENABLED or bool(current_modes())


def is_from_inside(called: CodeType | None = None) -> bool:
    """Whether the caller of a watched function is code that stands for PyTorch's C++ code.

    `called` is the code of the function, where others lie between it and this question.
    """
    frame: Any = sys._getframe(3)
    while called is not None and frame.f_code is not called:
        frame = frame.f_back
    if called is not None:
        frame = frame.f_back
    name = frame.f_code.co_filename
    if not name.startswith(PACKAGE):
        return name.startswith("<refgrad")
    return not name.startswith(PYTHON_IN_TORCH)


def ordered(values: Iterable[Any]) -> list[Any]:
    """One value of each class: those of subclasses before those of their bases, else as they come."""
    found: list[Any] = []
    for value in values:
        kind = type(value)
        if all(type(other) is not kind for other in found):
            places = (at for at, other in enumerate(found) if issubclass(kind, type(other)))
            found.insert(next(places, len(found)), value)
    return found


def overriding_in(values: Iterable[Any]) -> list[Any]:
    """The overriding ones among values, those in lists too."""
    if modes.state.overrides != ENABLED:
        return []
    found = []
    for value in values:
        if value.__class__ in PLAIN:
            if value.__class__ is list or value.__class__ is tuple:
                found += [each for each in value if is_overriding(each)]
        elif is_overriding(value):
            found.append(value)
    return found


# Handing on -------------------------------------------------------------------------------------------------


def without_mode(call: Callable, function: Any, types: tuple, args: tuple, kwargs: Any) -> Any:
    """Call a mode's `__torch_function__`, with that mode taken out meanwhile."""
    stack = modes.state.function_modes
    mode = stack.pop()
    try:
        return call(mode, function, types, args, kwargs)
    finally:
        stack.append(mode)


def call_rule(owner: Any, function: Any, types: tuple, args: tuple, kwargs: Any) -> Any:
    """Call a `__torch_function__` as C++ does: keyword arguments are left out where there are none."""
    rule = owner.__torch_function__
    return rule(function, types, args, kwargs) if kwargs else rule(function, types, args)


def hand_on(function: Any, name: str, overriding: list[Any], args: tuple, kwargs: dict) -> Any:
    """The result of a call of a native function, from the mode or the first overriding value that has one.

    Raises:
        TypeError: all returned NotImplemented.
    """
    asked = ordered(overriding)
    types = tuple(map(type, asked))
    handlers = ""
    if current_modes():
        mode = current_modes()[-1]
        result = without_mode(call_rule, function, types, args, kwargs)
        if result is not NotImplemented:
            return result
        handlers = f"  - mode object {mode!r}\n"
    for value in asked:
        if getattr(value.__torch_function__, "__self__", None) is value:
            modes.warn_once(PLAIN_METHOD.format("`"))
        result = call_rule(value, function, types, args, kwargs)
        if result is not NotImplemented:
            return result
        handlers += f"  - tensor subclass {type(value)!r}\n"
    raise TypeError(MULTIPLE.format(name, handlers))


def handle_torch_function(public_api: Any, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a call of a function written in Python, from the mode or from one of the values given.

    Raises:
        TypeError: all returned NotImplemented.
    """
    enabled = modes.state.overrides == ENABLED
    asked = ordered(value for value in relevant_args if enabled and has_rule(value))
    types = tuple(map(type, asked))
    if current_modes():
        result = without_mode(
            lambda mode, *given: mode.__torch_function__(*given), public_api, types, args, kwargs
        )
        if result is not NotImplemented:
            return result
    for value in asked:
        if getattr(value.__torch_function__, "__self__", None) is value:
            warnings.warn(PLAIN_METHOD.format(""), DeprecationWarning, stacklevel=2)
        result = value.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    text = (
        f"no implementation found for '{module_of(public_api)}.{public_api.__name__}' on types that "
        f"implement __torch_function__: {[type(value) for value in asked]}"
    )
    if current_modes():
        text += f" nor in mode {current_modes()[-1]}"
    raise TypeError(text)


def has_rule(value: Any) -> bool:
    """Whether the class of a value has a `__torch_function__`; that of `Tensor` itself counts."""
    return getattr(type(value), "__torch_function__", DISABLED) is not DISABLED


SHOWN_MODULES: dict[Any, str] = {}
"""The modules of functions that stand elsewhere in this package."""


def module_of(function: Any) -> str:
    """The module that error texts name."""
    module: str = SHOWN_MODULES.get(function) or function.__module__
    return "torch" + module.removeprefix("refgrad") if module.startswith("refgrad") else module


def unknown_operand(op: Any, self: Any, other: Any) -> Any:
    """What an operator makes of an operand that is neither tensor nor number, see watched.py."""
    symbol = SYMBOL_OF.get(op.function_name)
    if symbol is None or self.__class__ not in PLAIN or not overriding_in((other,)):
        return NotImplemented
    return HAND_TO_OPERAND[0](symbol, self, other)


SYMBOL_OF = {  # the operator behind which an op stands
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "truediv",
    "floor_divide": "floordiv",
    "bitwise_and": "and",
    "bitwise_or": "or",
    "bitwise_xor": "xor",
    "bitwise_left_shift": "lshift",
    "bitwise_right_shift": "rshift",
    **{name: name for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}
HAND_TO_OPERAND: list[Any] = []  # watched.py puts the function here


# Modes ------------------------------------------------------------------------------------------------------

ON_FIRST_USE: list[Callable] = []  # watched.py puts the function here that watches what was not until then
ON_SUBCLASS: list[Callable] = []  # namespaces.py puts the function here that prepares for `super()`
ON_LAST_MODE: list[Callable] = []  # and here the one that takes back what only modes need


def push_mode(mode: Any) -> None:
    """Let a mode see the calls of this thread."""
    MODES.add(threading.get_ident())
    modes.state.function_modes.append(mode)
    ON_FIRST_USE[0](for_modes=True)


def pop_mode() -> Any:
    """Take the innermost mode away; hand it back."""
    mode = modes.state.function_modes.pop()
    if not modes.state.function_modes:
        MODES.discard(threading.get_ident())
        if not MODES:
            ON_LAST_MODE[0]()
    return mode
