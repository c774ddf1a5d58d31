"""Activation functions made of straight and curved pieces, with or without slopes to learn or to draw.

Their gradients are ops of their own, since graphs of second order show them.
"""

import numpy as np

from refgrad import dtypes
from refgrad.op import calls, composite, op
from refgrad.ops.checks import computed, kind_name, not_implemented, only, written_zeros
from refgrad.ops.copying import number_in
from refgrad.ops.random import draws_from
from refgrad.ops.selection import clamped

# Threshold, hardtanh ----------------------------------------------------------------------------------------


def threshold_kernel(self, threshold, value):
    """Elements above the threshold, the value elsewhere."""
    if self.dtype.kind in "bc":
        raise not_implemented("threshold_cpu", self)
    return np.where(self <= number_in(threshold, self.dtype), number_in(value, self.dtype), self)


op(
    "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
    laid_out_by="self",
    inplace=True,
    may_overlap=True,
    inplace_node="ThresholdBackward1",
    reduced="own",
    self=lambda grad, self, threshold: calls.threshold_backward(grad, self, threshold),
)(threshold_kernel)


@op(
    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    laid_out_by="self, min_val",
    inplace=True,
    self=lambda grad, self, min_val, max_val: calls.hardtanh_backward(grad, self, min_val, max_val),
)
def hardtanh(self, min_val, max_val):
    if self.dtype == bool:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if self.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    if self.dtype.kind == "u" and (min_val < 0 or max_val < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    kind = self.dtype.type
    return clamped(self, kind(min_val), kind(max_val))


@op(
    "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
    laid_out_by="grad_output, self",
    node="HardtanhBackwardBackward0",
    grad_output=lambda grad, self, min_val, max_val: calls.hardtanh_backward(grad, self, min_val, max_val),
    self=lambda grad: calls.zeros_like(grad),
)
def hardtanh_backward(grad_output, self, min_val, max_val):
    return np.where((self <= min_val) | (self >= max_val), grad_output.dtype.type(0), grad_output)


@composite("relu6(Tensor self) -> Tensor")
def relu6(self):
    return calls.hardtanh(self, 0, 6)


@composite("relu6_(Tensor(a!) self) -> Tensor(a!)")
def relu6_(self):
    return calls.hardtanh_(self, 0, 6)


# Leaky and parametric ---------------------------------------------------------------------------------------


op(
    "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
    laid_out_by="self",
    inplace=True,
    inplace_node="LeakyReluBackward1",
    self=lambda grad, self, negative_slope: calls.leaky_relu_backward(grad, self, negative_slope, False),
    inplace_formulas={
        "self": lambda grad, result, negative_slope: calls.leaky_relu_backward(
            grad, result, checked_slope(negative_slope), True
        )
    },
)(
    computed(
        "leaky_relu_cpu",
        lambda self, slope: np.where(self > 0, self, self * self.dtype.type(slope)),
    )
)


def checked_slope(negative_slope):
    """A slope that lets the input's sign be read off the result.

    Raises:
        RuntimeError: it is negative.
    """
    if negative_slope < 0:
        raise RuntimeError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is not "
            "supported. This is caused by calling in-place forward function with a negative slope, please "
            "call out-of-place version instead. File an issue at https://github.com/pytorch/pytorch if you "
            "do require supporting in-place leakRelu backward calculation with negative slope"
        )
    return negative_slope


@op(
    "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) "
    "-> Tensor",
    laid_out_by="self, grad_output",
    node="LeakyReluBackwardBackward0",
    grad_output=lambda grad, self, negative_slope: calls.leaky_relu_backward(
        grad, self, negative_slope, False
    ),
    self=lambda grad: calls.zeros_like(grad),
)
def leaky_relu_backward(grad_output, self, negative_slope, self_is_result):
    return np.where(self > 0, grad_output, grad_output * grad_output.dtype.type(negative_slope))


@composite("prelu(Tensor self, Tensor weight) -> Tensor")
def prelu(self, weight):
    if self.dtype is not weight.dtype:
        raise RuntimeError(
            "prelu: Type promoting not supported. "
            f"Got {self.dtype.scalar_type} and {weight.dtype.scalar_type}"
        )
    shape, numbers = self._array.shape, weight._array.size
    if numbers != 1:
        if not shape:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = shape[1] if len(shape) >= 2 else 1
        if channels != numbers:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {numbers} "
                f"and channel size = {channels}."
            )
    if weight._array.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight._array.ndim}"
        )
    if len(shape) != weight._array.ndim:
        target = [1] * len(shape)
        if len(shape) > 1:
            target[1] = numbers
        weight = weight.reshape(target)
    return calls._prelu_kernel(self, weight)


@op(
    "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    laid_out_by="self, weight",
    node="PreluKernelBackward0",
    jointly=("self, weight", lambda grad, self, weight: calls._prelu_kernel_backward(grad, self, weight)),
)
def prelu_kernel(self, weight):
    if self.dtype.kind != "f":
        raise not_implemented("prelu_cpu", self)
    return np.where(self > 0, self, weight * self)


def prelu_grad_back(grads, self, weight, grad_output):
    """The gradient of the incoming gradient."""
    first, second = grads
    if first is None:
        return calls.where__self(self >= 0, second.new_zeros(()), second * self)
    below = first * weight if second is None else first * weight + second * self
    return calls.where__self(self >= 0, first, below)


def prelu_cross_back(grad, self, grad_output):
    """The gradient of an operand through the gradient of the other."""
    if grad is None:
        return written_zeros(self, self.shape)
    return calls.where__self(self >= 0, grad.new_zeros(()), grad_output * grad)


@op(
    "_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
    node="PreluKernelBackwardBackward0",
    grad_output=lambda grads, self, weight, grad_output: prelu_grad_back(grads, self, weight, grad_output),
    self=lambda grads, self, grad_output: prelu_cross_back(grads[1], self, grad_output),
    weight=lambda grads, self, grad_output: prelu_cross_back(grads[0], self, grad_output),
)
def prelu_kernel_backward(grad_output, self, weight):
    zero = grad_output.dtype.type(0)
    return (
        np.where(self > 0, grad_output, weight * grad_output),
        np.where(self > 0, zero, self * grad_output),
    )


RANDOM_SLOPES = "Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False"


def check_slopes(lower, upper):
    """Refuse bounds in the wrong order.

    Raises:
        RuntimeError: the lower one is greater.
    """
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")


@composite(f"rrelu(Tensor self, {RANDOM_SLOPES}, Generator? generator=None) -> Tensor")
def rrelu(self, lower=0.125, upper=1 / 3, training=False, generator=None):
    check_slopes(lower, upper)
    return calls.rrelu_with_noise(self, calls.empty_like(self), lower, upper, training, generator)


@composite(f"rrelu_(Tensor(a!) self, {RANDOM_SLOPES}, Generator? generator=None) -> Tensor(a!)")
def rrelu_(self, lower=0.125, upper=1 / 3, training=False, generator=None):
    check_slopes(lower, upper)
    return calls.rrelu_with_noise_(self, calls.empty_like(self), lower, upper, training, generator)


@op(
    f"rrelu_with_noise(Tensor self, Tensor(b!) noise, {RANDOM_SLOPES}, Generator? generator=None) -> Tensor",
    inplace=True,
    inplace_node="RreluWithNoiseBackward1",
    self=lambda grad, self, noise, lower, upper, training: calls.rrelu_with_noise_backward(
        grad, self, noise, lower, upper, training, False
    ),
    inplace_formulas={
        "self": lambda grad, result, noise, lower, upper, training: calls.rrelu_with_noise_backward(
            grad, result, noise, lower, upper, training, True
        )
    },
)
def rrelu_with_noise(self, noise, lower, upper, training, generator):
    if self.dtype.kind != "f":
        raise not_implemented("rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu", self)
    if not training:
        return np.where(self > 0, self, self * self.dtype.type((lower + upper) / 2))
    below = self <= 0
    noise[...] = 1
    noise[below] = draws_from(generator).uniform(int(below.sum()), np.float64, lower, upper)
    return self * noise


@op(
    "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, "
    "bool training, bool self_is_result) -> Tensor",
    laid_out_by="grad_output, self",
    node="RreluWithNoiseBackwardBackward0",
    grad_output=lambda grad, self, noise, lower, upper, training: calls.rrelu_with_noise_backward(
        grad, self, noise, lower, upper, training, False
    ),
    self=lambda grad: calls.zeros_like(grad),
)
def rrelu_with_noise_backward(grad_output, self, noise, lower, upper, training, self_is_result):
    if training and upper - lower > 1e-6:
        return grad_output * noise
    slope = (lower + upper) / 2
    if self_is_result:
        checked_slope(slope)
    return np.where(self > 0, grad_output, grad_output * grad_output.dtype.type(slope))


# Piecewise linear and quadratic -----------------------------------------------------------------------------

op(
    "hardsigmoid(Tensor self) -> Tensor",
    laid_out_by="self",
    inplace=True,
    self=lambda grad, self: calls.hardsigmoid_backward(grad, self),
)(
    computed(
        "hardsigmoid_cpu",
        lambda self: (
            clamped(self + self.dtype.type(3), self.dtype.type(0), self.dtype.type(6)) / self.dtype.type(6)
        ),
    )
)


@op(
    "hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
    laid_out_by="grad_output, self",
    refused="aten::hardsigmoid_backward",
)
def hardsigmoid_backward(grad_output, self):
    return np.where(
        (self > -3) & (self < 3), grad_output / grad_output.dtype.type(6), grad_output.dtype.type(0)
    )


op(
    "hardswish(Tensor self) -> Tensor",
    laid_out_by="self",
    inplace=True,
    self=lambda grad, self: calls.hardswish_backward(grad, self),
)(
    computed(
        "hardswish_cpu",
        lambda self: (
            self
            * clamped(self + self.dtype.type(3), self.dtype.type(0), self.dtype.type(6))
            / self.dtype.type(6)
        ),
    )
)


def hardswish_slope(grad_output, self):
    """The gradient of `hardswish`."""
    kind = grad_output.dtype.type
    inside = grad_output * (self / kind(3) + kind(0.5))
    return np.where(self <= -3, kind(0), np.where(self < 3, inside, grad_output))


op(
    "hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
    laid_out_by="grad_output, self",
    node="HardswishBackwardBackward0",
    grad_output=lambda grad, self: calls.hardswish_backward(grad, self),
    self=lambda grad, grad_output, self: calls.where__self(
        calls.logical_and(self > -3.0, self < 3.0), grad * grad_output / 3.0, self.new_zeros(())
    ),
)(computed("hardswish_backward_cpu", hardswish_slope))


def softshrink_kernel(self, lambd):
    """Elements moved towards zero by lambda; those nearer than that become zero."""
    limit = self.dtype.type(lambd)
    return np.where(
        self > limit, self - limit, np.where(self < -limit, self + limit, self * self.dtype.type(0))
    )


@op(
    "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    reduced="own",
    laid_out_by="self",
    self=lambda grad, self, lambd: calls.softshrink_backward(grad, self, lambd),
)
def softshrink(self, lambd):
    if self.dtype.kind not in "fV":
        raise not_implemented("softshrink_check", self)
    limit = float(dtypes.finfo(dtypes.OF_NUMPY[self.dtype]).max)
    if not 0 <= lambd <= limit:
        raise RuntimeError(
            f"lambda must be in range [0, {limit:g}] for input dtype {kind_name(self)}, but found {lambd:g}"
        )
    return softshrink_kernel(self, lambd)


def shrink_slope(grad, self, lambd):
    """The gradient of both shrinking functions."""
    limit = self.dtype.type(lambd)
    return np.where((self >= -limit) & (self <= limit), grad.dtype.type(0), grad)


op(
    "softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
    laid_out_by="grad_output, self",
    node="SoftshrinkBackwardBackward0",
    grad_output=lambda grad, self, lambd: calls.softshrink_backward(grad, self, lambd),
    self=lambda grad: calls.zeros_like(grad),
)(shrink_slope)
op(
    "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    laid_out_by="self",
    self=lambda grad, self, lambd: calls.hardshrink_backward(grad, self, lambd),
)(only("f", "hardshrink_cpu", lambda self, lambd: shrink_slope(self, self, lambd)))
op(
    "hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
    laid_out_by="grad_out, self",
    node="HardshrinkBackwardBackward0",
    grad_out=lambda grad, self, lambd: calls.hardshrink_backward(grad, self, lambd),
    self=lambda grad: calls.zeros_like(grad),
)(shrink_slope)
