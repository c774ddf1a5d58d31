"""Reading and writing along one dimension: `index_select`, `gather`, `scatter` and their kin.

*Index*: integers along a dimension. `gather` and `scatter` index each element of their own; `index_*` index
whole slices.
"""

import numpy as np

from refgrad import dtypes
from refgrad.layout import broadcast_shapes, wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.copying import copy_of, number_in
from refgrad.ops.indexing import warn_expanded
from refgrad.tensor import wrap


def kind_name(array):
    """An array's element type as C++ texts name it."""
    return dtypes.OF_NUMPY[array.dtype].scalar_type


def slices(dim, index):
    """What NumPy indexes a dimension with."""
    return (slice(None),) * dim + (index,)


def check_index_vector(name, index):
    """Refuse indices that are no vector of integers.

    Raises:
        IndexError, RuntimeError: with PyTorch's text.
    """
    if index.ndim > 1:
        raise IndexError(
            f"{name}: Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{kind_name(index)} and "
            f"size: {list(index.shape)}"
        )
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}: Expected dtype int32/int64 for index but got: {kind_name(index)}")


def out_of_range(index, size, lowest=0):
    """The first index beyond a dimension, or None."""
    if index.size and (index.min() < lowest or index.max() >= size):
        flat = index.ravel()
        return flat[np.argmax((flat < lowest) | (flat >= size))]
    return None


def check_range(index, dim, size, kind=RuntimeError, prefix="", lowest=0):
    """Refuse indices beyond a dimension.

    Raises:
        RuntimeError or what `kind` says: the first of them is named.
    """
    bad = out_of_range(index, size, lowest)
    if bad is not None:
        raise kind(f"{prefix}index {bad} is out of bounds for dimension {dim} with size {size}")


# Whole slices -----------------------------------------------------------------------------------------------


@op(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    self=lambda grad, self_sym_sizes, dim, index: grad.new_zeros(self_sym_sizes).index_add_(dim, index, grad),
)
def index_select(self, dim, index):
    dim = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if out_of_range(index, self.shape[dim] if self.ndim else 1) is not None:
        raise IndexError("index out of range in self")
    if not self.ndim:
        if index.size != 1:
            raise RuntimeError("index_select(): Index to scalar can have only 1 value, got 1 value(s)")
        return self.copy()
    return np.take(self, index.reshape(-1), axis=dim)


def slices_back(grad, dim, index, source, source_dim):
    """The gradient of the slices that were written."""
    if source_dim:
        return grad.index_select(dim, index).expand_as(source)
    return grad.index_select(dim, index.squeeze(0) if index._array.ndim else index)


INDEX_ADD = {
    "self": lambda grad: grad,
    "source": lambda grad, dim, index, source, source_dim, alpha: scaled(
        slices_back(grad, dim, index, source, source_dim), alpha
    ),
}


def scaled(grad, alpha):
    """A gradient times a number; the gradient itself when the number is 1."""
    return grad if alpha == 1 else grad * alpha


def check_index_add(self, dim, index, source):
    """Refuse a source that does not fit; gives the dimension counted from the front.

    Raises:
        IndexError, RuntimeError: with PyTorch's text.
    """
    dim = wrap_dim(dim, self.ndim)
    check_index_vector("index_add_()", index)
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"index_add_(): self ({kind_name(self)}) and source ({kind_name(source)}) must have the same "
            "scalar type"
        )
    count = source.shape[dim] if source.ndim > dim else 1
    rest, given = list(self.shape), list(source.shape)
    del rest[dim : dim + 1], given[dim : dim + 1]
    if (source.ndim or self.ndim) and rest != given and not (not source.ndim and not rest):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            "self.shape = "
            f"{list(self.shape)} source.shape = {list(source.shape)}"
        )
    if index.size != count:
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({count}), for dim: "
            f"{dim}"
        )
    check_range(index, 0, self.shape[dim] if self.ndim else 1)
    return dim


def add_slices(target, dim, index, source, alpha):
    """Add the slices of a source to those of a target."""
    dim = check_index_add(target, dim, index, source)
    if alpha != 1:
        source = source * np.asarray(alpha).astype(source.dtype)
    if not target.ndim:
        target += source.reshape(())
        return
    np.add.at(target, slices(dim, index.reshape(-1)), source if source.ndim else source.reshape(1))


@op(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    **INDEX_ADD,
)
def index_add(self, dim, index, source, alpha):
    result = copy_of(self)
    add_slices(result, dim, index, source, alpha)
    return result


@op(
    "index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)",
    writes=True,
    **INDEX_ADD,
)
def index_add_(self, dim, index, source, alpha):
    add_slices(self, dim, index, source, alpha)


INDEX_COPY = {
    "self": lambda grad, dim, index: grad.index_fill(dim, index, 0),
    "source": lambda grad, dim, index, source, source_dim: slices_back(grad, dim, index, source, source_dim),
}


def check_index_copy(self, dim, index, source):
    """Refuse a source that does not fit; gives the dimension counted from the front.

    Raises:
        IndexError, RuntimeError: with PyTorch's text.
    """
    dim = wrap_dim(dim, self.ndim)
    name = "index_copy_()"
    if index.ndim >= 2:
        raise IndexError(f"{name}: Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.size != 1:
        raise IndexError(f"{name}: When source is scalar, index should have one element (got {index.size})")
    if source.ndim != self.ndim and source.ndim and self.ndim:
        raise IndexError(
            f"{name}: When source and destination are not scalars, their dimensionality must match. Source "
            "dimensionality "
            f"({source.ndim}), destination dimensionality ({self.ndim})"
        )
    if index.dtype != np.int64:
        raise IndexError(f"{name}: Expected a long tensor for index, but got {kind_name(index)}")
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"{name}: self and source expected to have the same dtype, but got (self) {kind_name(self)} and "
            "(source) "
            f"{kind_name(source)}"
        )
    rest, given = without(self.shape, dim), without(source.shape, dim)
    if rest != given:
        raise RuntimeError(
            f"{name}: Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{' '.join(map(str, rest))} at dimension {dim} and source slice shape: "
            f"{' '.join(map(str, given))} at "
            f"dimension 0."
        )
    if source.ndim and index.size != source.shape[dim]:
        raise IndexError(
            f"{name}: Number of indices ({index.size}) should be equal to source.size(dim) "
            f"({source.shape[dim]})"
        )
    check_range(index, dim, self.shape[dim] if self.ndim else 1, IndexError, f"{name}: ")
    return dim


def without(shape, dim):
    """A shape less one of its sizes."""
    return shape[:dim] + shape[dim + 1 :]


def copy_slices(target, dim, index, source):
    """Write the slices of a source over those of a target."""
    dim = check_index_copy(target, dim, index, source)
    if not target.ndim:
        target[...] = source.reshape(())
    else:
        target[slices(dim, index.reshape(-1))] = source if source.ndim else source.reshape((1,) * target.ndim)


@op("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", **INDEX_COPY)
def index_copy(self, dim, index, source):
    result = copy_of(self)
    copy_slices(result, dim, index, source)
    return result


@op(
    "index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)",
    writes=True,
    **INDEX_COPY,
)
def index_copy_(self, dim, index, source):
    copy_slices(self, dim, index, source)


def fill_slices(target, dim, index, value):
    """Fill slices with a number."""
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    dim = wrap_dim(dim, target.ndim)
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    size = target.shape[dim] if target.ndim else 1
    check_range(index, dim, size, IndexError, lowest=-size)
    number = number_in(value, target.dtype)
    if target.ndim:
        target[slices(dim, index)] = number
    elif index.size:
        target[...] = number


def zero_dim_value(value, name):
    """The one number of a value.

    Raises:
        RuntimeError: it has dimensions.
    """
    if value.ndim:
        raise RuntimeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with {value.ndim} "
            "dimension(s)."
        )
    return value.item()


INDEX_FILL = {"self": lambda grad, dim, index: grad.index_fill(dim, index, 0)}
INDEX_FILL_TENSOR = dict(
    **INDEX_FILL,
    value=lambda grad, dim, index: grad.index_select(dim, wrap(np.unique(index._array))).sum(),
    node="IndexFillBackward1",
)


@op("index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", **INDEX_FILL)
def index_fill(self, dim, index, value):
    result = copy_of(self)
    fill_slices(result, dim, index, value)
    return result


@op("index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", **INDEX_FILL_TENSOR)
def index_fill_tensor(self, dim, index, value):
    return index_fill.kernel(self, dim, index, zero_dim_value(value, "index_fill_"))


@op(
    "index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
    may_overlap=True,
    writes=True,
    **INDEX_FILL,
)
def index_fill_(self, dim, index, value):
    warn_expanded(self, "index_fill_", "tensor[mask] = scalar")
    fill_slices(self, dim, index, value)


@op(
    "index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)",
    may_overlap=True,
    writes=True,
    **INDEX_FILL_TENSOR,
)
def index_fill_tensor_(self, dim, index, value):
    index_fill_.kernel(self, dim, index, zero_dim_value(value, "index_fill_"))


# Single elements --------------------------------------------------------------------------------------------


def check_integers(name, index):
    """Refuse an index of another type.

    Raises:
        RuntimeError: it holds no integers.
    """
    if index.size and index.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def along(array, dim, index):
    """What NumPy indexes with to reach, for each element of the index, its own place in the other
    dimensions.
    """
    places = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    places[dim] = index
    return tuple(places)


def at_least_1d(*arrays):
    """Arrays with 0-dim ones shown as vectors of one element."""
    return [array.reshape(1) if not array.ndim else array for array in arrays]


@op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    self=lambda grad, self, dim, index, sparse_grad: calls.scatter_add_(
        grad.new_zeros(self._array.shape), dim, index, grad
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
                "than self "
                f"{list(self.shape)} apart from dimension {dim}"
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
            f"Expected index {list(index.shape)} to be no larger than self {list(target.shape)} apart from "
            "dimension "
            f"{dim}"
        )
        if source is not None:
            text += f" and to be no larger size than src {list(source.shape)}"
        raise RuntimeError(text)


def put_at(target, places, values):
    """Overwrite."""
    target[places] = values


SCATTER_SRC = {
    "self": lambda grad, dim, index: grad.scatter(dim, index, 0),
    "src": lambda grad, dim, index: grad.gather(dim, index),
}
SCATTER_VALUE = {"self": lambda grad, dim, index: grad.scatter(dim, index, 0), "node": "ScatterBackward1"}
SCATTER_ADD = {"self": lambda grad: grad, "src": lambda grad, dim, index: grad.gather(dim, index)}


@op("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", **SCATTER_SRC)
def scatter(self, dim, index, src):
    result = copy_of(self)
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
    result = copy_of(self)
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
    result = copy_of(self)
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
    self=lambda grad, self, index: calls.put_(grad.new_zeros(self._array.shape), index, grad, True),
)
def take(self, index):
    if not self.size and index.size:
        raise IndexError("take(): tried to take from an empty tensor")
    check_flat("take", self.size, index)
    return np.array(self.ravel()[index]).reshape(index.shape)


PUT = {
    "self": lambda grad, index, source_info, accumulate: (
        grad if accumulate else calls.put(grad, index, grad.new_zeros(source_info), False)
    ),
    "source": lambda grad, index, source: grad.take(index).reshape_as(source),
}


def put_flat(target, index, source, accumulate):
    """Write values at flat positions."""
    if index.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {kind_name(index)}")
    if target.dtype != source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{kind_name(target)} and "
            f"source.dtype = {kind_name(source)}"
        )
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() "
            "= "
            f"{source.size}, index.numel() = {index.size}"
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
    wrapped = wrap(indices._array % size) if size else indices
    return calls.gather(calls.expand(self, source), dim, calls.expand(wrapped, places))
