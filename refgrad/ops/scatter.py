"""Reading and writing single elements along a dimension or at flat positions: `gather`, `scatter`, `take`."""

import numpy as np

from refgrad import dtypes
from refgrad.layout import broadcast_shapes, wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.checks import kind_name, put_into
from refgrad.ops.copying import copy_of, number_in
from refgrad.ops.index_slices import check_range, out_of_range, without

# Single elements --------------------------------------------------------------------------------------------


def check_integers(name, index):
    """Refuse an index of another type.

    Raises:
        RuntimeError: it holds no integers.
    """
    if index.size and index.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def along(array, dim, index):
    """An index for NumPy that reaches, for each element of ours, its own place in the other dimensions."""
    ndim = index.ndim
    return tuple(
        index if axis == dim else np.arange(size).reshape((1,) * axis + (size,) + (1,) * (ndim - axis - 1))
        for axis, size in enumerate(index.shape)
    )


def at_least_1d(*arrays):
    """Arrays with 0-dim ones shown as vectors of one element."""
    return [array.reshape(1) if not array.ndim else array for array in arrays]


@op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    self=lambda grad, self, dim, index, sparse_grad: put_into(
        grad.new_zeros(self._array.shape), calls.scatter_add_, calls.scatter_add, dim, index, grad
    ),
)
def gather(self, dim, index, sparse_grad):
    dim = wrap_dim(dim, self.ndim)
    check_integers("gather", index)
    shape = index.shape
    if not index.size:
        return np.empty(shape, self.dtype)
    self, index = at_least_1d(self, index)
    if self.ndim != index.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for i in range(self.ndim):
        if i != dim and index.shape[i] > self.shape[i]:
            raise RuntimeError(
                f"Size does not match at dimension {i} expected index {list(index.shape)} to be no larger "
                f"than self {list(self.shape)} apart from dimension {dim}"
            )
    check_range(index, dim, self.shape[dim])
    return np.ascontiguousarray(self[along(self, dim, index)]).reshape(shape)


def scatter_into(target, dim, index, source, name, write):
    """Write a source (or a number) at an index, with `write(target, places, values)`.

    Raises:
        RuntimeError: shapes, types or indices do not fit.
    """
    dim = wrap_dim(dim, target.ndim)
    check_integers(name, index)
    is_number = not isinstance(source, np.ndarray)
    if not is_number and source.dtype != target.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return
    target, index = at_least_1d(target, index)
    if target.ndim != index.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    if not is_number:
        (source,) = at_least_1d(source)
        if source.ndim != index.ndim:
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    check_scatter_shapes(target, dim, index, None if is_number else source)
    check_range(index, dim, target.shape[dim])
    values = source if is_number else source[tuple(slice(n) for n in index.shape)]
    write(target, along(target, dim, index), values)


def check_scatter_shapes(target, dim, index, source):
    """Refuse an index larger than the target or the source.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    too_large = any(index.shape[i] > target.shape[i] for i in range(target.ndim) if i != dim)
    if source is not None:
        too_large = too_large or any(n > m for n, m in zip(index.shape, source.shape, strict=True))
    if too_large:
        text = (
            f"Expected index {list(index.shape)} to be no larger than self {list(target.shape)} apart "
            f"from dimension {dim}"
        )
        if source is not None:
            text += f" and to be no larger size than src {list(source.shape)}"
        raise RuntimeError(text)


def put_at(target, places, values):
    """Overwrite."""
    target[places] = values


SCATTER_SRC: dict = {
    "self": lambda grad, dim, index: grad.scatter(dim, index, 0),
    "src": lambda grad, dim, index: grad.gather(dim, index),
}
SCATTER_VALUE: dict = {
    "self": lambda grad, dim, index: grad.scatter(dim, index, 0),
    "node": "ScatterBackward1",
    "reduced": "own",
}
SCATTER_ADD: dict = {
    "self": lambda grad: grad,
    "src": lambda grad, dim, index: grad.gather(dim, index),
}


@op("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", **SCATTER_SRC)
def scatter(self, dim, index, src):
    result = copy_of(self, contiguous=True)
    scatter_into(result, dim, index, src, "scatter", put_at)
    return result


@op(
    "scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
    writes=True,
    **SCATTER_SRC,
)
def scatter_(self, dim, index, src):
    scatter_into(self, dim, index, src, "scatter", put_at)


@op("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", **SCATTER_VALUE)
def scatter_value(self, dim, index, value):
    result = copy_of(self, contiguous=True)
    scatter_into(result, dim, index, number_in(value, self.dtype)[()], "scatter", put_at)
    return result


@op(
    "scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
    writes=True,
    **SCATTER_VALUE,
)
def scatter_value_(self, dim, index, value):
    scatter_into(self, dim, index, number_in(value, self.dtype)[()], "scatter", put_at)


@op("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", **SCATTER_ADD)
def scatter_add(self, dim, index, src):
    result = copy_of(self, contiguous=True)
    scatter_into(result, dim, index, src, "scatter_add", np.add.at)
    return result


@op(
    "scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
    writes=True,
    **SCATTER_ADD,
)
def scatter_add_(self, dim, index, src):
    scatter_into(self, dim, index, src, "scatter_add", np.add.at)


# Flat positions ---------------------------------------------------------------------------------------------


def check_flat(name, size, index):
    """Refuse flat positions of another type or out of range.

    Raises:
        IndexError, RuntimeError: with PyTorch's text.
    """
    if index.dtype != np.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {kind_name(index)}")
    bad = out_of_range(index, size, -size)
    if bad is not None:
        raise IndexError(f"out of range: tried to access index {bad} on a tensor of {size} elements.")


@op(
    "take(Tensor self, Tensor index) -> Tensor",
    self=lambda grad, self, index: put_into(
        grad.new_zeros(self._array.shape), calls.put_, calls.put, index, grad, True
    ),
)
def take(self, index):
    if not self.size and index.size:
        raise IndexError("take(): tried to take from an empty tensor")
    check_flat("take", self.size, index)
    return np.array(self.ravel()[index]).reshape(index.shape)


PUT: dict = {
    "self": lambda grad, index, source_info, accumulate: (
        grad if accumulate else calls.put(grad, index, grad.new_zeros(source_info), False)
    ),
    "source": lambda grad, index, source: grad.take(index).reshape_as(source),
    "reduced": "own",
}


def put_flat(target, index, source, accumulate):
    """Write values at flat positions."""
    if index.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {kind_name(index)}")
    if target.dtype != source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype "
            f"= {kind_name(target)} and source.dtype = {kind_name(source)}"
        )
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() "
            f"= {source.size}, index.numel() = {index.size}"
        )
    check_flat("put_", target.size, index)
    places = np.unravel_index(index.ravel() % max(target.size, 1), target.shape) if target.ndim else ()
    if accumulate and target.ndim:
        np.add.at(target, places, source.ravel())
    elif target.ndim:
        target[places] = source.ravel()
    elif source.size:
        target[...] = target + source.sum() if accumulate else source.ravel()[-1]


@op("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", **PUT)
def put(self, index, source, accumulate):
    result = copy_of(self)
    put_flat(result, index, source, accumulate)
    return result


@op(
    "put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)",
    writes=True,
    **PUT,
)
def put_(self, index, source, accumulate):
    put_flat(self, index, source, accumulate)


@composite("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor")
def take_along_dim(self, indices, dim=None):
    name = "torch.take_along_dim()"
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(f"{name}: dtype of indices should be Long but got {indices.dtype.scalar_type}")
    if dim is None:
        return calls.gather(self.reshape((-1,)), 0, indices.reshape((-1,)))
    ndim, other = self._array.ndim, indices._array.ndim
    if ndim != other:
        raise RuntimeError(
            f"{name}: input and indices should have the same number of dimensions, but got {ndim} "
            "dimensions for input, "
            f"and {other} dimensions for indices"
        )
    dim = wrap_dim(dim, ndim)
    common = broadcast_shapes(without(self._array.shape, dim), without(indices._array.shape, dim))
    source = (*common[:dim], self._array.shape[dim], *common[dim:])
    places = (*common[:dim], indices._array.shape[dim], *common[dim:])
    size = self._array.shape[dim]
    if not size and indices._array.size:
        raise RuntimeError("ZeroDivisionError")
    wrapped = calls.remainder__Scalar(indices, size) if size else indices
    return calls.gather(calls.expand(self, source), dim, calls.expand(wrapped, places))
