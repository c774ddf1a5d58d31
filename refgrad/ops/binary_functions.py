"""Pointwise functions of two and three variables beyond arithmetic."""

import numpy as np

from refgrad import call, dtypes
from refgrad.layout import broadcast_shapes
from refgrad.op import calls, composite, op
from refgrad.ops.checks import not_implemented, together, with_number, written_zeros
from refgrad.ops.copying import number_in

# Angles and lengths -----------------------------------------------------------------------------------------


def floats_only(refusal, function, kinds="f"):
    """A kernel of two operands that takes floating ones alone."""

    def kernel(self, other):
        if self.dtype.kind not in kinds:
            broadcast_shapes(self.shape, np.shape(other))
            raise not_implemented(refusal, self)
        return function(self, other)

    return kernel


def atan2_back(grad, self, other):
    """The gradients of both legs, none at the origin."""
    square = self * self + other * other
    inverse = calls.reciprocal(square).masked_fill(square == 0, 0.0)
    return grad * other * inverse, grad * -self * inverse


op(
    "atan2(Tensor self, Tensor other) -> Tensor",
    promote="float",
    inplace=True,
    jointly=("self, other", atan2_back),
)(floats_only("atan2_cpu", np.arctan2))

for ending, mark in (("", ""), ("_", "(a!)")):
    composite(f"arctan2{ending}(Tensor{mark} self, Tensor other) -> Tensor{mark}")(
        lambda self, other, target=f"atan2{ending}": getattr(calls, target)(self, other)
    )

op(
    "hypot(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    inplace=True,
    self=lambda grad, self, result: grad * self / result,
    other=lambda grad, other, result: grad * other / result,
)(floats_only("hypot_cpu", np.hypot))

# Signs and neighbours ---------------------------------------------------------------------------------------


def copysign_back(grad, self, result):
    """The gradient of the operand that gives the size; none at zero."""
    return grad * (result / self).masked_fill_(self == 0, 0)


op(
    "copysign.Tensor(Tensor self, Tensor other) -> Tensor",
    promote="float",
    inplace=True,
    self=lambda grad, self, result: copysign_back(grad, self, result),
    other=lambda grad, other_info: written_zeros(grad, other_info),
)(floats_only("copysign_cpu", np.copysign))
op(
    "copysign.Scalar(Tensor self, Scalar other) -> Tensor",
    node="CopysignBackward1",
    laid_out_by="self, other",
    inplace=True,
    self=lambda grad, self, result: copysign_back(grad, self, result),
)(with_number("float", floats_only("copysign_cpu", np.copysign)))
op(
    "nextafter(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    inplace=True,
    self=lambda grad, self, other: calls.where__self(self != other, grad, 0),
    other=lambda grad, other_info: written_zeros(grad, other_info),
)(floats_only("nextafter_cpu", np.nextafter))


@op(
    "heaviside(Tensor self, Tensor values) -> Tensor",
    promote="same",
    inplace=True,
    refused="aten::heaviside",
)
def heaviside(self, values):
    if "c" in (self.dtype.kind, values.dtype.kind):
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if self.dtype != values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    kind = self.dtype.type
    return np.where(self == 0, values, np.where(self > 0, kind(1), kind(0)))


# Sums of exponentials, scaling ------------------------------------------------------------------------------


def log_sum(exponential, logarithm):
    """A kernel for the logarithm of a sum of two exponentials, exact for equal infinities."""

    def kernel(self, other):
        if self.dtype.kind == "c":
            first = self.real >= other.real
            return np.where(first, self, other) + logarithm(
                exponential(np.where(first, other - self, self - other))
            )
        higher, lower = np.maximum(self, other), np.minimum(self, other)
        apart = np.where(np.isinf(self) & (self == other), self.dtype.type(0), lower - higher)
        total = higher + logarithm(exponential(apart))
        return np.where(np.isinf(self) & (self == other), self, total)

    return kernel


op(
    "logaddexp(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    inplace=False,
    self=lambda grad, self, other: grad / (1 + calls.exp(other - self)).conj(),
    other=lambda grad, self, other: grad / (1 + calls.exp(self - other)).conj(),
)(floats_only("logaddexp_cpu", log_sum(np.exp, np.log1p), "fc"))
op(
    "logaddexp2(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    self=lambda grad, self, other: grad / (1 + calls.pow__Scalar(2, other - self)),
    other=lambda grad, self, other: grad / (1 + calls.pow__Scalar(2, self - other)),
)(floats_only("logaddexp2_cpu", log_sum(np.exp2, lambda x: np.log1p(x) / x.dtype.type(np.log(2)))))


@op(
    "ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
    promote="same",
    inplace=True,
    self=lambda grad, other: grad * calls.pow__Scalar(2, other).conj(),
    other=lambda grad, result: grad * result.conj() * 0.6931471805599453,
)
def ldexp(self, other):
    if self.dtype.kind != "f" or other.dtype.kind not in "iub":
        base, exponent = together("float", 2.0, other)
        return np.multiply(*together("arithmetic", self, np.power(base, exponent)))
    if other.dtype.kind == "b":
        raise not_implemented("ldexp_cpu_exp", other)
    result = np.ldexp(self, other.astype(np.int32, copy=False))
    if self.size and result.shape != self.shape:
        call.warn_resized(self.shape, result.shape)  # PyTorch makes the result in the shape of `self` first
    return result


def float_power_kind(*operands):
    """The type that `float_power` computes in: double, complex where an operand is."""
    return dtypes.complex128 if any(is_complex(operand) for operand in operands) else dtypes.float64


def exponent_in(number, kind):
    """A number as Python has it in a type of `float_power`."""
    return complex(number) if kind is dtypes.complex128 else float(number)


def is_complex(operand):
    """Whether a tensor or a number is complex."""
    return operand.is_complex() if hasattr(operand, "is_complex") else isinstance(operand, complex)


@composite("float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor")
def float_power(self, exponent):
    kind = float_power_kind(self, exponent)
    return calls.pow__Tensor_Tensor(self.to(kind), exponent.to(kind))


@composite("float_power.Scalar(Scalar self, Tensor exponent) -> Tensor")
def float_power_base(self, exponent):
    return calls.pow__Scalar(exponent_in(self, kind := float_power_kind(self, exponent)), exponent.to(kind))


@composite("float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor")
def float_power_scalar(self, exponent):
    return calls.pow__Tensor_Scalar(
        self.to(kind := float_power_kind(self, exponent)), exponent_in(exponent, kind)
    )


def float_power_(self, exponent):
    """Refuse a target that is not double, else raise it in place."""
    kind = float_power_kind(self, exponent)
    if self.dtype is not kind:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.scalar_type} but the operation's result "
            f"requires dtype {kind.scalar_type}"
        )
    return self.pow_(exponent.to(kind) if hasattr(exponent, "to") else exponent)


composite("float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)")(float_power_)
composite("float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)")(float_power_)

# Three operands ---------------------------------------------------------------------------------------------


def check_lerp(self, end, weight=None):
    """Refuse operands that are not floats of one type.

    Raises:
        RuntimeError: types differ.
        NotImplementedError: they are integers.
    """
    for name, operand in (("end", end), ("weight", weight)):
        if operand is not None and operand.dtype != self.dtype:
            raise RuntimeError(
                f"expected dtype {dtypes.OF_NUMPY[self.dtype].cpp_name} for `{name}` but got dtype "
                f"{dtypes.OF_NUMPY[operand.dtype].cpp_name}"
            )
    if self.dtype.kind not in "fc":
        raise not_implemented("lerp_kernel_scalar" if weight is None else "lerp_kernel_tensor", self)


def between(start, end, weight):
    """The point between two at this weight, computed from the nearer end."""
    near = np.abs(weight) < 0.5
    return np.where(near, start + weight * (end - start), end - (end - start) * (1 - weight))


@op(
    "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
    promote="same",
    inplace=True,
    self=lambda grad, weight: grad * (1 - weight.conjugate()),
    end=lambda grad, weight: grad * weight.conjugate(),
)
def lerp(self, end, weight):
    check_lerp(self, end)
    return between(self, end, self.dtype.type(weight)).astype(self.dtype, copy=False)


@op(
    "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    promote="same",
    inplace=True,
    node="LerpBackward1",
    self=lambda grad, weight: grad * (1 - weight).conj(),
    end=lambda grad, weight: grad * weight.conj(),
    weight=lambda grad, self, end: grad * (end - self).conj(),
)
def lerp_tensor(self, end, weight):
    check_lerp(self, end, weight)
    return between(self, end, weight).astype(self.dtype, copy=False)


@op(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    promote="arithmetic",
    inplace=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 * value).conj(),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value).conj(),
)
def addcmul(self, tensor1, tensor2, value):
    if self.dtype == bool:
        raise not_implemented("addcmul_cpu_out", self)
    return self + number_in(value, self.dtype) * tensor1 * tensor2


@op(
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    promote="arithmetic",
    inplace=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (value / tensor2).conj(),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * (value * tensor1 / (tensor2 * tensor2)).conj(),
)
def addcdiv(self, tensor1, tensor2, value):
    if self.dtype.kind in "biu":
        raise RuntimeError(INTEGER_ADDCDIV)
    return self + number_in(value, self.dtype) * tensor1 / tensor2


INTEGER_ADDCDIV = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
    "true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + "
    "value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value "
    "* tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: "
    "(input + value * tensor1 / tensor2), for all dtypes."
)

# Whole numbers ----------------------------------------------------------------------------------------------


def whole(name, function):
    """Declare a function of two whole numbers."""

    @op(f"{name}(Tensor self, Tensor other) -> Tensor", promote="arithmetic", inplace=True)
    def kernel(self, other):
        if self.dtype.kind not in "iu":
            broadcast_shapes(self.shape, np.shape(other))
            raise not_implemented(f"{name}_cpu", self)
        return function(self, other)


whole("gcd", np.gcd)
whole("lcm", np.lcm)
