"""Smooth activation functions, and their gradients as ops of their own: graphs of second order show them."""

from math import pi, sqrt

import numpy as np

from refgrad import modes
from refgrad.layout import widened, wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.checks import computed, not_implemented, plain_numbers

# Exponential ------------------------------------------------------------------------------------------------

elu_kernel = computed(
    "elu_cpu",
    lambda self, alpha, scale, input_scale: np.where(
        self < 0,
        np.expm1(self * self.dtype.type(input_scale)) * self.dtype.type(alpha * scale),
        self * self.dtype.type(scale),
    ),
)

op(
    "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
    laid_out_by="self",
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
    laid_out_by="self",
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
    laid_out_by="grad_output, self_or_result",
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
            "In-place elu backward calculation is triggered with a negative slope which is not supported. "
            "This is caused by calling in-place forward function with a negative slope, please call "
            "out-of-place version instead."
        )
    alpha, scale, input_scale = plain_numbers(grad_output.dtype, alpha, scale, input_scale)
    kind = grad_output.dtype.type
    if is_result:
        below = kind(input_scale) * (self_or_result + kind(alpha * scale))
    else:
        below = kind(input_scale * alpha * scale) * np.exp(self_or_result * kind(input_scale))
    return grad_output * np.where(self_or_result <= 0, below, kind(scale))


# Softplus and the sigmoid family ----------------------------------------------------------------------------


def softplus_kernel(self, beta, threshold):
    """log(1 + exp(beta x)) / beta, x itself above the threshold."""
    kind = self.dtype.type
    scaled = self * kind(beta)
    return np.where(scaled > kind(threshold), self, np.log1p(np.exp(scaled)) / kind(beta))


op(
    "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    laid_out_by="self",
    self=lambda grad, self, beta, threshold: calls.softplus_backward(grad, self, beta, threshold),
)(computed("softplus_cpu", softplus_kernel))


def softplus_double_back(grad, self, beta, threshold):
    """The gradient of what the gradient was taken at."""
    scaled = self * beta
    slope = calls.sigmoid_backward(grad, calls.sigmoid(scaled))
    return slope * (scaled < threshold).to(grad.dtype) * beta


def softplus_slope(grad_output, self, beta, threshold):
    """The gradient of softplus."""
    beta, threshold = plain_numbers(self.dtype, beta, threshold)
    kind = self.dtype.type
    scaled = self * kind(beta)
    grown = np.exp(scaled)
    return np.where(scaled > kind(threshold), grad_output, grad_output * grown / (grown + kind(1)))


op(
    "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
    laid_out_by="grad_output, self",
    node="SoftplusBackwardBackward0",
    grad_output=lambda grad, self, beta, threshold: calls.softplus_backward(grad, self, beta, threshold),
    self=lambda grad, grad_output, self, beta, threshold: softplus_double_back(
        grad * grad_output, self, beta, threshold
    ),
)(computed("softplus_backward_cpu", softplus_slope))


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
    self = np.asarray(self, order="C")
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
    return np.multiply(grad_output, np.where(self < 0, kind(1) - fraction, fraction), order="C")


def silu_back(grad, self):
    """The gradient of `silu`: one op, or several that can be differentiated again."""
    if not modes.grad_enabled():
        return calls.silu_backward(grad, self)
    sigmoid = calls.sigmoid(self)
    rest = 1.0 + self * (1.0 - sigmoid)
    return grad * sigmoid * rest


op(
    "silu(Tensor self) -> Tensor",
    laid_out_by="self",
    inplace=True,
    real_gradient=True,
    self=lambda grad, self: silu_back(grad, self),
)(computed("silu_cpu", lambda self: self / (1 + np.exp(-self)), kinds="fc"))


def silu_slope(grad_output, self):
    """The gradient of `silu`."""
    one = self.dtype.type(1)
    sigmoid = logistic(self)
    return grad_output * sigmoid * (one + self * (one - sigmoid))


op("silu_backward(Tensor grad_output, Tensor self) -> Tensor", laid_out_by="grad_output, self")(
    computed("silu_backward_cpu", silu_slope, kinds="fc")
)


def mish_back(grad, self):
    """The gradient of `mish`: one op, or several that can be differentiated again."""
    if not modes.grad_enabled():
        return calls.mish_backward(grad, self)
    sigmoid = calls.sigmoid(self)
    inner = calls.tanh(calls.log1p(calls.exp(self)))
    rest = 1 - inner * inner
    return grad * (inner + self * sigmoid * rest)


def mish_slope(grad_output, self):
    """The gradient of `mish`."""
    inner = np.tanh(np.log1p(np.exp(self)))
    return grad_output * (inner + self * logistic(self) * (self.dtype.type(1) - inner * inner))


op("mish_backward(Tensor grad_output, Tensor self) -> Tensor", laid_out_by="grad_output, self")(
    computed("mish_backward_cpu", mish_slope)
)
op(
    "mish(Tensor self) -> Tensor",
    laid_out_by="self",
    inplace=True,
    self=lambda grad, self: mish_back(grad, self),
)(computed("mish_cpu", lambda self: self * np.tanh(np.log1p(np.exp(self)))))


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
    laid_out_by="self",
    inplace=True,
    self=lambda grad, self, approximate: calls.gelu_backward(grad, self, approximate),
)
def gelu(self, approximate):
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    result = computed("GeluKernelImpl", gelu_kernel)(self, approximate)
    if approximate == "none" and self.dtype == np.float32 and self.size > 1 and self.flags.c_contiguous:
        result = result + np.float32(0)  # another library computes these, and knows no negative zero
    return result


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
        return grad * grad_output * (density * 2.0 - self * self * density)
    inner = sqrt(2 / pi) * (self + 0.044715 * calls.pow__Tensor_Scalar(self, 3))
    wave, peak = calls.tanh(inner), calls.div(self.new_ones(()), calls.cosh(inner))
    half, narrow = 0.5 * self, 1.0 - wave * wave
    steep = sqrt(2 / pi) * (1.0 + 3 * 0.044715 * self * self)
    narrowing = (2.0 * peak) * (-peak * wave) * steep
    bend = (6 * 0.044715 * self) * sqrt(2 / pi)
    slope = 2.0 * ((0.5 * narrow) * steep) + half * steep * narrowing + half * narrow * bend
    return grad * grad_output * slope


op(
    "gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor",
    laid_out_by="grad_output, self",
    node="GeluBackwardBackward0",
    grad_output=lambda grad, self, approximate: calls.gelu_backward(grad, self, approximate),
    self=lambda grad, grad_output, self, approximate: gelu_double_back(grad, grad_output, self, approximate),
)(computed("GeluBackwardKernelImpl", gelu_slope))

# Gated ------------------------------------------------------------------------------------------------------


def halves(array, dim):
    """The two halves of a dimension.

    Raises:
        RuntimeError: there is no dimension, or its size is odd.
    """
    if not array.ndim:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    axis = wrap_dim(dim, array.ndim)
    if array.shape[axis] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {axis} is size {array.shape[axis]}"
        )
    return np.split(array, 2, axis)


def logistic(array):
    """1 / (1 + exp(-x))."""
    return array.dtype.type(1) / (array.dtype.type(1) + np.exp(-array))


@op(
    "glu(Tensor self, int dim=-1) -> Tensor", self=lambda grad, self, dim: calls.glu_backward(grad, self, dim)
)
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
    reduced="own",
    node="GluBackwardBackward0",
    grad_output=lambda grad, self, dim: glu_grad_back(grad, self, dim),
    self=lambda grad, grad_output, self, dim: glu_self_back(grad, grad_output, self, dim),
)
def glu_backward(grad_output, self, dim):
    first, second = halves(self, dim)
    sigmoid = logistic(widened(second)).astype(self.dtype, copy=False)  # PyTorch stores it
    grad, first, sigmoid = widened(grad_output), widened(first), widened(sigmoid)
    parts = [grad * sigmoid, grad * first * sigmoid * (sigmoid.dtype.type(1) - sigmoid)]
    return np.concatenate(parts, wrap_dim(dim, self.ndim)).astype(self.dtype, copy=False)
