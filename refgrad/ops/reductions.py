"""Reductions: sum, mean, product, extremes and truth over all elements or over dimensions.

*Dims*: what a schema calls `int[1]? dim`; None and the empty list mean all dimensions.
"""

from math import prod as product

import numpy as np

from refgrad import dtypes
from refgrad.layout import expands_to, widened, wrap_dim
from refgrad.modes import grad_enabled
from refgrad.op import calls, composite, op
from refgrad.ops.checks import in_transform, not_implemented, put_into, written_zeros
from refgrad.return_types import named
from refgrad.tensor import Tensor, wrap

COMMON = (np.dtype("float32"), np.dtype("float64"))  # types whose sums need no other type

# Dimensions -------------------------------------------------------------------------------------------------


def axes_of(dims, ndim):
    """The axes that a reduction runs over.

    Raises:
        IndexError: a dimension is out of range.
        RuntimeError: a dimension is given twice.
    """
    if not dims:
        return tuple(range(ndim))
    axes = []
    for dim in dims:
        axis = wrap_dim(dim, ndim)
        if axis in axes:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
        axes.append(axis)
    return tuple(axes) if ndim else ()


def restored(reduced, dims, ndim, keepdim):
    """A reduced tensor with its reduced dimensions put back, of size 1."""
    if keepdim or not ndim or not dims:
        return reduced
    if len(dims) == 1:
        return calls.unsqueeze(reduced, dims[0])
    for axis in sorted(wrap_dim(dim, ndim) for dim in dims):
        reduced = calls.unsqueeze(reduced, axis)
    return reduced


def spread(grad, sizes, dims, keepdim):
    """The gradient of a reduction, given to every element that was reduced."""
    return calls.expand(restored(grad, dims, len(sizes), keepdim), sizes)


def reduced_count(sizes, dims):
    """How many elements each result was made of."""
    if not sizes:
        return 1
    return product(sizes[dim] for dim in (dims or range(len(sizes))))


def row_major(array):
    """The array in row-major memory, with the strides that PyTorch gives to dimensions of size 1."""
    if array.flags.c_contiguous and 1 not in array.shape:
        return array
    return np.array(array, order="C")


def accumulated(ufunc, array, axes, keepdim, target):
    """A reduction by a ufunc, in the type of its result."""
    if ufunc is np.add and target in dtypes.REDUCED:  # asked for before it was in use, see reduced.py
        wide = accumulated(ufunc, widened(array.astype(target)), axes, keepdim, dtypes.float32.numpy)
        return wide.astype(target)
    return row_major(ufunc.reduce(array, axis=axes, dtype=target, keepdims=keepdim))


def summed_type(array, dtype):
    """The type of a sum or product: the one asked for; that of integers is int64."""
    if dtype is not None:
        return dtype.numpy
    return array.dtype if array.dtype.kind in "fcV" else dtypes.int64.numpy


# Sum and mean -----------------------------------------------------------------------------------------------


@op(
    "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    self=lambda grad, self_sym_sizes: calls.expand(grad, self_sym_sizes),
)
def sum_all(self, dtype):
    if dtype is None and self.dtype in COMMON:
        return np.add.reduce(self, None)
    return accumulated(np.add, self, None, False, summed_type(self, dtype))


@op(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    node="SumBackward1",
    self=lambda grad, self_sym_sizes, dim, keepdim: spread(grad, self_sym_sizes, dim, keepdim),
)
def sum_dims(self, dim, keepdim, dtype):
    return accumulated(np.add, self, axes_of(dim, self.ndim), keepdim, summed_type(self, dtype))


@composite("sum_to_size(Tensor self, SymInt[] size) -> Tensor")
def sum_to_size(self, size):
    shape, size = self._array.shape, tuple(size)
    if not size:
        return calls.sum(self)
    if shape == size:
        return self
    if not expands_to(size, shape):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    if not size:
        return calls.sum(self)
    lead = len(shape) - len(size)
    dims = [i for i, n in enumerate(shape) if i < lead or size[i - lead] == 1 != n]
    summed = calls.sum__dim_IntList(self, tuple(dims), True) if dims else self
    return calls.view(summed, size) if lead else summed


def mean_type(array, dtype):
    """The type of a mean.

    Raises:
        RuntimeError: it would be an integer type.
    """
    kind = dtypes.OF_NUMPY[array.dtype] if dtype is None else dtype
    if kind.category < dtypes.FLOATING:
        subject = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {subject} dtype must be either a floating point or "
            f"complex dtype. Got: {kind.scalar_type}"
        )
    return kind.numpy


def mean_of(array, axes, keepdim, dtype):
    """The mean over axes."""
    target = mean_type(array, dtype)
    total = accumulated(np.add, array, axes, keepdim, target)
    count = product(array.shape[axis] for axis in axes)
    return np.divide(total, target.type(count))


@op(
    "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    self=lambda grad, self_sym_sizes, self_sym_numel: calls.expand(grad, self_sym_sizes) / self_sym_numel,
)
def mean(self, dtype):
    if dtype is None and self.dtype in COMMON:
        return np.divide(np.add.reduce(self, None), self.size, dtype=self.dtype)
    return mean_of(self, tuple(range(self.ndim)), False, dtype)


@op(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    node="MeanBackward1",
    self=lambda grad, self_sym_sizes, dim, self_sym_numel, keepdim: mean_back(
        grad, self_sym_sizes, dim, self_sym_numel, keepdim
    ),
)
def mean_dims(self, dim, keepdim, dtype):
    return mean_of(self, axes_of(dim, self.ndim), keepdim, dtype)


def mean_back(grad, sizes, dims, numel, keepdim):
    """The gradient of a mean over dimensions, in equal parts."""
    return spread(grad, sizes, dims, keepdim) / (reduced_count(sizes, dims) if dims else numel)


# Sums of a kind ---------------------------------------------------------------------------------------------


@op(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    self=lambda grad, self, dim, keepdim: nansum_back(cast(grad, self.dtype), self, dim, keepdim),
)
def nansum(self, dim, keepdim, dtype):
    if self.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    axes = axes_of(dim, self.ndim)
    present = np.where(np.isnan(self), 0, self) if self.dtype.kind == "f" else self
    return accumulated(np.add, present, axes, keepdim, summed_type(self, dtype))


def nansum_back(grad, self, dim, keepdim):
    """The gradient spread to the elements that are not NaN."""
    return spread(grad, self._array.shape, dim, keepdim) * calls.logical_not(calls.isnan(self))


@composite("nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def nanmean(self, dim=None, keepdim=False, dtype=None):
    if self.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype "
            f"but got {self.dtype.scalar_type}"
        )
    present = calls.logical_not(calls.isnan(self))
    count = calls.sum__dim_IntList(present, dim, keepdim)
    return calls.nansum(self, dim, keepdim, dtype) / count


@op("count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor")
def count_nonzero_dims(self, dim):
    axes = axes_of(dim, self.ndim)
    return row_major(np.add.reduce(np.not_equal(self, 0), axis=axes, dtype=np.int64))


@op("count_nonzero(Tensor self, int? dim=None) -> Tensor")
def count_nonzero(self, dim):
    return count_nonzero_dims.kernel(self, () if dim is None else (dim,))


@op(
    "trace(Tensor self) -> Tensor",
    self=lambda grad, self_sym_sizes: trace_back(grad, self_sym_sizes),
)
def trace(self):
    if self.dtype.kind == "b":
        raise not_implemented("trace", self)
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    return accumulated(np.add, self.diagonal(), None, False, summed_type(self, None))


def trace_back(grad, sizes):
    """The gradient along the diagonal."""
    places = wrap(np.arange(min(sizes)) * (sizes[1] + 1))
    return written_zeros(grad, (sizes[0] * sizes[1],)).index_fill_(0, places, grad).view(sizes)


# Product ----------------------------------------------------------------------------------------------------


@op(
    "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    reduced="own",
    self=lambda grad, self, result: product_back(grad, cast(self, grad.dtype), result),
)
def prod(self, dtype):
    return accumulated(np.multiply, self, None, False, summed_type(self, dtype))


@op(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    reduced="own",
    node="ProdBackward1",
    self=lambda grad, self, result, dim, keepdim: product_dim_back(
        grad, cast(self, grad.dtype), result, dim, keepdim
    ),
)
def prod_dim(self, dim, keepdim, dtype):
    return accumulated(np.multiply, self, axes_of((dim,), self.ndim), keepdim, summed_type(self, dtype))


def cast(tensor, dtype):
    """The tensor in this type, itself where it has it."""
    return tensor if tensor.dtype is dtype else calls._to_copy(tensor, dtype)


def product_back(grad, self, result):
    """The gradient of a product of all elements; division would fail where one of them is zero."""
    if not self._array.ndim:
        return grad
    if not in_transform() and self._array.all():  # a transform's tensors have no values to look at
        return grad * (result / self).conj()
    if not (in_transform() or grad_enabled()) and np.count_nonzero(self._array) + 1 < self._array.size:
        return self.new_zeros(self._array.shape)  # each product of the others has a zero in it
    return calls.view(product_of_others(grad, calls.view(self.contiguous(), (-1,)), 0), self.shape)


def product_dim_back(grad, self, result, dim, keepdim):
    """The gradient of products along a dimension."""
    ndim = self._array.ndim
    if not ndim:
        return grad
    dim = wrap_dim(dim, ndim)
    grad, result = restored(grad, (dim,), ndim, keepdim), restored(result, (dim,), ndim, keepdim)
    if not in_transform() and self._array.all():
        return grad * (result / self).conj()
    return product_of_others(grad, self, dim)


def product_of_others(grad, self, dim):
    """The gradient times, for each element, the product of the elements before and of those after it."""
    size = self._array.shape[dim]
    if size == 1:
        return grad
    ones = self.new_ones([1 if i == dim else n for i, n in enumerate(self._array.shape)])
    before = calls.cat([ones, self.narrow(dim, 0, size - 1)], dim).cumprod(dim)
    after = calls.cat([ones, self.narrow(dim, 1, size - 1).flip(dim)], dim).cumprod(dim).flip(dim)
    return grad * (before * after).conj()


# Extremes ---------------------------------------------------------------------------------------------------


def evenly_distributed(grad, self, result):
    """The gradient of an extreme of all elements: in equal parts to those that equal it."""
    if in_transform():
        both = calls.logical_and(calls.isnan(self), calls.isnan(result))
        mask = calls.logical_or(calls.eq__Tensor(self, result), both)
        return mask * (grad / mask.sum())
    mask = calls.isnan(self) if np.isnan(result._array) else calls.eq__Tensor(self, result)
    return self.new_zeros(self.shape).masked_fill_(mask, grad / mask.sum())


def scattered(grad, dim, indices, sizes, keepdim):
    """The gradient of elements that were selected along a dimension, put where they came from."""
    ndim = len(sizes)
    grad, indices = restored(grad, (dim,), ndim, keepdim), restored(indices, (dim,), ndim, keepdim)
    return put_into(written_zeros(grad, sizes), Tensor.scatter_, Tensor.scatter, dim, indices, grad)


def shared_by_ties(grad, self, result, dims, keepdim):
    """The gradient of extremes along dimensions: in equal parts to the elements that equal them."""
    grad, result = restored_all(grad, dims, keepdim), restored_all(result, dims, keepdim)
    mask = calls.eq__Tensor(result, self)
    return (grad / calls.sum__dim_IntList(mask, dims, True)) * mask


def restored_all(reduced, dims, keepdim):
    """A reduced tensor reshaped so that its reduced dimensions are back."""
    if keepdim:
        return reduced
    ndim = reduced._array.ndim + len(dims)
    places = {dim % ndim for dim in dims}
    kept = iter(reduced._array.shape)
    return reduced.reshape([1 if i in places else next(kept) for i in range(ndim)])


def check_not_empty(array, dims, name, error=RuntimeError, hint=True):
    """Refuse to look for an extreme among no elements.

    Raises:
        RuntimeError: the tensor is empty and no dimension is given.
        IndexError: a given dimension is empty.
    """
    if array.size:
        return
    if not dims:
        advice = " Specify the reduction dim with the 'dim' argument." if hint else ""
        raise error(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{advice}")
    for dim in dims:
        axis = wrap_dim(dim, array.ndim)
        if array.ndim and not array.shape[axis]:
            shown = dim if name in ("amax", "amin") else axis
            raise IndexError(f"{name}(): Expected reduction dim {shown} to have non-zero size.")


def extreme(name, ufunc, argument):
    """Declare the three forms of `max` or `min`: of all elements, along a dimension, and `amax` or `amin`."""
    results = named(name, "values", "indices")

    @op(f"{name}(Tensor self) -> Tensor", node=f"{name.title()}Backward1", self=evenly_distributed)
    def of_all(self):
        check_not_empty(self, (), name)
        if self.dtype.kind == "c":
            raise not_implemented(f"{name}_all", self)
        return ufunc.reduce(self, axis=None)

    @op(
        f"{name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        nondifferentiable=(1,),
        wrapper=results,
        self=lambda grad, self_sym_sizes, dim, indices, keepdim: scattered(
            grad, dim, indices, self_sym_sizes, keepdim
        ),
    )
    def along(self, dim, keepdim):
        axis = wrap_dim(dim, self.ndim)
        check_not_empty(self, (dim,), name)
        if self.dtype.kind == "c":
            raise RuntimeError(f"{name}(): does not support complex input")
        return selected(self, argument, axis, keepdim)

    @op(
        f"a{name}(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
        self=lambda grad, self, result, dim, keepdim: shared_by_ties(grad, self, result, dim, keepdim),
    )
    def over_dims(self, dim, keepdim):
        axes = axes_of(dim, self.ndim)
        check_not_empty(self, dim, f"a{name}")
        if self.dtype.kind == "c":
            raise not_implemented(f"{name}_values_cpu", self)
        ordered = self if self.itemsize == 2 else np.flip(self, axes)  # NumPy keeps the last of equals
        return row_major(ufunc.reduce(ordered, axis=axes, keepdims=keepdim))


def selected(array, argument, axis, keepdim):
    """The elements along an axis that an arg-function picks, and where they are."""
    if not array.ndim:
        return array.copy(), np.asarray(0)
    return taken(array, np.asarray(argument(array, axis=axis, keepdims=True)), axis, keepdim)


def taken(array, indices, axis, keepdim):
    """The elements at these positions along an axis, one for each row, and the positions."""
    if array.ndim == 1:
        values = array[indices]
    elif array.ndim == 2:
        rows = np.arange(indices.size)
        values = array[rows, indices[:, 0]] if axis else array[indices[0], rows]
    else:
        values = np.take_along_axis(array, indices, axis)
    shape = indices.shape if keepdim else array.shape[:axis] + array.shape[axis + 1 :]
    return np.array(values.reshape(shape), order="C"), np.array(indices.reshape(shape), order="C")


extreme("max", np.maximum, np.argmax)
extreme("min", np.minimum, np.argmin)


@op(
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    wrapper=named("aminmax", "min", "max"),
    self=lambda grads, self, dim, keepdim, min, max: aminmax_back(grads, self, dim, keepdim, min, max),
)
def aminmax(self, dim, keepdim):
    if dim is None and not self.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    axes = axes_of(None if dim is None else (dim,), self.ndim)
    if dim is not None and self.ndim and not self.shape[axes[0]]:
        raise IndexError(f"aminmax: Expected reduction dim {axes[0]} to have non-zero size.")
    if self.dtype.kind == "c":
        raise not_implemented("aminmax_cpu", self)
    low, high = (ufunc.reduce(self, axis=axes, keepdims=keepdim) for ufunc in (np.minimum, np.maximum))
    return row_major(low), row_major(high)


def aminmax_back(grads, self, dim, keepdim, low, high):
    """The gradients of the lowest and the highest elements, as far as they are asked for."""
    dims = () if dim is None else (dim,)
    parts = [
        shared_by_ties(grad, self, result, dims, keepdim)
        for grad, result in zip(grads, (low, high), strict=True)
        if grad is not None
    ]
    return parts[0] if len(parts) == 1 else parts[0].add_(parts[1])


def position(name, argument):
    """Declare `argmax` or `argmin`."""

    @op(f"{name}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor")
    def kernel(self, dim, keepdim):
        check_not_empty(self, () if dim is None else (dim,), name, IndexError, hint=False)
        axis = None if dim is None else wrap_dim(dim, self.ndim)
        if self.dtype.kind in "cb":
            raise RuntimeError(
                f"{name}(): does not support {'bool' if self.dtype.kind == 'b' else 'complex'} input"
            )
        return row_major(argument(self, axis=axis, keepdims=keepdim)) if self.ndim else np.asarray(0)


position("argmax", np.argmax)
position("argmin", np.argmin)

# Truth and counts -------------------------------------------------------------------------------------------


def truth(name, ufunc):
    """Declare the three forms of `all` or `any`; those of uint8 are uint8."""

    def reduced(array, axes, keepdim):
        found = row_major(ufunc.reduce(array, axis=axes, keepdims=keepdim, dtype=bool))
        return found.astype(np.uint8) if array.dtype == np.uint8 else found

    @op(f"{name}(Tensor self) -> Tensor")
    def of_all(self):
        return reduced(self, None, False)

    @op(f"{name}.dim(Tensor self, int dim, bool keepdim=False) -> Tensor")
    def along(self, dim, keepdim):
        return reduced(self, axes_of((dim,), self.ndim), keepdim)

    @op(f"{name}.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor")
    def over_dims(self, dim, keepdim):
        axes = axes_of(dim, self.ndim) if dim is None or len(dim) else ()
        return reduced(self, axes, keepdim)


truth("all", np.logical_and)
truth("any", np.logical_or)
