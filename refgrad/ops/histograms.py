"""`histogram`: how many elements, or what weight, falls between each two edges."""

import numpy as np

from refgrad import dtypes
from refgrad.op import op
from refgrad.ops.checks import not_implemented
from refgrad.ops.creation import line
from refgrad.return_types import named

histogram_type = named("histogram", "hist", "bin_edges")


def cpp_name(array):
    """The name of an array's type in C++."""
    return dtypes.OF_NUMPY[array.dtype].cpp_name


def check(values, weight, edges):
    """Refuse edges and weights that do not fit.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if edges is not None and edges.dtype != values.dtype:
        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with "
            f"dtype {cpp_name(values)} and bins for dimension 0 with dtype {cpp_name(edges)}"
        )
    if edges is not None and edges.ndim != 1:
        raise RuntimeError(
            f"torch.histogramdd: bins tensor should have one dimension, but got {edges.ndim} dimensions in "
            "the bins tensor for dimension 0"
        )
    if weight is not None and weight.dtype != values.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the "
            f"same dtype, but got input({cpp_name(values)}), and weight({cpp_name(weight)})"
        )
    if weight is not None and weight.shape != values.shape:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
            f"tensor excluding its innermost dimension, but got input with shape [{values.size}, 1] and "
            f"weight with shape [{weight.size}]"
        )


def even_edges(values, bins, limits):
    """Edges at equal distances, between limits or the extremes of the values.

    Raises:
        RuntimeError: the limits are not two, not finite or in the wrong order.
    """
    if limits is not None and len(limits) != 2:
        raise RuntimeError(
            "torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but got "
            f"{len(limits)}"
        )
    low, high = limits if limits is not None else (values.min(), values.max()) if values.size else (0, 1)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension 0's range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension 0"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return line(low, high, bins + 1, dtypes.OF_NUMPY[values.dtype])[0]


def counted(values, edges, weight, density):
    """The sum of weights between each two edges; the last bin has both its edges."""
    if values.dtype.kind != "f":
        raise not_implemented("histogramdd", values)
    bins = edges.size - 1
    if bins < 1:
        raise RuntimeError("torch.histogram(): bins must be > 0, but got 0 for dimension 0")
    is_inside = (values >= edges[0]) & (values <= edges[-1])
    places = np.minimum(np.searchsorted(edges, values[is_inside], "right") - 1, bins - 1)
    weights = None if weight is None else weight[is_inside]
    found = np.bincount(places, weights, bins).astype(values.dtype)
    if density:
        found = found / found.sum() / np.diff(edges)
    return found, edges.copy()


@op(
    "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> "
    "(Tensor hist, Tensor bin_edges)",
    refused="aten::histogram",
    wrapper=histogram_type,
)
def histogram_of_edges(self, bins, weight, density):
    check(self, weight, bins)
    return counted(self.ravel(), bins, None if weight is None else weight.ravel(), density)


@op(
    "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool "
    "density=False) -> (Tensor hist, Tensor bin_edges)",
    refused="aten::histogram",
    wrapper=histogram_type,
)
def histogram(self, bins, range, weight, density):
    check(self, weight, None)
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if self.dtype.kind != "f":
        raise not_implemented("histogramdd", self)
    edges = even_edges(self, bins, range)
    return counted(self.ravel(), edges, None if weight is None else weight.ravel(), density)
