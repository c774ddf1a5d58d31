"""Writing results into the tensors given as `out=`, and what autograd makes of such a call.

A function that writes a given output has no derivative. PyTorch refuses it where the op inside that writes
has one; where that op is not known to autograd, the output gets a node that cannot go backward, and where the
result is copied into the output at the end, the copy is followed like any other.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad import call, dtypes, duals, modes
from refgrad.edges import edge_of
from refgrad.graph import NotImplementedNode
from refgrad.layout import strides_of
from refgrad.op import BY_NAME, calls
from refgrad.ops.copying import empty_strided
from refgrad.storage import count_write
from refgrad.tensor import Tensor
from refgrad.views import rebase_history

_OF_ONE_TYPE = """
aminmax max min sort topk
inverse linalg_cholesky linalg_cholesky_ex linalg_cross linalg_det linalg_eigh linalg_eigvalsh linalg_inv
linalg_inv_ex linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_matrix_power linalg_qr linalg_slogdet
linalg_solve linalg_solve_ex linalg_svd linalg_svdvals
"""
OF_ONE_TYPE = frozenset(_OF_ONE_TYPE.split())
"""Names whose outputs must have the type of the result."""
_COPIED = """
inner linalg_cond linalg_matrix_norm linalg_norm linalg_tensorinv linalg_tensorsolve nanquantile nuclear_norm
quantile tensordot
"""
COPIED = frozenset(_COPIED.split())
"""Names whose result is copied into the output at the end."""
UNKNOWN = frozenset(("diag", "fft_ifft", "fft_ihfft", "linalg_eigvals", "log_softmax", "softmax"))
"""Names that autograd does not know with an output, although the op has a derivative."""
RESIZED = frozenset(("empty", "randn"))
"""Names that resize the output where autograd can see it."""
WRITTEN_BY = {
    "argsort": "sort",
    "chain_matmul": "mm",
    "kron": "mul",
    "linalg_det": "_linalg_det",
    "linalg_eigh": "_linalg_eigh",
    "linalg_eigvalsh": "_linalg_eigh",
    "linalg_matmul": "matmul",
    "linalg_matrix_power": "matmul",
    "linalg_multi_dot": "mm",
    "linalg_slogdet": "_linalg_slogdet",
    "linalg_solve": "_linalg_solve_ex",
    "linalg_svd": "_linalg_svd",
    "linalg_svdvals": "_linalg_svd",
    "matmul": "matmul",
    "nanmean": "nansum",
    "svd": "_linalg_svd",
}
"""The op inside that refuses, where it is not the one that the result's node is of."""


def write_out(name: str, function: Callable, values: list, result: Any, out: Any) -> Any:
    """Write a result into the tensor, or results into the tensors, given as `out=`.

    Args:
        function: what made the result of the values.

    Raises:
        RuntimeError: an operand or the output requires grad, or the result's type is not the output's
            where it must be, or cannot be cast to it.
    """
    several = isinstance(result, tuple)
    results, outs = (result, out) if several else ((result,), (out,))
    tensors = tensors_in(values)
    way = way_of(name, function, values, results, (*tensors, *outs))
    for one, target in zip(results, outs, strict=True):
        way(name, tensors, one, target)
        if modes.DUALS and way is not copy_into:
            refuse_tangents(name, [*values, target])
    if several:
        return type(result)(*out) if hasattr(result, "_fields") else tuple(out)
    return out


def tensors_in(values: Any) -> list[Tensor]:
    """The tensors among the values, and in the lists among them."""
    flat = [item for value in values for item in (value if isinstance(value, (list, tuple)) else [value])]
    return [value for value in flat if isinstance(value, Tensor)]


# What autograd makes of the call ----------------------------------------------------------------------------


def way_of(name: str, function: Callable, values: list, results: Any, given: tuple) -> Callable:
    """How the results are written: `write_into`, `copy_into` or `write_unfollowed`.

    Raises:
        RuntimeError: autograd would have to follow, and the op that writes has a derivative.
    """
    is_wanted = modes.grad_enabled() and any(tensor.requires_grad for tensor in given)
    if not is_wanted or all(tensor.is_inference() for tensor in given):
        return write_into
    tensors = tensors_in(values)
    is_asked = any(tensor.requires_grad for tensor in tensors)
    node = node_of(results if is_asked else followed(function, values))
    if name in COPIED or name == "linalg_matrix_power" and getattr(node, "FUNCTION", "mm") != "mm":
        return copy_into
    if name in RESIZED:
        raise RuntimeError("cannot resize variables that require grad")
    if name in UNKNOWN or isinstance(node, NotImplementedNode):
        return write_unfollowed
    if node is None and name != "argsort" and (is_asked or not (tensors and has_derivative(name))):
        is_known = is_asked or results[0].dtype is dtypes.bool_ or any(map(is_floating, tensors))
        return write_into if is_known else write_unfollowed
    raise refusal(str(WRITTEN_BY.get(name, getattr(node, "FUNCTION", name))))


def node_of(results: Any) -> Any:
    """The first node that made one of the results, or None."""
    return next((one.grad_fn for one in results if one.grad_fn is not None), None)


def is_floating(tensor: Tensor) -> bool:
    """Whether the elements are of a type that can require grad."""
    return tensor.dtype.category >= dtypes.FLOATING


def has_derivative(name: str) -> bool:
    """Whether formulas are declared for an op."""
    return any(getattr(entry, "formulas", None) for entry in BY_NAME.get(name, ()))


def followed(function: Callable, values: list) -> tuple:
    """The results of a call whose floating operands require grad."""

    def following(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [following(item) for item in value]
        is_one = isinstance(value, Tensor) and is_floating(value)
        return value.detach().requires_grad_() if is_one else value

    if not tensors_in(values):
        return ()
    result = function(*[following(value) for value in values])
    return result if isinstance(result, tuple) else (result,)


def refusal(name: str) -> RuntimeError:
    """PyTorch's refusal to follow a write into a given output."""
    return RuntimeError(
        f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
        "arguments requires grad."
    )


# Writing ----------------------------------------------------------------------------------------------------


def write_into(name: str, tensors: list[Tensor], result: Tensor, out: Tensor) -> None:
    """Write a result into an output, without a trace in the graph."""
    call.check_write(out, tensors)
    if name in OF_ONE_TYPE and result.dtype is not out.dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {result.dtype.cpp_name}, but got {out.dtype.cpp_name} instead"
        )
    call.check_cast(result.dtype, out.dtype)
    make_room(name, result, out, bool(tensors))
    out._array[...] = result._array
    count_write(out)


def copy_into(name: str, tensors: list[Tensor], result: Tensor, out: Tensor) -> None:
    """Copy a result into an output, as an ordinary step."""
    call.check_cast(result.dtype, out.dtype)
    make_room(name, result, out, bool(tensors))
    calls.copy_(out, result)


def write_unfollowed(name: str, tensors: list[Tensor], result: Tensor, out: Tensor) -> None:
    """Write a result into an output, which gets a node that cannot go backward.

    Raises:
        RuntimeError: the output is a leaf that requires grad.
    """
    if out.requires_grad and out.is_leaf:
        raise refusal(f"aten::{name}")
    edges = tuple([edge_of(tensor) for tensor in (*tensors, out) if tensor.requires_grad])
    write_into(name, tensors, result, out)
    if is_floating(out):
        rebase_history(out, call.refused(f"aten::{name}", edges, (out._array.shape, out._array.dtype)))


def make_room(name: str, result: Tensor, out: Tensor, does_warn: bool) -> None:
    """Give an output the shape of a result; where elements get lost, PyTorch warns if the op has operands."""
    if out._array.shape == result._array.shape:
        return
    if out._array.size and does_warn:
        call.warn_resized(out._array.shape, result._array.shape)
    empty = np.empty(result._array.shape, out._array.dtype)
    if name in OF_ONE_TYPE or name in ("linalg_solve_triangular", "nonzero"):  # which lie column by column
        empty = empty_strided(result._array.shape, strides_of(result._array), out._array.dtype)
    out._array = empty


def refuse_tangents(name: str, values: Any) -> None:
    """Refuse to write into a given output what has a tangent, or over one.

    Raises:
        NotImplementedError: a tensor among the values, or in a list among them, has a tangent.
    """
    for value in tensors_in(values):
        if duals.tangent_of(value) is not None:
            raise NotImplementedError(
                f"Trying to use forward AD with {name}_out that does not support it because it is an out= "
                "function"
            )
