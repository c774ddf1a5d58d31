"""The distinct elements of a tensor; their derivative is refused when it is asked for."""

from math import prod

import numpy as np

from refgrad.layout import wrap_dim
from refgrad.op import op
from refgrad.ops.checks import not_implemented
from refgrad.ops.copying import contiguous_like, empty_strided
from refgrad.ops.distances import not_derived
from refgrad.ops.reductions import row_major


def chosen_axis(array, dim):
    """The dimension whose slices are compared; it alone may have no elements.

    Raises:
        RuntimeError: another has none.
    """
    if not array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = wrap_dim(dim, array.ndim)
    if array.shape.count(0) > 1:
        raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied ")
    if 0 in array.shape and array.shape[axis]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return axis


def numbered(first, inverse, counts, return_inverse, return_counts):
    """The results of a search: what was not asked for is empty, as PyTorch returns it."""
    empty = np.zeros(0, np.int64)
    return (
        row_major(first),
        np.asarray(inverse, np.int64) if return_inverse else empty,
        np.asarray(counts, np.int64) if return_counts else empty,
    )


@op(
    "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) "
    "-> (Tensor, Tensor, Tensor)",
    node="Unique2Backward0",
    nondifferentiable=(1, 2),
    self=lambda grads: not_derived("_unique2"),
)
def unique2(self, sorted, return_inverse, return_counts):
    if self.dtype.kind == "c":
        raise not_implemented("unique", self)
    found, inverse, counts = np.unique(self, return_inverse=True, return_counts=True, equal_nan=False)
    return numbered(found, inverse.reshape(self.shape), counts, return_inverse, return_counts)


@op(
    "_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
    node="UniqueBackward0",
    nondifferentiable=(1,),
    self=lambda grads: not_derived("_unique"),
)
def unique(self, sorted, return_inverse):
    return unique2.kernel(self, sorted, return_inverse, False)[:2]


@op(
    "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) "
    "-> (Tensor, Tensor, Tensor)",
    nondifferentiable=(1, 2),
    self=lambda grads: not_derived("unique_dim"),
)
def unique_dim(self, dim, sorted, return_inverse, return_counts):
    axis = chosen_axis(self, dim)
    if not self.shape[axis]:
        empty = np.zeros(0, np.int64)
        return self.copy(), empty, empty
    found, inverse, counts = np.unique(self, return_inverse=True, return_counts=True, axis=axis)
    # The slices lie one after the other, whatever the dimension.
    order = contiguous_like(found.shape, [axis, *(i for i in range(found.ndim) if i != axis)])
    slices = empty_strided(found.shape, order, found.dtype)
    slices[...] = found
    return slices, np.asarray(inverse.reshape(-1), np.int64), np.asarray(counts, np.int64)


@op(
    "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) "
    "-> (Tensor, Tensor, Tensor)",
    nondifferentiable=(1, 2),
    self=lambda grads: not_derived("unique_consecutive"),
)
def unique_consecutive(self, return_inverse, return_counts, dim):
    if self.dtype.kind == "c":
        raise not_implemented("unique", self)
    axis = 0 if dim is None else chosen_axis(self, dim)
    rows = self.reshape(-1) if dim is None else np.moveaxis(self, axis, 0)
    flat = rows.reshape(len(rows), prod(rows.shape[1:]))
    starts = np.ones(len(rows), bool)
    starts[1:] = np.not_equal(flat[1:], flat[:-1]).any(1)
    inverse = np.cumsum(starts) - 1
    found = rows[starts] if dim is None else np.moveaxis(rows[starts], 0, axis)
    counts = np.bincount(inverse, minlength=0)
    inverse = inverse.reshape(self.shape) if dim is None else inverse
    return numbered(found, inverse, counts, return_inverse, return_counts)
