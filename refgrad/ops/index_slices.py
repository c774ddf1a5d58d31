"""Reading and writing whole slices along one dimension: `index_select`, `index_add` and their kin."""

import numpy as np

from refgrad.layout import wrap_dim
from refgrad.op import op
from refgrad.ops.checks import kind_name, put_into
from refgrad.ops.copying import copy_of, number_in
from refgrad.ops.indexing import warn_expanded
from refgrad.tensor import Tensor, wrap


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
            f"{kind_name(index)} and size: {list(index.shape)}"
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


@op(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    self=lambda grad, self_sym_sizes, dim, index: put_into(
        grad.new_zeros(self_sym_sizes), Tensor.index_add_, Tensor.index_add, dim, index, grad
    ),
)
def index_select(self, dim, index):
    dim = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    size = self.shape[dim] if self.ndim else 1
    bad = out_of_range(index, size)
    if bad is not None and self.ndim > 1 and not size:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if bad is not None and dim == 1:  # columns have a loop of their own in PyTorch
        raise RuntimeError(f"INDICES element is out of DATA bounds, id={bad} axis_dim={size}")
    if bad is not None:
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


INDEX_ADD: dict = {
    "self": lambda grad: grad,
    "source": lambda grad, dim, index, source, source_dim, alpha: scaled(
        slices_back(grad, dim, index, source, source_dim), alpha
    ),
}


def scaled(grad, alpha):
    """A gradient times a number; the gradient itself when the number is 1."""
    return grad if alpha == 1 else grad * alpha


def check_source(name, self, dim, index, source):
    """Refuse a source that does not fit; gives the dimension counted from the front.

    Raises:
        IndexError, RuntimeError: with PyTorch's text.
    """
    dim = wrap_dim(dim, self.ndim)
    check_index_vector(name, index)
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"{name}: self ({kind_name(self)}) and source ({kind_name(source)}) must have the same scalar "
            "type"
        )
    count = source.shape[dim] if source.ndim > dim else 1
    if index.size != count:
        if not source.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        raise RuntimeError(
            f"{name}: Number of indices ({index.size}) should be equal to source.size(dim): ({count}), "
            f"for dim: {dim}"
        )
    rest, given = self.shape, source.shape
    if rest and given:
        rest, given = without(rest, dim), without(given, dim)
    if rest != given:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {list(self.shape)} source.shape = {list(source.shape)}"
        )
    return dim


def add_slices(target, dim, index, source, alpha):
    """Add the slices of a source to those of a target."""
    dim = check_source("index_add_()", target, dim, index, source)
    size = target.shape[dim] if target.ndim else 1
    if target.ndim < 2 and out_of_range(index, size) is not None:
        raise IndexError("index out of range in self")
    if not target.size:
        return
    check_range(index, dim, size)
    if alpha != 1:
        source = source * np.asarray(alpha).astype(source.dtype)
    if not target.ndim:
        target += source.reshape(())
        return
    np.add.at(target, slices(dim, index.reshape(-1)), source)


@op(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    **INDEX_ADD,
)
def index_add(self, dim, index, source, alpha):
    result = copy_of(self, contiguous=True)
    add_slices(result, dim, index, source, alpha)
    return result


@op(
    "index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)",
    writes=True,
    **INDEX_ADD,
)
def index_add_(self, dim, index, source, alpha):
    add_slices(self, dim, index, source, alpha)


INDEX_COPY: dict = {
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
            f"dimensionality ({source.ndim}), destination dimensionality ({self.ndim})"
        )
    if index.dtype != np.int64:
        raise IndexError(f"{name}: Expected a long tensor for index, but got {kind_name(index)}")
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"{name}: self and source expected to have the same dtype, but got (self) {kind_name(self)} "
            f"and (source) {kind_name(source)}"
        )
    rest, given = without(self.shape, dim), without(source.shape, dim)
    if rest != given:
        raise RuntimeError(
            f"{name}: Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{' '.join(map(str, rest))} at dimension {dim} and source slice shape: "
            f"{' '.join(map(str, given))} at dimension 0."
        )
    if source.ndim and index.size != source.shape[dim]:
        raise IndexError(
            f"{name}: Number of indices ({index.size}) should be equal "
            f"to source.size(dim) ({source.shape[dim]})"
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
    result = copy_of(self, contiguous=True)
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
            f"{name} only supports a 0-dimensional value tensor, but got tensor "
            f"with {value.ndim} dimension(s)."
        )
    return value.item()


INDEX_FILL: dict = {"self": lambda grad, dim, index: grad.index_fill(dim, index, 0), "reduced": "own"}
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
