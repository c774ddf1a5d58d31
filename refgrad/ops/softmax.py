"""Softmax, its logarithm, and the logarithm of a sum of exponentials."""

import numpy as np

from refgrad import dtypes
from refgrad.dtypes import REDUCED
from refgrad.layout import widened, wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.checks import not_implemented
from refgrad.ops.reductions import axes_of, cast, restored, row_major


def check_floating(array, kernel):
    """Refuse types that softmax is not defined for.

    Raises:
        NotImplementedError: the type is not floating.
    """
    if array.dtype.kind not in "fV":
        raise not_implemented(kernel, array)


def kernel_name(array, dim, name):
    """The name of the kernel that PyTorch would run along this dimension."""
    last = wrap_dim(dim, array.ndim) == max(array.ndim - 1, 0)
    return f"{name}_lastdim_kernel_impl" if last else f"{name}_kernel_impl"


def shifted(array, axis):
    """The array less its maximum along an axis, in single precision at least."""
    array = widened(array)
    return np.subtract(array, np.maximum.reduce(array, axis=axis, keepdims=True))


# Softmax ----------------------------------------------------------------------------------------------------


@op(
    "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    reduced="own",
    node="SoftmaxBackward0",
    self=lambda grad, dim, result: calls._softmax_backward_data(grad, result, dim, result.dtype),
)
def softmax_kernel(self, dim, half_to_float):
    axis = wrap_dim(dim, self.ndim)
    check_floating(self, kernel_name(self, dim, "softmax"))
    if not self.ndim or not self.size:
        return np.exp(np.subtract(self, self, order="C")) if self.size else np.empty(self.shape, self.dtype)
    powers = np.exp(shifted(self, axis))
    total = np.add.reduce(powers, axis=axis, keepdims=True)
    if axis < self.ndim - 1 and self.dtype in REDUCED:  # across rows PyTorch keeps these in half precision
        powers = widened(powers.astype(self.dtype))
    powers /= total
    return row_major(powers.astype(self.dtype, copy=False))


@op(
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
    node="SoftmaxBackwardDataBackward0",
    grad_output=lambda grad, output, dim: calls._softmax_backward_data(
        cast(grad, output.dtype), output, dim, output.dtype
    ),
    output=lambda grad, grad_output, output, dim: softmax_twice_back(
        cast(grad, output.dtype), grad_output, dim, output
    ),
)
def softmax_backward_data(grad_output, output, dim, input_dtype):
    if not output.ndim:
        return np.multiply(np.subtract(grad_output, grad_output * output), output)
    kind = output.dtype
    total = row_sum(np.multiply(grad_output, output), wrap_dim(dim, output.ndim))
    return row_major(np.multiply(np.subtract(grad_output, total), output).astype(kind, copy=False))


def row_sum(array, axis):
    """The sum along an axis, kept; along the last one, which PyTorch does by vectors, zeros keep signs."""
    return np.add.reduce(array, axis, keepdims=True, initial=-0.0 if axis == array.ndim - 1 else 0.0)


def softmax_twice_back(grad, grad_output, dim, output):
    """The gradient of softmax's gradient for softmax's result."""
    return (
        grad_output * grad
        - (output * grad_output).sum((dim,), True) * grad
        - grad_output * (output * grad).sum((dim,), True)
    )


# Logarithm of softmax ---------------------------------------------------------------------------------------


@op(
    "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    reduced="own",
    node="LogSoftmaxBackward0",
    self=lambda grad, dim, result: calls._log_softmax_backward_data(grad, result, dim, result.dtype),
)
def log_softmax_kernel(self, dim, half_to_float):
    axis = wrap_dim(dim, self.ndim)
    check_floating(self, kernel_name(self, dim, "log_softmax"))
    if not self.ndim or not self.size:
        return np.subtract(self, self, order="C") if self.size else np.empty(self.shape, self.dtype)
    low = shifted(self, axis)
    total = np.add.reduce(np.exp(low), axis=axis, keepdims=True)
    if axis == self.ndim - 1 and self.dtype in REDUCED:  # along rows PyTorch keeps these in half precision
        low -= widened(np.log(widened(total.astype(self.dtype))).astype(self.dtype))
    else:
        low -= np.log(total)
    return row_major(low.astype(self.dtype, copy=False))


@op(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) "
    "-> Tensor",
    node="LogSoftmaxBackwardDataBackward0",
    grad_output=lambda grad, output, dim: (
        cast(grad, output.dtype) - (cast(grad, output.dtype) * output.exp()).sum((dim,), True)
    ),
    output=lambda grad, grad_output, output, dim: (
        -grad_output.sum((dim,), True) * output.exp() * cast(grad, output.dtype)
    ),
)
def log_softmax_backward_data(grad_output, output, dim, input_dtype):
    kind = output.dtype
    total = row_sum(grad_output, wrap_dim(dim, output.ndim)) if output.ndim else grad_output
    result = np.subtract(grad_output, np.multiply(np.exp(output), total))
    return row_major(result.astype(kind, copy=False))


def converted(tensor, dtype):
    """The tensor in the type that was asked for; integers are not softened without one."""
    return tensor if dtype is None else cast(tensor, dtype)


@composite("softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
def softmax(self, dim, dtype=None):
    return calls._softmax(converted(self, dtype), dim, False)


@composite("log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
def log_softmax(self, dim, dtype=None):
    return calls._log_softmax(converted(self, dtype), dim, False)


# Logarithm of a sum of exponentials -------------------------------------------------------------------------


@op(
    "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    reduced="own",
    self=lambda grad, self, result, dim, keepdim: logsumexp_back(grad, self, result, dim, keepdim),
)
def logsumexp(self, dim, keepdim):
    axes = axes_of(dim, self.ndim)
    if not dim and self.ndim and not keepdim:
        raise RuntimeError(f"output with shape [] doesn't match the broadcast shape {[1] * self.ndim}")
    array = self if self.dtype.kind in "fcV" else self.astype(dtypes.default().numpy)
    if not array.size:
        return row_major(np.log(np.add.reduce(np.exp(array), axis=axes, keepdims=keepdim)))
    largest = np.maximum.reduce(array.real, axis=axes, keepdims=True)
    largest = np.where(np.isinf(largest), 0, largest).astype(largest.dtype)
    total = np.add.reduce(widened(np.exp(array - largest)), axis=axes, keepdims=True)
    result = np.log(total.astype(array.dtype, copy=False)) + largest
    return row_major(result) if keepdim else np.array(np.squeeze(result, axis=axes), order="C")


def logsumexp_back(grad, self, result, dim, keepdim):
    """The gradient spread by the weights of softmax."""
    ndim = self._array.ndim
    grad, result = restored(grad, dim, ndim, keepdim), restored(result, dim, ndim, keepdim)
    return grad * (self - result).exp().conj()
