"""The pooling functions of `torch.nn.functional`."""

import math
from typing import Any

from refgrad.nn.native import native


def pooled(name: str, return_indices: bool, *arguments: Any) -> Any:
    """The maxima, and where they lie when that is asked for."""
    values = native(name)(*arguments)
    return values if return_indices else values[0]


def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each patch of the last dimension."""
    name = "max_pool1d_with_indices" if return_indices else "max_pool1d"
    return native(name)(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each patch of the last two dimensions."""
    name = "max_pool2d_with_indices" if return_indices else "max_pool2d"
    return native(name)(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)


def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each patch of the last three dimensions."""
    name = "max_pool3d_with_indices" if return_indices else "max_pool3d"
    return native(name)(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)


def sizes_for(output_size: Any, input: Any) -> Any:
    """The output size, with the input's own where it says None."""
    if isinstance(output_size, int):
        return output_size
    if len(input.size()) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    own = input.size()[-len(output_size) :]
    return [n if size is None else size for size, n in zip(output_size, own, strict=True)]


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """The mean of patches that share the last two dimensions evenly."""
    return native("adaptive_avg_pool2d")(input, sizes_for(output_size, input))


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """The mean of patches that share the last three dimensions evenly."""
    return native("adaptive_avg_pool3d")(input, sizes_for(output_size, input))


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of patches that share the last dimension evenly."""
    return pooled("adaptive_max_pool1d", return_indices, input, output_size)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of patches that share the last two dimensions evenly."""
    return pooled("adaptive_max_pool2d", return_indices, input, sizes_for(output_size, input))


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of patches that share the last three dimensions evenly."""
    return pooled("adaptive_max_pool3d", return_indices, input, sizes_for(output_size, input))


def powers(input: Any, norm_type: Any, count: int, kernel_size: Any, stride: Any, ceil_mode: bool) -> Any:
    """The norm of each patch, of which `norm_type` is the order."""
    maximum = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}[count]
    if norm_type == float("inf"):
        return maximum(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if norm_type == -float("inf"):
        return -maximum(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    kernel = (kernel_size,) * count if isinstance(kernel_size, int) else tuple(kernel_size)
    mean = native(f"avg_pool{count}d")
    out = mean(input.pow(norm_type), kernel_size, () if stride is None else stride, 0, ceil_mode)
    return (out.sign() * out.abs().relu()).mul(math.prod(kernel)).pow(1.0 / norm_type)


def lp_pool1d(
    input: Any, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """The norm of each patch of the last dimension."""
    return powers(input, norm_type, 1, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Any, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """The norm of each patch of the last two dimensions."""
    return powers(input, norm_type, 2, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Any, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """The norm of each patch of the last three dimensions."""
    return powers(input, norm_type, 3, kernel_size, stride, ceil_mode)
