"""Elements moved, repeated or cut away: flips, rolls, triangles, diagonals, repetition, grids."""

from itertools import combinations as number_combinations
from itertools import combinations_with_replacement

import numpy as np

from refgrad import dtypes
from refgrad.layout import Layout, contiguous_strides, kept_strides, layout_of, window, wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.checks import written_zeros
from refgrad.ops.copying import copy_of, empty_strided
from refgrad.ops.joining import common_dtype, real_part
from refgrad.ops.views import as_strided, diagonal, select, slice_
from refgrad.storage import window_of
from refgrad.tensor import wrap
from refgrad.types import contiguous_format

# Flips and turns --------------------------------------------------------------------------------------------


def wrapped_dims(dims, ndim):
    """Dimensions counted from the front.

    Raises:
        RuntimeError: one stands there twice.
    """
    wrapped = [wrap_dim(dim, ndim) for dim in dims]
    for i, dim in enumerate(wrapped):
        if dim in wrapped[:i]:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return wrapped


def flipped(array, dims):
    """A copy with some dimensions reversed, laid out like the array."""
    result = empty_strided(array.shape, kept_strides(array), array.dtype)
    result[...] = np.flip(array, tuple(dims)) if array.ndim else array
    return result


@op("flip(Tensor self, int[] dims) -> Tensor", self=lambda grad, dims: grad.flip(dims))
def flip(self, dims):
    return flipped(self, wrapped_dims(dims, self.ndim))


@composite("fliplr(Tensor self) -> Tensor")
def fliplr(self):
    if self._array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return calls.flip(self, (1,))


@composite("flipud(Tensor self) -> Tensor")
def flipud(self):
    if not self._array.ndim:
        raise RuntimeError("Input must be >= 1-d.")
    return calls.flip(self, (0,))


@op(
    "roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
    self=lambda grad, shifts, dims: calls.roll(
        grad, tuple([-shift for shift in reversed(shifts)]), tuple(reversed(dims))
    ),
)
def roll(self, shifts, dims):
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        return np.array(np.roll(self, shifts[0]), order="C").reshape(self.shape)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not self.size:
        return np.array(self, order="C")
    if not self.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return np.array(np.roll(self, shifts, [wrap_dim(dim, self.ndim) for dim in dims]), order="C")


@op(
    "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor",
    self=lambda grad, k, dims: calls.rot90(grad, -k, dims),
)
def rot90(self, k, dims):
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == self.ndim:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    first, second = (wrap_dim(dim, self.ndim) for dim in dims)
    turns = k % 4
    if turns == 0:
        return np.array(self, order="C")
    if turns == 2:
        return flipped(self, (first, second))
    return flipped(self, (second if turns == 1 else first,)).swapaxes(first, second)


# Triangles and diagonals ------------------------------------------------------------------------------------


def triangle(name, kernel):
    """Declare `tril` or `triu`."""

    def kept(self, diagonal):
        if self.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return np.ascontiguousarray(kernel(self, diagonal))  # no view: gradients are added to in place

    op(
        f"{name}(Tensor self, SymInt diagonal=0) -> Tensor",
        inplace=True,
        self=lambda grad, diagonal: getattr(calls, name)(grad, diagonal),
    )(kept)


triangle("tril", np.tril)
triangle("triu", np.triu)


def shown(array, view_op, *arguments):
    """The window that a view op shows of a dense array of its own."""
    layout = view_op.kernel(Layout(array.shape, contiguous_strides(array.shape), 0), *arguments)
    return window(array, array.dtype, layout)


@op(
    "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    self=lambda grad, self_sym_sizes, offset, dim1, dim2: calls.diagonal_backward(
        grad, self_sym_sizes, offset, dim1, dim2
    ),
    node="DiagonalBackward0_copy",
)
def diagonal_copy(self, offset, dim1, dim2):
    return shown(np.array(self, order="C"), diagonal, offset, dim1, dim2).copy()


@op(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    self=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
)
def diag_embed(self, offset, dim1, dim2):
    ndim = self.ndim + 1
    first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = self.shape[-1] + abs(offset)
    shape = list(self.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, size)
    result = np.zeros(shape, self.dtype)
    shown(result, diagonal, offset, first, second)[...] = self
    return result


@composite("diag(Tensor self, int diagonal=0) -> Tensor")
def diag(self, diagonal=0):
    ndim = self._array.ndim
    if ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    return calls.diag_embed(self, diagonal) if ndim == 1 else calls.diagonal_copy(self, diagonal)


@composite("diagflat(Tensor self, int offset=0) -> Tensor")
def diagflat(self, offset=0):
    return calls.diag_embed(calls.view(calls.contiguous(self), (-1,)), offset)


@composite("fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)")
def fill_diagonal_(self, fill_value, wrap=False):
    shape, strides = self._array.shape, self.stride()
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    offset, size = self.storage_offset(), min(shape)
    calls.as_strided(self, (size,), (sum(strides),), offset).fill_(fill_value)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        step = strides[0] * (shape[1] + 1) if shape[1] else 0
        start = strides[0] * (shape[1] + 1)
        rest = (shape[0] - shape[1] - 1 + shape[1]) // (shape[1] + 1)
        for block in range(rest):
            rows = min(shape[1], shape[0] - (block + 1) * (shape[1] + 1))
            if rows > 0:
                place = offset + start + block * step
                calls.as_strided(self, (rows,), (sum(strides),), place).fill_(fill_value)
    return self


# A source written where a view looks ------------------------------------------------------------------------


def embedded(array, src, view_op, *arguments):
    """A copy of an array with a source written where a view op looks.

    Raises:
        RuntimeError: the source has another shape than the view.
    """
    result = copy_of(array)
    part = window_of(result, view_op.kernel(layout_of(result), *arguments))
    if part.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice "
            f"size = {list(part.shape)}"
        )
    part[...] = src
    return result


@op(
    "select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
    real_gradient=True,
    self=lambda grad, src_info, dim, index: calls.select_scatter(grad, grad.new_zeros(src_info), dim, index),
    src=lambda grad, dim, index: grad.select(dim, index),
)
def select_scatter(self, src, dim, index):
    return embedded(self, src, select, dim, index)


@op(
    "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) "
    "-> Tensor",
    real_gradient=True,
    self=lambda grad, src_info, dim, start, end, step: calls.slice_scatter(
        grad, grad.new_zeros(src_info), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: calls.slice(grad, dim, start, end, step),
)
def slice_scatter(self, src, dim, start, end, step):
    return embedded(self, src, slice_, dim, start, end, step)


@op(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    self=lambda grad, src_info, offset, dim1, dim2: calls.diagonal_scatter(
        grad, grad.new_zeros(src_info), offset, dim1, dim2
    ),
    src=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
)
def diagonal_scatter(self, src, offset, dim1, dim2):
    return embedded(self, src, diagonal, offset, dim1, dim2)


@op(
    "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
    "SymInt? storage_offset=None) -> Tensor",
    self=lambda grad, self_geometry, size, stride, storage_offset: as_strided_scatter_back(
        grad, self_geometry, size, stride, storage_offset
    ),
    src=lambda grad, size, stride, storage_offset: calls.as_strided(
        calls.contiguous(grad), size, stride, storage_offset
    ),
)
def as_strided_scatter(self, src, size, stride, storage_offset):
    return embedded(self, src, as_strided, size, stride, storage_offset)


def as_strided_scatter_back(grad, geometry, size, stride, storage_offset):
    """The gradient where the source was written, zeros elsewhere, as PyTorch has it."""
    result = grad.new_empty_strided(geometry.shape, geometry.strides)
    part = calls.as_strided(result, size, stride, storage_offset)
    part.copy_(calls.as_strided(calls.contiguous(grad), size, stride, storage_offset))
    return calls.as_strided(result, geometry.shape, geometry.strides)


# Repetition -------------------------------------------------------------------------------------------------


@op(
    "repeat(Tensor self, SymInt[] repeats) -> Tensor",
    self=lambda grad, repeats, self_sym_sizes: repeat_back(grad, repeats, self_sym_sizes),
)
def repeat(self, repeats):
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    own = (1,) * (len(repeats) - self.ndim) + self.shape
    shape = [n * size for n, size in zip(repeats, own, strict=True)]
    for n in shape:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {shape}")
    return np.tile(np.ascontiguousarray(self), repeats) if repeats else np.array(self)


def repeat_back(grad, repeats, sizes):
    """The gradients of all repetitions added up."""
    if 0 in repeats:
        return calls.zero_(grad.new_zeros(sizes))  # as PyTorch fills it where writes are counted
    extra = len(repeats) - len(sizes)
    for _ in range(extra):
        grad = calls.sum__dim_IntList(grad, (0,), False)
    shape: list[int] = []
    summed: list[int] = []
    for count, size in zip(repeats[extra:], sizes, strict=True):
        if count != 1:
            summed.append(len(shape))
            shape.append(count)
        shape.append(size)
    if not summed:
        return grad
    return calls.sum__dim_IntList(grad.reshape(tuple(shape)), tuple(summed), False)


@composite("tile(Tensor self, SymInt[] dims) -> Tensor")
def tile(self, dims):
    missing = self._array.ndim - len(dims)
    return calls.repeat(self, (1,) * missing + tuple(dims))


@op("repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor")
def repeat_positions(repeats, output_size):
    if repeats.dtype not in (np.int64, np.int32):
        kind = dtypes.OF_NUMPY[repeats.dtype].scalar_type
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{kind}'")
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if (repeats < 0).any():
        raise RuntimeError("repeats can not be negative")
    return np.repeat(np.arange(len(repeats), dtype=repeats.dtype), repeats)


@composite(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) "
    "-> Tensor"
)
def repeat_interleave(self, repeats, dim=None, output_size=None):
    if dim is None:
        self, dim = calls.flatten(self), 0
    size = self._array.shape[wrap_dim(dim, self._array.ndim)] if self._array.ndim else 1
    counts = repeats._array
    if counts.ndim == 0 or counts.ndim == 1 and counts.size == 1:
        counts = np.broadcast_to(counts.reshape(1), (size,))
    elif counts.ndim == 1:
        if counts.size != size:
            raise RuntimeError(
                "repeats must have the same size as input along dim, but got repeats.size(0) = "
                f"{counts.size} and input.size({dim}) = {size}"
            )
    else:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    return calls.index_select(self, dim, wrap(repeat_positions.kernel(counts, output_size)))


@composite(
    "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) "
    "-> Tensor"
)
def repeat_interleave_int(self, repeats, dim=None, output_size=None):
    if dim is None:
        self, dim = calls.flatten(self), 0
    dim = wrap_dim(dim, self._array.ndim)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if not self._array.ndim:
        wrap_dim(1, 0)  # refused, as in PyTorch: there is no second dimension to put the copies in
    shape = self._array.shape
    if output_size is not None and output_size != shape[dim] * repeats:
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {shape[dim] * repeats} but got {output_size}"
        )
    wide = calls.unsqueeze(self, dim + 1)
    wide = calls.expand(wide, (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
    return calls.flatten(calls.clone(wide, memory_format=contiguous_format), dim, dim + 1)


# Grids ------------------------------------------------------------------------------------------------------


def grid(tensors, indexing):
    """One tensor per input that shows it along a dimension of its own.

    Raises:
        RuntimeError: the inputs are no vectors of one type, or the order of dimensions is unknown.
    """
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for tensor in tensors:
        if tensor._array.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{tensor.dtype.tensor_type}{{{','.join(map(str, tensor._array.shape))}}}"
            )
    if any(tensor.dtype is not tensors[0].dtype for tensor in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in ("xy", "ij"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swapped = indexing == "xy" and len(tensors) >= 2
    tensors = [tensors[1], tensors[0], *tensors[2:]] if swapped else list(tensors)
    shape = tuple([tensor._array.size for tensor in tensors])
    grids = []
    for i, tensor in enumerate(tensors):
        lone = tuple([-1 if j == i else 1 for j in range(len(shape))])
        grids.append(calls.expand(calls.view(tensor, lone), shape))
    if swapped:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def product_of(tensors):
    """All combinations of one element of each vector, as rows."""
    for tensor in tensors:
        if tensor._array.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor._array.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return calls.stack([calls.flatten(one) for one in grid(tensors, "ij")], 1)


@composite("combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor")
def combinations(self, r=2, with_replacement=False):
    array = self._array
    if array.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(array.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.empty(0, array.dtype))
    choose = combinations_with_replacement if with_replacement else number_combinations
    mask = np.zeros((array.size,) * r, bool)
    for places in choose(range(array.size), r):
        mask[places] = True
    return calls.stack([calls.masked_select(one, wrap(mask)) for one in grid([self] * r, "ij")], 1)


@op(
    "block_diag(Tensor[] tensors) -> Tensor",
    tensors=lambda grad, tensors_args_sizes, tensors_args_scalartypes: block_diag_back(
        grad, tensors_args_sizes, tensors_args_scalartypes
    ),
)
def block_diag(tensors):
    if not tensors:
        return np.empty((1, 0), dtypes.default().numpy)
    for i, array in enumerate(tensors):
        if array.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {array.ndim} dimensions"
            )
    blocks = [np.atleast_2d(array) for array in tensors]
    shape = sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)
    result = np.zeros(shape, common_dtype(list(tensors)))
    row = column = 0
    for block in blocks:
        rows, columns = block.shape
        result[row : row + rows, column : column + columns] = block
        row, column = row + rows, column + columns
    return result


def block_diag_back(grad, sizes, kinds):
    """The block of the gradient that belongs to each tensor."""
    parts, row, column = [], 0, 0
    for size, kind in zip(sizes, kinds, strict=True):
        rows, columns = (1,) * (2 - len(size)) + tuple(size)
        part = calls.slice(calls.slice(grad, 0, row, row + rows, 1), 1, column, column + columns, 1)
        part = real_part(part, kind)
        if tuple(size) == (0,):
            part = written_zeros(grad, size)
        else:
            for _ in range(2 - len(size)):
                part = calls.squeeze__dim(part, -1)
        parts.append(part)
        row, column = row + rows, column + columns
    return parts
