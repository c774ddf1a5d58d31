"""What the tensors that functions see inside transforms have in common: each wraps another.

A wrapper has no memory of its own. Who asks for it meets `Batched`, and the call is made again by the
transform that runs, see levels.py; facts and methods are those of `Tensor`, made the same way.
"""

import functools
import types
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from refgrad import loaded  # noqa: F401 - gives Tensor all that is delegated
from refgrad.layout import layout_of, strides_of
from refgrad.lazy import WithoutElements
from refgrad.samples import PER_SAMPLE, Batched
from refgrad.tensor import Tensor


class FormArray(WithoutElements):
    """Shape, strides and type of what a wrapper shows: whoever asks for elements meets `Batched`."""

    __slots__ = ("shape", "strides", "dtype", "flags", "offset")
    base = "what is wrapped"  # it is no owner of memory

    def __init__(self, shape: tuple, strides: tuple, dtype: np.dtype, flags: Any, offset: int = 0):
        self.shape, self.strides, self.dtype, self.flags, self.offset = shape, strides, dtype, flags, offset

    @classmethod
    def of(cls, array: Any) -> "FormArray":
        """The form of an array."""
        if isinstance(array, FormArray):
            return array
        return cls(array.shape, array.strides, array.dtype, array.flags, layout_of(array).offset)

    @classmethod
    def of_samples(cls, array: Any, dim: int) -> "FormArray":
        """What is known of the samples of a whole's array."""
        steps = array.strides if array.size else [n * array.itemsize for n in strides_of(array)]
        shape, strides = tuple(array.shape), tuple(steps)
        shape, strides = shape[:dim] + shape[dim + 1 :], strides[:dim] + strides[dim + 1 :]
        dense = as_strided(np.empty(1, array.dtype), shape, strides)
        return cls(shape, strides, array.dtype, dense.flags, layout_of(array).offset)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    def refuse(self, *args: Any, **kwargs: Any) -> Any:
        """Stop who asks for elements."""
        raise Batched

    plain = __getattr__ = __getitem__ = __setitem__ = __iter__ = __len__ = refuse
    __array__ = __array_ufunc__ = __array_function__ = refuse
    __bool__ = __int__ = __float__ = __complex__ = __index__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = __rmatmul__ = refuse
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __invert__ = __abs__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __mod__ = __rmod__ = refuse
    __floordiv__ = __rfloordiv__ = refuse


def delegate(kind: type) -> None:
    """Give a class what `Tensor` has: as it is where that is made of ops, else by way of `run`."""
    own = {name for each in kind.__mro__[: kind.__mro__.index(Tensor)] for name in vars(each)}
    keep = {
        "__init__",
        "__new__",
        "__getattr__",
        "__setattr__",
        "__hash__",
        "__init_subclass__",
        "__torch_function__",
    }
    for name, value in list(vars(Tensor).items()):
        if name in own or name in keep:
            continue
        if isinstance(value, property):
            setattr(kind, name, property(again_getter(value.fget), value.fset))
        elif isinstance(value, types.FunctionType):
            setattr(kind, name, again(value))
    for symbol in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"):
        setattr(kind, f"__r{symbol}__", reflected(kind, symbol))


def again_getter(get: Any) -> Callable:
    """The getter of a property, by way of the transform where it needs one."""
    return lambda self: directly(get, (self,), {})


def again(method: Callable) -> Callable:
    """A method, by way of the transform where it needs one."""

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return directly(method, args, kwargs)

    return wrapper


def directly(function: Callable, args: tuple, kwargs: dict) -> Any:
    """A call that may come through as it is, because it only calls ops; otherwise the transform makes it."""
    try:
        return function(*args, **kwargs)
    except Batched:
        return PER_SAMPLE[0](function, args, kwargs)


def reflected(kind: type, symbol: str) -> Callable:
    """An operator that Python asks of the right operand first: a tensor on the left answers all the same."""
    own, other_side = getattr(kind, f"__r{symbol}__"), getattr(Tensor, f"__{symbol}__")

    def operator(self: Any, other: Any) -> Any:
        return directly(other_side, (other, self), {}) if isinstance(other, Tensor) else own(self, other)

    return operator
