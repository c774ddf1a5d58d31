"""Pointwise arithmetic of two operands: sums, products, quotients, powers, and functions of two variables."""

from collections.abc import Callable

import numpy as np

from refgrad import dtypes
from refgrad.dtypes import REDUCED
from refgrad.layout import widened
from refgrad.op import calls, composite, op
from refgrad.ops.checks import not_implemented, together, with_number
from refgrad.tensor import Tensor

BOOL_SUB = (
    "Subtraction, the `-` operator, with {} is not supported. If you are trying to invert a mask, use the "
    "`~` or `logical_not()` operator instead."
)
TWO_BOOL_SUB = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead."
)

# Sums and products ------------------------------------------------------------------------------------------


def scaled(array, alpha, dtype):
    """An array or number times `alpha`, in the type of the result.

    Raises:
        RuntimeError: the type cannot hold `alpha`.
    """
    if isinstance(alpha, bool) and dtype.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if dtype.kind in "biu" and not isinstance(alpha, int):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if dtype.kind != "c" and isinstance(alpha, complex):
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if not isinstance(array, np.ndarray):
        return array * alpha
    return np.multiply(array, np.asarray(alpha).astype(array.dtype))


def is_one(alpha):
    """Whether a factor changes nothing, whatever the type."""
    return alpha.__class__ is int and alpha == 1


def check_subtraction(self, other):
    """Refuse bool operands.

    Raises:
        RuntimeError: with PyTorch's advice.
    """
    count = sum(isinstance(x, bool) or getattr(x, "dtype", None) is dtypes.bool_ for x in (self, other))
    if count:
        raise RuntimeError(TWO_BOOL_SUB if count == 2 else BOOL_SUB.format("a bool tensor"))


@op(
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    reduced="own",
    promote="arithmetic",
    ufunc=np.add,
    scalar="add.Scalar",
    inplace=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: grad if alpha == 1 else grad * alpha.conjugate(),
)
def add(self, other, alpha):
    if self.dtype.kind == "c" or not is_one(alpha):
        other = scaled(other, alpha, self.dtype)  # complex numbers even by one, which shows at infinity
    return np.add(self, other)


@op(
    "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    reduced="own",
    promote="arithmetic",
    ufunc=np.subtract,
    scalar="sub.Scalar",
    check=check_subtraction,
    inplace=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: -grad if alpha == 1 else -grad * alpha.conjugate(),
)
def sub(self, other, alpha):
    if self.dtype == bool:
        raise RuntimeError(TWO_BOOL_SUB)
    if self.dtype.kind == "c":
        return np.add(self, scaled(other, -alpha, self.dtype))
    return np.subtract(self, other if is_one(alpha) else scaled(other, alpha, self.dtype))


@op(
    "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    reduced="own",
    promote="arithmetic",
    check=check_subtraction,
    self=lambda grad, alpha: -grad if alpha == 1 else -grad * alpha.conjugate(),
    other=lambda grad: grad,
)
def rsub(self, other, alpha):
    return sub.kernel(other, self, alpha)


@op(
    "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    reduced="own",
    node="RsubBackward1",
    laid_out_by="self, other",
    self=lambda grad, alpha: -grad if alpha == 1 else -grad * alpha.conjugate(),
)
def rsub_scalar(self, other, alpha):
    if self.dtype == bool or isinstance(other, bool):
        two = self.dtype == bool and isinstance(other, bool)
        raise RuntimeError(TWO_BOOL_SUB if two else BOOL_SUB.format("a bool tensor"))
    this, number = together("arithmetic", self, other)
    return sub.kernel(number, this, alpha)


@op(
    "mul.Tensor(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    ufunc=np.multiply,
    scalar="mul.Scalar",
    reduced="number",
    inplace=True,
    self=lambda grad, other: grad * other.conj(),
    other=lambda grad, self: grad * self.conj(),
)
def mul(self, other):
    return np.multiply(self, other)


def div_other_back(grad, other, self):
    """The gradient of the divisor; the quotient comes first, which shows in the order of its gradients."""
    quotient = ((self / other) / other).conj()
    return -grad * quotient


@op(
    "div.Tensor(Tensor self, Tensor other) -> Tensor",
    promote="float",
    ufunc=np.divide,
    scalar="div.Scalar",
    reduced="number",
    inplace=True,
    self=lambda grad, other: grad / other.conj(),
    other=div_other_back,
)
def div(self, other):
    return np.divide(self, other)


# What formulas record when they meet a number; what users write with a number is the overload of two tensors.

op(
    "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    laid_out_by="self, other",
    inplace=True,
    node="AddBackward1",
    self=lambda grad: grad,
)(with_number("arithmetic", add.kernel))
op(
    "sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    laid_out_by="self, other",
    inplace=True,
    node="SubBackward1",
    self=lambda grad: grad,
)(with_number("arithmetic", sub.kernel))
op(
    "mul.Scalar(Tensor self, Scalar other) -> Tensor",
    laid_out_by="self, other",
    inplace=True,
    node="MulBackward1",
    self=lambda grad, other: grad * other.conjugate(),
)(with_number("arithmetic", mul.kernel))
op(
    "div.Scalar(Tensor self, Scalar other) -> Tensor",
    laid_out_by="self, other",
    inplace=True,
    node="DivBackward1",
    self=lambda grad, other: grad / other.conjugate(),
)(with_number("float", div.kernel))


# Quotients of other kinds -----------------------------------------------------------------------------------


def zero_divisor(first, second):
    """Refuse to divide integers by zero.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if first.dtype.kind in "iu" and not np.all(second):
        raise RuntimeError("ZeroDivisionError")


def refused_kinds(kernel, array):
    """Refuse bool and complex operands."""
    if array.dtype.kind in "bc":
        raise not_implemented(kernel, array)


def floor_quotient(first, second):
    """The quotient rounded down."""
    refused_kinds("div_floor_cpu", first)
    zero_divisor(first, second)
    if first.dtype.kind not in "fV":
        return np.floor_divide(first, second)
    return floor_quotient_of_floats(first, second)


def floor_quotient_of_floats(first, second):
    """The quotient of floats rounded down, exact where a plain division would round up to a whole number."""
    remainder = np.fmod(first, second)
    quotient = (first - remainder) / second
    quotient = np.where((remainder != 0) & ((second < 0) != (remainder < 0)), quotient - 1, quotient)
    down = np.floor(quotient)
    down = np.where(quotient - down > 0.5, down + 1, down)
    down = np.where(quotient == 0, np.copysign(quotient.dtype.type(0), first / second), down)
    return np.where(second == 0, first / second, down).astype(first.dtype)


def trunc_quotient(first, second):
    """The quotient rounded towards zero."""
    refused_kinds("div_trunc_cpu", first)
    zero_divisor(first, second)
    if first.dtype.kind in "fV":
        return np.trunc(np.divide(first, second))
    quotient = np.floor_divide(np.abs(first), np.abs(second))
    return quotient * (np.sign(first) * np.sign(second)) if first.dtype.kind == "i" else quotient


QUOTIENTS = {"floor": floor_quotient, "trunc": trunc_quotient}


def rounded_quotient(self, other, rounding_mode):
    """The quotient in one of PyTorch's rounding modes."""
    if rounding_mode is None:
        return np.divide(*together("float", self, other))
    if rounding_mode not in QUOTIENTS:
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return QUOTIENTS[rounding_mode](*together("arithmetic", self, other))


def div_mode_self_back(grad, other, rounding_mode):
    """The gradient of the dividend: rounded quotients are flat."""
    return grad / other.conj() if rounding_mode is None else calls.zeros_like(grad)


def div_mode_other_back(grad, self, other, rounding_mode):
    """The gradient of the divisor: rounded quotients are flat."""
    if rounding_mode is None:
        return -grad * ((self / other) / other).conj()
    return calls.zeros_like(grad)


@op(
    "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    reduced="own",
    promote="same",
    inplace=True,
    node="DivBackward2",
    self=lambda grad, other, rounding_mode: div_mode_self_back(grad, other, rounding_mode),
    other=lambda grad, self, other, rounding_mode: div_mode_other_back(grad, self, other, rounding_mode),
)
def div_mode(self, other, rounding_mode):
    return rounded_quotient(self, other, rounding_mode)


@composite("div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor")
def div_scalar_mode(self, other, rounding_mode):
    return div_mode.call(self, other, rounding_mode)


@composite("div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)")
def div_scalar_mode_(self, other, rounding_mode):
    return div_mode.call_inplace(self, other, rounding_mode)


@op(
    "floor_divide(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    inplace=True,
    refused="aten::floor_divide",
)
def floor_divide(self, other):
    return floor_quotient(self, other)


def fmod_of(first, second):
    """The remainder with the dividend's sign."""
    refused_kinds("fmod_cpu", first)
    zero_divisor(first, second)
    return np.fmod(first, second)


def remainder_of(first, second):
    """The remainder with the divisor's sign."""
    refused_kinds("remainder_cpu", first)
    zero_divisor(first, second)
    if first.dtype.kind != "f":
        return np.remainder(first, second)
    rest = np.fmod(first, second)
    return np.where((rest != 0) & ((second < 0) != (rest < 0)), rest + second, rest).astype(first.dtype)


def remainder_family(name, kernel, mode):
    """Declare a remainder with its overload for a number as divisor."""
    title = name.title()
    entry = op(
        f"{name}.Tensor(Tensor self, Tensor other) -> Tensor",
        promote="arithmetic",
        inplace=True,
        node=f"{title}Backward1",
        self=lambda grad: grad,
        other=lambda grad, self, other: -grad * div_mode.call(self, other, mode),
    )(kernel)
    op(f"{name}.Scalar(Tensor self, Scalar other) -> Tensor", inplace=True, node=f"{title}Backward0",
       laid_out_by="self, other", self=lambda grad: grad)(with_number("arithmetic", kernel))  # fmt: skip
    return entry


remainder = remainder_family("remainder", remainder_of, "floor")
fmod = remainder_family("fmod", fmod_of, "trunc")


op(
    "remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
    laid_out_by="other, self",
    refused="aten::remainder",
)(with_number("arithmetic", remainder_of))


# Powers -----------------------------------------------------------------------------------------------------


def power(base, exponent):
    """Each base to its exponent."""
    if base.dtype == bool:
        raise not_implemented("pow", base)
    if base.dtype.kind in "iu":
        return integer_power(base, exponent)
    if base.dtype.kind == "c":
        return np.exp(exponent * np.log(base))
    if np.size(exponent) == 1 and np.ravel(exponent)[0] == 0.5:
        # NumPy takes the root here, which differs from the power at minus zero and minus infinity.
        base = np.where(base == -np.inf, -base, base) + base.dtype.type(0)
    return np.power(base, exponent)


def integer_power(base, exponent):
    """Integers to integer powers; negative ones give the integer part of the result."""
    negative = exponent < 0
    if not negative.any():
        return np.power(base, exponent)
    odd = np.where(exponent % 2 == 0, 1, -1)
    inverse = np.where(base == 1, 1, np.where(base == -1, odd, 0))
    return np.where(negative, inverse, np.power(base, np.where(negative, 0, exponent))).astype(base.dtype)


SHORT_POWERS: dict[object, Callable] = {
    0: np.ones_like,
    1: lambda base: base.copy(order="K"),
    0.5: np.sqrt,
    2: lambda base: base * base,
    3: lambda base: base * base * base,
    -0.5: lambda base: 1 / np.sqrt(base),
    -1: lambda base: np.divide(base.dtype.type(1), base),
    -2: lambda base: 1 / (base * base),
}


def power_of_number(self, exponent):
    """Each element to one exponent; small ones as PyTorch computes them, which shows in their rounding."""
    if self.dtype.kind in "biu" and isinstance(exponent, int) and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    base, exponents = together("arithmetic", self, exponent)
    kind = base.dtype
    short = SHORT_POWERS.get(exponent)
    if short is not None and kind.kind in "fcV" and not (kind in REDUCED and abs(exponent) == 0.5):
        # PyTorch has vectors of bfloat16 here, which round each step, and none of float16.
        return short(base if kind.kind == "V" else widened(base)).astype(kind, copy=False)
    return power(widened(base), widened(exponents)).astype(kind, copy=False)


def pow_back(grad, self, exponent):
    """The gradient of the base where the exponent is a number."""
    if exponent == 0:
        return self.new_zeros(self._array.shape)
    exponent = exponent if isinstance(exponent, complex) else float(exponent)
    return grad * (exponent * self.pow(exponent - 1)).conj()


def pow_self_back(grad, self, exponent):
    """The gradient of the base; none where the exponent is zero."""
    slope = (exponent * self.pow(exponent - 1)).conj()
    return calls.where__self(exponent == 0.0, grad.new_zeros(()), grad * slope)


def pow_exponent_back(grad, self, exponent, result):
    """The gradient of the exponent; none where the base is zero and the exponent is not negative."""
    logs = self.to(result.dtype).log() if isinstance(self, Tensor) else logarithm(self, result)
    slope = (result * logs).conj()
    if isinstance(self, Tensor):
        flat = calls.logical_and(self == 0, not_negative(exponent))
    elif self == 0:
        flat = not_negative(exponent)
    else:
        return grad * slope
    return grad * calls.where__self(flat, grad.new_zeros(()), slope)


def logarithm(number, result):
    """The natural logarithm of a number, complex where the result is; a real one is NaN for negative ones."""
    kind = complex if result.is_complex() else float
    return kind(np.log(kind(number)))


def not_negative(exponent):
    """Where an exponent is real and not negative."""
    if exponent.is_complex():
        return calls.logical_and(calls.imag(exponent) == 0, calls.real(exponent) >= 0)
    return exponent >= 0


@op(
    "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    reduced="own",
    laid_out_by="self",
    inplace=True,
    self=lambda grad, self, exponent: pow_back(grad, self, exponent),
)
def pow_scalar(self, exponent):
    return power_of_number(self, exponent)


@op(
    "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    promote="arithmetic",
    inplace=True,
    node="PowBackward1",
    self=lambda grad, self, exponent: pow_self_back(grad, self, exponent),
    exponent=lambda grad, self, exponent, result: pow_exponent_back(grad, self, exponent, result),
)
def pow_tensor(self, exponent):
    return power(self, exponent)


@op(
    "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    node="PowBackward2",
    exponent=lambda grad, self, exponent, result: pow_exponent_back(grad, self, exponent, result),
)
def pow_base(self, exponent):
    # PyTorch makes the result before it looks at how the exponent lies.
    return np.ascontiguousarray(power(*together("arithmetic", self, exponent))).reshape(exponent.shape)


# Other names ------------------------------------------------------------------------------------------------

for name, target in {"subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div"}.items():
    for kind in ("Tensor", "Scalar"):
        extra = (
            {"Tensor": ", *, Scalar alpha=1", "Scalar": ", Scalar alpha=1"}[kind] if target == "sub" else ""
        )
        for ending, mark in (("", ""), ("_", "(a!)")):
            composite(f"{name}{ending}.{kind}(Tensor{mark} self, {kind} other{extra}) -> Tensor{mark}")(
                lambda *arguments, target=f"{target}{ending}": getattr(calls, target)(*arguments)
            )
for kind in ("Tensor", "Scalar"):
    composite(f"divide.{kind}_mode(Tensor self, {kind} other, *, str? rounding_mode) -> Tensor")(
        lambda self, other, rounding_mode: div_mode.call(self, other, rounding_mode)
    )
