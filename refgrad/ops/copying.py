"""Copies, casts and fills: the same elements in other memory, or other elements in the same."""

import warnings

import numpy as np

from refgrad import dtypes
from refgrad.layout import is_dense, strides_of
from refgrad.op import composite, op


def empty_strided(shape, strides, dtype):
    """New memory of this shape and these strides, counted in elements."""
    size = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides)) if 0 not in shape else 0
    memory = np.empty(size, dtype)
    return np.ndarray(shape, dtype, memory, 0, tuple(stride * memory.itemsize for stride in strides))


def kept_strides(array):
    """The strides that a copy keeps: those of a dense array, else those of its dimensions sorted by stride."""
    strides = strides_of(array)
    if is_dense(array.shape, strides):
        return strides
    order = sorted(range(array.ndim), key=lambda i: (-strides[i], i))
    kept, step = [0] * array.ndim, 1
    for i in reversed(order):
        kept[i] = step
        step *= max(array.shape[i], 1)
    return tuple(kept)


def copy_of(array, dtype=None, contiguous=False):
    """A copy in new memory, laid out alike unless it shall be contiguous."""
    dtype = array.dtype if dtype is None else dtype
    if contiguous or array.flags.c_contiguous:
        return np.array(array, dtype, order="C")
    result = empty_strided(array.shape, kept_strides(array), dtype)
    result[...] = array
    return result


def is_contiguous_format(memory_format):
    """Whether a memory format asks for contiguous memory."""
    return memory_format is not None and memory_format.name == "contiguous_format"


@op("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", self=lambda grad: grad)
def clone(self, memory_format):
    return copy_of(self, contiguous=is_contiguous_format(memory_format))


@op(
    "_to_copy(Tensor self, *, ScalarType? dtype=None, MemoryFormat? memory_format=None) -> Tensor",
    self=lambda grad, self_scalar_type: grad.to(self_scalar_type),
    node="ToCopyBackward0",
)
def to_copy(self, dtype, memory_format):
    target = self.dtype if dtype is None else dtype.numpy
    warn_discarded(self.dtype, target)
    source = self.real if self.dtype.kind == "c" and target.kind not in "cb" else self
    return copy_of(source, target, is_contiguous_format(memory_format))


def warn_discarded(source, target):
    """Warn when a cast drops imaginary parts."""
    if source.kind == "c" and target.kind not in "cb":
        warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=5)


@op(
    "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    self=lambda grad: grad.new_zeros(grad.shape),
    src=lambda grad: grad,
    node="CopyBackwards",
    cast_any=True,
)
def copy_(self, src, non_blocking):
    warn_discarded(src.dtype, self.dtype)
    return src.real if src.dtype.kind == "c" and self.dtype.kind not in "cb" else src


@op(
    "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
    self=lambda grad: grad.new_zeros(grad.shape),
    node="FillBackward2",
    may_overlap=True,
    writes=True,
)
def fill_(self, value):
    self[...] = number_in(value, self.dtype)


@op(
    "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
    self=lambda grad: grad.new_zeros(grad.shape),
    value=lambda grad: grad.sum(),
    node="FillBackward3",
    may_overlap=True,
    writes=True,
)
def fill_tensor_(self, value):
    if value.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )
    self[...] = number_in(value.item(), self.dtype)


def number_in(value, dtype):
    """A number cast to an element type, as PyTorch does it.

    Raises:
        RuntimeError: the type cannot hold it.
    """
    kind = dtypes.OF_NUMPY[dtype]
    if isinstance(value, complex) and kind.category != dtypes.COMPLEX:
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {kind.cpp_name} without overflow")
        value = value.real
    if kind.category == dtypes.INTEGER:
        return np.asarray(int(value)).astype(dtype)
    return np.asarray(value).astype(dtype)


@op(
    "zero_(Tensor(a!) self) -> Tensor(a!)",
    self=lambda grad: grad.new_zeros(grad.shape),
    may_overlap=True,
    writes=True,
    node="ZeroBackward0",
)
def zero_(self):
    self[...] = 0


@composite("contiguous(Tensor self, *, MemoryFormat memory_format=contiguous_format) -> Tensor")
def contiguous(self, memory_format=None):
    if self._array.flags.c_contiguous:
        return self
    from refgrad.types import contiguous_format

    return self.clone(memory_format=contiguous_format)
