"""Ops that choose among their operands: where, clamp, maximum and minimum."""

import functools
from typing import Literal

import numpy as np

from refgrad.gradients import complex_mismatch
from refgrad.layout import broadcast_shapes
from refgrad.op import calls, composite, op
from refgrad.ops.checks import first_of_equals, kind_name, not_implemented, together
from refgrad.ops.copying import number_in

# Where ------------------------------------------------------------------------------------------------------


def check_complex(grad, kind):
    """Refuse what PyTorch forgot to provide for: a complex gradient for a real operand.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if grad.is_complex() and not kind.is_complex:
        raise RuntimeError(complex_mismatch())
    return grad


@op(
    "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
    promote="same",
    self=lambda grad, condition, self_scalar_type: check_complex(
        calls.where__self(condition, grad, 0), self_scalar_type
    ),
    other=lambda grad, condition, other_scalar_type: check_complex(
        calls.where__self(condition, 0, grad), other_scalar_type
    ),
)
def where(condition, self, other):
    if condition.dtype not in (np.bool_, np.uint8):
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            + kind_name(condition)
        )
    return np.where(condition, *together("arithmetic", self, other))


for first, second, overload in (
    ("Scalar", "Tensor", "ScalarSelf"),
    ("Tensor", "Scalar", "ScalarOther"),
    ("Scalar", "Scalar", "Scalar"),
):
    composite(f"where.{overload}(Tensor condition, {first} self, {second} other) -> Tensor")(
        lambda condition, self, other: where.call(condition, self, other)
    )


@composite("where(Tensor condition) -> Tensor[]")
def where_nonzero(condition):
    places = calls.nonzero(condition if condition._array.ndim else condition.unsqueeze(0))
    return calls.unbind(places, 1)


# Clamp ------------------------------------------------------------------------------------------------------

ORDERS: tuple[Literal["C"], Literal["F"]] = ("C", "F")
VECTORS = 64  # bytes that a step of PyTorch's vectorized loops takes: two AVX2 registers
BOUNDS = "torch.clamp: At least one of 'min' or 'max' must not be None"


def at_least(array, low):
    """Elements moved up to a bound of the same type, NaN where either is."""
    return in_vectors(np.maximum, array, low)


def at_most(array, high):
    """Elements moved down to a bound of the same type, NaN where either is."""
    return in_vectors(np.minimum, array, high)


def in_vectors(function, first, second):
    """The extreme of a tensor and a tensor or number, with the sign of zero that PyTorch's loop gives.

    Of two zeros the loop keeps the second while it takes vectors of both tensors, and the first in what is
    left over, with a number, and where elements do not lie one after the other.
    """
    result = first_of_equals(function, first, second)
    count = result.size - result.size % (VECTORS // result.itemsize)
    if not count or result.dtype.kind != "f" or not isinstance(second, np.ndarray):
        return result
    whole = [array for array in (result, first, second) if array.ndim]
    for order in ORDERS:
        if all(array.shape == result.shape and array.flags[order] for array in whole):
            parts = [
                array.reshape(-1, order=order)[:count] if array.ndim else array for array in (second, first)
            ]
            result.reshape(-1, order=order)[:count] = first_of_equals(function, *parts)
            break
    return result


def clamped(array, low, high):
    """Elements kept between bounds of the same type; the upper bound wins, NaN anywhere gives NaN."""
    if low is not None:
        array = at_least(array, low)
    return array if high is None else at_most(array, high)


def is_complex(operand):
    """Whether an array or a number is complex."""
    return operand.dtype.kind == "c" if isinstance(operand, np.ndarray) else isinstance(operand, complex)


def clamp_bounds(array, low, high):
    """Operands of a clamp in their common type.

    Raises:
        NotImplementedError: they are complex or bool.
        RuntimeError: there is no bound.
    """
    if low is None and high is None:
        raise RuntimeError(BOUNDS)
    given = [bound for bound in (low, high) if bound is not None]
    if array.dtype.kind == "c" or any(is_complex(bound) for bound in given):
        raise NotImplementedError("clamp is not supported for complex types")
    tensors = isinstance(given[0], np.ndarray)
    if not tensors and array.dtype.kind in "fV":
        for bound in given:
            number_in(bound, array.dtype)  # which refuses it where it is too large
    functools.reduce(broadcast_shapes, (np.shape(bound) for bound in given), array.shape)
    array, *given = together("arithmetic", array, *given)
    if array.dtype == bool and not (tensors and len(given) == 1):
        raise not_implemented("clamp_cpu" if tensors else "clamp_scalar_cpu", array)
    return array, (given.pop(0) if low is not None else None), (given.pop(0) if high is not None else None)


def kept_where(condition, grad):
    """The gradient where a condition holds, zero elsewhere."""
    return calls.where__self(condition, grad, grad.new_zeros(()))


def clamp_back(grad, self, min, max):
    """The gradient of what was clamped: that of the result where no bound was active."""
    if min is None:
        inside = self <= max
    elif max is None:
        inside = self >= min
    else:
        inside = (self >= min).logical_and_(self <= max)
    return kept_where(inside, grad)


@op(
    "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    reduced="own",
    laid_out_by="self",
    inplace=True,
    node="ClampBackward1",
    self=lambda grad, self, min, max: clamp_back(grad, self, min, max),
)
def clamp(self, min, max):
    return np.array(clamped(*clamp_bounds(self, min, max)))


def clamp_bounds_back(grad, self, min, max):
    """The gradients of the two bounds: that of the result where the bound was active."""
    low = high = None
    if min is not None:
        active = self < min if max is None else calls.logical_and(min < max, self < min)
        low = kept_where(active, grad)
    if max is not None:
        active = self > max if min is None else calls.logical_or(self > max, max < min)
        high = kept_where(active, grad)
    return low, high


@op(
    "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    laid_out_by="self, min, max",
    inplace=True,
    self=lambda grad, self, min, max: clamp_back(grad, self, min, max),
    jointly=("min, max", lambda grad, self, min, max: clamp_bounds_back(grad, self, min, max)),
)
def clamp_tensor(self, min, max):
    return np.array(clamped(*clamp_bounds(self, min, max)))


def one_sided(refusal, function):
    """The kernel of a clamp with one bound."""

    def kernel(self, limit):
        first, second = together("arithmetic", self, limit)
        if first.dtype.kind == "c":
            if isinstance(limit, np.ndarray):
                raise not_implemented(refusal, first)
            raise NotImplementedError("clamp is not supported for complex types")
        return function(first, second if isinstance(limit, np.ndarray) else second[()])

    return kernel


op(
    "clamp_min(Tensor self, Scalar min) -> Tensor",
    laid_out_by="self",
    inplace=True,
    self=lambda grad, self, min: kept_where(self >= min, grad),
)(one_sided("maximum_cpu", at_least))
op(
    "clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
    promote="same",
    inplace=True,
    node="ClampMinBackward1",
    self=lambda grad, self, min: kept_where(self >= min, grad),
    min=lambda grad, self, min: kept_where(self < min, grad),
)(one_sided("maximum_cpu", at_least))
op(
    "clamp_max(Tensor self, Scalar max) -> Tensor",
    laid_out_by="self",
    inplace=True,
    self=lambda grad, self, max: kept_where(self <= max, grad),
)(one_sided("minimum_cpu", at_most))
op(
    "clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
    promote="same",
    inplace=True,
    node="ClampMaxBackward1",
    self=lambda grad, self, max: kept_where(self <= max, grad),
    max=lambda grad, self, max: kept_where(self > max, grad),
)(one_sided("minimum_cpu", at_most))


def renamed_clamp(ending, mark, kind, entry):
    """Declare `clip`, the other name of `clamp`, for bounds of one kind."""
    name = entry.name.replace("clamp", f"clip{ending}")
    use = "call_inplace" if ending else "call"

    @composite(f"{name}(Tensor{mark} self, {kind}? min=None, {kind}? max=None) -> Tensor{mark}")
    def clip(self, min=None, max=None):
        return getattr(entry, use)(self, min, max)


for bounds in (("Scalar", clamp), ("Tensor", clamp_tensor)):
    renamed_clamp("", "", *bounds)
    renamed_clamp("_", "(a!)", *bounds)


# Maximum and minimum ----------------------------------------------------------------------------------------


def refused_complex(name, function):
    """A kernel of two operands that refuses complex ones."""

    def kernel(self, other):
        if is_complex(self) or is_complex(other):
            raise RuntimeError(f"{name} not implemented for complex tensors.")
        return function(self, other)

    return kernel


def higher_number(first, second):
    """The greater of two; the first of equal ones, the other where one is NaN."""
    return np.where((first >= second) | np.isnan(second), first, second)


def lower_number(first, second):
    """The lesser of two; the first of equal ones, the other where one is NaN."""
    return np.where((first <= second) | np.isnan(second), first, second)


maximum = op(
    "maximum(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    self=lambda grad, self, other: calls.where__self(self == other, grad / 2, grad).masked_fill_(
        self < other, 0
    ),
    other=lambda grad, self, other: calls.where__self(self == other, grad / 2, grad).masked_fill_(
        self > other, 0
    ),
)(refused_complex("maximum", at_least))
minimum = op(
    "minimum(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    self=lambda grad, self, other: calls.where__self(self == other, grad / 2, grad).masked_fill_(
        self > other, 0
    ),
    other=lambda grad, self, other: calls.where__self(self == other, grad / 2, grad).masked_fill_(
        self < other, 0
    ),
)(refused_complex("minimum", at_most))
fmax = op(
    "fmax(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    self=lambda grad, self, other: grad.masked_fill(
        (self >= other).logical_or_(other.isnan()).logical_not_(), 0
    ),
    other=lambda grad, self, other: grad.masked_fill((self >= other).logical_or_(other.isnan()), 0),
)(refused_complex("fmax", higher_number))
fmin = op(
    "fmin(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    self=lambda grad, self, other: grad.masked_fill(
        (self <= other).logical_or_(other.isnan()).logical_not_(), 0
    ),
    other=lambda grad, self, other: grad.masked_fill((self <= other).logical_or_(other.isnan()), 0),
)(refused_complex("fmin", lower_number))


@composite("max.other(Tensor self, Tensor other) -> Tensor")
def max_other(self, other):
    return maximum.call(self, other)


@composite("min.other(Tensor self, Tensor other) -> Tensor")
def min_other(self, other):
    return minimum.call(self, other)
