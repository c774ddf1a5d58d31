"""Variance and its relatives, quantiles, covariance, and counting by value."""

import warnings
from math import prod as product
from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.layout import wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.checks import not_implemented
from refgrad.ops.reductions import axes_of, mean_back, reduced_count, restored, row_major
from refgrad.tensor import Tensor, wrap

FREEDOM = (
    "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input "
    "numel divided by output numel)."
)

# Variance ---------------------------------------------------------------------------------------------------


def moments(array, dim, correction, keepdim, name, subject):
    """The variance, in double precision, and the mean over dimensions.

    Raises:
        RuntimeError: the type is not floating.
    """
    if array.dtype.kind not in "fc":
        raise RuntimeError(f"{subject} only support floating point and complex dtypes")
    axes = axes_of(dim, array.ndim)
    count = product(array.shape[axis] for axis in axes)
    correction = 1 if correction is None else correction
    if (count if array.size else 0) - correction <= 0:
        warnings.warn(FREEDOM.format(name), UserWarning, stacklevel=5)
    wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    mean = np.divide(np.add.reduce(wide, axis=axes, keepdims=True), count)
    distance = np.subtract(wide, mean)
    squares = (
        np.square(distance.real) + np.square(distance.imag) if wide.dtype.kind == "c" else np.square(distance)
    )
    variance = np.divide(np.add.reduce(squares, axis=axes, keepdims=keepdim), max(count - correction, 0))
    return variance, mean if keepdim else np.squeeze(mean, axis=axes)


def in_type(array, dtype):
    """A result in row-major memory of this type."""
    return row_major(array.astype(dtype))


@op(
    "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
    node="VarBackward0",
    self=lambda grad, self, dim, correction, keepdim: variance_back(grad, self, dim, correction, keepdim),
)
def variance(self, dim, correction, keepdim):
    return in_type(moments(self, dim, correction, keepdim, "var", "std and var")[0], self.real.dtype)


@op(
    "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
    node="StdBackward0",
    self=lambda grad, self, result, dim, correction, keepdim: variance_back(
        deviation_back(grad, result), self, dim, correction, keepdim
    ),
)
def deviation(self, dim, correction, keepdim):
    return in_type(np.sqrt(moments(self, dim, correction, keepdim, "std", "std and var")[0]), self.real.dtype)


@op(
    "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) "
    "-> (Tensor, Tensor)",
    node="VarMeanBackward0",
    self=lambda grads, self, dim, correction, keepdim: with_mean_back(grads, self, dim, correction, keepdim),
)
def variance_and_mean(self, dim, correction, keepdim):
    found, mean = moments(self, dim, correction, keepdim, "var_mean", "var_mean")
    return in_type(found, self.real.dtype), in_type(mean, self.dtype)


@op(
    "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) "
    "-> (Tensor, Tensor)",
    node="StdMeanBackward0",
    self=lambda grads, self, result0, dim, correction, keepdim: with_mean_back(
        (None if grads[0] is None else deviation_back(grads[0], result0), grads[1]),
        self,
        dim,
        correction,
        keepdim,
    ),
)
def deviation_and_mean(self, dim, correction, keepdim):
    found, mean = moments(self, dim, correction, keepdim, "std_mean", "std_mean")
    return in_type(np.sqrt(found), self.real.dtype), in_type(mean, self.dtype)


def variance_back(grad, self, dim, correction, keepdim):
    """The gradient of a variance: twice the distance from the mean, shared by the degrees of freedom."""
    correction = 1 if correction is None else correction
    shape = self._array.shape
    if not shape or dim is None:
        freedom = self._array.size - correction
        mean = self.mean()
        if freedom <= 0:
            at_mean = calls.eq__Tensor(self, mean)
            odd = [wrap(np.asarray(value, grad._array.dtype)) for value in (np.nan, np.inf)]
            return grad * calls.where__self(at_mean, *odd)
        return grad * (2.0 / freedom) * (self - mean)
    if len(shape) > 1:
        grad = restored(grad, dim, len(shape), keepdim)
    freedom = reduced_count(shape, dim) - correction
    factor = 2.0 / freedom if freedom else np.inf
    return grad * factor * (self - self.mean(dim, True))


def deviation_back(grad, result):
    """The gradient for the variance under a standard deviation; zero where that is zero."""
    return (grad / (result * 2)).masked_fill_(calls.eq__Scalar(result, 0), 0)


def with_mean_back(grads, self, dim, correction, keepdim):
    """The gradient of a variance and a mean, as far as they are asked for."""
    parts = []
    if grads[0] is not None:
        parts.append(variance_back(grads[0], self, dim, correction, keepdim))
    if grads[1] is not None:
        parts.append(mean_back(grads[1], self._array.shape, dim or (), self._array.size, keepdim))
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def by_flag(name):
    """Declare the overloads that say `unbiased`."""
    entry = f"{name}__correction"
    results = "(Tensor, Tensor)" if name.endswith("_mean") else "Tensor"

    @composite(f"{name}(Tensor self, bool unbiased=True) -> {results}")
    def of_all(self, unbiased=None):
        # A call without arguments means the overload with `correction`.
        return getattr(calls, entry)(self, None, None if unbiased is None else int(unbiased), False)

    @composite(f"{name}.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> {results}")
    def along(self, dim, unbiased=True, keepdim=False):
        return getattr(calls, entry)(self, dim, int(unbiased), keepdim)


for flagged in ("var", "std", "var_mean", "std_mean"):
    by_flag(flagged)

# Covariance -------------------------------------------------------------------------------------------------


def observation_weights(weights, name, count):
    """The weights of the observations, checked.

    Raises:
        RuntimeError: they are no vector of that many weights, of another type, or negative.
    """
    if weights is None:
        return
    array = weights._array
    if array.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} "
            f"with {array.ndim} dimensions"
        )
    if name == "fweights" and array.dtype.kind not in "iu":
        kind = weights.dtype.scalar_type
        raise RuntimeError(
            f"cov(): expected fweights to have integral dtype but got fweights with {kind} dtype"
        )
    if name == "aweights" and array.dtype.kind != "f":
        raise RuntimeError(
            "cov(): expected aweights to have floating point dtype but got aweights "
            f"with {weights.dtype.scalar_type} dtype"
        )
    if array.size != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{array.size} != {count}"
        )
    if count and array.min() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")


@composite("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor")
def cov(self, correction=1, fweights=None, aweights=None):
    ndim = self._array.ndim
    if ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {ndim} dimensions"
        )
    if self._array.dtype == bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = calls.view(self, (1, -1)) if ndim < 2 else self
    count = rows._array.shape[1]
    observation_weights(fweights, "fweights", count)
    observation_weights(aweights, "aweights", count)
    weights = fweights
    if aweights is not None:
        weights = aweights if fweights is None else fweights * aweights
    total: Any = wrap(np.asarray(count)) if weights is None else weights.sum()
    if weights is not None and not total.item():
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = (rows if weights is None else rows * weights).sum((1,)) / total
    centred = rows - mean.unsqueeze(1)
    other = centred if weights is None else centred * weights
    return (calls.mm(centred, other.t().conj()) / cov_freedom(total, correction, weights, aweights)).squeeze()


def cov_freedom(total, correction, weights, aweights):
    """What a covariance is divided by; zero, with a warning, when there are too few observations."""
    freedom = total
    if correction and aweights is not None:
        freedom = total - calls.mul__Scalar((weights * aweights).sum(), correction) / total
    elif correction:
        freedom = total - correction
    if freedom.item() > 0:
        return freedom
    warnings.warn(
        "cov(): degrees of freedom is <= 0. Correction should be strictly less than the "
        "number of observations.",
        UserWarning,
        stacklevel=5,
    )
    return wrap(np.zeros((), freedom._array.dtype))


@composite("corrcoef(Tensor self) -> Tensor")
def corrcoef(self):
    if self._array.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input "
            f"with {self._array.ndim} dimensions"
        )
    found = calls.cov(self)
    if not found._array.ndim:
        return found / found
    scale = calls.diagonal(found, 0, 0, 1).sqrt()
    found = found / calls.view(scale, (-1, 1)) / calls.view(scale, (1, -1))
    if found.is_complex():
        return calls.complex(found.real.clip(-1, 1), found.imag.clip(-1, 1))
    return found.clip(-1, 1)


# Quantiles --------------------------------------------------------------------------------------------------

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def check_quantile(self, q, interpolation):
    """Refuse what no quantile is defined for, also of `nanquantile`.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if not self._array.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q._array.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if self._array.dtype not in (np.float32, np.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if self.dtype is not q.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if not ((q._array >= 0) & (q._array <= 1)).all():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")


def quantile_of(self, q, dim, keepdim, interpolation, name):
    """Quantiles, as PyTorch composes them of sort, gather and lerp."""
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        q = wrap(np.asarray(q, self._array.dtype))
    check_quantile(self, q, interpolation)
    ndim = self._array.ndim
    axis = 0 if dim is None else wrap_dim(dim, ndim)
    shape = list(self._array.shape) if dim is not None and ndim else [1] * ndim
    if dim is not None and ndim or keepdim:
        shape = (
            [1 if i == axis else n for i, n in enumerate(shape)]
            if keepdim
            else shape[:axis] + shape[axis + 1 :]
        )
    else:
        shape = []
    if dim is None:
        ordered = calls.sort(calls.flatten(self))[0]
    elif axis == ndim - 1:
        ordered = calls.sort(self)[0]
    else:
        ordered = calls.sort(calls.transpose(calls.unsqueeze(self, -1), axis, -1))[0]
    ordered = calls.view(ordered, (*shape, ordered._array.shape[-1]))
    values = interpolated(ordered, quantile_ranks(q, ordered, name), interpolation)
    if not q._array.ndim:
        return values.squeeze_(-1)
    return values.unsqueeze_(0).transpose_(0, -1).squeeze_(-1)


def quantile_ranks(q, ordered, name):
    """Where in the sorted rows the quantiles lie; where NaN occurs (but for `nanquantile`), at the NaN."""
    missing = calls.isnan(ordered)
    if name == "nanquantile":
        ranks = q * (missing.logical_not().sum((-1,), True) - 1)
        return ranks.masked_fill_(calls.lt__Scalar(ranks, 0), 0)
    last = ordered._array.shape[-1] - 1
    any_missing = calls.any__dim(missing, -1, True)
    ranks = calls.mul__Scalar(q, last)
    shape = np.broadcast_shapes(ranks._array.shape, any_missing._array.shape)
    ranks = ranks if ranks._array.shape == shape else ranks.expand(shape)
    return calls.masked_fill__Scalar(ranks, any_missing, last)


def interpolated(ordered, ranks, interpolation):
    """The elements at these ranks, or between those below and above."""
    rounding = {"lower": "floor_", "higher": "ceil_", "nearest": "round_"}.get(interpolation)
    if rounding is not None:
        ranks = getattr(ranks, rounding)()
    below = ranks.to(dtypes.int64)
    values = ordered.gather(-1, below)
    if rounding is not None:
        return values
    weights = calls.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - below
    return values.lerp_(ordered.gather(-1, ranks.ceil_().to(dtypes.int64)), weights)


@composite(
    "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') "
    "-> Tensor"
)
def quantile(self, q, dim=None, keepdim=False, interpolation="linear"):
    return quantile_of(self, q, dim, keepdim, interpolation, "quantile")


@composite(
    "quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') "
    "-> Tensor"
)
def quantile_at(self, q, dim=None, keepdim=False, interpolation="linear"):
    return quantile_of(self, q, dim, keepdim, interpolation, "quantile")


@composite(
    "nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') "
    "-> Tensor"
)
def nanquantile(self, q, dim=None, keepdim=False, interpolation="linear"):
    return quantile_of(self, q, dim, keepdim, interpolation, "nanquantile")


@composite(
    "nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, "
    "str interpolation='linear') -> Tensor"
)
def nanquantile_at(self, q, dim=None, keepdim=False, interpolation="linear"):
    return quantile_of(self, q, dim, keepdim, interpolation, "nanquantile")


# Counting by value ------------------------------------------------------------------------------------------


@op("bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor", refused="aten::bincount")
def bincount(self, weights, minlength):
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.dtype.kind not in "iu":
        raise not_implemented("bincount_cpu", self)
    if self.ndim == 1 and not self.size:
        return np.zeros(minlength, np.int64)
    if self.ndim != 1 or self.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and (weights.ndim != 1 or weights.size != self.size):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    counts = np.bincount(self, weights, minlength)
    if weights is None or weights.dtype == np.float32:
        return counts.astype(np.int64 if weights is None else np.float32)
    return counts.astype(np.float64)


@op("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor")
def histc(self, bins, min, max):
    if self.dtype.kind != "f":
        raise not_implemented("histogram_cpu", self)
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = min, max
    if low == high and self.size:
        low, high = self.min(), self.max()
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    inside = self[(self >= low) & (self <= high)].astype(np.float64)
    places = np.minimum(((inside - low) * (bins / (high - low))).astype(np.int64), bins - 1)
    return np.bincount(places, minlength=bins).astype(self.dtype)


# Places in sorted sequences ---------------------------------------------------------------------------------


def places_in(sequence, values, right, out_int32):
    """Where each value would be inserted into its sorted sequence."""
    side: Any = "right" if right else "left"
    kind = np.int32 if out_int32 else np.int64
    if sequence.ndim == 1:
        return np.asarray(np.searchsorted(sequence, values, side)).astype(kind)
    found = np.empty(values.shape, kind)
    for row in np.ndindex(sequence.shape[:-1]):
        found[row] = np.searchsorted(sequence[row], values[row], side)
    return found


def right_side(right, side):
    """Whether equal values go to the right of their equals.

    Raises:
        RuntimeError: `side` is not left or right, or contradicts `right`.
    """
    if side is None:
        return right
    if side not in ("left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while "
            "right was True"
        )
    return side == "right"


@op(
    "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, "
    "str? side=None, Tensor? sorter=None) -> Tensor"
)
def searchsorted(sorted_sequence, self, out_int32, right, side, sorter):
    right = right_side(right, side)
    if self.ndim and sorted_sequence.ndim != 1 and sorted_sequence.shape[:-1] != self.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            "boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(sorted_sequence.shape)} and input value tensor {list(self.shape)}"
        )
    if not self.ndim and sorted_sequence.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, "
            "but we got "
            f"boundaries tensor dim({sorted_sequence.ndim}) and input value's dim(0) numel(1)"
        )
    if sorter is not None:
        sorted_sequence = np.take_along_axis(sorted_sequence, sorter, -1)
    return places_in(sorted_sequence, self, right, out_int32)


@op(
    "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, "
    "str? side=None, Tensor? sorter=None) -> Tensor"
)
def searchsorted_number(sorted_sequence, self, out_int32, right, side, sorter):
    return searchsorted.kernel(sorted_sequence, np.asarray(self), out_int32, right, side, sorter)


@op("bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor")
def bucketize(self, boundaries, out_int32, right):
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return places_in(boundaries, self, right, out_int32)


@op("bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor")
def bucketize_number(self, boundaries, out_int32, right):
    return bucketize.kernel(np.asarray(self), boundaries, out_int32, right)
