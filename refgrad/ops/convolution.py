"""Convolution of any number of spatial dimensions, forwards and transposed, by products of matrices.

*Columns*: the patches under the kernel, one for each place of the output, as the columns of a matrix.
"""

import itertools
from math import prod
from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.layout import widened
from refgrad.modes import warn_once
from refgrad.op import calls, composite, op
from refgrad.ops.formats import in_format_of, suggests_channels_last, with_channels_last
from refgrad.ops.normalization import summed_rows, unwanted
from refgrad.ops.reductions import row_major
from refgrad.types import contiguous_format


def patches(padded: np.ndarray, kernel: tuple, stride: tuple, dilation: tuple) -> np.ndarray:
    """A window of shape (samples, channels, places of the output, places of the kernel)."""
    count = len(kernel)
    sizes, steps = padded.shape[2:], padded.strides[2:]
    places = [
        (size - d * (k - 1) - 1) // s + 1
        for size, k, s, d in zip(sizes, kernel, stride, dilation, strict=True)
    ]
    strides = [step * s for step, s in zip(steps, stride, strict=True)]
    strides += [step * d for step, d in zip(steps, dilation, strict=True)]
    shape = (*padded.shape[:2], *places, *kernel)
    assert len(shape) == 2 + 2 * count
    return np.lib.stride_tricks.as_strided(padded, shape, (*padded.strides[:2], *strides), writeable=False)


def columns(input: np.ndarray, kernel: tuple, options: tuple, groups: int, places: tuple) -> np.ndarray:
    """The columns: samples, groups, channels of a group times places of the kernel, places of the output."""
    stride, padding, dilation = options
    padded = np.pad(input, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    count = len(kernel)
    place: Any = (..., *map(slice, places), *[slice(None)] * count)
    window = patches(padded, kernel, stride, dilation)[place]
    order = (0, 1, *range(2 + count, 2 + 2 * count), *range(2, 2 + count))
    length = input.shape[1] // groups * prod(kernel)
    return window.transpose(order).reshape(input.shape[0], groups, length, prod(places))


def convolve(
    input: np.ndarray, weight: np.ndarray, options: tuple, groups: int, places: tuple | None = None
) -> np.ndarray:
    """The plain convolution, by default at all places where the kernel fits."""
    kernel = weight.shape[2:]
    if places is None:
        places = tuple(
            (size + 2 * p - d * (k - 1) - 1) // s + 1
            for size, k, s, p, d in zip(input.shape[2:], kernel, *options, strict=True)
        )
    filters = widened(weight).reshape(groups, weight.shape[0] // groups, -1)
    result = np.matmul(filters[None], columns(widened(input), kernel, options, groups, places))
    return result.reshape(input.shape[0], weight.shape[0], *places)


def spread_back(
    grad: np.ndarray, weight: np.ndarray, sizes: tuple, options: tuple, groups: int
) -> np.ndarray:
    """The gradient of `convolve` for its input of these spatial sizes; also the transposed convolution."""
    stride, padding, dilation = options
    kernel, places = weight.shape[2:], grad.shape[2:]
    filters = widened(weight).reshape(groups, weight.shape[0] // groups, -1)
    flat = widened(grad).reshape(grad.shape[0], groups, weight.shape[0] // groups, prod(places))
    # See note [Convolutions in reduced precision].
    parts = np.matmul(filters.swapaxes(1, 2)[None], flat).astype(grad.dtype, copy=False)
    parts = parts.reshape(grad.shape[0], groups * weight.shape[1], *kernel, *places)
    padded = [size + 2 * p for size, p in zip(sizes, padding, strict=True)]
    result = np.zeros((grad.shape[0], groups * weight.shape[1], *padded), grad.dtype)
    for offset in itertools.product(*map(range, kernel)):
        target = [
            slice(k * d, k * d + s * (n - 1) + 1, s)
            for k, d, s, n in zip(offset, dilation, stride, places, strict=True)
        ]
        if result.size and grad.size:
            result[(slice(None), slice(None), *target)] += parts[(slice(None), slice(None), *offset)]
    if not any(padding):
        return result
    inner = [slice(p, p + size) for p, size in zip(padding, sizes, strict=True)]
    return row_major(result[(slice(None), slice(None), *inner)])


def weight_gradient(
    grad: np.ndarray, input: np.ndarray, shape: tuple, options: tuple, groups: int
) -> np.ndarray:
    """The gradient of `convolve` for its weight of this shape."""
    flat = widened(grad).reshape(grad.shape[0], groups, shape[0] // groups, prod(grad.shape[2:]))
    found = columns(widened(input), shape[2:], options, groups, grad.shape[2:])
    return summed_rows(np.matmul(flat, found.swapaxes(2, 3)), (0,), grad.dtype).reshape(shape)


# The op and its derivatives

# Note [Convolutions in reduced precision]
# Where its library has no such products, as on processors without instructions for them, PyTorch multiplies
# the columns of each sample with float32 sums. What the products of several places or samples add to one
# element is rounded after each: the gradients of input and weight, and the transposed convolution.


def gradients(
    grad,
    input,
    weight,
    bias_sym_sizes_opt,
    stride,
    padding,
    dilation,
    transposed,
    output_padding,
    groups,
    needs_input_grad,
):
    """The gradients of `convolution` for input, weight and bias."""
    options = (stride, padding, dilation, transposed, output_padding, groups)
    found = calls.convolution_backward(grad, input, weight, bias_sym_sizes_opt, *options, needs_input_grad)
    return unwanted(found, needs_input_grad)


@op(
    "convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
    "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
    reduced="own",
    jointly=("input, weight, bias", gradients),
)
@in_format_of(0, 1)
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    options = (tuple(stride), tuple(padding), tuple(dilation))
    check_convolution(input, weight, bias, options, transposed, output_padding, groups)
    kind = input.dtype
    if transposed:
        sizes = [
            (n - 1) * s - 2 * p + d * (k - 1) + extra + 1
            for n, s, p, d, k, extra in zip(
                input.shape[2:], stride, padding, dilation, weight.shape[2:], output_padding, strict=True
            )
        ]
        result = spread_back(input, weight, tuple(sizes), options, groups)
    else:
        result = convolve(input, weight, options, groups)
        bias = None if bias is None else widened(bias)
    if bias is not None:
        result = result + bias.reshape(-1, *[1] * (input.ndim - 2))
    return result.astype(kind, copy=False)


def second_gradients(
    grads,
    grad_output,
    input,
    weight,
    stride,
    padding,
    dilation,
    transposed,
    output_padding,
    groups,
    needs_input_grad,
):
    """The gradients of `convolution_backward` for its first three arguments."""
    needed = needs_input_grad
    options = (stride, padding, dilation, transposed, output_padding, groups)
    grad_input, grad_weight, grad_bias = grads
    parts = []
    if needed[0]:
        if grad_input is not None:
            parts.append(calls.convolution(grad_input, weight, None, *options))
        if grad_weight is not None:
            parts.append(calls.convolution(input, grad_weight, None, *options))
        if grad_bias is not None:
            shaped = calls.reshape(grad_bias, (1, -1, *[1] * (input._array.ndim - 2)))
            parts.append(calls.expand(shaped, grad_output._array.shape))
    second_input = second_weight = None
    if needed[1] and grad_weight is not None:
        mask = (True, False, False)
        shape_of_input = input.detach()  # of which no more than that counts
        found = calls.convolution_backward(grad_output, shape_of_input, grad_weight, None, *options, mask)
        second_input = found[0]
    if needed[2] and grad_input is not None:
        mask = (False, True, False)
        shape_of_weight = weight.detach()
        found = calls.convolution_backward(grad_output, grad_input, shape_of_weight, None, *options, mask)
        second_weight = found[1]
        # PyTorch finds it by a convolution with the channels exchanged, and its memory shows that.
        swapped = calls.clone(calls.transpose(second_weight, 0, 1), memory_format=contiguous_format)
        second_weight = calls.transpose(swapped, 0, 1)
    return [sum(parts[1:], parts[0]) if parts else None, second_input, second_weight]


NOT_WANTED = np.zeros(0)  # in the place of a gradient that the mask leaves out


@op(
    "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, "
    "SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
    "SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    reduced="own",
    jointly=("grad_output, input, weight", second_gradients),
    node="ConvolutionBackwardBackward0",
    wrapper=lambda results: tuple(None if each._array.shape == (0,) else each for each in results),
)
def convolution_backward(
    grad_output,
    input,
    weight,
    bias_sizes,
    stride,
    padding,
    dilation,
    transposed,
    output_padding,
    groups,
    output_mask,
):
    options = (tuple(stride), tuple(padding), tuple(dilation))
    kind = input.dtype
    grad, values, filters = grad_output, input, weight
    results = [NOT_WANTED] * 3
    if output_mask[0]:
        if transposed:
            results[0] = convolve(grad, filters, options, groups, input.shape[2:])
        else:
            results[0] = spread_back(grad, filters, input.shape[2:], options, groups)
    if output_mask[1]:
        if transposed:
            results[1] = weight_gradient(values, grad, weight.shape, options, groups)
        else:
            results[1] = weight_gradient(grad, values, weight.shape, options, groups)
    if output_mask[2]:
        results[2] = widened(grad).sum((0, *range(2, grad.ndim)))
    if any(map(suggests_channels_last, (input, weight))):
        results[0] = with_channels_last(results[0])
    return [result.astype(kind, copy=False) for result in results]


# Checks


def check_convolution(input, weight, bias, options, transposed, output_padding, groups):
    """Refuse operands and options that do not fit.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    stride, padding, dilation = options
    count = weight.ndim - 2
    if bias is not None and bias.dtype is not input.dtype:
        found, wanted = dtypes.OF_NUMPY[bias.dtype].cpp_name, dtypes.OF_NUMPY[input.dtype].cpp_name
        raise RuntimeError(f"Input type ({wanted}) and bias type ({found}) should be the same")
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) <= 0:
        shown = [1, *dilation] if count == 1 else list(dilation)
        raise RuntimeError(f"dilation should be greater than zero, but got {shown}")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    check_channels(input, weight, bias, transposed, groups)
    if not transposed:
        check_kernel(input, weight, padding, dilation)
    elif any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation, strict=True)):
        raise RuntimeError(output_padding_text(output_padding, stride, dilation))
    if weight.dtype is not input.dtype:
        found, wanted = dtypes.OF_NUMPY[weight.dtype].scalar_type, dtypes.OF_NUMPY[input.dtype].scalar_type
        raise RuntimeError(f"expected scalar type {wanted} but found {found}")


def output_padding_text(output_padding, stride, dilation):
    """The refusal of an output padding that is too large."""
    names = ["depth", "height", "width"][-max(len(stride), 2) :]
    parts = []
    for kind, values in (("output_padding", output_padding), ("stride", stride), ("dilation", dilation)):
        values = (0 if kind == "output_padding" else 1, *values) if len(values) == 1 else values
        parts += [f"{kind}_{name}: {value}" for name, value in zip(names, values, strict=True)]
    return "output padding must be smaller than either stride or dilation, but got " + " ".join(parts)


def check_channels(input, weight, bias, transposed, groups):
    """Refuse numbers of channels that do not fit."""
    shape, given = list(weight.shape), list(input.shape)
    if shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got "
            f"weight of size {shape} instead"
        )
    if shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
            f"weight of size [{shape}] instead"
        )
    prefix = f"Given transposed={int(transposed)}" if transposed else f"Given groups={groups}"
    wanted = shape[0] if transposed else shape[1] * groups
    if given[1] != wanted:
        raise RuntimeError(
            f"{prefix}, weight of size {shape}, expected input{given} to have {wanted} channels, but got "
            f"{given[1]} channels instead"
        )
    outputs = shape[1] * groups if transposed else shape[0]
    if bias is not None and bias.shape != (outputs,):
        prefix = f"{prefix}, weight" if transposed else "Given weight"
        raise RuntimeError(
            f"{prefix} of size {shape}, expected bias to be 1-dimensional with {outputs} elements, but got "
            f"bias of size {list(bias.shape)} instead"
        )


def check_kernel(input, weight, padding, dilation):
    """Refuse a kernel that is larger than the padded input."""
    sizes = [size + 2 * p for size, p in zip(input.shape[2:], padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if any(size < length for size, length in zip(sizes, reach, strict=True)):
        shown, kernel = (" x ".join(map(str, values)) for values in (sizes, reach))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({shown}). Kernel size: ({kernel}). Kernel size "
            "can't be greater "
            "than actual input size"
        )


# Public functions


def batched(input: Any, count: int, name: str) -> tuple[Any, bool]:
    """The input with a batch dimension, and whether it had one.

    Raises:
        RuntimeError: it has neither rank that fits.
    """
    ndim = input._array.ndim
    if ndim not in (count + 1, count + 2):
        raise RuntimeError(
            f"Expected {count + 1}D (unbatched) or {count + 2}D (batched) input to {name}, but got input "
            f"of size: {list(input._array.shape)}"
        )
    return (input, True) if ndim == count + 2 else (calls.unsqueeze(input, 0), False)


def repeated(values: tuple, count: int, name: str) -> tuple:
    """An option with a value for each dimension of the kernel.

    Raises:
        RuntimeError: it has another number of values.
    """
    if len(values) not in (1, count):
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {count} values to match the "
            f"convolution dimensions, but got {name}={list(values)}"
        )
    return values * count if len(values) == 1 else values


def convolved(name, count, input, weight, bias, options, transposed, output_padding, groups):
    """Call the op with a batch dimension."""
    batch, is_batched = batched(input, count, name)
    names = ("stride", "padding", "dilation", "output_padding")
    dims = weight._array.ndim - 2
    if dims < 1:
        raise RuntimeError("weight should have at least three dimensions")
    *options, extra = [
        repeated(tuple(values) * count if len(values) == 1 else tuple(values), dims, kind)
        for values, kind in zip((*options, output_padding), names, strict=True)
    ]
    result = calls.convolution(batch, weight, bias, *options, transposed, extra, groups)
    return result if is_batched else calls.squeeze__dim(result, 0)


def padded_same(input, weight, stride, dilation):
    """The input and the padding that make the output as large as the input.

    Raises:
        RuntimeError: the stride is not 1.
    """
    if any(step != 1 for step in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    kernel = weight._array.shape[2:]
    dilation = tuple(dilation) * len(kernel) if len(dilation) == 1 else dilation
    totals = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    if any(total % 2 for total in totals):
        warn_once(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy "
            "of the input be created"
        )
        pad = [count for total in reversed(totals) for count in (0, total % 2)]
        input = calls.constant_pad_nd(input, pad, 0)
    return input, [total // 2 for total in totals]


def declare_functions(count: int) -> None:
    """Declare the public functions for so many spatial dimensions."""
    forward, backward = f"conv{count}d", f"conv_transpose{count}d"
    head = f"Tensor input, Tensor weight, Tensor? bias=None, SymInt[{count}] stride=1, "
    tail = f"SymInt[{count}] dilation=1, SymInt groups=1) -> Tensor"

    @composite(f"{forward}({head}SymInt[{count}] padding=0, {tail}")
    def plain(input, weight, bias=None, stride=(1,), padding=(0,), dilation=(1,), groups=1):
        options = (stride, padding, dilation)
        return convolved(forward, count, input, weight, bias, options, False, (0,), groups)

    @composite(f'{forward}.padding({head}str padding="valid", {tail}')
    def worded(input, weight, bias=None, stride=(1,), padding="valid", dilation=(1,), groups=1):
        if padding == "same":
            batch, is_batched = batched(input, count, forward)
            batch, counts = padded_same(batch, weight, stride, dilation)
            options = (stride, counts, dilation)
            result = convolved(forward, count, batch, weight, bias, options, False, (0,), groups)
            return result if is_batched else calls.squeeze__dim(result, 0)
        if padding != "valid":
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        return plain(input, weight, bias, stride, (0,), dilation, groups)

    name = backward if count == 1 else f"{backward}.input"

    @composite(
        f"{name}({head}SymInt[{count}] padding=0, SymInt[{count}] output_padding=0, SymInt groups=1, "
        f"SymInt[{count}] dilation=1) -> Tensor"
    )
    def transposed(
        input, weight, bias=None, stride=(1,), padding=(0,), output_padding=(0,), groups=1, dilation=(1,)
    ):
        options = (stride, padding, dilation)
        return convolved(backward, count, input, weight, bias, options, True, output_padding, groups)


for spatial in (1, 2, 3):
    declare_functions(spatial)
