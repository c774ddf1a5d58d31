"""Geometry of strided tensors: shapes, strides and offsets, no data.

*Layout*: where the elements of a tensor lie in its storage, in elements, as PyTorch counts them. A *window*
is the NumPy array that shows a layout's elements.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from refgrad import dtypes


class Size(tuple):
    """A shape, printed as `torch.Size([...])`."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return Size(item) if isinstance(index, slice) else item

    def __add__(self, other):
        return Size(tuple.__add__(self, other))

    def __reduce__(self):
        return (size_of, (tuple(self),))


def size_of(sizes: tuple) -> Size:
    """What a pickled shape becomes again; the class itself is shown as one of torch's."""
    return Size(sizes)


Size.__module__ = "torch"


class Layout(NamedTuple):
    """Shape, strides and offset of a tensor in its storage, all counted in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    def permuted(self, order: Sequence[int]) -> "Layout":
        """The layout with its dimensions in another order."""
        return Layout(tuple(self.shape[i] for i in order), tuple(self.strides[i] for i in order), self.offset)

    def wrap_dim(self, dim: int) -> int:
        """A dimension counted from the front; raises IndexError when out of range."""
        return wrap_dim(dim, len(self.shape))


def wrap_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front; a 0-dim tensor counts as having one dimension.

    Raises:
        IndexError: `dim` is out of range.
    """
    count = ndim or 1
    if not -count <= dim < count:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})"
        )
    return dim + count if dim < 0 else dim


def layout_of(array: np.ndarray) -> Layout:
    """The layout of a window in the memory that it was cut from."""
    size = array.itemsize
    root = root_of(array)
    if root is array:
        offset = getattr(array, "offset", 0)  # of what only stands for elements
    else:
        offset = (array.__array_interface__["data"][0] - root.__array_interface__["data"][0]) // size
    return Layout(array.shape, strides_of(array), offset)


def strides_of(array: np.ndarray) -> tuple[int, ...]:
    """A window's strides in elements.

    NumPy gives empty arrays strides of zero, PyTorch those of contiguous memory; a zero that is meant stands
    in an empty window as minus one, see `window`.
    """
    size = array.itemsize
    if array.base is None and array.flags.c_contiguous:
        return contiguous_strides(array.shape)
    if not array.size:
        if not any(array.strides):
            return contiguous_strides(array.shape)
        return tuple([max(stride // size, 0) for stride in array.strides])
    return tuple([stride // size for stride in array.strides])


def root_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of a window."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides of a shape, counting empty and unit dimensions as PyTorch does."""
    if len(shape) < 2:
        return (1,) if shape else ()
    if len(shape) == 2:
        return (shape[1] or 1, 1)
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements lie in row-major order without gaps (dimensions of size 1 do not count)."""
    if 0 in shape:
        return True
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements fill their memory without gaps or overlap, in some order of dimensions."""
    if prod(shape) < 2:
        return True
    step = 1
    for stride, size in sorted((stride, size) for stride, size in zip(strides, shape) if size != 1):
        if stride != step:
            return False
        step *= size
    return True


def overlaps_itself(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether a zero stride makes elements share memory; other kinds of overlap PyTorch does not look for."""
    return any(stride == 0 and size > 1 for size, stride in zip(shape, strides)) and 0 not in shape


def broadcast_shapes(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """The common shape of two operands.

    Raises:
        RuntimeError: sizes differ in a dimension where neither is 1.
    """
    if first == second:
        return tuple(first)
    ndim = max(len(first), len(second))
    a = (1,) * (ndim - len(first)) + tuple(first)
    b = (1,) * (ndim - len(second)) + tuple(second)
    for i in range(ndim - 1, -1, -1):
        if a[i] != b[i] and a[i] != 1 and b[i] != 1:
            raise RuntimeError(
                f"The size of tensor a ({a[i]}) must match the size of tensor b ({b[i]}) "
                f"at non-singleton dimension {i}"
            )
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def expands_to(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Whether `shape` broadcasts to exactly `target`."""
    if len(shape) > len(target):
        return False
    return all(size == wanted or size == 1 for size, wanted in zip(reversed(shape), reversed(target)))


def view_strides(
    shape: Sequence[int], strides: Sequence[int], target: Sequence[int]
) -> tuple[int, ...] | None:
    """Strides that show `target` in the same memory, or None when a copy is needed."""
    if prod(shape) == 0:
        return tuple(strides) if tuple(shape) == tuple(target) else contiguous_strides(target)
    result: list[int] = [0] * len(target)
    position = len(target) - 1
    chunk_numel = view_numel = 1
    chunk_stride = strides[-1] if strides else 1
    for i in range(len(shape) - 1, -1, -1):
        chunk_numel *= shape[i]
        last = i == 0
        if last or (shape[i - 1] != 1 and strides[i - 1] != chunk_numel * chunk_stride):
            while position >= 0 and (view_numel < chunk_numel or target[position] == 1):
                result[position] = view_numel * chunk_stride
                view_numel *= target[position]
                position -= 1
            if view_numel != chunk_numel:
                return None
            if not last:
                chunk_stride = strides[i - 1]
                chunk_numel = view_numel = 1
    if not shape:
        while position >= 0:
            result[position] = 1
            position -= 1
    return tuple(result) if position < 0 else None


def lies_oddly(array: np.ndarray) -> bool:
    """Whether dimensions of size 1 have strides that NumPy does not keep in what it computes from this."""
    return 1 in array.shape and strides_of(array) != contiguous_strides(array.shape)


def iterated_strides(shape: Sequence[int], operands: Sequence[np.ndarray]) -> tuple[int, ...]:
    """The strides that PyTorch gives the result of a pointwise op on operands that are not all contiguous.

    Dimensions are ordered by the operands' strides, the first operand that has an opinion deciding; where
    none has, they stay as they are.
    """
    ndim = len(shape)
    return ordered_strides(shape, [broadcast_strides(array, ndim, shape) for array in operands])


def cast(array: np.ndarray, kind: np.dtype) -> np.ndarray:
    """A copy in another type whose dimensions lie in memory in the same order; what is expanded has none."""
    if array.size and 0 not in array.strides and not lies_oddly(array):
        return array.astype(kind)
    copy = window(np.empty(array.size, kind), kind, Layout(array.shape, kept_strides(array), 0))
    copy[...] = array
    return copy


def widened(array: np.ndarray) -> np.ndarray:
    """An array of a reduced type in float32; any other as it is."""
    return cast(array, dtypes.float32.numpy) if array.dtype in dtypes.REDUCED else array


def kept_strides(array: np.ndarray) -> tuple[int, ...]:
    """The strides of a copy: those of a dense array, else those of its dimensions sorted by stride."""
    strides = strides_of(array)
    return strides if is_dense(array.shape, strides) else iterated_strides(array.shape, [array])


def ordered_strides(shape: Sequence[int], opinions: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Dense strides whose dimensions are ordered as several strides ask for; 0 is no opinion."""
    ndim = len(shape)
    order = list(range(ndim - 1, -1, -1))  # fastest first
    for i in range(1, ndim):
        at = i
        for before in range(i - 1, -1, -1):
            verdict = slower(order[before], order[at], shape, opinions)
            if verdict > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif verdict < 0:
                break
    if order == list(range(ndim - 1, -1, -1)):
        return contiguous_strides(shape)
    strides, step = [0] * ndim, 1
    for dim in order:
        strides[dim] = step
        step *= shape[dim]
    return tuple(strides)


def broadcast_strides(array: np.ndarray, ndim: int, shape: Sequence[int]) -> tuple[int, ...]:
    """An operand's strides among the dimensions of the result, 0 where it is broadcast."""
    lead = ndim - array.ndim
    own = strides_of(array)
    return (0,) * lead + tuple(
        0 if size == 1 != shape[lead + i] else own[i] for i, size in enumerate(array.shape)
    )


def slower(first: int, second: int, shape: Sequence[int], opinions: Sequence[tuple[int, ...]]) -> int:
    """1 when dimension `first` must come after `second`, -1 when before, 0 when no operand tells."""
    for strides in opinions:
        a, b = strides[first], strides[second]
        if a == 0 or b == 0:
            continue
        if a != b:
            return -1 if a < b else 1
        if shape[first] > shape[second]:
            return 1
    return 0


def infer_size(shape: Sequence[int], numel: int) -> tuple[int, ...]:
    """`shape` with its one -1 replaced.

    Raises:
        RuntimeError: more than one -1, or the sizes do not multiply to `numel`.
    """
    known, unknown = 1, None
    for i, size in enumerate(shape):
        if size == -1:
            if unknown is not None:
                raise RuntimeError("only one dimension can be inferred")
            unknown = i
        elif size < 0:
            raise RuntimeError(f"invalid shape dimension {size} at index {i} of shape {list(shape)}")
        else:
            known *= size
    if numel == known or (unknown is not None and known > 0 and numel % known == 0):
        if unknown is None:
            return tuple(shape)
        if known == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
                "dimension size -1 can be any value and is ambiguous"
            )
        return tuple(numel // known if i == unknown else size for i, size in enumerate(shape))
    raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")


class NoMemory(np.ndarray):
    """Stands for the memory of empty windows that begin beyond the end of theirs."""


def window(root: np.ndarray, dtype: np.dtype, layout: Layout) -> np.ndarray:
    """The array that shows a layout's elements in the memory of `root`, which is one-dimensional."""
    size = dtype.itemsize
    strides = tuple(stride * size for stride in layout.strides)
    if 0 in layout.shape:
        strides = tuple(stride or -size for stride in strides)
        if (
            layout.offset * size > root.nbytes
        ):  # nobody can tell other memory from this one: there is nothing in it
            root = NoMemory((layout.offset * size,), np.uint8)
        return np.ndarray(layout.shape, dtype, root, layout.offset * size, strides)
    return np.ndarray(layout.shape, dtype, root, layout.offset * size, strides)
