"""Dimensions renamed, moved, merged, cut and stretched: compositions of the views."""

from typing import Any

import numpy as np

from refgrad.layout import broadcast_shapes, infer_size, view_strides, wrap_dim
from refgrad.modes import state, warn_once
from refgrad.op import OPS, calls, composite, op
from refgrad.tensor import Tensor, is_batched
from refgrad.types import contiguous_format

T_OFF_MATRICES = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
    "throw an error "
    "in a future release. Consider `x.mT` to transpose batches of matrices or "
    "`x.permute(*torch.arange(x.ndim - 1, -1, "
    "-1))` to reverse the dimensions of a tensor."
)

# Exchanged --------------------------------------------------------------------------------------------------


@composite("swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)")
def swapaxes(self, axis0, axis1):
    return calls.transpose(self, axis0, axis1)


@composite("swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)")
def swapdims(self, dim0, dim1):
    return calls.transpose(self, dim0, dim1)


@composite("t_(Tensor(a!) self) -> Tensor(a!)")
def t_(self):
    if self.dim() > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.dim()}D")
    transpose: Any = OPS["t"]
    return transpose.call_inplace(self)


@composite("swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)")
def swapaxes_(self, axis0, axis1):
    return calls.transpose_(self, axis0, axis1)


@composite("swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)")
def swapdims_(self, dim0, dim1):
    return calls.transpose_(self, dim0, dim1)


def moved(self, source, destination):
    """The dimensions in the order in which those of `source` stand at `destination`.

    Raises:
        RuntimeError: the lists differ in length or name a dimension twice.
    """
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the "
            f"same number of dims as destination ({list(destination)} dims)"
        )
    ndim = self._array.ndim
    wrapped = [[wrap_dim(dim, ndim) for dim in dims] for dims in (source, destination)]
    for name, dims, given in zip(("source", "destination"), wrapped, (source, destination), strict=True):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    if not ndim:
        return calls.alias(self)
    order = [-1] * ndim
    for start, end in zip(*wrapped, strict=True):
        order[end] = start
    rest = iter([dim for dim in range(ndim) if dim not in wrapped[0]])
    return calls.permute(self, tuple([next(rest) if dim < 0 else dim for dim in order]))


for _name in ("movedim", "moveaxis"):
    composite(f"{_name}.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")(moved)
    composite(f"{_name}.int(Tensor(a) self, int source, int destination) -> Tensor(a)")(
        lambda self, source, destination: moved(self, (source,), (destination,))
    )


# Properties -------------------------------------------------------------------------------------------------


def reversed_dims(self):
    """`tensor.T`: the dimensions in reverse order."""
    ndim = self._array.ndim
    if not ndim:
        warn_once("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif ndim != 2:
        warn_once(T_OFF_MATRICES)
    return calls.permute(self, tuple(range(ndim - 1, -1, -1)))


def check_matrix(self, name):
    """Refuse vectors.

    Raises:
        RuntimeError: it is one.
    """
    if self._array.ndim == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )


def matrix_transpose(self):
    """`tensor.mT`: the last two dimensions exchanged."""
    check_matrix(self, "mT")
    if not self._array.ndim:
        warn_once("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.")
        return self
    return calls.transpose(self, -2, -1)


def conjugate_transpose(self):
    """`tensor.H`: a matrix transposed and conjugated."""
    ndim = self._array.ndim
    if not ndim:
        warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
        return self.conj()
    if ndim != 2:
        advice = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{advice}"
        )
    return calls.transpose(self, -2, -1).conj()


def matrix_adjoint(self):
    """`tensor.mH`: the last two dimensions exchanged, and conjugated."""
    check_matrix(self, "mH")
    if not self._array.ndim:
        warn_once("Tensor.mH is deprecated on 0-D tensors. Consider using x.conj().")
        return self.conj()
    return calls.transpose(self, -2, -1).conj()


@composite("adjoint(Tensor(a) self) -> Tensor(a)")
def adjoint(self):
    check_matrix(self, "adjoint()")
    if not self._array.ndim:
        warn_once("adjoint() is deprecated on 0-D tensors. Consider using x.conj().")
        return self.conj()
    return calls.transpose(self, -2, -1).conj()


Tensor.T = property(reversed_dims)
Tensor.mT = property(matrix_transpose)
Tensor.H = property(conjugate_transpose)
Tensor.mH = property(matrix_adjoint)


# Cut and merged ---------------------------------------------------------------------------------------------


@composite("reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)")
def reshape(self, shape):
    array = self._array
    target = infer_size(shape, array.size)
    if array.flags.c_contiguous:
        return calls.view(self, target)
    strides = view_strides(array.shape, tuple(stride // array.itemsize for stride in array.strides), target)
    if strides is not None:
        if (state.wraps or state.pulls) and not is_batched(self):  # no short cut
            return calls.view(self, target)
        return calls._reshape_alias(self, target, strides)
    return calls._unsafe_view(self.clone(memory_format=contiguous_format), target)


@composite("flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)")
def flatten(self, start_dim=0, end_dim=-1):
    shape = self._array.shape
    first, last = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return self.reshape((1,))
    if first == last:
        return self
    return self.reshape(
        (*shape[:first], -1, *shape[last + 1 :]) if 0 not in shape else merged(shape, first, last)
    )


def merged(shape, first, last):
    """A shape with some dimensions multiplied together."""
    size = 1
    for n in shape[first : last + 1]:
        size *= n
    return (*shape[:first], size, *shape[last + 1 :])


@composite("narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)")
def narrow(self, dim, start, length):
    if not self._array.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    size = self._array.shape[wrap_dim(dim, self._array.ndim)]
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start += size if start < 0 else 0
    if start > size - length:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return calls.slice(self, dim, start, start + length)


@op(
    "narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
    self=lambda grad, self_sym_sizes, dim, start, length: calls.slice_backward(
        grad, self_sym_sizes, dim, start, start + length, 1
    ),
)
def narrow_copy(self, dim, start, length):
    if not self.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if dim >= self.ndim:
        raise RuntimeError(
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this "
            "error message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    axis = wrap_dim(dim, self.ndim)
    size = self.shape[axis]
    first = wrap_dim(start, size) if start < 0 else start
    if length < 0 or first > size - length:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return np.ascontiguousarray(self.take(range(first, first + length), axis))


@composite("narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)")
def narrow_tensor(self, dim, start, length):
    if start._array.ndim or start._array.dtype.kind not in "iu":
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return calls.narrow(self, dim, int(start), length)


@composite("view_as(Tensor(a) self, Tensor other) -> Tensor(a)")
def view_as(self, other):
    return calls.view(self, other._array.shape)


@composite("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)")
def expand_as(self, other):
    return calls.expand(self, other._array.shape)


@composite("chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]")
def chunk(self, chunks, dim=0):
    if not self._array.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = self._array.shape[wrap_dim(dim, self._array.ndim)]
    step = -(-size // chunks)
    if step == 0 and size == 0:
        return calls.split_with_sizes(self, (0,) * chunks, dim)
    return calls.split(self, step, dim)


@composite("unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)")
def unflatten(self, dim, sizes):
    shape = self._array.shape
    dim = wrap_dim(dim, len(shape))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not shape:
        raise RuntimeError(
            "unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions"
        )
    try:
        parts = infer_size(sizes, shape[dim])
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({shape[dim]}) in the input tensor"
        ) from None
    return calls.view(self, (*shape[:dim], *parts, *shape[dim + 1 :]))


@composite("ravel(Tensor(a) self) -> Tensor(a)")
def ravel(self):
    return calls.view(calls.contiguous(self), (-1,))


@composite("reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)")
def reshape_as(self, other):
    return calls.reshape(self, other._array.shape)


# Stretched --------------------------------------------------------------------------------------------------


@composite("broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)")
def broadcast_to(self, size):
    return calls.expand(self, tuple(size))


def stretched(tensors):
    """The tensors in their common shape; those that have it already are given back themselves.

    Raises:
        RuntimeError: there is no common shape.
    """
    if not tensors:
        return ()
    shape = tensors[0]._array.shape
    for tensor in tensors[1:]:
        shape = broadcast_shapes(shape, tensor._array.shape)
    return tuple([t if t._array.shape == shape else calls.expand(t, shape) for t in tensors])
