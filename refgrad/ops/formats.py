"""Memory formats of results: which of them lie with channels last because an operand does."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from refgrad.ops.copying import empty_strided, format_strides, suggested_format
from refgrad.types import contiguous_format

FORMATS = {4: "channels_last", 5: "channels_last_3d"}


def suggests_channels_last(array: Any) -> bool:
    """Whether an operand is an image whose strides ask for channels last."""
    return isinstance(array, np.ndarray) and suggested_format(array) is not contiguous_format


def with_channels_last(result: np.ndarray) -> np.ndarray:
    """The elements of a result in memory with channels last."""
    image = empty_strided(result.shape, format_strides(result.shape, FORMATS[result.ndim]), result.dtype)
    image[...] = result
    return image


def in_format_of(*positions: int) -> Callable[[Callable], Callable]:
    """Let a kernel's images lie with channels last if one of the operands at these positions does."""

    def declare(kernel: Callable) -> Callable:
        def laid_out(result: Any) -> Any:
            is_image = isinstance(result, np.ndarray) and result.ndim in FORMATS
            return with_channels_last(result) if is_image else result

        @wraps(kernel)
        def formatted(*operands: Any) -> Any:
            result = kernel(*operands)
            if not any(suggests_channels_last(operands[position]) for position in positions):
                return result
            return tuple(map(laid_out, result)) if isinstance(result, tuple) else laid_out(result)

        return formatted

    return declare
