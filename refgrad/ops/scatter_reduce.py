"""`scatter` and its kin with a reduction: what is written is combined with what is there."""

import warnings

import numpy as np

from refgrad.call import check_write
from refgrad.op import calls, composite, op
from refgrad.ops.copying import copy_of, number_in
from refgrad.ops.memory import write_refused
from refgrad.ops.scatter import check_index_vector, kind_name, scatter_into, slices, without
from refgrad.layout import wrap_dim

SRC_DEPRECATED = (
    "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. "
    "Use torch.scatter_reduce instead for more reduction options."
)
INDEX_REDUCE_BETA = "index_reduce() is in beta and the API may change at any time."

# `scatter(..., reduce=)`, which has no derivative -----------------------------------------------------------------------


def combiner(reduce):
    """The ufunc of a reduction of `scatter`.

    Raises:
        RuntimeError: there is none of this name.
    """
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return np.add.at if reduce == "add" else np.multiply.at


def reduce_scatter(target, dim, index, source, reduce):
    """Combine a source (or a number) with what stands at an index."""
    scatter_into(target, dim, index, source, "scatter", combiner(reduce))


@op(
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    refused="aten::scatter",
)
def scatter_src_reduce(self, dim, index, src, reduce):
    warnings.warn(SRC_DEPRECATED, UserWarning, stacklevel=4)
    result = copy_of(self)
    reduce_scatter(result, dim, index, src, reduce)
    return result


@op(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
    refused="aten::scatter",
)
def scatter_value_reduce(self, dim, index, value, reduce):
    result = copy_of(self)
    reduce_scatter(result, dim, index, number_in(value, self.dtype)[()], reduce)
    return result


@composite(
    "scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)"
)
def scatter_src_reduce_(self, dim, index, src, reduce):
    warnings.warn(SRC_DEPRECATED, UserWarning, stacklevel=4)

    def write():
        check_write(self, (src,))
        reduce_scatter(self._array, dim, index._array, src._array, reduce)

    return write_refused(self, (src,), "aten::scatter_", write)


@composite(
    "scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor(a!)"
)
def scatter_value_reduce_(self, dim, index, value, reduce):
    def write():
        check_write(self)
        number = number_in(value, self._array.dtype)[()]
        reduce_scatter(self._array, dim, index._array, number, reduce)

    return write_refused(self, (), "aten::scatter_", write)


# `scatter_reduce` and `index_reduce` --------------------------------------------------------------------------------------

UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def neutral(reduce, dtype):
    """What a reduction starts from when the target's own value does not count."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "f":
        return -np.inf if reduce == "amax" else np.inf
    if dtype.kind == "b":
        return reduce == "amin"
    limits = np.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


def reduce_at(reduce, include_self):
    """The writer of a reduction, for `scatter_into`."""

    def write(target, places, values):
        if not include_self:
            target[places] = neutral(reduce, target.dtype)
        UFUNCS[reduce].at(target, places, values)
        if reduce == "mean":
            counts = np.full(target.shape, int(include_self), np.int64)
            np.add.at(counts, places, 1)
            counts[counts == 0] = 1
            if target.dtype.kind in "fc":
                target /= counts
            else:
                target //= counts

    return write


@op(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
    jointly=(
        "self, src",
        lambda grad, self, dim, index, src, reduce, include_self, result: scatter_reduce_back(
            grad, self, dim, index, src, reduce, include_self, result
        ),
    ),
)
def scatter_reduce(self, dim, index, src, reduce, include_self):
    if reduce not in UFUNCS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    result = copy_of(self)
    scatter_into(result, dim, index, src, "scatter_reduce", reduce_at(reduce, include_self))
    return result


@op(
    "scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) "
    "-> Tensor(a!)",
    writes=True,
    jointly=(
        "self, src",
        lambda grad, self, dim, index, src, reduce, include_self, result: scatter_reduce_back(
            grad, self, dim, index, src, reduce, include_self, result
        ),
    ),
)
def scatter_reduce_(self, dim, index, src, reduce, include_self):
    if reduce not in UFUNCS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    scatter_into(self, dim, index, src, "scatter_reduce", reduce_at(reduce, include_self))


def scatter_reduce_back(grad, self, dim, index, src, reduce, include_self, result):
    """Both gradients of `scatter_reduce`."""
    if not self._array.ndim and src._array.ndim:
        src = src.reshape(()) if src._array.size == 1 else src
    if reduce == "sum":
        grads = grad, grad.gather(dim, index)
    elif reduce == "mean":
        ones = grad.new_ones(grad.shape) if include_self else grad.new_zeros(grad.shape)
        count = calls.scatter_add(ones, dim, index, src.new_ones(src.shape))
        count = count.masked_fill(count == 0, 1)
        grads = grad / count, (grad / count).gather(dim, index)
    elif reduce == "prod":
        grads = prod_back(grad, self, dim, index, src, include_self, result)
    else:
        grads = extreme_back(grad, self, dim, index, src, result)
    if not include_self:
        return grads[0].scatter(dim, index, 0), grads[1]
    return grads


def prod_back(grad, self, dim, index, src, include_self, result):
    """Gradients of a product: the product of the other factors, also where one is zero."""
    masked = self.masked_fill(self == 0, 1)
    grad_self = (grad * masked.scatter_reduce(dim, index, src, "prod", include_self=include_self)) / masked
    zero = (src == 0).to(src.dtype)
    zeros = calls.scatter_add(calls.zeros_like(self), dim, index, zero).gather(dim, index)
    single = ((src == 0).to(src.dtype) * zeros) == 1
    filled = src.masked_fill(single, 1)
    others = self.scatter_reduce(dim, index, filled, "prod", include_self=include_self)
    grad_src = calls.where(
        single,
        (grad * others).gather(dim, index),
        (grad * result).gather(dim, index) / src.masked_fill(src == 0, 1),
    )
    return grad_self, grad_src


def extreme_back(grad, self, dim, index, src, result):
    """Gradients of a maximum or minimum: shared evenly among those that are equal to it."""
    value = result.gather(dim, index)
    self_is = (self == result).to(self.dtype)
    src_is = (src == value).to(self.dtype)
    count = calls.scatter_add(self_is, dim, index, src_is)
    shared = grad / count
    return self_is * shared, src_is * shared.gather(dim, index)


def check_index_reduce(target, dim, index, source, reduce):
    """Refuse what `index_reduce` does not take; gives the dimension counted from the front.

    Raises:
        IndexError, RuntimeError: with PyTorch's text.
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"reduce argument must be either prod, mean, amax or amin, got {reduce}."
        )
    dim = wrap_dim(dim, target.ndim)
    check_index_vector("index_reduce_()", index)
    if target.dtype != source.dtype:
        raise RuntimeError(
            f"index_reduce_(): self ({kind_name(target)}) and source ({kind_name(source)}) must have the same scalar type"
        )
    if without(target.shape, dim) != without(source.shape, dim):
        raise RuntimeError(
            f"source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(target.shape)} source.shape = {list(source.shape)}"
        )
    return dim


def reduce_slices(target, dim, index, source, reduce, include_self):
    """Combine the slices of a source with those of a target."""
    warnings.warn(INDEX_REDUCE_BETA, UserWarning, stacklevel=5)
    dim = check_index_reduce(target, dim, index, source, reduce)
    reduce_at(reduce, include_self)(target, slices(dim, index.reshape(-1)), source)


INDEX_REDUCE = (
    "self, source",
    lambda grad, self, dim, index, source, reduce, include_self, result: index_reduce_back(
        grad, self, dim, index, source, reduce, include_self, result
    ),
)


@op(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    jointly=INDEX_REDUCE,
)
def index_reduce(self, dim, index, source, reduce, include_self):
    result = copy_of(self)
    reduce_slices(result, dim, index, source, reduce, include_self)
    return result


@op(
    "index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) "
    "-> Tensor(a!)",
    writes=True,
    jointly=INDEX_REDUCE,
)
def index_reduce_(self, dim, index, source, reduce, include_self):
    reduce_slices(self, dim, index, source, reduce, include_self)


def index_reduce_back(grad, self, dim, index, source, reduce, include_self, result):
    """Both gradients of `index_reduce`, by way of `scatter_reduce` with the index spread over the slices."""
    axis = wrap_dim(dim, self._array.ndim)
    shape = [1] * self._array.ndim
    shape[axis] = -1
    spread = index.reshape(tuple(shape)).expand(source.shape)
    return scatter_reduce_back(grad, self, dim, spread, source, reduce, include_self, result)
