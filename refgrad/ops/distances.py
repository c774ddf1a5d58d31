"""Distances between tensors, and between all pairs of the rows of matrices."""

import math
from math import prod as product

import numpy as np

from refgrad import dtypes
from refgrad.layout import broadcast_shapes
from refgrad.op import calls, composite, op
from refgrad.ops.checks import kind_name, not_implemented, unreduced
from refgrad.ops.norms import norm_back, norm_of_sizes, zeros_of
from refgrad.ops.reductions import row_major


def not_derived(name):
    """Refuse to differentiate an op.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


@op(
    "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    self=lambda grad, self, other, p, result: norm_back(grad, self - other, p, result, (), False),
    other=lambda grad, self, other, p, result: minus(norm_back(grad, self - other, p, result, (), False)),
)
def dist(self, other, p):
    broadcast_shapes(self.shape, other.shape)
    difference = np.subtract(self, other)
    if difference.dtype.kind not in "fc":
        name = kind_name(difference)
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {name} instead."
        )
    kind = dtypes.promote(dtypes.OF_NUMPY[self.dtype], dtypes.OF_NUMPY[other.dtype]).to_real()
    return norm_of_sizes(np.abs(difference), p, None, False).astype(kind.numpy)


NO_GRADIENT = "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #0 'self'"


def minus(gradient):
    """The gradient with its sign changed.

    Raises:
        RuntimeError: there is none, as for a count of differences.
    """
    if gradient is None:
        raise RuntimeError(NO_GRADIENT)
    return -gradient


# Pairs of rows ----------------------------------------------------------------------------------------------


def check_pairs(x1, x2, p):
    """Refuse operands between whose rows there is no distance.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    for name, array in (("X1", x1), ("X2", x2)):
        if array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {array.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    for name, array in (("X1", x1), ("X2", x2)):
        if dtypes.OF_NUMPY[array.dtype].category != dtypes.FLOATING:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {kind_name(array)}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.dtype != x2.dtype:
        raise RuntimeError(f"expected scalar type {kind_name(x1)} but found {kind_name(x2)}")


@composite("cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor")
def cdist(x1, x2, p=2.0, compute_mode=None):
    check_pairs(x1._array, x2._array, p)
    large = max(x1._array.shape[-2], x2._array.shape[-2]) > 25
    empty = not (x1._array.size and x2._array.size)
    if p != 2 or empty or compute_mode == 2 or compute_mode in (None, 0) and not large:
        return calls._cdist_forward(x1, x2, p, compute_mode)
    batch = broadcast_shapes(x1._array.shape[:-2], x2._array.shape[:-2])
    shape = (*batch, x1._array.shape[-2], x2._array.shape[-2])
    if product(batch) > 1:
        x1, x2 = (
            calls.reshape(x.expand(batch + x._array.shape[-2:]), (-1, *x._array.shape[-2:])) for x in (x1, x2)
        )
    return calls.view(calls._euclidean_dist(x1, x2), shape)


def differences(x1, x2):
    """The differences of all pairs of rows."""
    return np.subtract(x1[..., :, None, :], x2[..., None, :, :])


def lengths(differences, p, skips_nan):
    """The norms of rows; NaN cannot be counted, and does not show in the greatest if `skips_nan`."""
    sizes = np.abs(differences)
    if p == 0:
        return np.minimum(np.ceil(sizes), 1).sum(-1)
    if p == np.inf and skips_nan:
        return np.fmax.reduce(sizes, axis=-1, initial=0)
    return norm_of_sizes(sizes, p, -1, False)


@op(
    "_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
    reduced="own",
    node="CdistBackward0",
    x1=lambda grad, x1, x2, p, result: calls._cdist_backward(grad.contiguous(), x1, x2, p, result),
    x2=lambda grad, x1, x2, p, result: calls._cdist_backward(
        grad.transpose(-2, -1).contiguous(), x2, x1, p, result.transpose(-2, -1).contiguous()
    ),
)
def cdist_forward(x1, x2, p, compute_mode):
    if x1.size and x2.size and x1.dtype in dtypes.REDUCED:
        raise not_implemented("cdist", x1)
    return row_major(lengths(differences(x1, x2), p, skips_nan=True).astype(x1.dtype, copy=False))


@op(
    "_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
    node="CdistBackwardBackward0",
    grad=lambda grads: not_derived("_cdist_backward"),
    x1=lambda grads: not_derived("_cdist_backward"),
    x2=lambda grads: not_derived("_cdist_backward"),
    cdist=lambda grads: not_derived("_cdist_backward"),
)
def cdist_backward(grad, x1, x2, p, cdist):
    slopes = pair_slopes(differences(x1, x2), p, cdist[..., None])
    return row_major(np.add.reduce(slopes * grad[..., None], axis=-2))


def pair_slopes(difference, p, distance):
    """How each distance changes with the coordinates of its first row; zero where the distance is zero."""
    if p == 0:
        return np.zeros_like(difference)
    sign, size = np.sign(difference), np.abs(difference)
    if p == 1:
        return sign
    if math.isinf(p):
        return sign * np.equal(size, distance)
    apart = np.not_equal(distance, 0) & (np.not_equal(size, 0) | (p >= 1))
    slopes = difference / distance if p == 2 else sign * (size / distance) ** (p - 1)
    return np.where(apart, slopes, 0).astype(difference.dtype)


@op(
    "_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
    node="EuclideanDistBackward0",
    jointly=("x1, x2", lambda grad, x1, x2, result: euclidean_back(grad, x1, x2, result)),
)
def euclidean_dist(x1, x2):
    return row_major(norm_of_sizes(np.abs(differences(x1, x2)), 2, -1, False))


def euclidean_back(grad, x1, x2, result):
    """The gradients of distances for both sides; zero where the distance is zero."""
    ratio = (grad / result).masked_fill_(zeros_of(result), 0)
    first = x1 * ratio.sum((-1,), True) - ratio.matmul(x2)
    second = x2 * ratio.sum((-2,), False).unsqueeze(-1) - ratio.transpose(-2, -1).matmul(x1)
    return first, second


# Pairs within one matrix ------------------------------------------------------------------------------------


@composite("pdist(Tensor self, float p=2) -> Tensor")
def pdist(self, p=2.0):
    array = self._array
    if array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {array.ndim}D")
    if self.dtype.category != dtypes.FLOATING:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    return calls._pdist_forward(self.contiguous(), p)


@op(
    "_pdist_forward(Tensor self, float p=2) -> Tensor",
    node="PdistBackward0",
    self=lambda grad, self, p, result: calls._pdist_backward(grad, self, p, result),
)
@unreduced("pdist")
def pdist_forward(self, p):
    first, second = np.triu_indices(len(self), 1)
    return lengths(self[first] - self[second], p, skips_nan=False).astype(self.dtype, copy=False)


@op(
    "_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor",
    node="PdistBackwardBackward0",
    grad=lambda grads: not_derived("_pdist_backward"),
    self=lambda grads: not_derived("_pdist_backward"),
    pdist=lambda grads: not_derived("_pdist_backward"),
)
def pdist_backward(grad, self, p, pdist):
    first, second = np.triu_indices(len(self), 1)
    slopes = pair_slopes(self[first] - self[second], p, pdist[:, None]) * grad[:, None]
    result = np.zeros_like(self, order="C")
    np.add.at(result, first, slopes)
    np.subtract.at(result, second, slopes)
    return result
