"""`make_tensor`: random tensors for tests.

Source: `torch.testing.make_tensor` in PyTorch's docs.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import refgrad
from refgrad.dtypes import COMPLEX, DType
from refgrad.tensor import Tensor


def make_tensor(
    *shape: Any,
    dtype: DType,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of numbers drawn evenly from `[low, high)`, which is cut to what the dtype holds.

    Raises:
        ValueError: the interval is empty or out of range, or the options contradict each other.
    """
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = tuple(shape[0])
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=!r} and {memory_format=!r}"
        )
    is_continuous = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not is_continuous:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=!r}"
        )
    noncontiguous = noncontiguous and math.prod(shape) > 1
    size = (*shape[:-1], 2 * shape[-1]) if noncontiguous else shape
    lowest, highest, default_low, default_high = limits(dtype)
    low = default_low if low is None else low
    high = default_high if high is None else high
    check_interval(low, high, lowest, highest, dtype)
    bounds = (min(max(low, lowest), highest), min(max(high, lowest), highest))
    result = drawn(size, dtype, device, *bounds)
    if noncontiguous:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = refgrad.finfo(dtype).tiny if is_continuous else 1
    if is_continuous:
        result.requires_grad = requires_grad
    return result


def limits(dtype: DType) -> tuple[Any, Any, Any, Any]:
    """Lowest and first too high value of a dtype, and the interval that is taken without a wish."""
    if dtype is refgrad.bool:
        return 0, 2, 0, 2
    if dtype.is_floating_point or dtype.is_complex:
        info = refgrad.finfo(dtype)
        return info.min, info.max, -9, 9
    info = refgrad.iinfo(dtype)
    return info.min, info.max + (dtype is not refgrad.int64), -9, 10


def check_interval(low: float, high: float, lowest: float, highest: float, dtype: DType) -> None:
    """Refuse an interval from which nothing can be drawn.

    Raises:
        ValueError: a bound is NaN, it is empty, or the dtype holds nothing of it.
    """
    if any(isinstance(bound, float) and math.isnan(bound) for bound in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=!r} and {high=!r}")
    if low == high and (dtype.is_floating_point or dtype.is_complex):
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated "
            "since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=4,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < lowest or low >= highest:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only "
            f"supports [{lowest}, {highest})"
        )


def drawn(size: tuple, dtype: DType, device: Any, low: float, high: float) -> Tensor:
    """Numbers from an interval; of complex ones, each part."""
    if not (dtype.is_floating_point or dtype.is_complex):
        return refgrad.randint(math.ceil(low), math.ceil(high), size, device=device, dtype=dtype)
    result = refgrad.empty(size, device=device, dtype=dtype)
    parts = refgrad.view_as_real(result) if dtype.category == COMPLEX else result
    if high - low >= refgrad.finfo(dtype).max:
        parts.uniform_(low / 2, high / 2).mul_(2)
    else:
        parts.uniform_(low, high)
    return result
