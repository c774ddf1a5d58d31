"""Batching rules of ops on images: the batch joins the one that they have."""

from collections.abc import Callable
from typing import Any

from refgrad.func.rules.operands import (
    Moved,
    Operand,
    count_of,
    in_channels,
    in_images,
    padded,
    rule,
    spread,
    whole_in_front,
)
from refgrad.op import calls
from refgrad.tensor import Tensor


def parted(result: Tensor, count: int) -> Tensor:
    """A batch of images, cut into those of each sample."""
    return result.view(count, result.size(0) // count, *result.shape[1:])


def of_images(ranks: int) -> Callable:
    """The rule of an op whose images have so many dimensions, in a batch or alone; 0: always joined."""

    def on_images(function: Callable, self: Operand, *others: Any) -> Any:
        if self.rank < ranks + 2 and ranks:
            return function(self.front(), *others)
        result = function(in_images(self), *others)
        if isinstance(result, tuple):
            return tuple([parted(one, self.count) for one in result])
        return parted(result, self.count)

    return on_images


rule(
    "avg_pool2d", "max_pool2d_with_indices", "im2col", "col2im",
    "upsample_nearest2d", "upsample_bilinear2d", "upsample_bicubic2d",
    "pixel_shuffle", "pixel_unshuffle", "channel_shuffle",
)(of_images(2))  # fmt: skip
rule("upsample_nearest1d", "upsample_linear1d")(of_images(1))
rule(
    "avg_pool3d", "max_pool3d_with_indices",
    "upsample_nearest3d", "upsample_trilinear3d",
)(of_images(3))  # fmt: skip
rule(
    "_adaptive_avg_pool2d", "adaptive_max_pool2d", "_adaptive_avg_pool3d", "adaptive_max_pool3d",
    "reflection_pad1d", "replication_pad1d", "reflection_pad2d", "replication_pad2d", "reflection_pad3d",
    "replication_pad3d",
)(of_images(0))  # fmt: skip


@rule(
    "avg_pool2d_backward", "avg_pool3d_backward", "max_pool2d_with_indices_backward",
    "max_pool3d_with_indices_backward", "_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward",
    "reflection_pad1d_backward",
    "replication_pad1d_backward", "reflection_pad2d_backward", "replication_pad2d_backward",
    "reflection_pad3d_backward", "replication_pad3d_backward", "grid_sampler_2d_backward",
    "grid_sampler_3d_backward",
)  # fmt: skip
def backward_of_images(function: Callable, *arguments: Any) -> Any:
    """The gradient of an op on images: all tensors are joined, whatever the rank of a sample."""
    count = count_of(arguments)
    whole = [
        in_images(Operand(spread(each, count), 0)) if isinstance(each, (Operand, Tensor)) else each
        for each in arguments
    ]
    result = function(*whole)
    if isinstance(result, tuple):
        return tuple([None if one is None else parted(one, count) for one in result])
    return parted(result, count)


@rule("adaptive_max_pool2d_backward", "adaptive_max_pool3d_backward")
def backward_of_maximum(function: Callable, grad: Any, self: Any, indices: Any) -> Tensor:
    """The gradient of maxima of images: one image of a sample takes part in a batch as it is."""
    ranks = 3 if "2d" in function.__name__ else 4
    if self.rank > ranks:
        return backward_of_images(function, grad, self, indices)
    return function(*[spread(a, self.count) for a in (grad, self, indices)])


@rule(
    "upsample_nearest1d_backward", "upsample_linear1d_backward", "upsample_nearest2d_backward",
    "upsample_bilinear2d_backward", "upsample_bicubic2d_backward", "upsample_nearest3d_backward",
    "upsample_trilinear3d_backward",
)  # fmt: skip
def backward_of_resampling(
    function: Callable, grad: Operand, output: Any, shape: Any, *others: Any
) -> Tensor:
    """The gradient of images in another size: as many images more."""
    whole = (grad.count * shape[0], *shape[1:])
    return parted(function(in_images(grad), output, whole, *others), grad.count)


@rule("grid_sampler_2d", "grid_sampler_3d")
def grid_sample(function: Callable, input: Any, grid: Any, *others: Any) -> Tensor:
    """Images sampled at the points of grids."""
    count = count_of((input, grid))
    whole = [Operand(spread(a, count), 0) if isinstance(a, Tensor) else a for a in (input, grid)]
    return parted(function(in_images(whole[0]), in_images(whole[1]), *others), count)


@rule("native_group_norm")
def group_norm(
    function: Callable, input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, groups: int, eps: float
) -> Any:
    """Group norm: the batch joins that of the images; weights are applied afterwards."""
    if not isinstance(input, Operand):
        return NotImplemented
    count = input.count
    result, mean, rstd = function(in_images(input), None, None, N * count, C, HxW, groups, eps)
    result = parted(result, count)
    for part, apply in ((weight, calls.mul), (bias, calls.add)):
        if part is not None:
            ones = [1] * (input.rank - 2)
            whole = isinstance(part, Operand)
            value = calls.view(part.front(), (count, C, *ones)) if whole else calls.view(part, (C, *ones))
            result = apply(result, padded(Operand(value, 0), input.rank) if whole else value)
    return result, parted(mean, count), parted(rstd, count)


SHARED_STATISTICS = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated "
    "in place, were not batched.\nIf you are using a module and do not need eval mode, please set "
    "`track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, please "
    "see the functorch website for resources on how to patch your module to work with vmap"
)


@rule("native_batch_norm")
def batch_norm(
    function: Callable, input: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, *others: Any
) -> Any:
    """Batch norm: each sample has channels of its own in one call; weights are applied afterwards.

    Raises:
        RuntimeError: in training, and what all samples share would be updated with each.
    """
    seen = [each for each in (mean, var) if each is not None]
    if training and isinstance(input, Operand) and not all(isinstance(each, Operand) for each in seen):
        raise RuntimeError(SHARED_STATISTICS)
    if not isinstance(input, Operand) or isinstance(mean, Operand) or isinstance(var, Operand):
        return NotImplemented
    count, channels = input.count, input.shape[1]
    flat = in_channels(input)
    seen = [None if each is None else each.expand(count, channels).reshape(-1) for each in (mean, var)]
    result, mean_used, spread_used = function(flat, None, None, *seen, training, *others)
    result = calls.transpose(result, 0, 1)
    result = result.reshape(count, channels, *result.shape[1:])
    for part, apply in ((weight, calls.mul), (bias, calls.add)):
        if part is not None:
            lead = (count,) if isinstance(part, Operand) else ()
            ones = [1] * (result.dim() - 2)
            result = apply(result, whole_in_front(part).view(*lead, channels, *ones))
    result = calls.transpose(result, 1, 2)
    if not training:
        return result, mean_used, spread_used
    return result, mean_used.view(count, -1), spread_used.view(count, -1)


@rule("native_batch_norm_backward")
def batch_norm_backward(
    function: Callable, grad: Any, input: Any, weight: Any, mean: Any, var: Any, used: Any, inverse: Any,
    training: bool, eps: float, wanted: Any,
) -> Any:  # fmt: skip
    """The gradients of batch norm: each sample has channels of its own in one call."""
    operands = (grad, input, used, inverse)
    if not training or mean is not None or not all(isinstance(each, Operand) for each in operands):
        return NotImplemented
    count, channels, rank = input.count, input.shape[1], input.rank
    summed = [1, *range(3, rank + 1)]
    of_input = of_weight = None
    of_bias = grad.front().sum(summed) if wanted[2] else None
    if wanted[1] and weight is not None:
        middle, factor = [
            each.front().view(count, 1, channels, *[1] * (rank - 2)) for each in (used, inverse)
        ]
        of_weight = ((input.front() - middle) * factor * grad.front()).sum(summed)
    if wanted[0]:
        if weight is not None:
            scale = spread(weight, count).view(count, 1, channels, *[1] * (rank - 2))
            grad = Operand(grad.front() * scale, 0)
        flat = [each.front().reshape(-1) for each in (used, inverse)]
        mask = [True, False, False]
        found = function(in_channels(grad), in_channels(input), None, None, None, *flat, training, eps, mask)
        of_input = Moved(found[0].view(input.shape[0], count, *input.shape[1:]), 1)
    return of_input, of_weight, of_bias
