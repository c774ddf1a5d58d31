"""Element types: their names, NumPy counterparts, and PyTorch's promotion.

*Category* orders types by kind: bool < integer < floating < complex. *Wrapped number*: a Python number that
takes part in an op; it has the lowest priority in promotion. *Scalar type name*: the name C++ messages use
(`Long`). *Reduced*: a floating type of 16 bits, whose arithmetic is done in float32; see reduced.py.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

BOOL, INTEGER, FLOATING, COMPLEX = range(4)


class DType:
    """One element type, such as `torch.float32`; compares by identity and prints as `torch.<name>`."""

    __slots__ = ("name", "numpy", "category", "scalar_type", "tensor_type", "cpp_name", "itemsize", "cast")

    def __init__(self, name: str, scalar_type: str, category: int, cpp_name: str):
        self.name = name
        self.category = category
        self.scalar_type = scalar_type
        self.cpp_name = cpp_name
        self.tensor_type = f"torch.{scalar_type}Tensor"
        self._find_numpy()

    def _find_numpy(self) -> None:
        self._counts_as(np.dtype(self.name))

    def _counts_as(self, numpy: np.dtype) -> None:
        self.numpy = numpy
        self.itemsize = numpy.itemsize
        self.cast = numpy.type
        OF_NUMPY[numpy] = self

    @property
    def is_floating_point(self) -> bool:
        """Whether the elements are real floating-point numbers."""
        return self.category == FLOATING

    @property
    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return self.category == COMPLEX

    @property
    def is_signed(self) -> bool:
        """Whether the elements can be negative."""
        return self.name not in ("bool", "uint8")

    def to_complex(self) -> "DType":
        """The complex type whose parts have this type."""
        return {"bfloat16": complex64, "float32": complex64, "float64": complex128}.get(self.name, self)

    def to_real(self) -> "DType":
        """The type of this complex type's parts."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class ReducedType(DType):
    """A reduced type until its first use, which makes it a `DType` and has kernels ready for it."""

    __slots__ = ()

    def _find_numpy(self) -> None:
        self.itemsize = 2

    def __getattr__(self, name: str) -> Any:
        if name not in ("numpy", "cast"):
            raise AttributeError(name)
        numpy = np.dtype(self.name) if self.name == "float16" else extension_type(self.name)
        self._counts_as(numpy)
        REDUCED.add(numpy)
        self.__class__ = DType  # type: ignore[assignment]
        for prepare in ON_FIRST_USE:
            prepare()
        return getattr(self, name)


ReducedType.__name__ = ReducedType.__qualname__ = DType.__name__  # nobody shall see whether it was used


def extension_type(name: str) -> np.dtype:
    """The NumPy type of an element type that NumPy does not have itself.

    Raises:
        ImportError: the package that brings it is not installed.
    """
    try:
        return np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
    except ImportError as error:
        raise ImportError(
            f"tensors of torch.{name} need the package ml_dtypes: install refgrad[{name}]"
        ) from error


OF_NUMPY: dict[np.dtype, DType] = {}
"""The element types that are in use, by their NumPy counterparts."""

REDUCED: set[np.dtype] = set()
"""The NumPy counterparts of the reduced types that are in use."""

ON_FIRST_USE: list[Callable[[], None]] = []
"""What is called when a reduced type is first used."""

# name, scalar type, category, C++ name
bool_ = DType("bool", "Bool", BOOL, "bool")
uint8 = DType("uint8", "Byte", INTEGER, "unsigned char")
int8 = DType("int8", "Char", INTEGER, "signed char")
int16 = DType("int16", "Short", INTEGER, "short")
int32 = DType("int32", "Int", INTEGER, "int")
int64 = DType("int64", "Long", INTEGER, "long int")
float16 = ReducedType("float16", "Half", FLOATING, "c10::Half")
bfloat16 = ReducedType("bfloat16", "BFloat16", FLOATING, "c10::BFloat16")
float32 = DType("float32", "Float", FLOATING, "float")
float64 = DType("float64", "Double", FLOATING, "double")
complex64 = DType("complex64", "ComplexFloat", COMPLEX, "c10::complex<float>")
complex128 = DType("complex128", "ComplexDouble", COMPLEX, "c10::complex<double>")

ALL = (bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128)
HALVES = (float16, bfloat16)
ALIASES = {
    "half": float16,
    "float": float32,
    "double": float64,
    "short": int16,
    "int": int32,
    "long": int64,
    "cfloat": complex64,
    "cdouble": complex128,
}


class BFloat16Limits:
    """The limits of bfloat16, by NumPy's names."""

    bits, nmant, precision = 16, 7, 2
    eps, tiny, max = 2.0**-7, 2.0**-126, (2 - 2.0**-7) * 2.0**127
    min = -max


def finfo(dtype: DType) -> Any:
    """The limits of a floating type, by NumPy's names."""
    return BFloat16Limits if dtype is bfloat16 else np.finfo(dtype.numpy)


def in_use(kind: np.dtype) -> DType | None:
    """The element type of a NumPy type, which is in use from now on; None where there is none."""
    for dtype in HALVES:
        if dtype.name == kind.name and dtype.numpy is kind:
            return dtype
    return OF_NUMPY.get(kind)


_default = [float32]


def default() -> DType:
    """The floating type that Python floats and factories get (`torch.get_default_dtype`)."""
    return _default[0]


def set_default(dtype: DType) -> None:
    """Change the default floating type.

    Raises:
        TypeError: `dtype` is not a floating-point type.
    """
    if not isinstance(dtype, DType):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default[0] = dtype


def of_number(number: object) -> DType:
    """The type a Python or NumPy number has by itself.

    Raises:
        NotImplementedError: a complex number while the default is float16; `complex32` is not here.
    """
    if isinstance(number, (bool, np.bool_)):
        return bool_
    if isinstance(number, (int, np.integer)):
        return int64
    if isinstance(number, (float, np.floating)):
        return default()
    if default() is float16:
        raise NotImplementedError("torch.complex32")
    return default().to_complex()


def promote(first: DType, second: DType) -> DType:
    """The type that both operands of the same priority convert to (`torch.promote_types`)."""
    if first is second:
        return first
    if first.category < second.category:
        first, second = second, first
    if first.category == COMPLEX:
        wide = float64 in (first, second) or complex128 in (first, second)
        return complex128 if wide else complex64
    if first.category != second.category:
        return first
    if first.category == FLOATING:
        return float64 if float64 in (first, second) else float32
    return OF_NUMPY[np.promote_types(first.numpy, second.numpy)]


def result_of(dimensioned: list[DType], zero_dim: list[DType], numbers: list[object]) -> DType:
    """The result type of an op on these operands.

    Tensors with dimensions outrank 0-dim tensors, which outrank numbers; a lower rank counts only where its
    category is higher than what stands above it. Source: "Tensor Attributes", section on type promotion, in
    PyTorch's docs.
    """
    result = None
    for group in (dimensioned, zero_dim, [of_number(number) for number in numbers]):
        found = None
        for dtype in group:
            found = dtype if found is None else promote(found, dtype)
        if found is not None:
            if result is None:
                result = found
            elif found.category > result.category:
                result = _raise_category(result, found)
    assert result is not None
    return result


def _raise_category(result: DType, found: DType) -> DType:
    """A real type that meets a complex operand of lower rank keeps its precision."""
    if found.category == COMPLEX and result.category == FLOATING:
        return complex64 if result in HALVES else result.to_complex()
    return found


def can_cast(source: DType, target: DType) -> bool:
    """Whether a result of type `source` may be written in place into a tensor of type `target`."""
    return source.category <= target.category
