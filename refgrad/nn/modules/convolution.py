"""Convolutions and their transposes."""

import math
from typing import Any

from refgrad.nn import functional as F
from refgrad.nn import init
from refgrad.nn.modules.making import empty_parameter, repeated
from refgrad.nn.modules.module import Module

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def check_channels(in_channels: int, out_channels: int, groups: int) -> None:
    """Refuse groups that do not divide the channels.

    Raises:
        ValueError: with PyTorch's text.
    """
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")


def check_padding(padding: Any, stride: tuple, mode: str) -> None:
    """Refuse unknown paddings.

    Raises:
        ValueError: with PyTorch's text.
    """
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of { {'same', 'valid'} }")
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if mode not in PADDING_MODES:
        raise ValueError(f"padding_mode must be one of {set(PADDING_MODES)}, but got padding_mode='{mode}'")


class _ConvNd(Module):
    """What convolutions share; `RANK` is their number of spatial dimensions."""

    RANK = 0
    TRANSPOSED = False
    weight: Any
    bias: Any

    def _make(
        self, in_channels: int, out_channels: int, groups: int, bias: bool, device: Any, dtype: Any
    ) -> None:
        first, second = (in_channels, out_channels) if self.TRANSPOSED else (out_channels, in_channels)
        self.weight = empty_parameter(first, second // groups, *self.kernel_size, device=device, dtype=dtype)
        if bias:
            self.bias = empty_parameter(out_channels, device=device, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _set(self, kernel_size: Any, stride: Any, padding: Any, dilation: Any, output_padding: Any) -> None:
        self.kernel_size = repeated(kernel_size, self.RANK)
        self.stride = repeated(stride, self.RANK)
        self.padding = padding if isinstance(padding, str) else repeated(padding, self.RANK)
        self.dilation = repeated(dilation, self.RANK)
        self.transposed = self.TRANSPOSED
        self.output_padding = repeated(output_padding, self.RANK)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        parts = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        usual = {
            "padding": (0,) * len(self.padding),
            "dilation": (1,) * self.RANK,
            "output_padding": (0,) * self.RANK,
            "groups": 1,
        }
        parts += [
            f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value
        ]
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class _Convolution(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_channels(in_channels, out_channels, groups)
        check_padding(padding, repeated(stride, self.RANK), padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self._set(kernel_size, stride, padding, dilation, 0)
        self.groups = groups
        self.padding_mode = padding_mode
        self._make(in_channels, out_channels, groups, bias, device, dtype)

    def _margins(self) -> list:
        """The padding as `F.pad` wants it: from the last dimension on, each side."""
        if self.padding == "valid":
            return [0] * (2 * self.RANK)
        margins: list = []
        for i in reversed(range(self.RANK)):
            if self.padding == "same":
                total = self.dilation[i] * (self.kernel_size[i] - 1)
                margins += [total // 2, total - total // 2]
            else:
                margins += [self.padding[i]] * 2
        return margins

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        function, padding = getattr(F, f"conv{self.RANK}d"), self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._margins(), mode=self.padding_mode), (0,) * self.RANK
        return function(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Any) -> Any:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Convolution):
    """A convolution of sequences."""

    RANK = 1


class Conv2d(_Convolution):
    """A convolution of images."""

    RANK = 2


class Conv3d(_Convolution):
    """A convolution of volumes."""

    RANK = 3


class _TransposedConvolution(_ConvNd):
    TRANSPOSED = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__()
        check_channels(in_channels, out_channels, groups)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self._set(kernel_size, stride, padding, dilation, output_padding)
        self.groups = groups
        self.padding_mode = padding_mode
        self._make(in_channels, out_channels, groups, bias, device, dtype)

    def _output_padding(self, input: Any, output_size: Any) -> list[int]:
        """What to add at the end of each dimension so that the output gets the size asked for."""
        rank = self.RANK
        lead = 2 if input.dim() == rank + 2 else 1
        wanted = output_size[lead:] if len(output_size) == lead + rank else output_size
        if len(wanted) != rank:
            raise ValueError(
                f"ConvTranspose{rank}D: for {input.dim()}D input, output_size must have {rank} or "
                f"{lead + rank} elements (got {len(wanted)})"
            )
        least = [
            (input.size(i + lead) - 1) * self.stride[i]
            - 2 * self.padding[i]
            + self.dilation[i] * (self.kernel_size[i] - 1)
            + 1
            for i in range(rank)
        ]
        most = [size + step - 1 for size, step in zip(least, self.stride, strict=True)]
        if any(not low <= size <= high for low, size, high in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to {most} (for an "
                f"input of {input.size()[2:]})"
            )
        return [size - low for size, low in zip(wanted, least, strict=True)]

    def forward(self, input: Any, output_size: Any = None) -> Any:
        added = self.output_padding if output_size is None else self._output_padding(input, output_size)
        function = getattr(F, f"conv_transpose{self.RANK}d")
        return function(
            input, self.weight, self.bias, self.stride, self.padding, added, self.groups, self.dilation
        )


class ConvTranspose1d(_TransposedConvolution):
    """The transpose of a convolution of sequences."""

    RANK = 1


class ConvTranspose2d(_TransposedConvolution):
    """The transpose of a convolution of images."""

    RANK = 2


class ConvTranspose3d(_TransposedConvolution):
    """The transpose of a convolution of volumes."""

    RANK = 3
