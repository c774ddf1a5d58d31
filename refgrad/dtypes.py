"""Element types: their names, NumPy counterparts, and PyTorch's promotion.

*Category* orders types by kind: bool < integer < floating < complex. *Wrapped number*: a Python number that
takes part in an op; it has the lowest priority in promotion. *Scalar type name*: the name C++ messages use
(`Long`).
"""

import numpy as np

BOOL, INTEGER, FLOATING, COMPLEX = range(4)


class DType:
    """One element type, such as `torch.float32`; compares by identity and prints as `torch.<name>`."""

    __slots__ = ("name", "numpy", "category", "scalar_type", "tensor_type", "cpp_name", "itemsize", "cast")

    def __init__(self, name: str, scalar_type: str, category: int, cpp_name: str):
        self.name = name
        self.numpy = np.dtype(name)
        self.category = category
        self.scalar_type = scalar_type
        self.cpp_name = cpp_name
        self.tensor_type = f"torch.{scalar_type}Tensor"
        self.itemsize = self.numpy.itemsize
        self.cast = self.numpy.type

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
        return {"float32": complex64, "float64": complex128}.get(self.name, self)

    def to_real(self) -> "DType":
        """The type of this complex type's parts."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


# name, scalar type, category, C++ name
bool_ = DType("bool", "Bool", BOOL, "bool")
uint8 = DType("uint8", "Byte", INTEGER, "unsigned char")
int8 = DType("int8", "Char", INTEGER, "signed char")
int16 = DType("int16", "Short", INTEGER, "short")
int32 = DType("int32", "Int", INTEGER, "int")
int64 = DType("int64", "Long", INTEGER, "long int")
float16 = DType("float16", "Half", FLOATING, "c10::Half")
float32 = DType("float32", "Float", FLOATING, "float")
float64 = DType("float64", "Double", FLOATING, "double")
complex64 = DType("complex64", "ComplexFloat", COMPLEX, "c10::complex<float>")
complex128 = DType("complex128", "ComplexDouble", COMPLEX, "c10::complex<double>")

ALL = (bool_, uint8, int8, int16, int32, int64, float16, float32, float64, complex64, complex128)
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
OF_NUMPY = {dtype.numpy: dtype for dtype in ALL}

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
    return (
        OF_NUMPY[np.promote_types(first.numpy, second.numpy)] if first.category == second.category else first
    )


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
        return result.to_complex() if result is not float16 else complex64
    return found


def can_cast(source: DType, target: DType) -> bool:
    """Whether a result of type `source` may be written in place into a tensor of type `target`."""
    return source.category <= target.category
