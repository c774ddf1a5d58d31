"""Parameters and buffers as the layers make them."""

from collections.abc import Iterable
from typing import Any

from refgrad.dtypes import DType
from refgrad.nn.native import native
from refgrad.nn.parameter import Parameter
from refgrad.op import BY_NAME
from refgrad.ops.copying import check_device
from refgrad.tensor import Tensor


def made(name: str, size: tuple, dtype: Any = None) -> Tensor:
    """A tensor, filled as the name of its factory says, of the default floating type, or of `dtype`.

    Raises:
        TypeError: a size is no integer, or `dtype` no element type.
    """
    if all(number.__class__ is int for number in size) and (dtype is None or isinstance(dtype, DType)):
        return BY_NAME[name][0].call(size, dtype=dtype)
    return native(name)(size if len(size) > 1 else size[0], dtype=dtype)


def empty_parameter(*size: Any, device: Any = None, dtype: Any = None) -> Parameter:
    """A parameter whose elements are still to be set.

    Raises:
        RuntimeError: a size is negative.
        AssertionError, NotImplementedError: the device is another than the CPU.
    """
    check_device(device)
    return Parameter(made("empty", size, dtype))


def repeated(value: Any, count: int) -> tuple:
    """A number for each of `count` dimensions; a sequence is taken as it is."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * count
