"""Rows of a table picked by number and put together bag by bag.

*Bag*: consecutive indices; `offsets` says where each begins.
"""

from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.op import calls, composite, op

SUM, MEAN, MAX = range(3)


def check_kind(array: np.ndarray, name: str, place: int, kinds: tuple, words: str) -> None:
    """Refuse an element type.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if array.dtype not in kinds:
        found = dtypes.OF_NUMPY[array.dtype].tensor_type
        raise RuntimeError(
            f"Expected tensor for argument #{place} '{name}' to have one of the following scalar types: "
            f"{words}; but got {found} instead (while checking arguments for embedding_bag)"
        )


def check_bags(weight: np.ndarray, indices: np.ndarray, offsets: np.ndarray) -> None:
    """Refuse what makes no bags.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    whole = (np.dtype(np.int64), np.dtype(np.int32))
    check_kind(indices, "indices", 1, whole, "Long, Int")
    check_kind(offsets, "offsets", 1, whole, "Long, Int")
    floating = (np.dtype(np.float32), np.dtype(np.float64), *dtypes.REDUCED)
    check_kind(weight, "weight", 1, floating, "Half, BFloat16, Float, Double")
    if offsets.size and offsets[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position "
            f"0. However, got {offsets[0]}\n[ {dtypes.OF_NUMPY[offsets.dtype].tensor_type}{{}} ]"
        )
    if offsets.size and offsets[-1] > indices.size:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {indices.size} but got offsets[-1] of "
            f"{offsets[-1]}"
        )
    outside = np.flatnonzero((indices < 0) | (indices >= len(weight)))
    if outside.size:
        first = outside[0]
        raise RuntimeError(
            f"Index {first} of input takes value {indices[first]} which is not in the valid range [0, "
            f"{len(weight)})"
        )


def bag_of(indices: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The bag that each index is in."""
    return np.searchsorted(offsets, np.arange(indices.size), side="right").astype(np.int64) - 1


def largest(rows: np.ndarray, numbers: np.ndarray, bags: np.ndarray, count: int) -> tuple:
    """The largest elements of each bag, and the numbers of the rows that have them."""
    result = np.zeros((count, rows.shape[1]), rows.dtype)
    where = np.zeros((count, rows.shape[1]), np.int64)
    for bag in np.unique(bags):
        members = np.flatnonzero(bags == bag)
        first = rows[members].argmax(0)
        result[bag] = rows[members].max(0)
        where[bag] = numbers[members[first]]
    return result, where


@op(
    "_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, "
    "int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, "
    "int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
    node="EmbeddingBagBackward0",
    nondifferentiable=(1, 2, 3),
    weight=lambda grad, indices, offsets, result1, result2, result3, weight_sym_argsize_0, scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx: (  # noqa: E501 - all that PyTorch saves
        calls._embedding_bag_backward(
            grad,
            indices,
            offsets,
            result1,
            result2,
            result3,
            weight_sym_argsize_0,
            scale_grad_by_freq,
            mode,
            sparse,
            per_sample_weights,
            padding_idx,
        )
    ),
    per_sample_weights=lambda grad, weight, indices, offsets, result1, mode, padding_idx: (
        calls._embedding_bag_per_sample_weights_backward(
            grad, weight, indices, offsets, result1, mode, padding_idx
        )
    ),
)
def embedding_bag_kernel(
    weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, last, padding_idx
):
    check_bags(weight, indices, offsets)
    count = offsets.size - bool(last)
    bags = bag_of(indices, offsets[:count])
    keep = indices != padding_idx
    rows, own = weight[indices[keep]], bags[keep]
    sizes = np.bincount(own, minlength=count).astype(np.int64)
    if mode == MAX:
        result, where = largest(rows, indices[keep], own, count)
        return result, bags, sizes, where
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[keep][:, None]
    result = np.zeros((count, weight.shape[1]), weight.dtype)
    np.add.at(result, own, rows)
    if mode == MEAN:
        return result / np.maximum(sizes, 1)[:, None].astype(weight.dtype), bags, sizes, sizes.copy()
    # PyTorch adds single precision by a way of its own, which needs no numbers of bags.
    is_direct = weight.dtype == np.float32 and padding_idx < 0
    nothing = np.zeros(count, np.int64)
    return result, bags[:0] if is_direct else bags, nothing, nothing.copy()


@op(
    "_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, "
    "Tensor bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, "
    "bool sparse, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
    reduced="own",
    node="EmbeddingBagBackwardBackward0",
    grad=lambda: not_implemented(),
)
def embedding_bag_backward(
    grad,
    indices,
    offsets,
    offset2bag,
    bag_size,
    maximum_indices,
    num_weights,
    scale_grad_by_freq,
    mode,
    sparse,
    per_sample_weights,
    padding_idx,
):
    result = np.zeros((num_weights, grad.shape[1]), grad.dtype)
    if mode == MAX:
        filled = np.flatnonzero(bag_size)
        columns = np.broadcast_to(np.arange(grad.shape[1]), grad[filled].shape)
        np.add.at(result, (maximum_indices[filled], columns), grad[filled])
        return result
    bags = bag_of(indices, offsets) if offset2bag.size != indices.size else offset2bag
    keep = indices != padding_idx
    rows, numbers = grad[bags[keep]], indices[keep]
    if mode == MEAN:
        rows = rows / bag_size[bags[keep]][:, None].astype(grad.dtype)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[keep][:, None]
    if scale_grad_by_freq:
        rows = rows / counts_by_place(indices)[numbers][:, None].astype(grad.dtype)
    np.add.at(result, numbers, rows)
    return result


def counts_by_place(indices: np.ndarray) -> np.ndarray:
    """How often PyTorch takes each index to occur: it looks the n-th one up at place n of all, sorted."""
    distinct = np.unique(indices)
    counts = np.bincount(indices)
    looked_up = counts.copy()
    looked_up[distinct] = counts[np.sort(indices)[: len(distinct)]]
    return looked_up


def not_implemented() -> Any:
    """Refuse.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("the derivative for '_embedding_bag_backward' is not implemented.")


@op(
    "_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, "
    "Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor",
    refused="aten::_embedding_bag_per_sample_weights_backward",
)
def embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, offset2bag, mode, padding_idx):
    bags = bag_of(indices, offsets) if offset2bag.size != indices.size else offset2bag
    products = (grad[bags] * weight[indices]).sum(1)
    return np.where(indices == padding_idx, 0, products).astype(grad.dtype)


@composite(
    "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, "
    "int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> "
    "(Tensor, Tensor, Tensor, Tensor)"
)
def embedding_bag_with_padding(
    weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, last, padding_idx
):
    count = weight._array.shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif not -count <= padding_idx < count:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{count} through {count - 1}, but got "
            f"{padding_idx}"
        )
    else:
        padding_idx %= count
    return calls._embedding_bag(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, last, padding_idx
    )


@composite(
    "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, "
    "bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> "
    "(Tensor, Tensor, Tensor, Tensor)"
)
def embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=0,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
):
    return calls._embedding_bag(
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        -1,
    )
