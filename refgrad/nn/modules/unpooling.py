"""Modules that put maxima back to the places that they were taken from."""

from typing import Any

from refgrad.nn import functional as F
from refgrad.nn.modules.module import Module
from refgrad.nn.unpooling import options_of


class MaxUnpool(Module):
    """Base of the three."""

    count = 0

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = options_of(kernel_size, stride, padding, self.count)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        function = getattr(F, f"max_unpool{self.count}d")
        return function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(MaxUnpool):
    """Undoes `MaxPool1d`."""

    count = 1


class MaxUnpool2d(MaxUnpool):
    """Undoes `MaxPool2d`."""

    count = 2


class MaxUnpool3d(MaxUnpool):
    """Undoes `MaxPool3d`."""

    count = 3
