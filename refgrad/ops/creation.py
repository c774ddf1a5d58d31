"""New tensors: of one value, in steps, like another tensor."""

import math
import warnings
from typing import Any

import numpy as np

from refgrad import call, dtypes, errors
from refgrad.layout import Layout, contiguous_strides, kept_strides, layout_of, root_of, window
from refgrad.op import composite
from refgrad.ops.copying import (
    check_device,
    contiguous_like,
    empty_strided,
    format_strides,
    number_in,
)
from refgrad.samples import per_sample, stop_at_wrapper
from refgrad.tensor import Tensor, is_wrapper, wrap

OPTIONS = (
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
    "pin_memory=False, bool? requires_grad=False"
)
LIKE = f"MemoryFormat? memory_format=None, {OPTIONS}"


def finished(array: np.ndarray, requires_grad: Any = False) -> Tensor:
    """A new leaf over this memory.

    Raises:
        RuntimeError: it shall require grad and its type is not differentiable.
    """
    tensor = wrap(array)
    if requires_grad:
        if not tensor._can_require_grad():
            raise RuntimeError(errors.NOT_DIFFERENTIABLE_DTYPE)
        tensor._set_requires_grad(True)
    return call.as_tracked(tensor)


def kind_of(dtype: dtypes.DType | None) -> np.dtype:
    """The NumPy type of a dtype, by default of the default floating type."""
    return (dtypes.default() if dtype is None else dtype).numpy


def checked_size(size: Any) -> tuple:
    """A shape without negative sizes.

    Raises:
        RuntimeError: one is negative.
    """
    for n in size:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(size)}")
    return tuple(size)


# Of one value -----------------------------------------------------------------------------------------------


@composite(f"zeros(SymInt[] size, *, {OPTIONS}) -> Tensor")
def zeros(size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    if any(n < 0 for n in size):
        raise RuntimeError("zeros: Dimension size must be non-negative.")
    return finished(np.zeros(size, kind_of(dtype)), requires_grad)


@composite(f"ones(SymInt[] size, *, {OPTIONS}) -> Tensor")
def ones(size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    return finished(np.ones(checked_size(size), kind_of(dtype)), requires_grad)


@composite(f"empty(SymInt[] size, *, {LIKE}) -> Tensor")
def empty(
    size, memory_format=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    check_device(device)
    size = checked_size(size)
    if memory_format is not None and memory_format.name.startswith("channels_last"):
        array = empty_strided(size, format_strides(size, memory_format.name), kind_of(dtype))
        return finished(array, requires_grad)
    return finished(np.zeros(size, kind_of(dtype)), requires_grad)


@composite(f"full(SymInt[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor")
def full(size, fill_value, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    kind = (dtypes.of_number(fill_value) if dtype is None else dtype).numpy
    return finished(np.full(checked_size(size), number_in(fill_value, kind)), requires_grad)


@composite(f"eye(SymInt n, *, {OPTIONS}) -> Tensor")
def eye(n, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    return eye_m(n, n, dtype, layout, device, pin_memory, requires_grad)


@composite(f"eye.m(SymInt n, SymInt m, *, {OPTIONS}) -> Tensor")
def eye_m(n, m, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    for name, count in (("n", n), ("m", m)):
        if count < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {count}")
    return finished(np.eye(n, m, dtype=kind_of(dtype)), requires_grad)


@composite(f"empty_strided(SymInt[] size, SymInt[] stride, *, {OPTIONS}) -> Tensor")
def empty_strided_(size, stride, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    size = checked_size(size)
    if any(step < 0 for step in stride):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
        )
    array = empty_strided(size, tuple(stride), kind_of(dtype))
    array[...] = 0
    return finished(array, requires_grad)


# In steps ---------------------------------------------------------------------------------------------------


@composite(f"arange(Scalar end, *, {OPTIONS}) -> Tensor")
def arange(end, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    return arange_step(0, end, 1, dtype, layout, device, pin_memory, requires_grad)


@composite(f"arange.start(Scalar start, Scalar end, *, {OPTIONS}) -> Tensor")
def arange_start(start, end, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    return arange_step(start, end, 1, dtype, layout, device, pin_memory, requires_grad)


@composite(f"arange.start_step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor")
def arange_step(
    start, end, step=1, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    check_device(device)
    return finished(steps(start, end, step, dtype), requires_grad)


@composite(f"range(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor")
def closed_range(
    start, end, step=1, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    warnings.warn(OLD_RANGE, UserWarning, stacklevel=4)
    check_device(device)
    kind = dtypes.default() if dtype is None else dtype
    below = steps(start, end, step, kind)
    last = start + len(below) * step
    whole = np.append(below, np.asarray(last, kind.numpy)) if last == end else below
    return finished(whole, requires_grad)


OLD_RANGE = (
    "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent "
    "with Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
)


def steps(start, end, step, dtype):
    """The numbers from `start` below `end`.

    Raises:
        RuntimeError: there is no such range.
        NotImplementedError: the type cannot hold ranges.
    """
    numbers = (start, end, step)
    if any(isinstance(number, complex) for number in numbers):
        raise RuntimeError("value cannot be converted to type double without overflow")
    floating = any(isinstance(number, float) for number in numbers)
    kind = dtype or (dtypes.default() if floating else dtypes.int64)
    if kind.category in (dtypes.BOOL, dtypes.COMPLEX):
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{kind.scalar_type}'")
    if kind.category == dtypes.INTEGER:
        start, end, step = (int(number) if math.isfinite(number) else number for number in numbers)
    if not step:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = math.ceil((end - start) / step) if floating else -((start - end) // step)
    return (start + np.arange(count) * step).astype(kind.numpy)


def line(start, end, count, dtype):
    """`count` numbers from `start` to `end`, each half counted from its own end.

    Raises:
        RuntimeError: the count is negative.
        NotImplementedError: the type cannot hold them.
    """
    if count < 0:
        raise RuntimeError("number of steps must be non-negative")
    is_complex = isinstance(start, complex) or isinstance(end, complex)
    kind = dtype or (dtypes.default().to_complex() if is_complex else dtypes.default())
    if kind is dtypes.bool_ and count > 1:
        raise NotImplementedError("\"linspace_cpu\" not implemented for 'Bool'")
    work = kind.numpy if kind.category > dtypes.INTEGER else np.dtype("float64")
    if kind.category == dtypes.INTEGER:
        start, end = int(start), int(end)
    start, end = work.type(start), work.type(end)
    if count == 1:
        return np.full(1, start).astype(kind.numpy), kind
    positions = np.arange(count)
    step = (end - start) / work.type(count - 1) if count else work.type(0)
    first, second = start + step * positions.astype(work), end - step * (count - positions - 1).astype(work)
    return np.where(positions < count // 2, first, second).astype(kind.numpy), kind


def end_point(value, name, place):
    """A number, given as such or as a 0-dim tensor.

    Raises:
        RuntimeError: the tensor has dimensions.
    """
    if not isinstance(value, Tensor):
        return value
    if value._array.ndim:
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got {place} "
            f"with {value._array.ndim} dimension(s)."
        )
    return value._array.item()


def linspace(start, end, steps, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    start, end = end_point(start, "linspace", "start"), end_point(end, "linspace", "end")
    return finished(line(start, end, steps, dtype)[0], requires_grad)


def logspace(
    start, end, steps, base=10.0, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    check_device(device)
    start, end = end_point(start, "logspace", "start"), end_point(end, "logspace", "end")
    kind = dtype or (dtypes.default().to_complex() if isinstance(start + end, complex) else dtypes.default())
    if kind is dtypes.bool_ and steps > 1:
        raise NotImplementedError("\"logspace_cpu\" not implemented for 'Bool'")
    if kind.category == dtypes.INTEGER:
        start, end = int(start), int(end)
    exponents = line(start, end, steps, dtypes.float64 if kind.category < dtypes.COMPLEX else kind)[0]
    return finished(np.power(base, exponents).astype(kind.numpy), requires_grad)


for _overload, _start, _end in (
    ("", "Scalar", "Scalar"),
    (".Tensor_Tensor", "Tensor", "Tensor"),
    (".Scalar_Tensor", "Scalar", "Tensor"),
    (".Tensor_Scalar", "Tensor", "Scalar"),
):
    composite(f"linspace{_overload}({_start} start, {_end} end, int steps, *, {OPTIONS}) -> Tensor")(linspace)
    composite(
        f"logspace{_overload}({_start} start, {_end} end, int steps, float base=10.0, *, {OPTIONS}) -> Tensor"
    )(logspace)


# Like another tensor ----------------------------------------------------------------------------------------


def like(self, memory_format, dtype, device, requires_grad, value=0):
    """New memory of a tensor's shape and, unless a memory format says otherwise, layout."""
    check_device(device)
    if is_wrapper(self):
        return per_sample(like, (self, memory_format, dtype, device, requires_grad, value))
    array = self._array
    name = "preserve_format" if memory_format is None else memory_format.name
    if name == "preserve_format":
        strides = kept_strides(array)
    elif name == "contiguous_format":
        strides = contiguous_like(array.shape, range(array.ndim))
    else:
        strides = format_strides(array.shape, name)
    result = empty_strided(array.shape, strides, array.dtype if dtype is None else dtype.numpy)
    result[...] = number_in(value, result.dtype) if value.__class__ is not int else value
    return finished(result, requires_grad)


@composite(f"zeros_like(Tensor self, *, {LIKE}) -> Tensor")
def zeros_like(
    self, memory_format=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    return like(self, memory_format, dtype, device, requires_grad)


@composite(f"ones_like(Tensor self, *, {LIKE}) -> Tensor")
def ones_like(
    self, memory_format=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    return like(self, memory_format, dtype, device, requires_grad, 1)


@composite(f"empty_like(Tensor self, *, {LIKE}) -> Tensor")
def empty_like(
    self, memory_format=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    return like(self, memory_format, dtype, device, requires_grad)


@composite(f"full_like(Tensor self, Scalar fill_value, *, {LIKE}) -> Tensor")
def full_like(
    self,
    fill_value,
    memory_format=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    kind = self._array.dtype if dtype is None else dtype.numpy
    return like(self, memory_format, dtype, device, requires_grad, number_in(fill_value, kind))


def own(self, dtype):
    """The NumPy type of a dtype, by default of the tensor's own."""
    stop_at_wrapper(self)
    return self._array.dtype if dtype is None else dtype.numpy


@composite(f"new_zeros(Tensor self, SymInt[] size, *, {OPTIONS}) -> Tensor")
def new_zeros(self, size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    return finished(np.zeros(checked_size(size), own(self, dtype)), requires_grad)


@composite(
    "_new_zeros_with_same_feature_meta(Tensor self, Tensor other, *, int self_num_batch_dims=0) -> Tensor"
)
def new_zeros_with_same_feature_meta(self, other, self_num_batch_dims=0):
    """Zeros laid out in memory as `other`, once for each sample of the first dimensions of `self`."""
    sample, capacity = layout_of(other._array), root_of(other._array).nbytes // other._array.itemsize
    lead = self._array.shape[:self_num_batch_dims]
    steps = [step * capacity for step in contiguous_strides(lead)]
    memory = np.zeros(math.prod(lead) * capacity, other._array.dtype)
    shape, strides = (*lead, *sample.shape), (*steps, *sample.strides)
    return wrap(window(memory, memory.dtype, Layout(shape, strides, sample.offset)))


@composite(f"new_ones(Tensor self, SymInt[] size, *, {OPTIONS}) -> Tensor")
def new_ones(self, size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    return finished(np.ones(checked_size(size), own(self, dtype)), requires_grad)


@composite(f"new_empty(Tensor self, SymInt[] size, *, {OPTIONS}) -> Tensor")
def new_empty(self, size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    return finished(np.zeros(checked_size(size), own(self, dtype)), requires_grad)


@composite(f"new_full(Tensor self, SymInt[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor")
def new_full(
    self, size, fill_value, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    check_device(device)
    return finished(np.full(checked_size(size), number_in(fill_value, own(self, dtype))), requires_grad)


@composite(f"new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, {OPTIONS}) -> Tensor")
def new_empty_strided(
    self, size, stride, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    array = empty_strided(tuple(size), tuple(stride), own(self, dtype))
    array[...] = 0
    return finished(array, requires_grad)


# Places in a triangle ---------------------------------------------------------------------------------------


def triangle_places(name, keep, row, col, offset, dtype, device, requires_grad):
    """Rows and columns of the elements of a matrix that a triangle keeps.

    Raises:
        RuntimeError: a size is negative.
    """
    check_device(device)
    for word, count in (("row", row), ("col", col)):
        if count < 0:
            raise RuntimeError(f"{word} must be non-negative, got{count}")
    kind = dtype or dtypes.int64
    if kind.category != dtypes.INTEGER:
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind.scalar_type}'")
    places = np.stack(np.nonzero(keep(np.ones((row, col), bool), offset)))
    return finished(places.astype(kind.numpy), requires_grad)


@composite(f"tril_indices(int row, int col, int offset=0, *, {OPTIONS}) -> Tensor")
def tril_indices(
    row, col, offset=0, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    return triangle_places("tril_indices", np.tril, row, col, offset, dtype, device, requires_grad)


@composite(f"triu_indices(int row, int col, int offset=0, *, {OPTIONS}) -> Tensor")
def triu_indices(
    row, col, offset=0, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    return triangle_places("triu_indices", np.triu, row, col, offset, dtype, device, requires_grad)
