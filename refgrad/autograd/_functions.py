"""`torch.autograd._functions`: old Functions for conversions that tensors have as methods."""

import math
import warnings
from typing import Any

from refgrad.autograd.function import Function
from refgrad.tensor import Tensor

__all__ = ["Resize", "Type"]


class Type(Function):
    """Converts to a tensor type, and the gradient back. Deprecated."""

    @staticmethod
    def forward(ctx: Any, i: Tensor, dest_type: Any) -> Tensor:
        warnings.warn(
            "`torch.autograd._functions.Type` is deprecated as of PyTorch 2.1, please use "
            "`torch.tensor.to(dtype=dtype)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        ctx.input_type = type(i)
        return i.type(dest_type)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple:
        return grad_output.type(ctx.input_type), None


class Resize(Function):
    """The elements in another shape, of the same number.

    Raises:
        RuntimeError: the number of elements differs.
    """

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, sizes: Any) -> Tensor:
        ctx.sizes, ctx.numel, ctx.input_sizes = sizes, math.prod(sizes), tensor.size()
        if tensor.numel() != ctx.numel:
            wanted, there = "x".join(map(str, sizes)), "x".join(map(str, tensor.size()))
            raise RuntimeError(
                f"requested resize to {wanted} ({ctx.numel} elements in total), but the given tensor has a "
                f"size of {there} ({tensor.numel()} elements). autograd's resize can only change the shape "
                "of a given tensor, while preserving the number of elements. "
            )
        return (tensor.new(tensor) if tensor.is_contiguous() else tensor).contiguous().view(*sizes)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple:
        if grad_output.numel() != ctx.numel:
            raise AssertionError(
                f"Expected grad_output to have {ctx.numel} elements, but got {grad_output.numel()}"
            )
        return grad_output.contiguous().view(ctx.input_sizes), None
