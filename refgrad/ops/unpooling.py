"""Maxima put back to the places that they were taken from."""

from math import prod
from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.op import calls, op


def check_places(self: np.ndarray, indices: np.ndarray, output_size: tuple, dims: int) -> None:
    """Refuse what does not fit.

    Raises:
        RuntimeError, NotImplementedError: with PyTorch's text.
    """
    if indices.dtype != np.int64:
        found = f" but got: {dtypes.OF_NUMPY[indices.dtype].scalar_type}" if dims == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{found}")
    if self.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got a tensor "
            f"with {self.ndim} dimensions."
        )
    if indices.shape != self.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(self.shape)}) but got "
            f"indices tensor with shape: {list(indices.shape)}"
        )
    if self.dtype.kind != "f":
        kind = dtypes.OF_NUMPY[self.dtype].scalar_type
        raise NotImplementedError(f"\"max_unpool{dims}d\" not implemented for '{kind}'")
    wrong = indices[(indices < 0) | (indices >= prod(output_size))]
    if wrong.size:
        volume = "x".join(map(str, output_size))
        raise RuntimeError(f"Found an invalid max index: {wrong[-1]} (output volumes are of size {volume})")


def unpooled(self: np.ndarray, indices: np.ndarray, output_size: tuple, dims: int) -> np.ndarray:
    """The larger image: zeros but for what is put back."""
    lead = self.shape[:-dims]
    result = np.zeros((prod(lead), prod(output_size)), self.dtype)
    flat = (prod(lead), prod(self.shape[-dims:]))
    np.put_along_axis(result, indices.reshape(flat), self.reshape(flat), 1)
    return result.reshape(*lead, *output_size)


def unpooled_back(grad: Any, indices: Any, dims: int) -> Any:
    """The gradient of what was put back."""
    shape = indices._array.shape
    lead = shape[:-dims]
    flat = calls.reshape(grad, (*lead, -1))
    return calls.view(calls.gather(flat, -1, calls.view(indices, (*lead, -1))), shape)


@op(
    "max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor",
    node="MaxUnpool2DBackward0",
    constants=("indices",),
    self=lambda grad, indices: unpooled_back(grad, indices, 2),
)
def max_unpool2d(self, indices, output_size):
    check_places(self, indices, output_size, 2)
    return unpooled(self, indices, output_size, 2)


@op(
    "max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> "
    "Tensor",
    node="MaxUnpool3DBackward0",
    constants=("indices",),
    self=lambda grad, indices: unpooled_back(grad, indices, 3),
)
def max_unpool3d(self, indices, output_size, stride, padding):
    if min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")
    check_places(self, indices, output_size, 3)
    return unpooled(self, indices, output_size, 3)
