"""`tensor[index]` and `tensor[index] = value`: which views, reads and writes a subscript stands for.

A subscript is worked off item by item. Integers, slices, None and Ellipsis each take a view; tensors,
sequences and bools are collected, and one `index` or `index_put_` takes them all at the end.
"""

import operator
import warnings
from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.op import OPS, calls
from refgrad.ops.copying import filling
from refgrad.ops.from_data import full_type_name, inferred, is_sequence, numpy_dtype, stored
from refgrad.overriding import PLAIN, hand_on, overriding_in
from refgrad.samples import Batched, per_sample
from refgrad.tensor import Tensor, is_batched, wrap

LARGEST = 2**63 - 1
NON_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
    "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
    "x[torch.tensor(seq)], which will result either in an error or a different result"
)
NOT_AN_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
    "indices (got {})"
)
ZERO_DIM = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert "
    "a 0-dim tensor to a number"
)


GET, SET = "torch.Tensor.__getitem__", "torch.Tensor.__setitem__"


class Overridden(Exception):
    """A subscript has an item, or is given a value, whose class has a `__torch_function__`."""


# Steps ------------------------------------------------------------------------------------------------------


def selected(tensor: Tensor, dim: int, number: int, position: int) -> Tensor:
    """One slice of a dimension; `position` is where in the subscript the number stands.

    Raises:
        IndexError: it is out of range.
    """
    shape = tensor._array.shape
    if not shape and number == 0 == position:
        raise IndexError(ZERO_DIM)
    size = shape[dim] if dim < len(shape) else 0  # a second Ellipsis leads beyond the end
    if not -size <= number < size:
        raise IndexError(f"index {number} is out of bounds for dimension {position} with size {size}")
    return calls.select(tensor, dim, number)


def unpacked(item: slice) -> tuple[int, int, int]:
    """Start, stop and step of a slice, with the defaults filled in and no number above 64 bits.

    Raises:
        ValueError: the step is not positive.
    """
    step = bounded(1 if item.step is None else as_number(item.step))
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step < 0:
        raise ValueError("step must be greater than zero")
    start = 0 if item.start is None else bounded(as_number(item.start))
    stop = LARGEST if item.stop is None else bounded(as_number(item.stop))
    return start, stop, step


def as_number(value: Any) -> int:
    """An end of a slice as an integer.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, Tensor) and not hasattr(value, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return operator.index(value)


def bounded(number: int) -> int:
    """A number cut to 64 bits."""
    return max(-LARGEST - 1, min(LARGEST, number))


def sliced(tensor: Tensor, dim: int, item: slice, keep_full: bool) -> Tensor:
    """A part of a dimension; a slice of all of it is no step at all unless `keep_full`.

    Raises:
        IndexError: the tensor has no dimension.
    """
    start, stop, step = unpacked(item)
    shape = tensor._array.shape
    if not shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if not keep_full and start == 0 and stop >= shape[dim] and step == 1:
        return tensor
    return calls.slice(tensor, dim, start, stop, step)


def is_integer(item: Any) -> bool:
    """Whether an item counts as an integer."""
    if isinstance(item, (int, np.integer)):
        return not isinstance(item, bool)
    return isinstance(item, np.ndarray) and item.ndim == 0 and item.dtype.kind in "iu"


# Whole subscripts -------------------------------------------------------------------------------------------


def items_of(index: Any) -> tuple:
    """The items of a subscript: a tuple's own, those of a list that counts as a tuple, or the one."""
    if isinstance(index, tuple):
        return tuple(index)
    if isinstance(index, (Tensor, np.ndarray)) or not is_sequence(index) or len(index) >= 32:
        return (index,)
    for item in index:
        if isinstance(item, (Tensor, slice)) or item is None or item is Ellipsis or is_sequence(item):
            warnings.warn(NON_TUPLE, UserWarning, stacklevel=4)
            return tuple(index)
    return (index,)


def dims_taken(items: tuple) -> int:
    """How many dimensions the items of a subscript use up."""
    count = 0
    for item in items:
        if isinstance(item, Tensor):
            count += item._array.ndim if item.dtype in (dtypes.bool_, dtypes.uint8) else 1
        elif not (item is None or item is Ellipsis or isinstance(item, bool)):
            count += 1
    return count


def index_tensor(data: Any) -> Tensor:
    """A sequence as an index: a mask when it holds bools, else integers."""
    kind = numpy_dtype(data.dtype) if isinstance(data, np.ndarray) else inferred(data)
    if isinstance(data, np.ndarray):
        return wrap(data if kind in (dtypes.bool_, dtypes.uint8) else data.astype(np.int64))
    return wrap(stored(data, kind if kind in (dtypes.bool_, dtypes.uint8) else dtypes.int64))


def worked_off(tensor: Tensor, items: tuple) -> tuple[Tensor, list]:
    """The view that the basic items stand for, and the index list of the others.

    Raises:
        IndexError, TypeError: an item is no index, or there are too many.
    """
    ndim, taken = tensor._array.ndim, dims_taken(items)
    if taken > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    view, dim = tensor, 0
    indices: list = []

    def collect(index: Tensor) -> None:
        indices.extend([None] * (dim - len(indices)))
        indices.append(index)

    for position, item in enumerate(items):
        if is_integer(item):
            view = selected(view, dim, int(item), position)
        elif isinstance(item, slice):
            view = sliced(view, dim, item, False)
            dim += 1
        elif item is Ellipsis:
            dim += ndim - taken
        elif item is None:
            view = calls.unsqueeze(view, dim)
            dim += 1
        elif item.__class__ not in PLAIN and overriding_in((item,)):
            raise Overridden
        elif isinstance(item, bool) or is_single_bool(item):
            view = calls.unsqueeze(view, dim)
            collect(wrap(np.zeros(int(bool(item)), np.int64)))
            dim += 1
        elif is_integer_tensor(item):
            view = selected(view, dim, int(item._array), position)
        elif isinstance(item, Tensor):
            collect(item)
            dim += 1
        elif is_sequence(item) and not isinstance(item, np.generic):
            collect(index_tensor(item))
            dim += 1
        elif hasattr(item, "__index__") and not isinstance(item, np.generic):
            view = selected(view, dim, operator.index(item), position)
        else:
            raise IndexError(NOT_AN_INDEX.format(full_type_name(item)))
    return view, indices


def is_integer_tensor(item: Any) -> bool:
    """Whether an item is a 0-dim tensor that counts as an integer; each sample of a batch has its own."""
    if not isinstance(item, Tensor) or is_batched(item):
        return False
    return not item._array.ndim and item.dtype.category == dtypes.INTEGER


def is_single_bool(item: Any) -> bool:
    """Whether an item is a 0-dim mask."""
    return isinstance(item, Tensor) and not item._array.ndim and item.dtype in (dtypes.bool_, dtypes.uint8)


def get_item(self: Tensor, index: Any) -> Tensor:
    """`tensor[index]`."""
    if index.__class__ is int:
        return selected(self, 0, index, 0)
    if index.__class__ is slice:
        return sliced(self, 0, index, True)
    if index is None:
        return calls.unsqueeze(self, 0)
    if index is Ellipsis:
        return calls.alias(self)
    items = items_of(index)
    try:
        view, indices = worked_off(self, items)
    except Overridden:
        return hand_on(Tensor.__getitem__, GET, overriding_in(items), (self, index), {})
    if indices:
        return calls.index(view, indices)
    return calls.alias(view) if view is self else view


# Assignment -------------------------------------------------------------------------------------------------


def value_of(self: Tensor, value: Any) -> Tensor:
    """What is assigned, as a tensor: a number becomes one of the target's type.

    Raises:
        TypeError: it is neither tensor nor number.
        ValueError: it is an integer of more than 64 bits.
    """
    if value.__class__ not in PLAIN and overriding_in((value,)):
        raise Overridden
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (bool, int, float, complex, np.generic)):
        number = value.item() if isinstance(value, np.generic) else value
        if isinstance(number, int) and bounded(number) != number:
            raise ValueError("Overflow when unpacking long long")
        return wrap(filling(number, np.empty((), self._array.dtype)))
    raise TypeError(f"can't assign a {full_type_name(value)} to a {self.dtype.tensor_type}")


def without_leading_ones(shape: tuple) -> tuple:
    """A shape less the ones that it begins with."""
    for i, size in enumerate(shape):
        if size != 1:
            return shape[i:]
    return shape[len(shape) :]


def assign(target: Tensor, value: Tensor) -> None:
    """Write a value into all of a target: a fill or a copy."""
    shape, wanted = value._array.shape, target._array.shape
    if not shape and wanted:
        OPS["fill_.Tensor"].call(target, value)
        return
    if shape != wanted:
        short = without_leading_ones(shape)
        value = calls.view(value, short)
        if short != wanted:
            value = calls.expand(value, wanted)
    calls.copy_(target, value)


def set_item(self: Tensor, index: Any, value: Any) -> None:
    """`tensor[index] = value`."""
    try:
        put_item(self, index, value)
    except Batched:
        per_sample(put_item, (self, index, value))
    except Overridden:
        found = overriding_in((*items_of(index), value))
        hand_on(Tensor.__setitem__, SET, found, (self, index, value), {})


def put_item(self: Tensor, index: Any, value: Any) -> None:
    """`tensor[index] = value`, of tensors with memory."""
    value = value_of(self, value)
    if index.__class__ is int:
        return assign(selected(self, 0, index, 0), value)
    if index.__class__ is slice:
        return assign(sliced(self, 0, index, False), value)
    if index is False:
        return None
    if index is Ellipsis:
        return assign(self, value)
    if index is None or index is True:
        return assign(calls.unsqueeze(self, 0), value)
    view, indices = worked_off(self, items_of(index))
    if not indices:
        return assign(view, value)
    short = without_leading_ones(value._array.shape)
    if short != value._array.shape:
        value = calls.view(value, short)
    calls.index_put_(view, indices, value)
    return None


def delete_item(self: Tensor, index: Any) -> None:
    """`del tensor[index]`.

    Raises:
        TypeError: always.
    """
    raise TypeError("Tensor does not support deleting items")


PROTOCOLS = {"__getitem__": get_item, "__setitem__": set_item, "__delitem__": delete_item}
for _protocol, _function in PROTOCOLS.items():
    setattr(Tensor, _protocol, _function)
