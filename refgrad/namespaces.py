"""Which public names the ops have: functions of the package, methods and operators of `Tensor`.

*Front*: the function behind a public name; it matches the arguments with the declared overloads, and deals
with `out=`. Fronts are made on first use: `Tensor.__getattr__` and the package's `__getattr__` ask here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from refgrad import call, duals, modes, signatures
from refgrad.forms import Call, form_of, settled_call
from refgrad.op import BY_NAME
from refgrad.overloads import Binder
from refgrad.samples import Batched, per_sample
from refgrad.schema import Schema
from refgrad.signatures.shown import is_method
from refgrad.storage import count_write
from refgrad.tensor import Tensor, TensorMeta


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
    elif not (signatures.of_function(name) or name in FUNCTIONS_TOO or name.startswith("_foreach_")):
        return None
    return front(name, overloads, method) if overloads else None


FUNCTIONS_TOO = {
    "_conj",
    "_neg_view",
    "_unique",
    "_unique2",
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
    binder = Binder(name, [overload.schema for overload in overloads], method=method)
    calls = [overload.call for overload in overloads]
    forms: dict[tuple, Call] = {}

    def bound(args: tuple, kwargs: dict) -> Any:
        """Match a call with the overloads, and run the one that fits."""
        index, values, extras = binder.bind(args, kwargs)
        out = extras.pop("out", None)
        result = calls[index](*values)
        return result if out is None else write_out(name, values, result, out)

    def learnt(form: tuple, args: tuple, kwargs: dict) -> Call:
        """What binds a call of a new form, remembered."""
        call = forms[form] = settled_call(binder, calls, bound, args, kwargs) or bound
        return call

    def function(*args: Any, **kwargs: Any) -> Any:
        form = form_of(args, kwargs)
        try:
            return (forms.get(form) or learnt(form, args, kwargs))(args, kwargs)
        except Batched:
            return per_sample(function, args, kwargs)

    function.__name__ = function.__qualname__ = name
    return function


_OF_ONE_TYPE = """
aminmax max min sort topk
inverse linalg_cholesky linalg_cholesky_ex linalg_cross linalg_det linalg_eigh linalg_eigvalsh linalg_inv
linalg_inv_ex linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_matrix_power linalg_qr linalg_slogdet
linalg_solve linalg_solve_ex linalg_svd linalg_svdvals
"""
OF_ONE_TYPE = frozenset(_OF_ONE_TYPE.split())
"""Names whose outputs must have the type of the result."""
WRITTEN_BY = {
    **dict.fromkeys(("column_stack", "concat", "concatenate", "dstack"), "cat"),
    **dict.fromkeys(("hstack", "row_stack", "vstack"), "cat"),
    "linalg_svd": "_linalg_svd",
    "linalg_inv": "linalg_inv_ex",
    "linalg_multi_dot": "mm",
}
"""The op inside that refuses to write a result that wants a gradient, where it has another name."""


def write_out(name: str, values: list, result: Any, out: Any) -> Any:
    """Write a result into the tensor, or results into the tensors, given as `out=`.

    Raises:
        RuntimeError: an operand or the output requires grad, or the result's type is not the output's
            where it must be, or cannot be cast to it.
    """
    if isinstance(result, tuple):
        for one, target in zip(result, out, strict=True):
            write_out(name, values, one, target)
        return type(result)(*out) if hasattr(result, "_fields") else tuple(out)
    flat = [item for value in values for item in (value if isinstance(value, (list, tuple)) else [value])]
    tensors = [value for value in flat if isinstance(value, Tensor)]
    given = (*tensors, out)
    is_wanted = modes.grad_enabled() and any(tensor.requires_grad for tensor in given)
    if is_wanted and not all(tensor.is_inference() for tensor in given):
        raise RuntimeError(
            f"{WRITTEN_BY.get(name, name)}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    call.check_write(out, tensors)
    if name in OF_ONE_TYPE and result.dtype is not out.dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {result.dtype.cpp_name}, but got {out.dtype.cpp_name} instead"
        )
    call.check_cast(result.dtype, out.dtype)
    if out._array.shape != result._array.shape:
        if out._array.size:
            call.warn_resized(out._array.shape, result._array.shape)
        empty = np.empty(result._array.shape, out._array.dtype)
        if name in OF_ONE_TYPE or name == "linalg_solve_triangular":  # factors lie column by column
            empty = np.empty_like(result._array, out._array.dtype, subok=False)
        out._array = empty
    out._array[...] = result._array
    count_write(out)
    if modes.DUALS:
        refuse_tangents(name, [*values, out])
    return out


def refuse_tangents(name: str, values: Any) -> None:
    """Refuse to write into a given output what has a tangent, or over one.

    Raises:
        NotImplementedError: a tensor among the values, or in a list among them, has a tangent.
    """
    for value in values:
        if isinstance(value, (list, tuple)):
            refuse_tangents(name, value)
        elif isinstance(value, Tensor) and duals.tangent_of(value) is not None:
            raise NotImplementedError(
                f"Trying to use forward AD with {name}_out that does not support it because it is an out= "
                "function"
            )


def new_method(name: str) -> Callable | None:
    """A method that was not asked for before, made and kept on the class; None when there is none."""
    made = make_front(name, method=True) if not name.startswith("__") and is_method(name) else None
    if made is not None:
        setattr(Tensor, name, made)
    return made


def tensor_getattr(self: Tensor, name: str) -> Any:
    """A method that a tensor was not asked for before."""
    made = new_method(name)
    if made is None:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
    return made.__get__(self)


def class_getattr(cls: type, name: str) -> Any:
    """A method that the class was not asked for before."""
    made = new_method(name)
    if made is None:
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
    return made


def method_names() -> list[str]:
    """The names of all methods, made or not."""
    twins = [f"{name}_" for name, entries in BY_NAME.items() if any(entry.inplace for entry in entries)]
    return [
        name
        for name in {*BY_NAME, *twins}
        if is_method(name)
        and any(a.name == "self" for o in overloads_of(name) for a in o.entry.schema.arguments)
    ]


Tensor.__getattr__ = tensor_getattr  # type: ignore[method-assign]
Tensor.__dir__ = lambda self: {*object.__dir__(self), *method_names()}  # type: ignore[method-assign]
TensorMeta.__getattr__ = class_getattr
TensorMeta.__dir__ = lambda cls: {*type.__dir__(cls), *method_names()}  # type: ignore[assignment]
