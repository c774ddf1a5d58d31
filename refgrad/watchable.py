"""Functions written in Python that are watched once there is a subclass or a mode; see overriding.py.

PyTorch's Python code looks for overriding values itself, where it begins, and hands on its arguments by
keyword if they have a default. Here the look is put before a function's own code when it is first needed:
the function stays the same object, with other code.
"""

import inspect
from collections.abc import Callable, Iterable
from functools import cache
from types import FunctionType
from typing import Any

from refgrad.overriding import (
    SHOWN_MODULES,
    current_modes,
    handle_torch_function,
    is_watching,
    overriding_in,
)

WAITING: list[tuple[FunctionType, tuple[str, ...], bool]] = []
"""The functions that are not watched yet: each with what `watchable` was told."""

is_on = [False]
CALLS: list[Callable] = []
"""What watched functions run, by the number that stands in their code."""


def watchable(
    functions: Iterable[Any], module: str, asked: tuple[str, ...] = (), by_name: bool = False
) -> None:
    """Note functions that are watched once there is a subclass or a mode.

    `module` is the one where PyTorch has them, `asked` the parameters whose values are asked (else all);
    `by_name` says that all arguments are handed on by keyword.
    """
    for function in functions:
        SHOWN_MODULES[function] = module
        if is_on[0]:
            watch_code(function, asked, by_name)
        else:
            WAITING.append((function, asked, by_name))


def watch_all() -> None:
    """Watch all functions that were noted."""
    is_on[0] = True
    while WAITING:
        watch_code(*WAITING.pop())


def watch_code(function: FunctionType, asked: tuple[str, ...], by_name: bool) -> None:
    """Give a function code that looks for overriding values among its arguments, then runs its own code."""
    if function.__code__.co_freevars:
        return  # code with variables of its own can only be replaced by such
    own = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    own.__kwdefaults__ = function.__kwdefaults__
    head, passed = texts_of(function)
    source = f"def {function.__name__}({head}): return watched_calls[{len(CALLS)}]({passed})"
    CALLS.append(watched_call(function, own, asked, by_name))
    scope: dict[str, Any] = {}
    exec(source, scope)
    function.__globals__["watched_calls"] = CALLS
    function.__code__ = scope[function.__name__].__code__


def texts_of(function: Callable) -> tuple[str, str]:
    """A function's parameters as source, their defaults elsewhere, and the arguments that pass them on."""
    head, passed = [], []
    has_star = False
    for name, parameter in parameters_of(function).parameters.items():
        stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (
            parameter.kind is parameter.VAR_KEYWORD
        )
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            head.append("*")
        has_star |= bool(stars) or parameter.kind is parameter.KEYWORD_ONLY
        has_default = parameter.default is not parameter.empty
        head.append(f"{stars}{name}{'=None' if has_default else ''}")
        passed.append(f"{name}={name}" if parameter.kind is parameter.KEYWORD_ONLY else f"{stars}{name}")
    return ", ".join(head), ", ".join(passed)


def watched_call(function: Any, own: FunctionType, asked: tuple[str, ...], by_name: bool) -> Callable:
    """What a watched function does: hands the call on, or runs its own code."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if is_watching():
            values = relevant(args, kwargs)
            if asked:
                arguments = parameters_of(own).bind(*args, **kwargs).arguments
                values = relevant(tuple(arguments[name] for name in asked), {})
            if current_modes() or overriding_in(values):
                given, options = split_arguments(own, args, kwargs, by_name)
                return handle_torch_function(function, values, *given, **options)
        return own(*args, **kwargs)

    return call


@cache
def parameters_of(function: Callable) -> inspect.Signature:
    """The parameters of a function."""
    return inspect.signature(function)


def split_arguments(
    function: Callable, args: tuple, kwargs: dict, by_name: bool = False
) -> tuple[tuple, dict[str, Any]]:
    """The arguments as PyTorch's Python code hands them on: by keyword those that have a default."""
    signature = parameters_of(function)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    given: list[Any] = []
    options: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            given += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            options |= value
        elif by_name or parameter.default is not parameter.empty or parameter.kind is parameter.KEYWORD_ONLY:
            options[name] = value
        else:
            given.append(value)
    return tuple(given), options


def relevant(args: tuple, kwargs: dict) -> list[Any]:
    """The values that may be overriding, those in lists too."""
    values: list[Any] = []
    for value in (*args, *kwargs.values()):
        values += value if isinstance(value, (list, tuple)) else [value]
    return values
