"""Padding layers, and others that only rearrange elements of images."""

from typing import Any

from refgrad.nn import functional as F
from refgrad.nn.modules.making import repeated
from refgrad.nn.modules.module import Module

__all__ = [
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Fold",
    "PixelShuffle",
    "PixelUnshuffle",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Unfold",
    "Upsample",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    """`RANK` dimensions are padded, each on two sides, in `MODE`."""

    RANK = 0
    MODE = ""

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = repeated(padding, 2 * self.RANK)

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self.MODE)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPad(_Pad):
    MODE = "circular"

    def forward(self, input: Any) -> Any:
        few, many = self.RANK + 1, self.RANK + 2
        if input.dim() not in (few, many):
            raise ValueError(f"expected {few}D or {many}D input (got {input.dim()}D input)")
        return super().forward(input)


class _ConstantPad(_Pad):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class CircularPad1d(_CircularPad):
    """A sequence continued from its other end."""

    RANK = 1


class CircularPad2d(_CircularPad):
    """An image continued from its other side."""

    RANK = 2


class CircularPad3d(_CircularPad):
    """A volume continued from its other side."""

    RANK = 3


class ConstantPad1d(_ConstantPad):
    """A sequence continued by one value."""

    RANK = 1


class ConstantPad2d(_ConstantPad):
    """An image continued by one value."""

    RANK = 2


class ConstantPad3d(_ConstantPad):
    """A volume continued by one value."""

    RANK = 3


class ZeroPad1d(_ZeroPad):
    """A sequence continued by zeros."""

    RANK = 1


class ZeroPad2d(_ZeroPad):
    """An image continued by zeros."""

    RANK = 2


class ZeroPad3d(_ZeroPad):
    """A volume continued by zeros."""

    RANK = 3


class ReflectionPad1d(_Pad):
    """A sequence continued by its mirror image."""

    RANK, MODE = 1, "reflect"


class ReflectionPad2d(_Pad):
    """An image continued by its mirror image."""

    RANK, MODE = 2, "reflect"


class ReflectionPad3d(_Pad):
    """A volume continued by its mirror image."""

    RANK, MODE = 3, "reflect"


class ReplicationPad1d(_Pad):
    """A sequence continued by its last element."""

    RANK, MODE = 1, "replicate"


class ReplicationPad2d(_Pad):
    """An image continued by its border."""

    RANK, MODE = 2, "replicate"


class ReplicationPad3d(_Pad):
    """A volume continued by its border."""

    RANK, MODE = 3, "replicate"


class PixelShuffle(Module):
    """Channels become finer pixels."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Pixels become channels."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Channels of several groups are dealt out in turn."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"


class Upsample(Module):
    """An image with more pixels."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Any) -> Any:
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        given = "size" if self.scale_factor is None else "scale_factor"
        return f"{given}={getattr(self, given)!r}, mode={self.mode!r}"


class Unfold(Module):
    """The windows of an image as columns."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Any) -> Any:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        names = ("kernel_size", "dilation", "padding", "stride")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class Fold(Module):
    """An image as the sum of windows given as columns."""

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Any) -> Any:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )
