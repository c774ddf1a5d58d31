"""Elements moved between channels and places of images, and channels among themselves."""

from math import prod

import numpy as np

from refgrad.op import calls, op
from refgrad.ops.formats import in_format_of


def check_images(self: np.ndarray, name: str, word: str, factor: int) -> None:
    """Refuse what has no channels and places, and a factor that is not positive.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if self.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {self.ndim} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {word}, but got {factor}")


@op(
    "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
    self=lambda grad, upscale_factor: calls.pixel_unshuffle(grad, upscale_factor),
)
@in_format_of(0)
def pixel_shuffle(self, upscale_factor):
    check_images(self, "pixel_shuffle", "upscale_factor", upscale_factor)
    *lead, channels, height, width = self.shape
    r = upscale_factor
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}"
        )
    blocks = self.reshape(prod(lead), channels // (r * r), r, r, height, width)
    moved = np.ascontiguousarray(blocks.transpose(0, 1, 4, 2, 5, 3))
    return moved.reshape(*lead, channels // (r * r), height * r, width * r)


@op(
    "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
    self=lambda grad, downscale_factor: calls.pixel_shuffle(grad, downscale_factor),
)
@in_format_of(0)
def pixel_unshuffle(self, downscale_factor):
    check_images(self, "pixel_unshuffle", "downscale_factor", downscale_factor)
    *lead, channels, height, width = self.shape
    r = downscale_factor
    for word, size, place in (("height", height, -2), ("width", width, -1)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {word} to be divisible by downscale_factor, but "
                f"input.size({place})={size} is not divisible by {r}"
            )
    blocks = self.reshape(prod(lead), channels, height // r, r, width // r, r)
    moved = np.ascontiguousarray(blocks.transpose(0, 1, 3, 5, 2, 4))
    return moved.reshape(*lead, channels * r * r, height // r, width // r)


@op(
    "channel_shuffle(Tensor self, SymInt groups) -> Tensor",
    self=lambda grad, groups: (
        calls.channel_shuffle(grad, grad._array.shape[1] // groups) if grad._array.size else grad
    ),
)
@in_format_of(0)
def channel_shuffle(self, groups):
    if self.ndim <= 2:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(self.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    count, channels = self.shape[:2]
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    parts = self.reshape(count, groups, channels // groups, *self.shape[2:])
    return np.ascontiguousarray(parts.swapaxes(1, 2)).reshape(self.shape)
