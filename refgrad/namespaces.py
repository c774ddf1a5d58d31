"""Which public names the ops have: functions of the package, methods and operators of `Tensor`.

*Front*: the function behind a public name; it matches the arguments with the declared overloads, and deals
with `out=`. Fronts are made on first use: `Tensor.__getattr__` and the package's `__getattr__` ask here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from refgrad import call, modes, signatures
from refgrad.op import BY_NAME
from refgrad.samples import Batched, per_sample
from refgrad.schema import Schema
from refgrad.signatures.shown import is_method
from refgrad.storage import count_write
from refgrad.tensor import Tensor

NUMBERS = frozenset((int, float))
LEARNT = NUMBERS | {Tensor}
INT = frozenset((int,))


class Overload(NamedTuple):
    """One entry behind a public name; `twin` says that the name means what the entry does in place."""

    entry: Any
    twin: bool

    @property
    def schema(self) -> Schema:
        """The schema that calls are matched with."""
        return self.entry.schema.inplace() if self.twin else self.entry.schema

    @property
    def call(self) -> Callable:
        """The function that runs."""
        return self.entry.call_inplace if self.twin else self.entry.call


def overloads_of(name: str) -> list[Overload]:
    """What stands behind a public name: its entries, and for `name_` the entries of `name` with a twin."""
    found = [Overload(entry, False) for entry in BY_NAME.get(name, ())]
    if name.endswith("_"):
        found += [Overload(entry, True) for entry in BY_NAME.get(name[:-1], ()) if entry.inplace]
    return found


def make_front(name: str, method: bool) -> Callable | None:
    """The function behind a public name, or None when there is none."""
    overloads = overloads_of(name)
    if method:
        overloads = [o for o in overloads if any(a.name == "self" for a in o.entry.schema.arguments)]
    elif not signatures.of_function(name) and name not in FUNCTIONS_TOO:
        return None
    return front(name, overloads, method) if overloads else None


FUNCTIONS_TOO = {
    "_conj",
    "_neg_view",
    "diagonal_copy",
    "einsum",
    "resize_as_",
    "tensordot",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
}
"""Names that are functions although PyTorch's tables of signatures do not list them."""


def front(name: str, overloads: list[Overload], method: bool) -> Callable:
    """Make the front of a name."""
    quick = quick_calls(overloads)
    sizes = takes_sizes(overloads, method)
    slow = SlowFront(name, overloads, method)

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            if not kwargs and args:
                if isinstance(args[0], Tensor):
                    kinds = tuple([arg.__class__ for arg in args])
                    known = quick.get(kinds)
                    if known is not None:
                        return known[0](*args, *known[1])
                    if method and sizes is not None and len(args) > 1 and INT.issuperset(kinds[1:]):
                        return sizes(args[0], args[1:])
                    return slow.learn(args, kinds, quick)
                if sizes is not None and not method and INT.issuperset([arg.__class__ for arg in args]):
                    return sizes(args)
            return slow(args, kwargs)
        except Batched:
            return per_sample(function, args, kwargs)

    function.__name__ = function.__qualname__ = name
    return function


def takes_sizes(overloads: list[Overload], method: bool) -> Callable | None:
    """The function of a name such as `zeros` or `view`, whose only required argument is a shape."""
    found = None
    for overload in overloads:
        arguments = overload.entry.schema.arguments[1:] if method else overload.entry.schema.arguments
        if not arguments:
            return None
        first, *others = arguments
        is_shape = first.type in ("SymInt[]", "int[]") and first.size is None and first.default is None
        if is_shape and all(a.default is not None and a.keyword_only for a in others):
            found = overload.call
        elif first.type not in ("ScalarType", "Tensor"):
            return None
    return found


def quick_calls(overloads: list[Overload]) -> dict[tuple, tuple[Callable, tuple]]:
    """Calls that need no matching: the classes of the arguments -> the function, and what follows them."""
    quick: dict[tuple, tuple[Callable, tuple]] = {}
    for overload in overloads:
        arguments = overload.entry.schema.arguments
        required = [a for a in arguments if a.default is None]
        if required and all(a.type == "Tensor" and not a.optional for a in required):
            kinds: list[tuple] = [(Tensor,) * len(required)]
            quick.setdefault(kinds[0], (overload.call, ()))
            for argument in arguments[len(required) : len(required) + 2]:
                if argument.type != "Tensor" or argument.keyword_only:
                    break
                kinds = [(*known, kind) for known in kinds for kind in (Tensor, type(None))]
                for known in kinds:
                    quick.setdefault(known, (overload.call, ()))
    return quick


def learn_subclasses(
    kinds: tuple, quick: dict[tuple, tuple[Callable, tuple]]
) -> tuple[Callable, tuple] | None:
    """The quick call for subclasses of `Tensor`, remembered when there is one for tensors."""
    plain = tuple([Tensor if issubclass(kind, Tensor) else kind for kind in kinds])
    known = quick.get(plain)
    if known is not None:
        quick[kinds] = known
    return known


class SlowFront:
    """Matches a call with the overloads of a name, and applies what the schemas do not have (`out=`)."""

    def __init__(self, name: str, overloads: list[Overload], method: bool):
        from refgrad.overloads import Binder

        self.name = name
        self.binder = Binder(name, [overload.schema for overload in overloads], method=method)
        self.calls = [overload.call for overload in overloads]

    def __call__(self, args: tuple, kwargs: dict) -> Any:
        return self.finish(*self.binder.bind(args, kwargs))

    def learn(self, args: tuple, kinds: tuple, quick: dict[tuple, tuple[Callable, tuple]]) -> Any:
        """Call with tensors and numbers; remember how, where the values come out as they went in.

        What a tensor counts as can depend on its elements when there are several overloads: it is not learnt.
        """
        plain = tuple([Tensor if issubclass(kind, Tensor) else kind for kind in kinds])
        known = quick.get(plain)
        if known is not None:  # a subclass such as Parameter
            quick[kinds] = known
            return known[0](*args, *known[1])
        index, values, extras = self.binder.bind(args, {})
        learnt = NUMBERS.issuperset(plain[1:]) or len(self.calls) == 1 and LEARNT.issuperset(plain)
        same = all(value is arg for value, arg in zip(values, args, strict=False))
        if learnt and same and not extras and len(values) >= len(args):
            quick[kinds] = (self.calls[index], tuple(values[len(args) :]))
        return self.finish(index, values, extras)

    def finish(self, index: int, values: list, extras: dict[str, Any]) -> Any:
        """Run the overload that was matched."""
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
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of "
            "the arguments requires grad."
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
    if not name.startswith("__") and is_method(name):
        made = make_front(name, method=True)
        if made is not None:
            setattr(Tensor, name, made)
            return made.__get__(self)
    raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


Tensor.__getattr__ = tensor_getattr  # type: ignore[method-assign]
