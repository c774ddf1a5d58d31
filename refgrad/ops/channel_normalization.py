"""Scaling to mean 0 and variance 1 by channel: over the batch, each sample, or groups of channels."""

from math import prod
from typing import Any

import numpy as np

from refgrad.layout import widened, wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.copying import suggested_format
from refgrad.ops.formats import in_format_of
from refgrad.ops.matmul import is_plain
from refgrad.ops.normalization import (
    DoubleBackward,
    check_parameters,
    no_derivative,
    normal_gradient,
    refuse_kind,
    scaled_and_shifted,
    statistics,
    unwanted,
)
from refgrad.storage import count_write
from refgrad.tensor import wrap

# Over the batch


def channels(array: np.ndarray, values: np.ndarray) -> np.ndarray:
    """One value for each channel, ready to broadcast."""
    return widened(values).reshape((1, -1) + (1,) * (array.ndim - 2))


def batch_axes(array: np.ndarray) -> tuple:
    """All axes but that of the channels."""
    return (0, *range(2, array.ndim))


def batch_norm_gradients(
    grad, input, weight, running_mean, running_var, result1, result2, training, eps, needs_input_grad
):
    """The gradients of `native_batch_norm` for input, weight and bias."""
    statistics = (running_mean, running_var, result1, result2, training, eps)
    found = calls.native_batch_norm_backward(grad, input, weight, *statistics, needs_input_grad)
    return unwanted(found, needs_input_grad)


@op(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    reduced="own",
    nondifferentiable=(1, 2),
    constants=("running_mean", "running_var"),
    jointly=("input, weight, bias", batch_norm_gradients),
)
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    wrap_dim(1, input.ndim)  # refused where there are no channels
    refuse_kind(input, "batch_norm")
    kind = check_parameters(input, weight, bias, running_mean, running_var)
    array = widened(input)
    if training:
        mean, variance, rstd = statistics(array, batch_axes(array), eps)
        update_statistics(running_mean, running_var, mean, variance, momentum, array.size // array.shape[1])
        saved = [mean.reshape(-1).astype(kind, copy=False), rstd.reshape(-1).astype(kind, copy=False)]
        mean, rstd = (channels(array, each) for each in saved)  # as they are saved, they are used
    else:
        mean = channels(array, running_mean)
        rstd = 1 / np.sqrt(channels(array, running_var) + array.dtype.type(eps))
        saved = [np.zeros(0, kind), np.zeros(0, kind)]
    scale = rstd if weight is None else rstd * channels(array, weight)
    shift = (0 if bias is None else channels(array, bias)) - mean * scale
    return scaled_and_shifted(array, scale, shift).astype(input.dtype, copy=False), *saved


def update_statistics(running_mean, running_var, mean, variance, momentum, count):
    """Move the running statistics towards those of a batch; PyTorch does not count this as a write."""
    if running_mean is not None:
        running_mean[...] = (1 - momentum) * widened(running_mean) + momentum * mean.reshape(-1)
    if running_var is not None:
        unbiased = variance.reshape(-1) * (count / (count - 1) if count > 1 else float("nan"))
        running_var[...] = (1 - momentum) * widened(running_var) + momentum * unbiased


def batch_norm_second(
    grads,
    grad_out,
    input,
    weight,
    running_mean,
    running_var,
    save_mean,
    save_invstd,
    train,
    eps,
    needs_input_grad,
):
    """The gradients for input, weight and `grad_out` of `native_batch_norm_backward`."""
    needed = needs_input_grad
    shape = (1, -1) + (1,) * (input._array.ndim - 2)
    dims = batch_axes(input._array)
    scale = None if weight is None else calls.reshape(weight, shape)
    grad_input = grads[0]
    grad_weight, grad_bias = (None if grad is None else calls.reshape(grad, shape) for grad in grads[1:])
    if not train:
        rstd = calls.rsqrt(calls.reshape(running_var, shape) + eps)
        return evaluation_second(
            (grad_input, grad_weight, grad_bias), grad_out, input, scale, running_mean, rstd, shape, needed
        )
    parts = DoubleBackward(input, calls.reshape(save_invstd, shape), scale, grad_out, dims)
    second_weight = parts.scale_gradient(grad_input) if needed[1] else None
    return [
        parts.input_gradient(grad_input, grad_weight) if needed[0] else None,
        None if second_weight is None else calls.sum__dim_IntList(second_weight, dims),
        parts.output_gradient(grad_input, grad_weight, grad_bias) if needed[2] else None,
    ]


@op(
    "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, "
    "Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, "
    "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    reduced="own",
    node="NativeBatchNormBackwardBackward0",
    jointly=("input, weight, grad_out", batch_norm_second),
    save_mean=lambda: no_derivative(),
    save_invstd=lambda: no_derivative(),
)
def native_batch_norm_backward(
    grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask
):
    axes, kind = batch_axes(input), input.dtype if weight is None else weight.dtype
    grad, array = widened(grad_out), widened(input)
    mean = channels(array, save_mean if train else running_mean)
    if train:
        rstd = channels(array, save_invstd)
    else:
        rstd = 1 / np.sqrt(channels(array, running_var) + array.dtype.type(eps))
    normal = (array - mean) * rstd
    nothing = np.zeros(0, kind)
    results = [nothing, nothing, nothing]
    if output_mask[0]:
        scaled = grad if weight is None else grad * channels(array, weight)
        results[0] = normal_gradient(scaled, normal, rstd, axes) if train else scaled * rstd
    if output_mask[1]:
        results[1] = (grad * normal).sum(axes)
    if output_mask[2]:
        results[2] = grad.sum(axes)
    return [x.astype(each, copy=False) for x, each in zip(results, (input.dtype, kind, kind))]


def evaluation_second(grads, grad_out, input, scale, running_mean, rstd, shape, needed):
    """The same with running statistics, which do not depend on the input."""
    grad_input, grad_weight, grad_bias = grads
    second_input = second_weight = None
    parts = []
    if grad_weight is not None:
        second_input = grad_weight * grad_out * rstd if needed[0] else None
        parts.append(grad_weight * (input - calls.reshape(running_mean, shape)) * rstd)
    if grad_input is not None:
        parts.append(grad_input * rstd if scale is None else grad_input * rstd * scale)
        if needed[1]:
            second_weight = calls.sum__dim_IntList(grad_input * grad_out * rstd, batch_axes(input._array))
    if grad_bias is not None:
        parts.append(calls.expand(grad_bias, grad_out._array.shape))
    return [second_input, second_weight, sum(parts[1:], parts[0]) if needed[2] and parts else None]


@composite(
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
    "bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor"
)
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    count = input._array.shape[1] if input._array.ndim > 1 else 0
    if not training:
        for name, tensor in (("running_mean", running_mean), ("running_var", running_var)):
            if tensor is None:
                raise RuntimeError(f"{name} must be defined in evaluation mode")
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, tensor in named.items():
        if tensor is not None and tensor._array.size != count:
            raise RuntimeError(f"{name} should contain {count} elements not {tensor._array.size}")
    if not input._array.size:
        result = calls.clone(input)
        if weight is not None:
            result = result * calls.select(weight, 0, 0)
        return result if bias is None else result + calls.select(bias, 0, 0)
    return calls.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@composite(
    "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
    "bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor"
)
def instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled
):
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    shape = input._array.shape
    batch, count = shape[0], shape[1]

    def repeated(tensor: Any) -> Any:
        return None if tensor is None else tensor.repeat(batch)

    flat = calls.view(calls.contiguous(input), (1, batch * count, *shape[2:]))
    means, variances = repeated(running_mean), repeated(running_var)
    result = batch_norm(
        flat,
        repeated(weight),
        repeated(bias),
        means,
        variances,
        use_input_stats,
        momentum,
        eps,
        cudnn_enabled,
    )
    for running, updated in ((running_mean, means), (running_var, variances)):
        if running is not None and use_input_stats:
            running._array[...] = updated._array.reshape(batch, count).mean(0)
            count_write(running)
    return calls.view(result, shape)


# Over groups of channels


@op(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, "
    "int group, float eps) -> (Tensor, Tensor, Tensor)",
    reduced="own",
    jointly=(
        "input, weight, bias",
        lambda grads, input, result1, result2, weight, N, C, HxW, group, eps, needs_input_grad: (
            group_norm_gradients(
                grads, input, result1, result2, weight, (N, group, C // group, HxW), needs_input_grad
            )
        ),
    ),
)
@in_format_of(0)
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    refuse_kind(input, "GroupNormKernelImpl")
    kind = check_parameters(input, weight, bias)
    weight, bias = (None if each is None else widened(each) for each in (weight, bias))
    array = widened(np.ascontiguousarray(input)).reshape(N, group, C // group * HxW)
    mean, _, rstd = statistics(array, (2,), eps)
    if weight is None and bias is None:
        result = (array - mean) * rstd
    else:
        array, by_channel = array.reshape(N, C, HxW), (N, group, C // group)
        scale = np.broadcast_to(rstd, by_channel).reshape(N, C, 1)
        scale = scale if weight is None else scale * weight[:, None]
        shift = -scale * np.broadcast_to(mean, by_channel).reshape(N, C, 1)
        result = scaled_and_shifted(array, scale, shift if bias is None else shift + bias[:, None])
    result = result.reshape(input.shape).astype(input.dtype, copy=False)
    return result, *[x.reshape(N, group).astype(kind, copy=False) for x in (mean, rstd)]


def group_norm_gradients(grads, input, mean, rstd, weight, sizes, needed):
    """The gradients for input, weight and bias; `sizes` are samples, groups, channels of a group, and "
    "places."""
    if is_plain() and grads[1] is None and grads[2] is None:
        return group_norm_arrays(grads[0], input, mean, rstd, weight, sizes, needed)
    samples, groups, inner, places = sizes
    share = 1 / (inner * places)
    values = calls.reshape(input, sizes)
    mean, rstd = (calls.reshape(tensor, (samples, groups, 1, 1)) for tensor in (mean, rstd))
    scale = None if weight is None else calls.reshape(weight, (1, groups, inner, 1))
    second_input = second_weight = second_bias = products = sums = None
    grad = None
    if grads[0] is not None:
        grad = calls.reshape(grads[0], sizes)
        products, sums = summed_in_place(grad * values, 3), summed_in_place(grad, 3)
    if needed[0]:
        second_input = group_norm_input(grad, grads, products, sums, values, mean, rstd, scale, share)
        second_input = calls.reshape(second_input, input._array.shape)
    if needed[1] and grad is not None:
        terms = calls.sum__dim_IntList((products - sums * mean) * rstd, (0,))
        second_weight = calls.reshape(terms, (groups * inner,))
    if needed[2] and grad is not None:
        second_bias = calls.reshape(calls.sum__dim_IntList(sums, (0,)), (groups * inner,))
    return [second_input, second_weight, second_bias]


def summed_in_place(tensor, dim):
    """A sum along a dimension, with a last dimension of one put in place, as PyTorch writes it."""
    return calls.unsqueeze_(calls.sum__dim_IntList(tensor, (dim,)), -1)


def group_norm_input(grad, grads, products, sums, values, mean, rstd, scale, share):
    """The gradient for the input, from those for the output and for the statistics."""
    cube = rstd * rstd * rstd
    slope = shift = first = None
    if grad is not None:
        first = (rstd if scale is None else rstd * scale) * grad
        weighted = [part if scale is None else part * scale for part in (products, sums)]
        products, sums = (summed_in_place(part, 2) for part in weighted)
        slope = (sums * mean - products) * cube * share
        shift = -slope * mean - sums * rstd * share
    if grads[2] is not None:
        extra = -calls.reshape(grads[2], rstd._array.shape) * cube * share
        slope = extra if slope is None else slope + extra
        shift = -extra * mean if shift is None else shift - extra * mean
    if grads[1] is not None:
        extra = calls.reshape(grads[1], mean._array.shape) * share
        shift = extra if shift is None else shift + extra
    total = None if slope is None else slope * values
    if first is not None:
        total = first if total is None else first + total
    if total is None:
        return calls.expand(shift, values._array.shape)
    return total + shift


def group_norm_arrays(grad, input, mean, rstd, weight, sizes, needed):
    """The same gradients computed on arrays, when nothing is recorded."""
    samples, groups, inner, places = sizes
    kind = input._array.dtype
    values, grad = (widened(tensor._array).reshape(sizes) for tensor in (input, grad))
    mean, rstd = (widened(tensor._array).reshape(samples, groups, 1, 1) for tensor in (mean, rstd))
    normal = (values - mean) * rstd
    scaled = grad if weight is None else grad * weight._array.reshape(1, groups, inner, 1)
    results = [None, None, None]
    if needed[0]:
        results[0] = normal_gradient(scaled, normal, rstd, (2, 3)).reshape(input._array.shape)
    if needed[1]:
        results[1] = (grad * normal).sum((0, 3)).flatten()
    if needed[2]:
        results[2] = grad.sum((0, 3)).flatten()
    kinds = (kind, *(2 * [kind if weight is None else weight._array.dtype]))
    return [None if x is None else wrap(x.astype(each, copy=False)) for x, each in zip(results, kinds)]


@composite(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
    "bool cudnn_enabled=True) -> Tensor"
)
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    shape = input._array.shape
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if shape[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tensor._array.shape != (shape[1],):
            # PyTorch shows the weight's shape in both texts.
            shown = [0] if weight is None else list(weight._array.shape)
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got "
                f"{name} of shape {shown} and input of shape {list(shape)}"
            )
    image = calls.contiguous(input, suggested_format(input._array))
    results = calls.native_group_norm(
        image, weight, bias, shape[0], shape[1], prod(shape[2:]), num_groups, eps
    )
    return results[0]
