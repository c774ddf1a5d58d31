"""New tensors: from data, of one value, in steps."""

from typing import Any

import numpy as np

from refgrad import dtypes, errors, modes
from refgrad.layout import contiguous_strides
from refgrad.op import composite
from refgrad.ops.copying import copy_of, empty_strided, number_in
from refgrad.tensor import Tensor, wrap


def finished(array: np.ndarray, requires_grad: Any = False) -> Tensor:
    """A new leaf over this memory.

    Raises:
        RuntimeError: it shall require grad and its type is not differentiable.
    """
    tensor = wrap(array)
    if requires_grad:
        if not tensor._can_require_grad():
            raise RuntimeError(errors.NOT_DIFFERENTIABLE_DTYPE)
        tensor._set_requires_grad(True)
    return tensor


def kind_of(dtype: dtypes.DType | None) -> np.dtype:
    """The NumPy type of a dtype, by default of the default floating type."""
    return (dtypes.default() if dtype is None else dtype).numpy


OPTIONS = (
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, "
    "bool? requires_grad=False"
)


def checked_size(size: Any) -> tuple:
    """A shape without negative sizes.

    Raises:
        RuntimeError: one is negative.
    """
    for n in size:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(size)}")
    return tuple(size)


@composite(f"zeros(SymInt[] size, {OPTIONS}) -> Tensor")
def zeros(size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    return finished(np.zeros(checked_size(size), kind_of(dtype)), requires_grad)


@composite(f"ones(SymInt[] size, {OPTIONS}) -> Tensor")
def ones(size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    return finished(np.ones(checked_size(size), kind_of(dtype)), requires_grad)


@composite(f"new_zeros(Tensor self, SymInt[] size, {OPTIONS}) -> Tensor")
def new_zeros(self, size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    return finished(np.zeros(checked_size(size), self._array.dtype if dtype is None else dtype.numpy), requires_grad)


@composite(f"new_ones(Tensor self, SymInt[] size, {OPTIONS}) -> Tensor")
def new_ones(self, size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    return finished(np.ones(checked_size(size), self._array.dtype if dtype is None else dtype.numpy), requires_grad)


@composite(f"new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, {OPTIONS}) -> Tensor")
def new_empty_strided(self, size, stride, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    kind = self._array.dtype if dtype is None else dtype.numpy
    return finished(empty_strided(tuple(size), tuple(stride), kind), requires_grad)
