"""Activation functions, and their gradients as ops of their own, since graphs of second order show them."""

from math import pi, sqrt

import numpy as np

from refgrad.layout import wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.checks import kind_name, not_implemented, only
from refgrad.ops.random import draws_from
from refgrad.ops.selection import clamped

# Computing in one precision -----------------------------------------------------------------------------------------


def computed(refusal, function, kinds="f"):
    """A kernel whose plain arguments are numbers: half precision is computed in single, others are refused."""

    def kernel(first, *arguments):
        if first.dtype.kind not in kinds:
            raise not_implemented(refusal, first)
        if first.dtype != np.float16:
            return np.asarray(function(first, *arguments)).astype(first.dtype, copy=False)
        wide = [a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in (first, *arguments)]
        return np.asarray(function(*wide)).astype(np.float16)

    return kernel


def flat_outside(grad, inside):
    """The gradient where a condition holds, zero elsewhere."""
    return np.where(inside, grad, grad.dtype.type(0))


# Threshold, hardtanh ------------------------------------------------------------------------------------------------


def threshold_kernel(self, threshold, value):
    """Elements above the threshold, the value elsewhere."""
    if self.dtype.kind in "bc":
        raise not_implemented("threshold_cpu", self)
    kind = self.dtype.type
    return np.where(self <= kind(threshold), kind(value), self)


op(
    "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
    inplace=True,
    inplace_node="ThresholdBackward1",
    self=lambda grad, self, threshold: calls.threshold_backward(grad, self, threshold),
)(threshold_kernel)


@op(
    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
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
    if min_val > max_val:
        raise RuntimeError("min_val cannot be greater than max_val")
    kind = self.dtype.type
    return clamped(self, kind(min_val), kind(max_val))


@op(
    "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
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


# Leaky and parametric -----------------------------------------------------------------------------------------------


op(
    "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
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
            "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This "
            "is caused by calling in-place forward function with a negative slope, please call out-of-place version "
            "instead. File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place "
            "leakRelu backward calculation with negative slope"
        )
    return negative_slope


@op(
    "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor",
    node="LeakyReluBackwardBackward0",
    grad_output=lambda grad, self, negative_slope: calls.leaky_relu_backward(grad, self, negative_slope, False),
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
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {numbers} and "
                f"channel size = {channels}."
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
        return calls.zeros_like(self)
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
    "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool "
    "training, bool self_is_result) -> Tensor",
    node="RreluWithNoiseBackwardBackward0",
    grad_output=lambda grad, self, noise, lower, upper, training: calls.rrelu_with_noise_backward(
        grad, self, noise, lower, upper, training, False
    ),
    self=lambda grad: calls.zeros_like(grad),
)
def rrelu_with_noise_backward(grad_output, self, noise, lower, upper, training, self_is_result):
    if training and upper - lower > 1e-6:
        return grad_output * noise
    return np.where(self > 0, grad_output, grad_output * grad_output.dtype.type((lower + upper) / 2))


# Exponential --------------------------------------------------------------------------------------------------------

elu_kernel = computed(
    "elu_cpu",
    lambda self, alpha, scale, input_scale: np.where(
        self < 0, np.expm1(self * self.dtype.type(input_scale)) * self.dtype.type(alpha * scale), self * self.dtype.type(scale)
    ),
)

op(
    "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
    inplace=True,
    inplace_node="EluBackward1",
    self=lambda grad, alpha, scale, input_scale, self: calls.elu_backward(
        grad, alpha, scale, input_scale, False, self
    ),
    inplace_formulas={
        "self": lambda grad, alpha, scale, input_scale, result: calls.elu_backward(
            grad, alpha, scale, input_scale, True, result
        )
    },
)(elu_kernel)


@op(
    "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
    inplace=True,
    inplace_node="CeluBackward1",
    self=lambda grad, alpha, self: calls.elu_backward(grad, alpha, 1, 1.0 / alpha, False, self),
    inplace_formulas={
        "self": lambda grad, alpha, result: calls.elu_backward(grad, alpha, 1, 1.0 / alpha, True, result)
    },
)
def celu(self, alpha):
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return elu_kernel(self, alpha, 1, 1.0 / alpha)


SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


@composite("selu(Tensor self) -> Tensor")
def selu(self):
    return calls.elu(self, SELU_ALPHA, SELU_SCALE, 1)


@composite("selu_(Tensor(a!) self) -> Tensor(a!)")
def selu_(self):
    return calls.elu_(self, SELU_ALPHA, SELU_SCALE, 1)


def elu_double_back(grad, grad_output, alpha, scale, input_scale, is_result, self_or_result):
    """The gradient of what the gradient was taken at."""
    below = (self_or_result < 0).to(grad.dtype)
    if is_result:
        return grad * grad_output * input_scale * below
    inner = calls.elu_backward(
        grad * grad_output * input_scale, alpha, scale, input_scale, is_result, self_or_result
    )
    return inner * below


@op(
    "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
    "Tensor self_or_result) -> Tensor",
    node="EluBackwardBackward0",
    grad_output=lambda grad, alpha, scale, input_scale, is_result, self_or_result: calls.elu_backward(
        grad, alpha, scale, input_scale, is_result, self_or_result
    ),
    self_or_result=lambda grad, grad_output, alpha, scale, input_scale, is_result, self_or_result: (
        elu_double_back(grad, grad_output, alpha, scale, input_scale, is_result, self_or_result)
    ),
)
def elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result):
    if is_result and alpha < 0:
        raise RuntimeError(
            "In-place elu backward calculation is triggered with a negative slope which is not supported. This is "
            "caused by calling in-place forward function with a negative slope, please call out-of-place version "
            "instead."
        )
    kind = grad_output.dtype.type
    if is_result:
        below = kind(input_scale) * (self_or_result + kind(alpha * scale))
    else:
        below = kind(input_scale * alpha * scale) * np.exp(self_or_result * kind(input_scale))
    return grad_output * np.where(self_or_result <= 0, below, kind(scale))


# Softplus and the sigmoid family ------------------------------------------------------------------------------------


def softplus_kernel(self, beta, threshold):
    """log(1 + exp(beta x)) / beta, x itself above the threshold."""
    kind = self.dtype.type
    scaled = self * kind(beta)
    return np.where(scaled > kind(threshold), self, np.log1p(np.exp(scaled)) / kind(beta))


op(
    "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    self=lambda grad, self, beta, threshold: calls.softplus_backward(grad, self, beta, threshold),
)(computed("softplus_cpu", softplus_kernel))


def softplus_double_back(grad, self, beta, threshold):
    """The gradient of what the gradient was taken at."""
    scaled = self * beta
    slope = calls.sigmoid_backward(grad, calls.sigmoid(scaled))
    return slope * (scaled < threshold).to(grad.dtype) * beta


def softplus_slope(grad_output, self, beta, threshold):
    """The gradient of softplus."""
    kind = self.dtype.type
    scaled = self * kind(beta)
    grown = np.exp(scaled)
    return np.where(scaled > kind(threshold), grad_output, grad_output * grown / (grown + kind(1)))


op(
    "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
    node="SoftplusBackwardBackward0",
    grad_output=lambda grad, self, beta, threshold: calls.softplus_backward(grad, self, beta, threshold),
    self=lambda grad, grad_output, self, beta, threshold: softplus_double_back(
        grad * grad_output, self, beta, threshold
    ),
)(softplus_slope)


@composite("log_sigmoid(Tensor self) -> Tensor")
def log_sigmoid(self):
    return calls.log_sigmoid_forward(self)[0]


@op(
    "log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
    node="LogSigmoidBackward0",
    nondifferentiable=(1,),
    self=lambda grad, self, buffer: calls.log_sigmoid_backward(grad, self, buffer),
)
def log_sigmoid_forward(self):
    if self.dtype.kind != "f":
        raise not_implemented("log_sigmoid_cpu", self)
    buffer = np.exp(-np.abs(self))
    return np.minimum(self, self.dtype.type(0)) - np.log1p(buffer), buffer


def log_sigmoid_double_back(grad, self):
    """The gradient of what the gradient was taken at."""
    sigmoid = calls.sigmoid(self)
    return grad * (sigmoid - 1) * sigmoid


@op(
    "log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
    node="LogSigmoidBackwardBackward0",
    grad_output=lambda grad, self, buffer: calls.log_sigmoid_backward(grad, self, buffer),
    self=lambda grad, grad_output, self: log_sigmoid_double_back(grad * grad_output, self),
)
def log_sigmoid_backward(grad_output, self, buffer):
    kind = self.dtype.type
    fraction = buffer / (kind(1) + buffer)
    return grad_output * np.where(self < 0, kind(1) - fraction, fraction)


def silu_back(grad, self):
    """The gradient of `silu`."""
    sigmoid = calls.sigmoid(self)
    return grad * sigmoid * (1.0 + self * (1.0 - sigmoid))


op("silu(Tensor self) -> Tensor", inplace=True, real_gradient=True, self=lambda grad, self: silu_back(grad, self))(
    computed("silu_cpu", lambda self: self / (1 + np.exp(-self)), kinds="fc")
)


def mish_back(grad, self):
    """The gradient of `mish`."""
    inner = calls.tanh(calls.log1p(calls.exp(self)))
    sigmoid = calls.sigmoid(self)
    return grad * (inner + self * sigmoid * (1 - inner * inner))


op("mish(Tensor self) -> Tensor", inplace=True, self=lambda grad, self: mish_back(grad, self))(
    computed("mish_cpu", lambda self: self * np.tanh(np.log1p(np.exp(self))))
)


def gelu_kernel(self, approximate):
    """x times the normal distribution function, or its approximation by tanh."""
    kind = self.dtype.type
    if approximate == "tanh":
        return kind(0.5) * self * (kind(1) + np.tanh(tanh_argument(self)))
    return self * kind(0.5) * (kind(1) + normal_erf(self))


def tanh_argument(array):
    """What the approximation takes the tanh of."""
    kind = array.dtype.type
    return kind(sqrt(2 / pi)) * (array + kind(0.044715) * array * array * array)


def normal_erf(array):
    """erf(x / sqrt 2)."""
    from scipy import special

    return special.erf(array * array.dtype.type(sqrt(0.5)))


@op(
    "gelu(Tensor self, *, str approximate='none') -> Tensor",
    inplace=True,
    self=lambda grad, self, approximate: calls.gelu_backward(grad, self, approximate),
)
def gelu(self, approximate):
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return computed("GeluKernelImpl", gelu_kernel)(self, approximate)


def gelu_slope(grad_output, self, approximate):
    """The gradient of `gelu`."""
    kind = self.dtype.type
    if approximate == "tanh":
        inner = np.tanh(tanh_argument(self))
        steep = kind(sqrt(2 / pi)) * (kind(1) + kind(3 * 0.044715) * self * self)
        slope = kind(0.5) * (kind(1) + inner) + kind(0.5) * self * (kind(1) - inner * inner) * steep
        return grad_output * slope
    density = np.exp(self * self * kind(-0.5)) * kind(1 / sqrt(2 * pi))
    return grad_output * (kind(0.5) * (kind(1) + normal_erf(self)) + self * density)


def gelu_double_back(grad, grad_output, self, approximate):
    """The gradient of what the gradient was taken at."""
    if approximate != "tanh":
        density = calls.exp(self * self * -0.5) * (1 / sqrt(2 * pi))
        return grad_output * grad * density * (2.0 - self * self)
    inner = calls.tanh(sqrt(2 / pi) * (self + 0.044715 * self * self * self))
    steep = sqrt(2 / pi) * (1.0 + 3 * 0.044715 * self * self)
    bend = sqrt(2 / pi) * 6 * 0.044715 * self
    narrow = 1.0 - inner * inner
    return grad_output * grad * narrow * (steep - self * inner * steep * steep + 0.5 * self * bend)


op(
    "gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor",
    node="GeluBackwardBackward0",
    grad_output=lambda grad, self, approximate: calls.gelu_backward(grad, self, approximate),
    self=lambda grad, grad_output, self, approximate: gelu_double_back(grad, grad_output, self, approximate),
)(computed("GeluBackwardKernelImpl", gelu_slope))

# Piecewise linear and quadratic -------------------------------------------------------------------------------------

op(
    "hardsigmoid(Tensor self) -> Tensor",
    inplace=True,
    self=lambda grad, self: calls.hardsigmoid_backward(grad, self),
)(
    computed(
        "hardsigmoid_cpu",
        lambda self: clamped(self + self.dtype.type(3), self.dtype.type(0), self.dtype.type(6)) / self.dtype.type(6),
    )
)


@op(
    "hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
    refused="aten::hardsigmoid_backward",
)
def hardsigmoid_backward(grad_output, self):
    return flat_outside(grad_output * grad_output.dtype.type(1 / 6), (self > -3) & (self < 3))


op(
    "hardswish(Tensor self) -> Tensor",
    inplace=True,
    self=lambda grad, self: calls.hardswish_backward(grad, self),
)(
    computed(
        "hardswish_cpu",
        lambda self: self * clamped(self + self.dtype.type(3), self.dtype.type(0), self.dtype.type(6)) / self.dtype.type(6),
    )
)


@op(
    "hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
    node="HardswishBackwardBackward0",
    grad_output=lambda grad, self: calls.hardswish_backward(grad, self),
    self=lambda grad, grad_output, self: calls.where__self(
        calls.logical_and(self > -3.0, self < 3.0), grad * grad_output / 3.0, self.new_zeros(())
    ),
)
def hardswish_backward(grad_output, self):
    kind = grad_output.dtype.type
    inside = grad_output * (self / kind(3) + kind(0.5))
    return np.where(self <= -3, kind(0), np.where(self < 3, inside, grad_output))


def softshrink_kernel(self, lambd):
    """Elements moved towards zero by lambda; those nearer than that become zero."""
    limit = self.dtype.type(lambd)
    return np.where(self > limit, self - limit, np.where(self < -limit, self + limit, self * self.dtype.type(0)))


@op(
    "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    self=lambda grad, self, lambd: calls.softshrink_backward(grad, self, lambd),
)
def softshrink(self, lambd):
    if self.dtype.kind != "f":
        raise not_implemented("softshrink_check", self)
    limit = float(np.finfo(self.dtype).max)
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
    node="SoftshrinkBackwardBackward0",
    grad_output=lambda grad, self, lambd: calls.softshrink_backward(grad, self, lambd),
    self=lambda grad: calls.zeros_like(grad),
)(shrink_slope)
op(
    "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    self=lambda grad, self, lambd: calls.hardshrink_backward(grad, self, lambd),
)(only("f", "hardshrink_cpu", lambda self, lambd: shrink_slope(self, self, lambd)))
op(
    "hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
    node="HardshrinkBackwardBackward0",
    grad_out=lambda grad, self, lambd: calls.hardshrink_backward(grad, self, lambd),
    self=lambda grad: calls.zeros_like(grad),
)(shrink_slope)

# Gated --------------------------------------------------------------------------------------------------------------


def halves(array, dim):
    """The two halves of a dimension.

    Raises:
        RuntimeError: there is no dimension, or its size is odd.
    """
    if not array.ndim:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    axis = wrap_dim(dim, array.ndim)
    if array.shape[axis] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {axis} is size {array.shape[axis]}")
    return np.split(array, 2, axis)


def logistic(array):
    """1 / (1 + exp(-x))."""
    return array.dtype.type(1) / (array.dtype.type(1) + np.exp(-array))


@op("glu(Tensor self, int dim=-1) -> Tensor", self=lambda grad, self, dim: calls.glu_backward(grad, self, dim))
def glu(self, dim):
    first, second = halves(self, dim)
    if self.dtype.kind != "f":
        raise not_implemented("glu_cpu", self)
    return first * logistic(second)


def glu_grad_back(grad, self, dim):
    """The gradient of the incoming gradient."""
    half = self._array.shape[dim] // 2
    ones = calls.ones_like(self.narrow(dim, 0, half))
    product = grad * calls.glu_backward(ones, self, dim)
    return product.narrow(dim, 0, half) + product.narrow(dim, half, half)


def glu_self_back(grad, grad_output, self, dim):
    """The gradient of what the gradient was taken at."""
    first, second = self.chunk(2, dim)
    grad_first, grad_second = grad.chunk(2, dim)
    sigmoid = calls.sigmoid(second)
    slope = sigmoid * (1 - sigmoid)
    bend = slope * (1 - 2 * sigmoid)
    crossed = grad_output * (grad_first * slope + grad_second * first * bend)
    return calls.cat([grad_second * grad_output * slope, crossed], dim)


@op(
    "glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor",
    node="GluBackwardBackward0",
    grad_output=lambda grad, self, dim: glu_grad_back(grad, self, dim),
    self=lambda grad, grad_output, self, dim: glu_self_back(grad, grad_output, self, dim),
)
def glu_backward(grad_output, self, dim):
    first, second = halves(self, dim)
    sigmoid = logistic(second)
    one = sigmoid.dtype.type(1)
    return np.concatenate(
        [grad_output * sigmoid, grad_output * first * sigmoid * (one - sigmoid)], wrap_dim(dim, self.ndim)
    )
