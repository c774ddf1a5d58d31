"""Tensors made of data: nested lists, NumPy arrays, other tensors; the constructors named after types.

*Leaf value*: what stands at the bottom of nested sequences. The fast way lets NumPy read lists of plain
numbers; whatever it cannot read goes the slow way, element by element, where every refusal has PyTorch's type
and text.
"""

import operator
import warnings
from typing import Any

import numpy as np

from refgrad import dtypes, errors
from refgrad.modes import warn_once
from refgrad.op import composite
from refgrad.ops.copying import check_device, copy_of
from refgrad.ops.creation import finished
from refgrad.tensor import Tensor

COPY_CONSTRUCT = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)
LIST_OF_ARRAYS = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list "
    "to a single "
    "numpy.ndarray with numpy.array() before converting to a tensor."
)
NOT_WRITABLE = (
    "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
    "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
    "data or make it writable before converting it to a tensor. This type of warning will be suppressed for "
    "the rest of this program."
)
ASARRAY_REQUIRES_GRAD = (
    "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
    "requires_grad=False explicitly to get the old behavior and silence this warning."
)
NUMPY_TYPES = (
    "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, "
    "uint8, and bool"
)
PLAIN = frozenset((float, int, bool, complex))
SEQUENCES = (list, tuple)


# The fast way -----------------------------------------------------------------------------------------------


def leaf_types(data: Any, found: set) -> None:
    """Collect the types of the leaf values of nested lists and tuples."""
    types = set(map(type, data))
    if list in types or tuple in types:
        for item in data:
            if isinstance(item, SEQUENCES):
                leaf_types(item, found)
            else:
                found.add(type(item))
    else:
        found |= types


def quick_array(data: Any, dtype: dtypes.DType | None) -> np.ndarray | None:
    """The array of nested lists of plain numbers; None when they need a closer look."""
    found: set[type] = set()
    if type(data) in PLAIN:
        found.add(type(data))
    elif type(data) in SEQUENCES:
        leaf_types(data, found)
    else:
        return None
    if not found <= PLAIN:
        return None
    kind = dtype or common_type(found)
    if kind.category == dtypes.INTEGER and (kind is not dtypes.int64 or not found <= {int, bool}):
        return None
    try:
        return np.array(data, kind.numpy)
    except (ValueError, TypeError, OverflowError):
        return None


def common_type(types: set[type]) -> dtypes.DType:
    """The type that plain numbers of these types are stored in."""
    if complex in types:
        return dtypes.default().to_complex()
    if float in types or not types:
        return dtypes.default()
    return dtypes.int64 if int in types else dtypes.bool_


# The slow way -----------------------------------------------------------------------------------------------


def is_sequence(value: Any) -> bool:
    """Whether a value counts as a sequence: it has a length and items, and is no mapping."""
    return (
        hasattr(value, "__getitem__") and hasattr(value, "__len__") and not isinstance(value, (dict, Tensor))
    )


def sizes_of(data: Any) -> tuple[int, ...]:
    """The shape of nested sequences, read off their first elements.

    Raises:
        ValueError: the nesting has no end.
    """
    sizes: list[int] = []
    while is_sequence(data) and not isinstance(data, np.generic):
        sizes.append(len(data))
        if len(sizes) > 128:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if not sizes[-1]:
            break
        data = data[0]
    return tuple(sizes)


def inferred(data: Any) -> dtypes.DType:
    """The type that data is stored in when none is given.

    Raises:
        TypeError: it holds text.
        RuntimeError: it holds something that is no number.
    """
    if isinstance(data, Tensor):
        return data.dtype
    if isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, (np.str_, np.bytes_)):
        return numpy_dtype(data.dtype)
    if isinstance(data, (bool, int, float, complex)):
        return dtypes.of_number(data)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if is_sequence(data) and not isinstance(data, (set, dict)):
        result = None
        for item in data:
            if item is data:
                raise TypeError("new(): self-referential lists are incompatible")
            kind = inferred(item)
            result = kind if result is None else dtypes.promote(result, kind)
        return dtypes.default() if result is None else result
    raise RuntimeError(f"Could not infer dtype of {full_type_name(data)}")


def full_type_name(value: Any) -> str:
    """The name of a value's type, with its module when it is an extension's or the package's own."""
    kind = type(value)
    if isinstance(value, dtypes.DType):
        return "torch.dtype"
    is_heap_type = bool(kind.__flags__ & (1 << 9))
    return (
        kind.__name__
        if is_heap_type or kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__name__}"
    )


def stored(data: Any, dtype: dtypes.DType | None) -> np.ndarray:
    """New memory with the data, element by element."""
    sizes = sizes_of(data)
    kind = inferred(data) if dtype is None else dtype
    array = np.empty(sizes, kind.numpy)
    if array.size:
        store(array, (), sizes, data, kind)
    return array


def store(array: np.ndarray, place: tuple, sizes: tuple[int, ...], data: Any, kind: dtypes.DType) -> None:
    """Write data into the part of an array that begins at `place`.

    Raises:
        ValueError: a sequence has another length than its siblings.
        TypeError: a number stands where a sequence should.
    """
    dim = len(place)
    if dim == len(sizes):
        array[place] = element(data, kind)
        return
    if not is_sequence(data):
        raise TypeError("not a sequence")
    if len(data) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})")
    for i, item in enumerate(data):
        if isinstance(item, np.ndarray):
            warn_once(LIST_OF_ARRAYS)
        store(array, (*place, i), sizes, item, kind)


def element(value: Any, kind: dtypes.DType) -> Any:
    """One value as a number of this type.

    Raises:
        TypeError, ValueError, RuntimeError: the type cannot hold it.
    """
    if kind.category == dtypes.BOOL:
        return bool(value)
    if kind.category == dtypes.COMPLEX:
        return complex(value)
    if kind.category == dtypes.FLOATING:
        if isinstance(value, complex) or not hasattr(value, "__float__") and not hasattr(value, "__index__"):
            raise TypeError(f"must be real number, not {type(value).__name__}")
        return kind.cast(float(value))
    return integer(value, kind)


def integer(value: Any, kind: dtypes.DType) -> Any:
    """One value as an integer of this type.

    Raises:
        TypeError: it is no number.
        ValueError: it does not fit 64 bits.
        RuntimeError: it does not fit the type.
    """
    if isinstance(value, (float, np.floating)):
        number = int(value) if np.isfinite(value) else None
    else:
        if isinstance(value, np.bool_):
            value = bool(value)
        number = operator.index(value)
        if not -(2**63) <= number < 2**63:
            raise ValueError("Overflow when unpacking long long")
    limits = np.iinfo(kind.numpy)
    lowest = -limits.max if kind is dtypes.uint8 else limits.min
    if number is None or not lowest <= number <= limits.max:
        raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow")
    return number % 256 if kind is dtypes.uint8 else number


# NumPy ------------------------------------------------------------------------------------------------------


def numpy_dtype(kind: np.dtype) -> dtypes.DType:
    """The element type that a NumPy type counts as.

    Raises:
        TypeError: there is none.
    """
    found = dtypes.in_use(kind)
    if found is None or kind.kind == "V":  # PyTorch does not know of extensions of NumPy
        raise TypeError(
            f"can't convert np.ndarray of type {kind.type.__module__}.{kind.type.__name__}. The only "
            f"supported types are: {NUMPY_TYPES}."
        )
    return found


def writable(array: np.ndarray) -> np.ndarray:
    """A copy of a read-only array with the same strides where they are not negative."""
    if not array.size or min(array.strides, default=0) < 0:
        return array.copy()
    length = (
        1
        + sum((size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True))
        // array.itemsize
    )
    memory = np.lib.stride_tricks.as_strided(array, (length,), (array.itemsize,)).copy()
    return np.ndarray(array.shape, array.dtype, memory, 0, array.strides)


def shared(array: np.ndarray, warn: bool = False) -> np.ndarray:
    """An array that a tensor can show: native byte order, no negative strides.

    Raises:
        ValueError, TypeError: it is not such an array.
    """
    if not array.flags.writeable:
        if warn:
            warn_once(NOT_WRITABLE)
        array = writable(array)
    numpy_dtype(array.dtype.newbyteorder("="))
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to "
            "reallocate the memory."
        )
    if any(stride < 0 for stride in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides "
            "are not currently supported. (You can probably work around this by making a copy of your "
            "array  with array.copy().) "
        )
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte "
            "orders is currently not supported."
        )
    return (
        array.view(dtypes.OF_NUMPY[array.dtype].numpy)
        if array.dtype is not numpy_dtype(array.dtype).numpy
        else array
    )


def from_numpy(ndarray: Any, /) -> Tensor:
    """A tensor over the memory of an array.

    Raises:
        TypeError, ValueError: a tensor cannot show it.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {full_type_name(ndarray)})")
    return finished(shared(ndarray, warn=True))


def array_of(data: Any, dtype: dtypes.DType | None, copy: bool) -> np.ndarray:
    """The array behind data of any kind; memory is shared only when `copy` is not set and the type stays."""
    array = quick_array(data, dtype)
    if array is not None:
        return array
    if isinstance(data, np.generic) and not isinstance(data, (np.str_, np.bytes_)):
        data = np.asarray(data)
        copy = True
    if isinstance(data, Tensor):
        array = data._array
    elif isinstance(data, np.ndarray):
        array = shared(data, warn=not copy)
    elif isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    else:
        return stored(data, dtype)
    target = array.dtype if dtype is None else dtype.numpy
    if target == array.dtype and not copy:
        return array
    if array.dtype.kind == "c" and target.kind not in "cb":
        array = array.real
    return copy_of(array, target)


# Public functions -------------------------------------------------------------------------------------------


@composite(
    "tensor(object data, *, ScalarType dtype=None, Device? device=None, bool pin_memory=False, "
    "bool requires_grad=False) -> Tensor"
)
def tensor(data: Any, dtype=None, device=None, pin_memory=False, requires_grad=False) -> Tensor:
    check_device(device)
    if isinstance(data, Tensor):
        warnings.warn(COPY_CONSTRUCT.format("torch.tensor"), UserWarning, stacklevel=4)
    return finished(array_of(data, dtype, copy=True), requires_grad)


@composite(
    "new_tensor(Tensor self, object data, *, ScalarType dtype=None, Device? device=None, "
    "bool requires_grad=False) -> Tensor"
)
def new_tensor(self: Tensor, data: Any, dtype=None, device=None, requires_grad=False) -> Tensor:
    check_device(device)
    if isinstance(data, Tensor):
        warnings.warn(COPY_CONSTRUCT.format("tensor.new_tensor"), UserWarning, stacklevel=4)
    return finished(array_of(data, self.dtype if dtype is None else dtype, copy=True), requires_grad)


@composite("as_tensor(object data, *, ScalarType dtype=None, Device? device=None) -> Tensor")
def as_tensor(data: Any, dtype=None, device=None) -> Tensor:
    check_device(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return finished(array_of(data, dtype, copy=False))


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """A tensor of any data; memory is shared where possible unless `copy`.

    Raises:
        ValueError: `copy` is False and memory cannot be shared.
    """
    check_device(device)
    if isinstance(obj, Tensor):
        return asarray_of_tensor(obj, dtype, copy, requires_grad)
    if copy is False and not isinstance(obj, np.ndarray):
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    if copy is False and dtype is not None and numpy_dtype(obj.dtype) is not dtype:
        raise ValueError(
            f"can't alias tensor with dtype '{numpy_dtype(obj.dtype).scalar_type}' "
            f"into dtype '{dtype.scalar_type}'."
        )
    return finished(array_of(obj, dtype, copy=bool(copy)), bool(requires_grad))


def asarray_of_tensor(obj: Tensor, dtype: Any, copy: bool | None, requires_grad: bool | None) -> Tensor:
    """`asarray` of a tensor: the tensor itself where nothing changes."""
    if dtype is not None and dtype is not obj.dtype:
        if copy is False:
            raise ValueError(
                f"can't alias tensor with dtype '{obj.dtype.scalar_type}' into dtype '{dtype.scalar_type}'."
            )
        obj = obj.to(dtype)
    elif copy:
        obj = obj.clone()
    if requires_grad is None:
        if obj.requires_grad:
            warn_once(ASARRAY_REQUIRES_GRAD)
        return obj
    if not requires_grad:
        return obj.requires_grad_(False) if obj.is_leaf else obj.detach()
    if obj.dtype.category < dtypes.FLOATING:
        raise RuntimeError(errors.NOT_DIFFERENTIABLE_DTYPE)
    return obj.requires_grad_(True)


@composite(
    "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=False, bool? requires_grad=False) -> Tensor"
)
def scalar_tensor(s, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    return finished(array_of(s, dtype or dtypes.default(), copy=True), requires_grad)
