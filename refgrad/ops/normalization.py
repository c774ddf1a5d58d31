"""Scaling to mean 0 and variance 1 over trailing dimensions, and what normalisations share.

*Statistics*: mean and reciprocal standard deviation (`rstd`), which the forward keeps for the backward.
"""

from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.layout import widened
from refgrad.modes import warn_once
from refgrad.op import calls, composite, op
from refgrad.storage import version_cell

# Shared

LARGEST = float(np.finfo(np.float32).max)


def statistics(array: np.ndarray, axes: tuple, eps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, variance and reciprocal standard deviation over some axes, which stay with size 1.

    Sums are kept in double precision, so that the mean of equal numbers is that number; squares that the
    array's own type cannot hold are infinite all the same.
    """
    mean = array.mean(axes, keepdims=True, dtype=np.float64)
    squares = np.square(array - mean)
    variance = squares.mean(axes, keepdims=True)
    if array.itemsize < 8 and (squares.sum(axes, keepdims=True) > LARGEST).any():
        variance[squares.sum(axes, keepdims=True) > LARGEST] = np.inf
    found = mean, variance, 1 / np.sqrt(variance + eps)
    return tuple([x.astype(array.dtype, copy=False) for x in found])


def scaled_and_shifted(array: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """`array * scale + shift` rounded once, as in PyTorch: the mean does not quite come out as 0."""
    return (array.astype(np.float64) * scale + shift).astype(array.dtype)


def refuse_kind(array: np.ndarray, name: str) -> None:
    """Refuse types that are not floating point."""
    if array.dtype.kind not in "fV":
        kind = dtypes.OF_NUMPY[array.dtype].scalar_type
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind}'")


def check_parameters(input: np.ndarray, *parameters: np.ndarray | None) -> np.dtype:
    """The type of the statistics and of the parameters: the input's, or float32 beside a reduced one.

    Raises:
        RuntimeError: the parameters have another, with PyTorch's text.
    """
    given = [array for array in parameters if array is not None]
    kind = given[0].dtype if given else input.dtype
    if kind is not input.dtype:
        if any(array.dtype != np.float32 for array in given):
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if input.dtype not in dtypes.REDUCED:
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
    for array in given:
        if array.dtype is not kind:
            found, wanted = (dtypes.OF_NUMPY[each].scalar_type for each in (array.dtype, kind))
            raise RuntimeError(f"expected scalar type {wanted} but found {found}")
    return kind


def normal_gradient(grad, normal, rstd, axes):
    """The gradient of the input, from that of the normalised values."""
    mean = grad.mean(axes, keepdims=True)
    return rstd * (grad - mean - normal * (grad * normal).mean(axes, keepdims=True))


def unwanted(gradients: Any, mask: Any) -> list:
    """The gradients of an op, None for those that were not asked for."""
    return [gradient if wanted else None for gradient, wanted in zip(gradients, mask, strict=True)]


def no_derivative() -> None:
    """Stands for the gradient of statistics, which never require one."""


class DoubleBackward:
    """The second derivatives of a normalisation; `scale` is its weight ready to multiply (None for 1).

    Attributes:
        normal: the normalised input, as a differentiable function of the input.
    """

    def __init__(self, input: Any, rstd: Any, scale: Any, grad_out: Any, dims: tuple):
        self.dims = dims
        self.grad_out = grad_out
        self.scale = scale
        centered = input - self.mean(input)
        variance = self.mean(centered * centered)
        # The epsilon that made `rstd`: the statistics are computed anew, as functions of the input.
        epsilon = (rstd.detach() ** -2) - variance.detach()
        self.rstd = (variance + epsilon).rsqrt()
        self.normal = centered * self.rstd

    def mean(self, tensor: Any) -> Any:
        """The mean over the normalised dimensions."""
        return calls.mean__dim(tensor, self.dims, True)

    def projected(self, tensor: Any) -> Any:
        """The tensor without what normalisation takes out."""
        return tensor - self.mean(tensor) - self.normal * self.mean(tensor * self.normal)

    def input_gradient(self, grad_input: Any, grad_scale: Any) -> Any:
        """The gradient for the input, from those for the first gradients of input and scale."""
        total = None
        if grad_input is not None:
            weighted = self.grad_out if self.scale is None else self.grad_out * self.scale
            a, b = self.mean(grad_input), self.mean(grad_input * self.normal)
            c, d = self.mean(weighted * self.normal), self.mean(weighted)
            e = self.mean(grad_input * weighted)
            inner = self.normal * (e - a * d - 3 * b * c) + c * (grad_input - a) + b * (weighted - d)
            total = -(self.rstd * self.rstd) * inner
        if grad_scale is not None:
            part = self.rstd * self.projected(grad_scale * self.grad_out)
            total = part if total is None else total.add_(part)
        return total

    def scale_gradient(self, grad_input: Any) -> Any:
        """The gradient for the scale, still to be summed to its shape."""
        return None if grad_input is None else self.grad_out * self.rstd * self.projected(grad_input)

    def output_gradient(self, grad_input: Any, grad_scale: Any, grad_shift: Any) -> Any:
        """The gradient for the gradient of the output."""
        parts = []
        if grad_input is not None:
            part = self.rstd * self.projected(grad_input)
            parts.append(part if self.scale is None else part * self.scale)
        if grad_scale is not None:
            parts.append(grad_scale * self.normal)
        if grad_shift is not None:
            parts.append(calls.expand(grad_shift, self.grad_out._array.shape))
        return sum(parts[1:], parts[0]) if parts else None


# Over trailing dimensions


@op(
    "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) "
    "-> (Tensor, Tensor, Tensor)",
    reduced="own",
    nondifferentiable=(1, 2),
    jointly=(
        "input, weight, bias",
        lambda grad, input, normalized_shape, result1, result2, weight, bias, needs_input_grad: unwanted(
            calls.native_layer_norm_backward(
                grad, input, normalized_shape, result1, result2, weight, bias, needs_input_grad
            ),
            needs_input_grad,
        ),
    ),
)
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    check_layer_norm(input, normalized_shape, weight, bias)
    refuse_kind(input, "LayerNormKernelImpl")
    kind = check_parameters(input, weight, bias)
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    array = widened(np.ascontiguousarray(input).reshape(input.shape))
    mean, _, rstd = statistics(array, axes, eps)
    result = (array - mean) * rstd
    if weight is not None:
        result = result * widened(weight)
    if bias is not None:
        result = result + widened(bias)
    return result.astype(input.dtype, copy=False), *[x.astype(kind, copy=False) for x in (mean, rstd)]


def check_layer_norm(input, normalized_shape, weight, bias, separator=", "):
    """Refuse shapes that do not fit.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    shape = list(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    for name, array in (("weight", weight), ("bias", bias)):
        if array is not None and list(array.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(array.shape)} and normalized_shape = {shape}"
            )
    if list(input.shape[-len(shape) :]) != shape:
        sizes = ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={shape}, expected input with shape [*{separator}{sizes}], but got "
            f"input of size{list(input.shape)}"
        )


@op(
    "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, "
    "Tensor rstd, "
    "Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    reduced="own",
    node="NativeLayerNormBackwardBackward0",
    jointly=(
        "input, weight, grad_out",
        lambda grads, grad_out, input, normalized_shape, mean, rstd, weight, needs_input_grad: (
            layer_norm_second(grads, grad_out, input, normalized_shape, mean, rstd, weight, needs_input_grad)
        ),
    ),
    mean=lambda: no_derivative(),
    rstd=lambda: no_derivative(),
    bias=lambda: no_derivative(),
)
def native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask):
    lead = input.ndim - len(normalized_shape)
    axes, batch = tuple(range(lead, input.ndim)), tuple(range(lead))
    kind = input.dtype if weight is None else weight.dtype
    grad, array, mean, rstd = widened(grad_out), widened(input), widened(mean), widened(rstd)
    normal = (array - mean) * rstd
    nothing = np.zeros(0, kind)
    scaled = grad if weight is None else grad * widened(weight)
    results = [normal_gradient(scaled, normal, rstd, axes) if output_mask[0] else nothing]
    results.append(summed_rows(grad * normal, batch, kind) if output_mask[1] else nothing)
    results.append(summed_rows(grad, batch, kind) if output_mask[2] else nothing)
    # No views: a gradient that another array stands behind is never added to in place.
    kinds = input.dtype, kind, kind if bias is None else bias.dtype
    return [np.asarray(x, each, order="C") for x, each in zip(results, kinds)]


def summed_rows(array: np.ndarray, axes: tuple, kind: np.dtype) -> np.ndarray:
    """The sum over leading axes, which PyTorch keeps in the type of the parameter, row by row."""
    if kind not in dtypes.REDUCED:
        return array.sum(axes)
    total = np.zeros(array.shape[len(axes) :], array.dtype)
    for row in array.reshape(-1, *total.shape):
        total = widened((total + row).astype(kind))
    return total


def layer_norm_second(grads, grad_out, input, normalized_shape, mean, rstd, weight, needed):
    """The gradients for input, weight and `grad_out` of `native_layer_norm_backward`."""
    lead = input._array.ndim - len(normalized_shape)
    dims = tuple(range(lead, input._array.ndim))
    parts = DoubleBackward(input, rstd, weight, grad_out, dims)
    grad_input, grad_weight, grad_bias = grads
    second_weight = parts.scale_gradient(grad_input) if needed[1] else None
    if second_weight is not None and lead:
        second_weight = calls.sum__dim_IntList(second_weight, tuple(range(lead)))
    second_input = parts.input_gradient(grad_input, grad_weight) if needed[0] else None
    second_output = parts.output_gradient(grad_input, grad_weight, grad_bias) if needed[2] else None
    # PyTorch fills flat memory, with several writes for the input, and gives out views of it.
    writes = 2 if grad_input is None else 3
    found = ((second_input, writes), (second_weight, 0), (second_output, 0))
    return [reshaped_again(gradient, count) for gradient, count in found]


def reshaped_again(gradient, writes):
    """A gradient as a view of flat memory that was written so often; None stays None."""
    if gradient is None:
        return None
    flat = calls.view(calls.contiguous(gradient), (-1,))
    cell = version_cell(flat)
    cell[0] += writes
    return calls.view(flat, gradient._array.shape)


@composite(
    "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05, bool cudnn_enable=True) -> Tensor"
)
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    return calls.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


@composite(
    "rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor"
)
def rms_norm(input, normalized_shape, weight=None, eps=None):
    check_layer_norm(input._array, normalized_shape, None if weight is None else weight._array, None, "")
    refuse_kind(input._array, "rms_norm")
    if eps is None:
        eps = float(dtypes.finfo(dtypes.float32 if input.dtype in dtypes.HALVES else input.dtype).eps)
    dims = tuple(range(input._array.ndim - 1, input._array.ndim - len(normalized_shape) - 1, -1))
    if weight is not None and weight.dtype is not input.dtype:
        warn_once(
            f"Mismatch dtype between input and weight: input dtype = {input.dtype.cpp_name}, weight dtype "
            f"= {weight.dtype.cpp_name}, Cannot dispatch to fused implementation."
        )
    upcast = calls.to__dtype(input, dtypes.float32) if input.dtype in dtypes.HALVES else input
    squares = calls.mean__dim(calls.pow__Tensor_Scalar(upcast, 2), dims, True)
    result = calls.mul(upcast, calls.rsqrt(calls.add__Scalar(squares, eps)))
    if weight is not None:
        result = calls.mul(result, weight)
    return result if result.dtype is input.dtype else result.to(input.dtype)
