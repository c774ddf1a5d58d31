"""Scans: cumulative sums, products, extremes, and logarithms of sums of exponentials."""

import numpy as np

from refgrad import dtypes, modes
from refgrad.layout import widened, wrap_dim
from refgrad.op import calls, op
from refgrad.ops.checks import in_transform, not_implemented, put_into, written_zeros
from refgrad.ops.reductions import cast, row_major, summed_type
from refgrad.return_types import named
from refgrad.tensor import wrap

WIDER = {
    np.dtype("float32"): np.float64,
    np.dtype("complex64"): np.complex128,
}


def scanned(ufunc, array, dim, target):
    """The running results of a ufunc along a dimension, kept in a wider type than they are given in."""
    axis = wrap_dim(dim, array.ndim)
    if not array.ndim:
        return np.array(array, target)
    wide = WIDER.get(target, target)
    if target in dtypes.REDUCED:
        array, wide = widened(array.astype(target)), dtypes.float32.numpy
    running = ufunc.accumulate(array, axis=axis, dtype=wide)
    if ufunc is np.add and target.kind in "fcV":
        running += 0.0  # sums begin with +0
    return row_major(running.astype(target, copy=False))


def reversed_sum(tensor, dim):
    """For each element, the sum of it and of those after it."""
    return tensor.flip(dim).cumsum(dim).flip(dim)


def running(name, ufunc, formula):
    """Declare `cumsum` or `cumprod`, and the twin, which keeps the target's type."""

    options = {"self": formula, "reduced": "own"}

    @op(f"{name}(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", **options)
    def plain(self, dim, dtype):
        return scanned(ufunc, self, dim, summed_type(self, dtype))

    @op(f"{name}_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)", **options)
    def in_place(self, dim, dtype):
        if dtype is not None and dtype.numpy != self.dtype:
            names = dtypes.OF_NUMPY[self.dtype].cpp_name, dtype.cpp_name
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {names[0]} and output tensor dtype "
                f"{names[1]} should match"
            )
        if self.dtype.kind == "b":
            raise not_implemented(f"{name}_out_cpu", self)
        return scanned(ufunc, self, dim, self.dtype)


def cumsum_back(grad, dim):
    """Each element counts for all sums from its place on."""
    array = grad._array
    if array.size <= 1 or array.shape[dim] == 1:
        return grad
    return reversed_sum(grad, dim)


def cumprod_back(grad, self, dim, result):
    """The gradient of cumulative products; where zeros occur, without dividing."""
    array = self._array
    dim = wrap_dim(dim, array.ndim)
    if array.size <= 1 or array.shape[dim] == 1:
        return grad
    if not in_transform() and array.all():
        return reversed_sum(result.conj() * grad, dim) / self.conj()
    return cumprod_back_at_zeros(grad, self.conj(), dim)


def cumprod_back_at_zeros(grad, self, dim):
    """One slice after the other: what remains of the later products when this slice is left out."""
    size = self._array.shape[dim]
    slices = []
    for i in range(size):
        rest = products_without(self, dim, i, size)
        slices.append((calls.slice__Tensor(grad, dim, i) * rest).sum((dim,)))
    if not modes.grad_enabled():
        return calls.stack(slices, dim)
    result = written_zeros(grad, self._array.shape)  # as PyTorch does it; graphs of second order show it
    for i, part in enumerate(slices):
        calls.copy_(calls.select(result, dim, i), part)
    return result


def products_without(self, dim, i, size):
    """The cumulative products from slice `i` on, without slice `i`."""
    if i == size - 1:
        return calls.slice__Tensor(self, dim, 0, i).prod(dim, True)
    later = calls.slice__Tensor(self, dim, i + 1).cumprod(dim)
    if not i:
        shape = [1 if axis == dim else n for axis, n in enumerate(self._array.shape)]
        return calls.cat([self.new_ones(shape), later], dim)
    before = calls.slice__Tensor(self, dim, 0, i).prod(dim, True)
    return calls.cat([before, before.expand(later._array.shape) * later], dim)


running("cumsum", np.add, lambda grad, self_scalar_type, dim: cumsum_back(cast(grad, self_scalar_type), dim))
running(
    "cumprod",
    np.multiply,
    lambda grad, self, dim, result: cumprod_back(cast(grad, self.dtype), self, dim, result),
)

# Extremes ---------------------------------------------------------------------------------------------------


def running_extreme(name, ufunc):
    """Declare `cummax` or `cummin`; of equal elements the last one counts."""

    @op(
        f"{name}(Tensor self, int dim) -> (Tensor values, Tensor indices)",
        nondifferentiable=(1,),
        wrapper=named(name, "values", "indices"),
        self=lambda grad, self, dim, indices: cumulative_extreme_back(grad, self, dim, indices),
    )
    def kernel(self, dim):
        if not self.ndim and dim not in (0, -1):
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        if not self.ndim or not self.size:  # the dimension is not looked at
            return np.array(self, order="C"), np.zeros(self.shape, np.int64)
        axis = wrap_dim(dim, self.ndim)
        if self.dtype.kind == "c":
            raise not_implemented(f"{name}_cpu", self)
        values = ufunc.accumulate(self, axis=axis)
        counts = np.arange(self.shape[axis]).reshape([-1 if i == axis else 1 for i in range(self.ndim)])
        places = np.where(np.equal(self, values) | np.not_equal(self, self), counts, 0)
        places = np.maximum.accumulate(places, axis=axis)
        return row_major(np.take_along_axis(self, places, axis)), row_major(places)


def cumulative_extreme_back(grad, self, dim, indices):
    """Each gradient goes to the element that was the extreme."""
    if not self._array.size:
        return self
    zeros = written_zeros(self, self._array.shape)
    return put_into(zeros, calls.scatter_add_, calls.scatter_add, dim, indices, grad)


running_extreme("cummax", np.maximum)
running_extreme("cummin", np.minimum)


# Logarithms of sums -----------------------------------------------------------------------------------------


@op(
    "logcumsumexp(Tensor self, int dim) -> Tensor",
    self=lambda grad, self, result, dim: logcumsumexp_back(grad, self, result, dim),
)
def logcumsumexp(self, dim):
    axis = wrap_dim(dim, self.ndim)
    if self.dtype.kind not in "fc":
        raise not_implemented("logcumsumexp_out_cpu", self)
    if not self.ndim or not self.size:
        return np.array(self, order="C")
    wide = WIDER.get(self.dtype, self.dtype)
    if self.dtype.kind == "c":
        running = complex_log_sums(np.moveaxis(self.astype(wide), axis, 0), axis)
    else:
        running = np.logaddexp.accumulate(self, axis=axis, dtype=wide) + 0  # no negative zero
    return row_major(running.astype(self.dtype, copy=False))


def complex_log_sums(slices, axis):
    """The running logarithms of sums of exponentials of complex slices, moved to `axis`."""
    running = slices.copy()
    for i in range(1, len(running)):
        before, here = running[i - 1], slices[i]
        swap = before.real < here.real
        low, high = np.where(swap, before, here), np.where(swap, here, before)
        total = np.log1p(np.exp(low - high)) + high
        running[i] = np.where(np.isneginf(high.real), high, total)
    return np.moveaxis(running, 0, axis)


def logcumsumexp_back(grad, self, result, dim):
    """In logarithms, the positive and the negative gradients apart."""
    if not grad._array.ndim or not grad._array.size:
        return grad

    def reverse(x):
        return calls.logcumsumexp(x.flip(dim), dim).flip(dim)

    if grad.is_complex():
        return (reverse(grad.conj().log() - result) + self).exp().conj()
    lowest = wrap(np.asarray(dtypes.finfo(grad.dtype).min, grad._array.dtype))
    size = grad.abs().log()
    up = calls.where__self(calls.gt__Scalar(grad, 0), size, lowest)
    down = calls.where__self(calls.lt__Scalar(grad, 0), size, lowest)
    return (reverse(up - result) + self).exp() - (reverse(down - result) + self).exp()
