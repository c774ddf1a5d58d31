"""`scatter` and its kin with a reduction: what is written is combined with what is there."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from refgrad import modes
from refgrad.call import check_write
from refgrad.edges import edge_of
from refgrad.graph import DelayedError, start
from refgrad.op import calls, composite, op
from refgrad.ops.checks import not_implemented
from refgrad.ops.copying import copy_of, number_in
from refgrad.ops.index_slices import check_source, out_of_range, slices
from refgrad.ops.memory import write_refused
from refgrad.ops.scatter import at_least_1d, scatter_into
from refgrad.tensor import wrap

SRC_DEPRECATED = (
    "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future "
    "PyTorch release. Use torch.scatter_reduce instead for more reduction options."
)
INDEX_REDUCE_BETA = "index_reduce() is in beta and the API may change at any time."

# `scatter(..., reduce=)`, which has no derivative -----------------------------------------------------------


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
    result = copy_of(self, contiguous=True)
    reduce_scatter(result, dim, index, src, reduce)
    return result


@op(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
    refused="aten::scatter",
)
def scatter_value_reduce(self, dim, index, value, reduce):
    result = copy_of(self, contiguous=True)
    reduce_scatter(result, dim, index, number_in(value, self.dtype)[()], reduce)
    return result


@composite("scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)")
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


# `scatter_reduce` and `index_reduce` ------------------------------------------------------------------------

UFUNCS: dict = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def neutral(reduce, dtype):
    """What a reduction starts from when the target's own value does not count."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind in "fV":
        return -np.inf if reduce == "amax" else np.inf
    if dtype.kind == "b":
        return reduce == "amin"
    limits = np.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


def check_reduction(self, reduce):
    """Refuse an unknown reduction, or one that the element type does not have.

    Raises:
        RuntimeError, NotImplementedError: with PyTorch's text.
    """
    if reduce not in UFUNCS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if self.dtype.kind == "c" and reduce in ("amax", "amin") or self.dtype.kind == "b" and reduce == "mean":
        raise not_implemented(f"scatter_gather_tensor_cpu_reduce_{reduce}", self)


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
            if target.dtype.kind in "fcV":
                target /= counts
            else:
                target //= counts

    return write


@op(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor",
    real_gradient=True,
    jointly=(
        "self, src",
        lambda grad, self, dim, index, src, reduce, include_self, result: scatter_reduce_back(
            grad, self, dim, index, src, reduce, include_self, result
        ),
    ),
)
def scatter_reduce(self, dim, index, src, reduce, include_self):
    check_reduction(self, reduce)
    result = copy_of(self, contiguous=True)
    scatter_into(result, dim, index, src, "scatter_reduce", reduce_at(reduce, include_self))
    return result


@op(
    "scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor(a!)",
    writes=True,
    jointly=(
        "self, src",
        lambda grad, self, dim, index, src, reduce, include_self, result: scatter_reduce_back(
            grad, self, dim, index, src, reduce, include_self, result
        ),
    ),
)
def scatter_reduce_(self, dim, index, src, reduce, include_self):
    check_reduction(self, reduce)
    scatter_into(self, dim, index, src, "scatter_reduce", reduce_at(reduce, include_self))


# Gradients --------------------------------------------------------------------------------------------------


class Along(NamedTuple):
    """How a reduction reaches its places: element by element (`scatter`) or slice by slice (`index`)."""

    read: Callable  # the tensor at the places
    add: Callable  # add values to a tensor at the places
    reduce: Callable  # the reduction itself, of another target and source
    name: str  # of the function
    source: str  # what it calls its source
    clear: Callable  # zeros at the places
    mark: Callable  # how a mask enters a product: as it is, or as numbers


def scatter_reduce_back(grad, self, dim, index, src, reduce, include_self, result):
    """Both gradients of `scatter_reduce`."""
    along = Along(
        lambda tensor: tensor.gather(dim, index),
        lambda tensor, values: calls.scatter_add(tensor, dim, index, values),
        lambda target, source: calls.scatter_reduce(target, dim, index, source, reduce, include_self),
        "scatter_reduce",
        "src",
        lambda tensor: tensor.scatter(dim, index, 0),
        lambda mask: mask,
    )
    return reduction_back(along, grad, self, src, reduce, include_self, result)


def index_reduce_back(grad, self, dim, index, source, reduce, include_self, result):
    """Both gradients of `index_reduce`."""
    along = Along(
        lambda tensor: tensor.index_select(dim, index),
        lambda tensor, values: calls.index_add(tensor, dim, index, values),
        lambda target, source: calls.index_reduce(target, dim, index, source, reduce, include_self),
        "index_reduce",
        "source",
        lambda tensor: tensor.index_fill(dim, index, 0),
        lambda mask: mask.to(self.dtype),
    )
    return reduction_back(along, grad, self, source, reduce, include_self, result)


def reduction_back(along, grad, self, src, reduce, include_self, result):
    """The gradients of the target and of the source of a reduction."""
    if reduce == "sum":
        grads = grad, along.read(grad)
    elif reduce == "mean":
        start = calls.ones_like(grad) if include_self else calls.zeros_like(grad)
        count = along.add(start, calls.ones_like(src))
        count.masked_fill_(count == 0, 1)
        grads = grad / count, along.read(grad) / along.read(count)
    elif reduce == "prod":
        grads = prod_back(along, grad, self, src, result)
    else:
        self_is = along.mark(self == result)
        src_is = along.mark(src == along.read(result))
        count = along.add(self_is.to(self.dtype), src_is.to(self.dtype))
        shared = grad / count
        grads = self_is * shared, src_is * along.read(shared)
    return grads if include_self else (along.clear(grads[0]), grads[1])


def prod_back(along, grad, self, src, result):
    """Gradients of a product: the product of the other factors, also where one is zero.

    Where several are, the gradient of the source has no derivative.
    """
    masked = self.masked_fill(self == 0, 1)
    grad_self = (grad * along.reduce(masked, src)) / masked
    zero = src == 0
    zeros = along.read(along.add(calls.zeros_like(self), zero.to(self.dtype)))
    single = zero & (zeros == 1)
    others = along.reduce(self, src.masked_fill(single, 1))
    grad_src = calls.where__self(
        single,
        along.read(grad * others),
        along.read(grad * result) / src.masked_fill(zero, 1),
    )
    if modes.grad_enabled() and bool((zeros > 1).any()):
        grad_src = refusing_gradient(
            grad_src,
            f"{along.name}(): Double backward is unsupported for {along.source} when >1 zeros in "
            f"{along.source} are scattered to the same position in self",
        )
    return grad_self, grad_src


def refusing_gradient(tensor, message):
    """The tensor behind a node that refuses to run, if it requires grad."""
    edge = edge_of(tensor)
    if edge is None:
        return tensor
    made = wrap(tensor._array)
    node = made._edge = start(object.__new__(DelayedError), (edge,), (made._array.shape, made._array.dtype))
    node.message = message
    return made


def reduce_slices(target, dim, index, source, reduce, include_self):
    """Combine the slices of a source with those of a target."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    modes.warn_once(INDEX_REDUCE_BETA)
    dim = check_source("index_reduce_()", target, dim, index, source)
    if out_of_range(index, target.shape[dim] if target.ndim else 1) is not None:
        raise IndexError("index out of range in self")
    target, source = at_least_1d(target, source)
    reduce_at(reduce, include_self)(target, slices(dim, index.reshape(-1)), source)


INDEX_REDUCE = (
    "self, source",
    lambda grad, self, dim, index, source, reduce, include_self, result: index_reduce_back(
        grad, self, dim, index, source, reduce, include_self, result
    ),
)


@op(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) "
    "-> Tensor",
    reduced="own",
    real_gradient=True,
    jointly=INDEX_REDUCE,
)
def index_reduce(self, dim, index, source, reduce, include_self):
    result = copy_of(self, contiguous=True)
    reduce_slices(result, dim, index, source, reduce, include_self)
    return result


@op(
    "index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True) -> Tensor(a!)",
    writes=True,
    jointly=INDEX_REDUCE,
)
def index_reduce_(self, dim, index, source, reduce, include_self):
    reduce_slices(self, dim, index, source, reduce, include_self)
