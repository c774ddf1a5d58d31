"""Batching rules of ops that read or write at places: indices, masks, gather and scatter."""

from collections.abc import Callable, Sequence
from typing import Any

from refgrad.func.rules.operands import Operand, count_of, padded, rank_of, rule, spread, whole_in_front
from refgrad.layout import wrap_dim
from refgrad.op import calls
from refgrad.tensor import Tensor


def whole_indices(self: Any, indices: Sequence[Any]) -> tuple[list, int]:
    """The indices of the wholes, and where the batch dimension comes out.

    Indices that are the same for all samples leave the batch where it is; those of samples meet a counter of
    the samples, so that each reads from its own.
    """
    count = count_of([self, *indices])
    taken = [i for i, index in enumerate(indices) if index is not None]
    is_apart = taken != list(range(taken[0], taken[-1] + 1))
    ranks = [rank_of(indices[i]) for i in taken]
    if not any(isinstance(index, Operand) for index in indices):
        return [None, *indices], max(ranks) if is_apart else 0
    rank = max(ranks)
    found = [padded(index, rank) if isinstance(index, Operand) else index for index in indices]
    if not isinstance(self, Operand):
        return found, 0 if is_apart else taken[0]
    counter = calls.arange(count).view(count, *[1] * rank)
    return [counter, *found], 0


@rule("index.Tensor")
def index(function: Callable, self: Any, indices: list) -> Tensor:
    """Elements at places."""
    found, place = whole_indices(self, indices)
    result = function(whole_in_front(self), found)
    batched = any(isinstance(each, Operand) for each in indices)
    taken = [i for i, each in enumerate(indices) if each is not None]
    if not (batched and isinstance(self, Operand)) or not taken or taken[0] == 0:
        return result if place == 0 else result.movedim(place, 0)
    rank = max(rank_of(indices[i]) for i in taken)
    if taken != list(range(taken[0], taken[-1] + 1)):
        return result
    ahead, read = list(range(1 + rank, 1 + rank + taken[0])), list(range(1, 1 + rank))
    rest = list(range(1 + rank + taken[0], result.dim()))
    return calls.permute(result, [0, *ahead, *read, *rest])


@rule("index_put", "index_put_")
def index_put(function: Callable, self: Any, indices: list, values: Any, accumulate: bool = False) -> Any:
    """Elements at places, replaced or added to."""
    found, place = whole_indices(self, indices)
    taken = [i for i, each in enumerate(indices) if each is not None]
    is_moved = place or taken[0] != 0 and any(isinstance(each, Operand) for each in indices)
    if is_moved or not isinstance(self, Operand):
        return NotImplemented
    if isinstance(values, Operand):
        read = max(rank_of(indices[i]) for i in taken)
        rank = read + self.rank - len(taken)
        values = padded(values, rank)
    return function(self.front(), found, values, accumulate)


def with_dimension(value: Tensor, rank: int) -> Tensor:
    """A whole whose samples have a dimension."""
    return value if rank else calls.unsqueeze(value, -1)


def matched(operands: Sequence[Any], count: int) -> list[Tensor]:
    """Arguments whose samples have the same rank, at least 1, with the batch in front."""
    found = []
    for each in operands:
        rank = rank_of(each)
        if isinstance(each, Operand):
            found.append(with_dimension(each.front(), rank))
        else:
            found.append(spread(each if rank else calls.unsqueeze(each, -1), count))
    return found


@rule("gather")
def gather(function: Callable, self: Any, dim: int, index: Any, *others: Any) -> Tensor:
    """Elements along a dimension."""
    rank = max(rank_of(self), rank_of(index))
    value, places = matched((self, index), count_of((self, index)))
    result = function(value, wrap_dim(dim, rank_of(self)) + 1, places, *others)
    return result if rank else calls.squeeze__dim(result, -1)


@rule("index_select")
def index_select(function: Callable, self: Any, dim: int, index: Any) -> Tensor:
    """Slices at places along a dimension, gathered."""
    count = count_of((self, index))
    value, places = matched((self, index), count)
    axis = wrap_dim(dim, rank_of(self)) + 1
    shape = [count, *[1] * (value.dim() - 1)]
    shape[axis] = places.size(-1)
    wanted = list(value.shape)
    wanted[axis] = places.size(-1)
    result = calls.gather(value, axis, places.view(shape).expand(*wanted))
    return result if rank_of(self) else calls.squeeze__dims(result, [-1])


@rule("scatter.src", "scatter_add", "scatter_.src", "scatter_add_", "scatter_reduce.two", "scatter.reduce")
def scatter(function: Callable, self: Any, dim: int, index: Any, src: Any, *others: Any) -> Any:
    """Elements written along a dimension."""
    if function.__name__.endswith("_") and not rank_of(self):
        return NotImplemented
    value, places, source = matched((self, index, src), count_of((self, index, src)))
    result = function(value, wrap_dim(dim, rank_of(self)) + 1, places, source, *others)
    return result if rank_of(self) else calls.squeeze__dim(result, -1)


@rule("scatter.value", "scatter_.value")
def scatter_value(function: Callable, self: Any, dim: int, index: Any, value: Any) -> Any:
    """A number written along a dimension."""
    if function.__name__.endswith("_") and not rank_of(self):
        return NotImplemented
    target, places = matched((self, index), count_of((self, index)))
    result = function(target, wrap_dim(dim, rank_of(self)) + 1, places, value)
    return result if rank_of(self) else calls.squeeze__dim(result, -1)


@rule("index_add")
def index_add(function: Callable, self: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    """Slices added at places along a dimension."""
    if isinstance(index, Operand) or not rank_of(self):
        return NotImplemented
    value, added = matched((self, source), count_of((self, source)))
    return function(value.clone(), wrap_dim(dim, rank_of(self)) + 1, index, added, alpha)


@rule("embedding")
def embedding(function: Callable, weight: Any, indices: Any, *others: Any) -> Any:
    """Rows of one table for indices of each sample."""
    return NotImplemented if isinstance(weight, Operand) else function(weight, indices.front(), *others)


@rule("embedding_dense_backward")
def embedding_backward(
    function: Callable, grad: Any, indices: Any, rows: int, padding: int, by_frequency: bool
) -> Any:
    """The gradients of one table for each sample: one table that holds them all."""
    if padding >= 0 or not (isinstance(grad, Operand) and isinstance(indices, Operand)):
        return NotImplemented
    count = grad.count
    first = calls.arange(count).view(count, *[1] * indices.rank) * rows
    places = (indices.front() + first).reshape(-1)
    ahead = grad.front().reshape(-1, grad.shape[-1])
    return function(ahead, places, rows * count, padding, by_frequency).view(count, rows, -1)
