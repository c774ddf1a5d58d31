"""Constructors named after types: `torch.Tensor(...)`, `torch.LongTensor(...)`, `tensor.new(...)`."""

from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.binding import Parser
from refgrad.layout import Size
from refgrad.op import calls
from refgrad.ops.creation import finished
from refgrad.ops.from_data import array_of, full_type_name, is_sequence
from refgrad.tensor import Tensor, instance
from refgrad.types import Device

NAMES = {"size", "data", "other"}
NEW = Parser(
    "new",
    [
        "new(*, Device? device=None)",
        "new(Storage storage)",
        "new(Tensor other)",
        "new(SymInt[] size, *, Device? device=None)",
        "new(object data, *, Device? device=None)",
    ],
)


def legacy(kind: dtypes.DType, args: tuple, kwargs: dict) -> Tensor:
    """What `torch.Tensor(...)` and its like make: memory of a shape, or a copy of data in this type.

    Raises:
        TypeError, RuntimeError: the arguments are neither.
    """
    device = kwargs.pop("device", None)
    if device is not None and Device(device).type != "cpu":
        raise RuntimeError(
            f"legacy constructor expects device type: cpu but device type: {Device(device).type} was passed"
        )
    if len(args) > 1 and not isinstance(args[0], (int, np.integer)) or kwargs.keys() - NAMES:
        NEW.bind(args, kwargs)  # which words the refusal
    if "size" in kwargs or "data" in kwargs or "other" in kwargs:
        args = (*args, *[kwargs[name] for name in ("size", "data", "other") if name in kwargs])
    if not args:
        return finished(np.empty(0, kind.numpy))
    first = args[0]
    if isinstance(first, Tensor) and len(args) == 1:
        return calls.alias(first)
    if isinstance(first, tuple) and (isinstance(first, Size) or "size" in kwargs):
        return finished(np.empty(tuple(first), kind.numpy))
    if isinstance(first, (int, np.integer)) and not isinstance(first, bool):
        return finished(np.empty(shape_of(args), kind.numpy))
    if isinstance(first, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(first).__name__}'")
    if not is_sequence(first):
        raise TypeError(f"new(): data must be a sequence (got {full_type_name(first)})")
    return finished(array_of(first, kind, copy=True))


def shape_of(sizes: tuple) -> tuple[int, ...]:
    """A shape passed number by number.

    Raises:
        TypeError: one is no integer.
    """
    for position, size in enumerate(sizes):
        if not isinstance(size, (int, np.integer)):
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {position + 1} with error "
                '"type must be '
                f'tuple of ints,but got {full_type_name(size)}"'
            )
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(sizes)}")
    return tuple(map(int, sizes))


def new_instance(cls: type, *args: Any, **kwargs: Any) -> Tensor:
    """`torch.Tensor(...)`; of a subclass, an instance of the subclass over that memory."""
    made = legacy(dtypes.default(), args, kwargs)
    return made if cls is Tensor else instance(made, cls)


def new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Memory of a shape, or a copy of data, in the tensor's own type."""
    return legacy(self.dtype, args, dict(kwargs))


Tensor.new = new
Tensor.__new__ = staticmethod(new_instance)  # type: ignore[assignment]


class TensorType(type):
    """The class of `torch.LongTensor` and the like, which make tensors of their type; `isinstance` compares
    element types."""

    dtype: dtypes.DType

    def __new__(cls, dtype: dtypes.DType) -> "TensorType":
        return super().__new__(cls, f"{dtype.scalar_type}Tensor", (), {"dtype": dtype, "__module__": "torch"})

    def __init__(self, dtype: dtypes.DType):
        super().__init__(self.__name__, (), {})

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        if len(args) == 1 and isinstance(args[0], Tensor) and args[0].dtype is not self.dtype:
            raise TypeError(f"expected {options_text(self.dtype)} (got {options_text(args[0].dtype)})")
        return legacy(self.dtype, args, dict(kwargs))

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Tensor) and value.dtype is self.dtype

    def __repr__(self) -> str:
        return f"<class 'torch.{self.__name__}'>"


TensorType.__module__, TensorType.__qualname__ = "torch", "tensortype"


def options_text(dtype: dtypes.DType) -> str:
    """How C++ shows the options of a plain tensor."""
    return (
        f"TensorOptions(dtype={dtype.cpp_name}, device=cpu, layout=Strided, requires_grad=false (default), "
        "pinned_memory=false (default), memory_format=(nullopt))"
    )


TENSOR_TYPES = {
    f"{dtype.scalar_type}Tensor": TensorType(dtype)
    for dtype in dtypes.ALL
    if dtype.category != dtypes.COMPLEX
}
