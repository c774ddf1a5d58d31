"""Functions of the package that are no ops: element types and their limits, and what PyTorch writes in
Python.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.call import result_type as common_type
from refgrad.layout import Size
from refgrad.modes import warn_once
from refgrad.op import calls, composite
from refgrad.ops import joining, shapes
from refgrad.ops.creation import finished
from refgrad.ops.dimensions import stretched
from refgrad.ops.from_data import full_type_name
from refgrad.tensor import Tensor, wrap

# Element types ----------------------------------------------------------------------------------------------


def get_default_dtype() -> dtypes.DType:
    """The floating type that Python floats and factories get."""
    return dtypes.default()


def set_default_dtype(d: dtypes.DType, /) -> None:
    """Change the default floating type.

    Raises:
        TypeError: it is no floating type.
    """
    dtypes.set_default(d)


@composite("promote_types(ScalarType type1, ScalarType type2) -> ScalarType")
def promote_types(type1: dtypes.DType, type2: dtypes.DType) -> dtypes.DType:
    return dtypes.promote(type1, type2)


@composite("can_cast(ScalarType from_, ScalarType to) -> bool")
def can_cast(from_: dtypes.DType, to: dtypes.DType) -> bool:
    return dtypes.can_cast(from_, to)


@composite("result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType")
def result_type(tensor: Tensor, other: Tensor) -> dtypes.DType:
    return common_type([tensor, other])


composite("result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType")(result_type)
composite("result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType")(result_type)
composite("result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType")(result_type)


class finfo:
    """The limits of a floating type.

    Raises:
        TypeError: the type is no floating type.
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: dtypes.DType | None = None):
        kind = (dtypes.default() if type is None else type).to_real()
        if kind.category != dtypes.FLOATING:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        limits = dtypes.finfo(kind)
        self.bits, self.dtype = limits.bits, kind.name
        self.eps, self.max, self.min = float(limits.eps), float(limits.max), float(limits.min)
        self.tiny = self.smallest_normal = float(limits.tiny)
        self.resolution = float(f"1e{-limits.precision}")

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={getattr(self, name):g}"
            for name in ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        )
        return f"finfo({shown}, dtype={self.dtype})"


class iinfo:
    """The limits of an integer type.

    Raises:
        TypeError: the type is no integer type.
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: dtypes.DType):
        if type is dtypes.bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if type.category != dtypes.INTEGER:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"
            )
        limits = np.iinfo(type.numpy)
        self.bits, self.dtype, self.max, self.min = limits.bits, type.name, int(limits.max), int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


# Memory of others -------------------------------------------------------------------------------------------


def frombuffer(
    buffer: Any, *, dtype: dtypes.DType, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A tensor over the memory of an object with Python's buffer protocol.

    Raises:
        ValueError: the buffer does not hold so many elements of this type.
    """
    size = memoryview(buffer).nbytes
    if size == 0 or count == 0:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} "
            "bytes) minus 1"
        )
    if count < 0 and (size - offset) % dtype.itemsize:
        raise ValueError(
            f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a multiple of "
            f"element size ({dtype.itemsize})"
        )
    if count > 0 and offset + count * dtype.itemsize > size:
        raise ValueError(
            f"requested buffer length ({count} * {dtype.itemsize} bytes) after offset ({offset} bytes) must "
            "not be greater "
            f"than actual buffer length ({size} bytes)"
        )
    return finished(np.frombuffer(buffer, dtype.numpy, count, offset), requires_grad)


# Questions --------------------------------------------------------------------------------------------------

composite("numel(Tensor self) -> int")(lambda self: self._array.size)
composite("is_floating_point(Tensor self) -> bool")(lambda self: self.dtype.is_floating_point)
composite("is_complex(Tensor self) -> bool")(lambda self: self.dtype.is_complex)
composite("is_signed(Tensor self) -> bool")(lambda self: self.dtype.is_signed)
composite("is_inference(Tensor self) -> bool")(lambda self: self.is_inference())
composite("is_same_size(Tensor self, Tensor other) -> bool")(
    lambda self, other: self._array.shape == other._array.shape
)


@composite("is_nonzero(Tensor self) -> bool")
def is_nonzero(self: Tensor) -> bool:
    return bool(self)


# Together and apart -----------------------------------------------------------------------------------------


def listed(tensors: tuple) -> Sequence[Tensor]:
    """The tensors passed one by one or as one sequence."""
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


def check_tensors(tensors: Sequence[Any]) -> None:
    """Refuse what is no tensor.

    Raises:
        TypeError: one is none.
    """
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"expected Tensor as element {position} in argument 0, but got {full_type_name(tensor)}"
            )


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive parts of a dimension: of one size, or of the sizes listed."""
    return tensor.split(split_size_or_sections, dim)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """One tensor per vector that shows it along a dimension of its own.

    Raises:
        RuntimeError: the inputs are no vectors of one type.
    """
    given = list(listed(tensors))
    check_tensors(given)
    if indexing is None:
        warn_once(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument."
        )
    return shapes.grid(given, "ij" if indexing is None else indexing)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of one element of each vector, as rows."""
    check_tensors(tensors)
    return shapes.product_of(tensors)


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given ones along its diagonal."""
    check_tensors(tensors)
    return calls.block_diag(list(tensors))


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors in their common shape.

    Raises:
        RuntimeError: there is none.
    """
    check_tensors(tensors)
    return stretched(tensors)


def broadcast_shapes(*shapes: Any) -> Size:
    """The common shape of several.

    Raises:
        RuntimeError: there is none.
        ValueError: a size is negative.
    """
    for shape in shapes:
        if not isinstance(shape, (int, tuple, list)):
            raise RuntimeError(
                "Input shapes should be of type ints, a tuple of ints, or a list of ints, got " + str(shape)
            )
    given = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    common = [1] * max((len(shape) for shape in given), default=0)
    for number, shape in enumerate(given):
        for i in range(-1, -1 - len(shape), -1):
            if shape[i] < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if shape[i] not in (1, common[i]):
                if common[i] != 1:
                    raise RuntimeError(
                        f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching "
                        "argument at index "
                        f"{number} had {shape}; but expected shape should be broadcastable to {common}"
                    )
                common[i] = shape[i]
    return Size(common)


def no_tensor(name: str, value: Any) -> str:
    """The text that refuses a value where a tensor, or a tuple of tensors, is wanted."""
    given = full_type_name(value)
    reason = f"      didn't match because some of the arguments have invalid types: (!{given}!)\n"
    return (
        f"{name}() received an invalid combination of arguments - got ({given}), but expected one of:\n"
        f" * (Tensor input)\n{reason} * (tuple of Tensors tensors)\n{reason}"
    )


def at_least(name: str, convert: Any, tensors: tuple) -> Any:
    """What `atleast_1d` or a sibling does: one tensor gives a tensor, several give a tuple."""
    given = listed(tensors)
    if len(tensors) == 1 and given is tensors:
        if not isinstance(given[0], Tensor):
            raise TypeError(no_tensor(name, given[0]))
        return convert(given[0])
    check_tensors(given)
    return tuple([convert(tensor) for tensor in given])


def atleast_1d(*tensors: Any) -> Any:
    """Tensors of at least one dimension."""
    return at_least("atleast_1d", joining.atleast_1d, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Tensors of at least two dimensions."""
    return at_least("atleast_2d", joining.atleast_2d, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Tensors of at least three dimensions."""
    return at_least("atleast_3d", joining.atleast_3d, tensors)


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The places, one tensor a dimension, of flat positions in a shape.

    Raises:
        TypeError: the positions are no integers.
    """
    if indices.dtype.category != dtypes.INTEGER:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    rest = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    flat = indices._array
    if not sizes:
        return ()
    places = np.stack([flat // step % size for step, size in zip(rest, sizes, strict=True)], axis=-1)
    return calls.unbind(wrap(places), -1)
