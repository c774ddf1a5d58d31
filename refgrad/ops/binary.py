"""Pointwise arithmetic and comparison of two operands."""

import numpy as np

from refgrad import dtypes
from refgrad.op import composite, op

BOOL_SUB = (
    "Subtraction, the `-` operator, with {} is not supported. If you are trying to invert a mask, use the `~` or "
    "`logical_not()` operator instead."
)
TWO_BOOL_SUB = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
    "instead."
)


def scaled(array, alpha):
    """`array * alpha` in the array's own type."""
    return array if alpha == 1 else np.multiply(array, np.asarray(alpha).astype(np.asarray(array).dtype))


def check_subtraction(self, other):
    """Refuse bool operands.

    Raises:
        RuntimeError: with PyTorch's advice.
    """
    for operand in (self, other):
        if isinstance(operand, bool) or getattr(operand, "dtype", None) is dtypes.bool_:
            raise RuntimeError(BOOL_SUB.format("a bool tensor"))


@op(
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    promote="arithmetic",
    inplace=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: grad if alpha == 1 else grad * alpha,
)
def add(self, other, alpha):
    return np.add(self, other) if alpha == 1 else np.add(self, scaled(other, alpha))


@op(
    "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    promote="arithmetic",
    check=check_subtraction,
    inplace=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha,
)
def sub(self, other, alpha):
    if self.dtype == bool:
        raise RuntimeError(TWO_BOOL_SUB)
    return np.subtract(self, other) if alpha == 1 else np.subtract(self, scaled(other, alpha))


@op(
    "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    node="RsubBackward1",
    self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha,
)
def rsub(self, other, alpha):
    if self.dtype == bool:
        raise RuntimeError(BOOL_SUB.format("a bool tensor"))
    kind = dtypes.result_of([dtypes.OF_NUMPY[self.dtype]], [], [other]).numpy
    return np.subtract(np.asarray(other).astype(kind), scaled(self.astype(kind), alpha))


@op(
    "mul.Tensor(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    inplace=True,
    self=lambda grad, other: grad * other.conj(),
    other=lambda grad, self: grad * self.conj(),
)
def mul(self, other):
    return np.multiply(self, other)


@op(
    "div.Tensor(Tensor self, Tensor other) -> Tensor",
    promote="float",
    inplace=True,
    self=lambda grad, other: grad / other.conj(),
    other=lambda grad, other, self: -grad * ((self / other) / other).conj(),
)
def div(self, other):
    return np.divide(self, other)


@composite("conj(Tensor(a) self) -> Tensor(a)")
def conj(self):
    return self
