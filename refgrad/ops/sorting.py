"""Sorting, and selecting by rank: sort, topk, kthvalue, median, mode.

Which of several equal elements is selected decides where the gradient goes, so ties are broken as PyTorch's
CPU kernels break them, see kernels/partial_order.py.
"""

import numpy as np

from refgrad.kernels import partial_order
from refgrad.layout import kept_strides, wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.checks import not_implemented
from refgrad.ops.copying import empty_strided
from refgrad.ops.reductions import check_not_empty, evenly_distributed, scattered, taken
from refgrad.return_types import named


def selection_formula(grad, self_sym_sizes, dim, indices, keepdim):
    return scattered(grad, dim, indices, self_sym_sizes, keepdim)


def whole_formula(grad, self_sym_sizes, dim, indices):
    return scattered(grad, dim, indices, self_sym_sizes, True)


# Sort -------------------------------------------------------------------------------------------------------


def sorting_order(array, axis, descending, stable):
    """The positions of the elements along an axis in sorted order, NaN last (descending: first)."""
    if descending:
        # Reversed twice, so that equal elements keep their order.
        flipped = np.argsort(np.flip(array, axis), axis=axis, kind="stable")
        order = array.shape[axis] - 1 - np.flip(flipped, axis)
    else:
        order = np.argsort(array, axis=axis, kind="stable")
    if stable or array.shape[axis] <= partial_order.INSERTION or not partial_order.has_ties(array, axis):
        return order

    def unstable(row):
        return partial_order.sorted_order(
            partial_order.ranks_of(row, descending).tolist(), list(range(len(row)))
        )

    return partial_order.along(array, axis, unstable, array.shape[axis])


def sorted_with_indices(array, dim, descending, stable):
    """The elements in sorted order and where they were, laid out like the array."""
    axis = wrap_dim(dim, array.ndim)
    if array.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    if not array.ndim:
        return array.copy(), np.asarray(0)
    order = sorting_order(array, axis, descending, stable)
    strides = kept_strides(array)
    values, indices = (
        empty_strided(array.shape, strides, kind) for kind in (array.dtype, np.dtype(np.int64))
    )
    values[...] = np.take_along_axis(array, order, axis)
    indices[...] = order
    return values, indices


sort_results = named("sort", "values", "indices")


@op(
    "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    nondifferentiable=(1,),
    wrapper=sort_results,
    self=whole_formula,
)
def sort(self, dim, descending):
    return sorted_with_indices(self, dim, descending, False)


@op(
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, "
    "Tensor indices)",
    node="SortBackward1",
    nondifferentiable=(1,),
    wrapper=sort_results,
    self=whole_formula,
)
def sort_stable(self, stable, dim, descending):
    return sorted_with_indices(self, dim, descending, bool(stable))


@composite("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor")
def argsort(self, dim=-1, descending=False):
    return calls.sort(self, dim, descending)[1]


@composite("argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor")
def argsort_stable(self, stable, dim=-1, descending=False):
    return calls.sort__stable(self, stable, dim, descending)[1]


@composite("msort(Tensor self) -> Tensor")
def msort(self):
    return calls.sort(self, 0, False)[0]


# The largest and smallest -----------------------------------------------------------------------------------


@op(
    "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, "
    "Tensor indices)",
    nondifferentiable=(1,),
    wrapper=named("topk", "values", "indices"),
    self=whole_formula,
)
def topk(self, k, dim, largest, sorted):
    axis = wrap_dim(dim, self.ndim)
    size = self.shape[axis] if self.ndim else 1
    if not 0 <= k <= size:
        raise RuntimeError("selected index k out of range")
    if self.dtype.kind == "c":
        raise RuntimeError(" topk does not support complex dtypes on CPU")
    if self.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if not self.ndim:
        return self.copy(), np.asarray(0)

    def best(row):
        return best_order(partial_order.ranks_of(row, largest).tolist(), k, sorted)[:k]

    if sorted and not partial_order.has_ties(self, axis):
        order = np.argsort(self, axis=axis)
        order = np.flip(order, axis) if largest else order
        order = np.take(order, range(k), axis)
    else:
        order = partial_order.along(self, axis, best, k)
    return np.array(np.take_along_axis(self, order, axis), order="C"), np.array(order, order="C")


def best_order(ranks, k, in_order):
    """The positions of the `k` lowest ranks in front."""
    order = list(range(len(ranks)))
    if not k:
        return order
    if k * 64 <= len(ranks):
        return partial_order.partly_sorted(ranks, order, k)
    order = partial_order.selected_order(ranks, order, k - 1)
    if in_order:
        order[: k - 1] = partial_order.sorted_order(ranks, order[: k - 1])
    return order


@op(
    "kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    nondifferentiable=(1,),
    wrapper=named("kthvalue", "values", "indices"),
    self=selection_formula,
)
def kthvalue(self, k, dim, keepdim):
    axis = wrap_dim(dim, self.ndim)
    size = self.shape[axis] if self.ndim else 1
    check_not_empty(self, (dim,), "kthvalue")
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    if self.dtype.kind in "cb":
        raise not_implemented("kthvalue_cpu", self)
    if not self.ndim:
        return self.copy(), np.asarray(0)

    def kth(row):
        ranks = partial_order.ranks_of(row).tolist()
        return partial_order.quickselected(ranks, list(range(size)), k - 1)[k - 1]

    return taken(self, partial_order.along(self, axis, kth, 1), axis, keepdim)


# Median and mode --------------------------------------------------------------------------------------------


def median_position(row, ignore_nan):
    """Where the lower median of a row is; the first NaN counts as median unless they are ignored."""
    missing = np.not_equal(row, row)
    count = int(missing.sum())
    if count and not ignore_nan:
        return int(missing.argmax())
    nth = (len(row) - 1 - count) // 2 if count < len(row) else 0
    return int(np.argsort(row, kind="stable")[nth])


def median_op(name, node, ignore_nan):
    """Declare `median` or `nanmedian`: of all elements, and along a dimension."""

    @op(f"{name}(Tensor self) -> Tensor", node=f"{node}0", self=evenly_distributed)
    def of_all(self):
        if self.dtype.kind in "cb":
            raise not_implemented("median_cpu", self)
        if not self.size:
            return np.asarray(np.nan if self.dtype.kind == "f" else np.iinfo(self.dtype).min, self.dtype)
        return self.reshape(-1)[median_position(self.reshape(-1), ignore_nan)]

    @op(
        f"{name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        node=f"{node}1",
        nondifferentiable=(1,),
        wrapper=named(name, "values", "indices"),
        self=selection_formula,
    )
    def along_dim(self, dim, keepdim):
        axis = wrap_dim(dim, self.ndim)
        check_not_empty(self, (dim,), "median")
        if self.dtype.kind in "cb":
            raise not_implemented("median_out", self)
        if not self.ndim:
            return self.copy(), np.asarray(0)
        places = partial_order.along(self, axis, lambda row: median_position(row, ignore_nan), 1)
        return taken(self, places, axis, keepdim)


median_op("median", "MedianBackward", False)
median_op("nanmedian", "NanmedianBackward", True)


@op(
    "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    nondifferentiable=(1,),
    wrapper=named("mode", "values", "indices"),
    self=selection_formula,
)
def mode(self, dim, keepdim):
    axis = wrap_dim(dim, self.ndim)
    check_not_empty(self, (dim,), "mode")
    if self.dtype.kind == "c":
        raise not_implemented("mode_cpu", self)
    if not self.ndim:
        return self.copy(), np.asarray(0)
    return taken(self, partial_order.along(self, axis, mode_position, 1), axis, keepdim)


def mode_position(row):
    """Where the smallest of the most frequent elements stands last, in sorted order."""
    values = row.tolist()
    if any(value != value for value in values):
        order = inserted_order(values)
    else:
        order = partial_order.sorted_order(partial_order.ranks_of(row).tolist(), list(range(len(row))))
    best = best_count = count = 0
    for i, position in enumerate(order):
        count = count + 1 if i and values[position] == values[order[i - 1]] else 1
        if count > best_count:
            best, best_count = position, count
    return best


def inserted_order(values):
    """Insertion sort by `<`, which leaves NaN where it stands."""
    order = [0]
    for position in range(1, len(values)):
        place = len(order)
        if values[position] < values[order[0]]:
            place = 0
        else:
            while values[position] < values[order[place - 1]]:
                place -= 1
        order.insert(place, position)
    return order
