"""Which public names the ops have: functions of the package, methods and operators of `Tensor`.

*Front*: the function behind a public name; it matches the arguments with the declared overloads, and deals
with `out=`. Fronts are made on first use: `Tensor.__getattr__` and the package's `__getattr__` ask here.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad import call, modes, signatures
from refgrad.op import BY_NAME
from refgrad.storage import count_write
from refgrad.tensor import Tensor

TENSOR_OR_NUMBER = (Tensor, int, float)


def entries_of(name: str) -> list:
    """The entries behind a public name; `name_` finds those that have an in-place twin."""
    found = BY_NAME.get(name)
    if found is None and name.endswith("_"):
        found = [entry for entry in BY_NAME.get(name[:-1], ()) if entry.inplace]
    return found or []


def make_front(name: str, method: bool) -> Callable | None:
    """The function behind a public name, or None when there is none."""
    entries = entries_of(name)
    if method:
        entries = [entry for entry in entries if any(a.name == "self" for a in entry.schema.arguments)]
    elif not signatures.of_function(name) and name not in FUNCTIONS_TOO:
        return None
    if not entries:
        return None
    twin = name not in BY_NAME
    return front(name, entries, method, twin)


FUNCTIONS_TOO: set[str] = set()
"""Names that are functions although PyTorch's tables of signatures do not list them."""


def front(name: str, entries: list, method: bool, twin: bool) -> Callable:
    """Make the front of a name over these entries."""
    quick = quick_calls(entries, twin)
    slow = SlowFront(name, entries, method, twin)

    def function(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            entry = quick.get(len(args))
            if entry is not None:
                for arg in args:
                    if arg.__class__ not in TENSOR_OR_NUMBER:
                        break
                else:
                    if args[0].__class__ is Tensor and (
                        entry[1] or all([a.__class__ is Tensor for a in args])
                    ):
                        return entry[0](*args)
        return slow(args, kwargs)

    function.__name__ = function.__qualname__ = name
    return function


def quick_calls(entries: list, twin: bool) -> dict[int, tuple[Callable, bool]]:
    """Calls that need no matching: number of arguments -> function for so many tensors, and whether numbers
    may stand in.
    """
    quick: dict[int, tuple[Callable, bool]] = {}
    for entry in entries:
        arguments = entry.schema.arguments
        required = [a for a in arguments if a.default is None]
        if (
            required
            and all(a.type == "Tensor" and not a.optional for a in required)
            and len(required) not in quick
        ):
            numbers = bool(getattr(entry, "promote", "")) and len(required) == 2 and len(entries) == 1
            quick[len(required)] = (entry.call_inplace if twin else entry.call, numbers)
    return quick


class SlowFront:
    """Matches a call with the overloads of a name, and applies what the schemas do not have (`out=`)."""

    def __init__(self, name: str, entries: list, method: bool, twin: bool):
        from refgrad.overloads import Binder

        schemas = [entry.schema.inplace() if twin else entry.schema for entry in entries]
        self.name = name
        self.binder = Binder(name, schemas, method=method)
        self.calls = [entry.call_inplace if twin else entry.call for entry in entries]

    def __call__(self, args: tuple, kwargs: dict) -> Any:
        index, values, extras = self.binder.bind(args, kwargs)
        if not extras:
            return self.calls[index](*values)
        out = extras.pop("out", None)
        extras.pop("memory_format", None)
        result = self.calls[index](*values)
        return result if out is None else write_out(self.name, values, result, out)


def write_out(name: str, values: list, result: Any, out: Any) -> Any:
    """Write a result into the tensor, or results into the tensors, given as `out=`.

    Raises:
        RuntimeError: an operand or the output requires grad, or the result's type cannot be cast to the
            output's.
    """
    if isinstance(result, tuple):
        for one, target in zip(result, out, strict=True):
            write_out(name, values, one, target)
        return type(result)(*out) if hasattr(result, "_fields") else tuple(out)
    tensors = [value for value in values if isinstance(value, Tensor)]
    if modes.grad_enabled() and any(tensor.requires_grad for tensor in (*tensors, out)):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one "
            "of the "
            "arguments requires grad."
        )
    call.check_write(out, tensors)
    call.check_cast(result.dtype, out.dtype)
    if out._array.shape != result._array.shape:
        if out._array.size:
            call.warn_resized(out._array.shape, result._array.shape)
        out._array = np.empty(result._array.shape, out._array.dtype)
    out._array[...] = result._array
    count_write(out)
    return out


def tensor_getattr(self: Tensor, name: str) -> Any:
    """A method that was not asked for before: make it, keep it on the class."""
    if not name.startswith("__"):
        made = make_front(name, method=True)
        if made is not None:
            setattr(Tensor, name, made)
            return made.__get__(self)
    raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


Tensor.__getattr__ = tensor_getattr  # type: ignore[attr-defined]
