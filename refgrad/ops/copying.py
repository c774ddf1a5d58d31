"""Copies, casts and fills: the same elements in other memory, or other elements in the same."""

import numpy as np

from refgrad import dtypes
from refgrad.layout import (
    Layout,
    contiguous_strides,
    is_contiguous,
    kept_strides,
    strides_of,
    window,
)
from refgrad.modes import warn_once
from refgrad.op import calls, composite, op
from refgrad.tensor import Tensor
from refgrad.types import CPU, Device, channels_last, channels_last_3d, contiguous_format

# Memory -----------------------------------------------------------------------------------------------------


def empty_strided(shape, strides, dtype):
    """New memory of this shape and these strides, counted in elements."""
    if 0 in shape:
        return window(np.empty(0, dtype), dtype, Layout(tuple(shape), tuple(strides), 0))
    memory = np.empty(1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True)), dtype)
    return np.ndarray(shape, dtype, memory, 0, tuple(stride * memory.itemsize for stride in strides))


def contiguous_like(shape, order):
    """Dense strides whose dimensions lie in this order, the outermost first."""
    kept, step = [0] * len(shape), 1
    for i in reversed(order):
        kept[i] = step
        step *= max(shape[i], 1)
    return tuple(kept)


def copy_of(array, dtype=None, contiguous=False):
    """A copy in new memory, laid out alike unless it shall be contiguous."""
    dtype = array.dtype if dtype is None else dtype
    if contiguous or strides_of(array) == contiguous_strides(array.shape):
        if dtype == array.dtype:
            return np.array(array, dtype, order="C")
        return np.ascontiguousarray(cast(array, dtype)).reshape(array.shape)
    result = empty_strided(array.shape, kept_strides(array), dtype)
    result[...] = array if dtype == array.dtype else cast(array, dtype)
    return result


def cast(array, dtype):
    """The elements in another type; floating values too large for an integer type wrap around as in C."""
    if array.dtype.kind == "c" and dtype.kind not in "cb":
        array = array.real
    if array.dtype.kind == "f" and dtype.kind in "iu" and dtype.itemsize < 4:
        return array.astype(np.int64 if dtype.kind == "u" else np.int32).astype(dtype)
    return array.astype(dtype)


def formatted_copy(array, memory_format, dtype=None):
    """A copy laid out as a memory format says; None keeps the layout.

    Raises:
        RuntimeError: the format needs another number of dimensions.
    """
    name = "preserve_format" if memory_format is None else memory_format.name
    if name == "preserve_format":
        return copy_of(array, dtype)
    if name == "contiguous_format":
        return copy_of(array, dtype, contiguous=True)
    result = empty_strided(
        array.shape, format_strides(array.shape, name), array.dtype if dtype is None else dtype
    )
    result[...] = array if result.dtype == array.dtype else cast(array, result.dtype)
    return result


def format_strides(shape, name):
    """The strides of a shape in a format that puts the channels last."""
    rank = {"channels_last": 4, "channels_last_3d": 5}[name]
    if len(shape) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {name} format")
    return contiguous_like(shape, (0, *range(2, rank), 1))


def suggested_format(array):
    """The memory format that an operand's strides ask for: PyTorch's `suggest_memory_format`."""
    if array.ndim not in (4, 5) or 0 in array.shape:
        return contiguous_format
    strides, least = strides_of(array), 0
    if strides[1] == 0:
        return contiguous_format
    for dim in (1, *range(array.ndim - 1, 1, -1), 0):
        if strides[dim] < least or dim == 0 and least == strides[1]:
            return contiguous_format
        least = strides[dim] * array.shape[dim]
    return channels_last if array.ndim == 4 else channels_last_3d


def check_device(device):
    """Refuse any device but the CPU.

    Raises:
        AssertionError, NotImplementedError: it is another.
    """
    if device is None or device is CPU:
        return
    kind = Device(device).type
    if kind == "cuda":
        raise AssertionError("Torch not compiled with CUDA enabled")
    if kind != "cpu":
        raise NotImplementedError(f"tensors live on the CPU here, not on device '{kind}'")


# Copies and casts -------------------------------------------------------------------------------------------


@op("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", self=lambda grad: grad)
def clone(self, memory_format):
    return formatted_copy(self, memory_format)


@op(
    "_to_copy(Tensor self, *, ScalarType? dtype=None, MemoryFormat? memory_format=None) -> Tensor",
    self=lambda grad, self_options: cast_back(grad, self_options),
    node="ToCopyBackward0",
    record_if="dtype is None or dtype.category >= 2",
)
def to_copy(self, dtype, memory_format):
    target = self.dtype if dtype is None else dtype.numpy
    warn_discarded(self.dtype, target)
    return formatted_copy(self, memory_format, target)


def cast_back(grad, dtype):
    """A gradient in the type that the cast came from; a real one silently takes the real part."""
    return calls.to__dtype(grad if dtype.category == dtypes.COMPLEX else calls.real(grad), dtype)


def warn_discarded(source, target):
    """Warn when a cast drops imaginary parts."""
    if source.kind == "c" and target.kind not in "cb":
        warn_once("Casting complex values to real discards the imaginary part")


@composite(
    "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, *, "
    "MemoryFormat? memory_format=None) -> Tensor(a)"
)
def to_dtype(self, dtype, non_blocking=False, copy=False, memory_format=None):
    if (
        not copy
        and (dtype is None or dtype.numpy is self._array.dtype)
        and (
            memory_format is None
            or memory_format.name == "preserve_format"
            or memory_format is suggested_format(self._array)
        )
    ):
        return self
    return calls._to_copy(self, dtype, memory_format)


@composite(
    "to.device(Tensor(a) self, Device device=None, ScalarType dtype=None, bool non_blocking=False, "
    "bool copy=False, *, MemoryFormat? memory_format=None) -> Tensor(a)"
)
def to_device(self, device=None, dtype=None, non_blocking=False, copy=False, memory_format=None):
    check_device(device)
    return to_dtype(self, dtype, non_blocking, copy, memory_format)


@composite(
    "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, *, "
    "MemoryFormat? memory_format=None) -> Tensor(a)"
)
def to_other(self, other, non_blocking=False, copy=False, memory_format=None):
    return to_dtype(self, type_of(other), non_blocking, copy, memory_format)


def type_of(other):
    """The element type of a tensor, or of the tensor that stands for a number: a wide one."""
    if isinstance(other, Tensor):
        return other.dtype
    if isinstance(other, bool):
        return dtypes.bool_
    return dtypes.complex128 if isinstance(other, complex) else dtypes.float64


def cast_method(name, dtype):
    """Declare the method that casts to one type, such as `double`."""

    def method(self, memory_format=None):
        return to_dtype(self, dtype, memory_format=memory_format)

    composite(f"{name}(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)")(method)


for _name, _dtype in {
    **dict(dtypes.ALIASES.items()),
    "bool": dtypes.bool_,
    "bfloat16": dtypes.bfloat16,
    "byte": dtypes.uint8,
    "char": dtypes.int8,
}.items():
    cast_method(_name, _dtype)


@composite("cpu(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)")
def cpu(self, memory_format=None):
    return to_dtype(self, None, memory_format=memory_format)


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """There is no such device here.

    Raises:
        AssertionError: always.
    """
    raise AssertionError("Torch not compiled with CUDA enabled")


Tensor.cuda = cuda


@composite("type_as(Tensor(a) self, Tensor other) -> Tensor(a)")
def type_as(self, other):
    return to_dtype(self, other.dtype)


@composite(
    "type(Tensor(a) self, object dtype=None, bool non_blocking=False, *, MemoryFormat? memory_format=None) "
    "-> Tensor(a)"
)
def type_(self, dtype=None, non_blocking=False, memory_format=None):
    if dtype is None:
        return self.dtype.tensor_type
    if isinstance(dtype, dtypes.DType):
        return to_dtype(self, dtype, non_blocking, memory_format=memory_format)
    if isinstance(getattr(dtype, "dtype", None), dtypes.DType):
        name = dtype.dtype.tensor_type
    elif isinstance(dtype, type):
        name = "torch.FloatTensor" if dtype is Tensor else dtype.__name__
    elif isinstance(dtype, str):
        name = dtype
    else:
        raise TypeError("dtype must be a type, str, or dtype object")
    for known in dtypes.ALL:
        if known.tensor_type == name:
            return to_dtype(self, known, non_blocking, memory_format=memory_format)
    raise ValueError(f"invalid type: '{name}'")


def has_format(self, memory_format):
    """Whether a tensor's elements lie as a memory format says."""
    array = self._array
    if memory_format is None or memory_format.name == "contiguous_format":
        return array.flags.c_contiguous or is_contiguous(array.shape, strides_of(array))
    rank = {"channels_last": 4, "channels_last_3d": 5}.get(memory_format.name)
    if rank is None or rank != array.ndim:
        return False
    strides, expected = strides_of(array), 1
    for dim in (1, *range(rank - 1, 1, -1), 0):
        if array.shape[dim] != 1 and strides[dim] != expected:
            return False
        expected *= array.shape[dim]
    return True


@composite("is_contiguous(Tensor self, *, MemoryFormat memory_format=contiguous_format) -> bool")
def is_contiguous_(self, memory_format=None):
    return has_format(self, None if isinstance(memory_format, str) else memory_format)


@composite("contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)")
def contiguous(self, memory_format=None):
    if memory_format is None or isinstance(memory_format, str):
        memory_format = contiguous_format
    if has_format(self, memory_format) or memory_format.name == "preserve_format":
        return self
    return calls.clone(self, memory_format=memory_format)


# Writes -----------------------------------------------------------------------------------------------------


@op(
    "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    self=lambda grad: grad.new_zeros(grad.shape),
    src=lambda grad: grad,
    node="CopyBackwards",
    cast_any=True,
)
def copy_(self, src, non_blocking):
    warn_discarded(src.dtype, self.dtype)
    return src if src.dtype == self.dtype else cast(src, self.dtype)


@op(
    "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
    reduced="own",
    self=lambda grad: calls.zeros_like(grad),
    node="FillBackward2",
    may_overlap=True,
    writes=True,
)
def fill_(self, value):
    self[...] = filling(value, self)


@op(
    "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
    reduced="own",
    self=lambda grad: calls.zeros_like(grad),
    value=lambda grad: grad.sum(),
    node="FillBackward3",
    writes=True,
)
def fill_tensor_(self, value):
    check_fill(value)
    warn_discarded(value.dtype, self.dtype)
    self[...] = cast(value, self.dtype)


def check_fill(value):
    """Refuse a value with dimensions.

    Raises:
        RuntimeError: it has some.
    """
    if value.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
        )


@op("fill.Scalar(Tensor self, Scalar value) -> Tensor", self=lambda grad: calls.zeros_like(grad))
def fill(self, value):
    return filled(self, value)


@op(
    "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    self=lambda grad: calls.zeros_like(grad),
    value=lambda grad: grad.sum(),
    node="FillBackward1",
)
def fill_tensor(self, value):
    check_fill(value)
    result = empty_strided(self.shape, kept_strides(self), self.dtype)
    fill_tensor_.kernel(result, value)
    return result


def filled(array, value):
    """New memory laid out like an array, full of one number."""
    result = empty_strided(array.shape, kept_strides(array), array.dtype)
    result[...] = filling(value, array)
    return result


def filling(value, array):
    """A number for all elements of an array; for a single one of a reduced type PyTorch does not check it."""
    if array.size == 1 and array.dtype in dtypes.REDUCED and not isinstance(value, complex):
        return np.asarray(value).astype(array.dtype)
    return number_in(value, array.dtype)


def number_in(value, dtype):
    """A number cast to an element type, as PyTorch does it.

    Raises:
        RuntimeError: the type cannot hold it.
    """
    kind = dtypes.OF_NUMPY[dtype]
    if isinstance(value, complex) and kind.category not in (dtypes.COMPLEX, dtypes.BOOL):
        if value.imag:
            raise RuntimeError(overflow(kind))
        value = value.real
    if kind.category != dtypes.INTEGER:
        if kind.category == dtypes.FLOATING and dtypes.finfo(kind).max < abs(value) < np.inf:
            raise RuntimeError(overflow(kind))
        return np.asarray(value).astype(dtype)
    limits = np.iinfo(dtype)
    lowest = -limits.max if kind is dtypes.uint8 else limits.min
    if not np.isfinite(value) or not lowest <= int(value) <= limits.max:
        raise RuntimeError(overflow(kind))
    return np.asarray(int(value)).astype(dtype)


def overflow(kind):
    """The text that refuses a number that an element type cannot hold."""
    name = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int64": "int64_t"}.get(
        kind.name, kind.cpp_name
    )
    return f"value cannot be converted to type {name} without overflow"


@op(
    "zero_(Tensor(a!) self) -> Tensor(a!)",
    self=lambda grad: calls.zeros_like(grad),
    may_overlap=True,
    writes=True,
    node="ZeroBackward0",
)
def zero_(self):
    self[...] = 0
