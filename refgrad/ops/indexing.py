"""Reading and writing elements chosen by index tensors and masks.

*Index list*: for each dimension an integer tensor, a mask that stands for as many dimensions as it has, or
None for all of it. *Places*: what NumPy indexes with, made of an index list.
"""

import warnings

import numpy as np

from refgrad import dtypes, errors
from refgrad.call import overlaps, partly_overlaps
from refgrad.layout import (
    broadcast_shapes,
    broadcast_strides,
    contiguous_strides,
    expands_to,
    ordered_strides,
    overlaps_itself,
    strides_of,
)
from refgrad.op import calls, composite, op
from refgrad.ops.checks import put_into
from refgrad.ops.copying import copy_of, empty_strided, number_in

BYTE_MASK = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
EXPANDED = (
    "Use of {} on expanded tensors is deprecated. Please clone() the tensor before performing this "
    "operation. This also "
    "applies to advanced indexing e.g. {}"
)


# Index lists ------------------------------------------------------------------------------------------------


def as_places(expanded):
    """What NumPy indexes with."""
    return tuple([slice(None) if index is None else index for index in expanded])


def index_list(shape, indices):
    """The index list without masks, and the common shape of its tensors.

    Raises:
        IndexError: the indices do not fit the shape or each other.
    """
    expanded = expand_masks(shape, indices)
    if len(expanded) > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {len(expanded)})")
    given = [index for index in expanded if index is not None]
    try:
        return expanded, np.broadcast_shapes(*[index.shape for index in given])
    except ValueError:
        shapes = ", ".join(str(list(index.shape)) for index in given)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None


def expand_masks(shape, indices):
    """The index list with each mask replaced by the numbers of its true elements."""
    expanded = []
    for index in indices:
        if index is None or index.dtype == np.int64:
            expanded.append(index)
        elif index.dtype == np.int32:
            expanded.append(index.astype(np.int64))
        elif index.dtype == bool or index.dtype == np.uint8:
            if index.dtype == np.uint8:
                warnings.warn(BYTE_MASK, UserWarning, stacklevel=5)
            check_mask_shape(shape, len(expanded), index)
            if index.ndim:
                expanded.extend(np.nonzero(index))
            else:
                expanded.append(np.zeros(int(bool(index)), np.int64))
        else:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return expanded


def check_mask_shape(shape, dim, mask):
    """Refuse a mask that does not have the sizes of the dimensions it stands for, from `dim` on.

    Raises:
        IndexError: a size differs, or there are too few dimensions.
    """
    for i, size in enumerate(mask.shape):
        at = dim + i
        if at >= len(shape):
            raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
        if shape[at] != size:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {i} does not match the shape "
                f"of the indexed tensor {list(shape)} at index {at}"
            )


def first_out_of_bounds(shape, expanded, common):
    """The position of the first index beyond its dimension, and the error that names it; None without one."""
    if 0 in common:
        return None
    first = None
    for number, (dim, index) in enumerate((d, i) for d, i in enumerate(expanded) if i is not None):
        size = shape[dim]
        if size == 0:
            return 0, IndexError("index is out of bounds for dimension with size 0")
        if index.min() < -size or index.max() >= size:
            flat = np.broadcast_to(index, common).ravel()
            at = int(np.argmax((flat < -size) | (flat >= size)))
            if first is None or at < first[0]:
                text = f"index {flat[at]} is out of bounds for dimension {number} with size {size}"
                first = (at, IndexError(text))
    return first


def put(target, indices, values, accumulate):
    """Write values at the places of an index list; what stands before the first wrong index is written.

    Raises:
        RuntimeError, IndexError: types, shapes or indices do not fit.
    """
    mask = None if accumulate else lone_mask(target.shape, indices, values)
    if mask is not None:
        if partly_overlaps(target, mask):
            raise RuntimeError(errors.PARTIAL_OVERLAP)
        masked_fill_.kernel(target, mask, values.item())
        return
    check_apart(target, indices, values)
    expanded, common = index_list(target.shape, indices)
    shape = result_shape(target.shape, expanded, common)
    if not expands_to(values.shape, shape):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing "
            f"result of shape {list(shape)}"
        )
    if target.dtype != values.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{dtypes.OF_NUMPY[target.dtype].scalar_type} for the destination and "
            f"{dtypes.OF_NUMPY[values.dtype].scalar_type} for the source."
        )
    if 0 in shape:
        return
    bad = first_out_of_bounds(target.shape, expanded, common)
    if bad is not None:
        if len(common) == 1 and all(index is not None for index in expanded):
            written = bad[0]
            places = tuple([np.broadcast_to(index, common)[:written] for index in expanded])
            write_at(target, places, np.broadcast_to(values, shape)[:written], accumulate)
        raise bad[1]
    write_at(target, as_places(expanded), values, accumulate)


def lone_mask(shape, indices, values):
    """The mask, with a dimension for each that follows it, when one mask is all that is given and one number
    is to be written: PyTorch fills there, whatever the number's type."""
    given = [(i, index) for i, index in enumerate(indices) if index is not None]
    if values.size != 1 or len(given) != 1 or given[0][1].dtype not in (np.bool_, np.uint8):
        return None
    position, mask = given[0]
    check_mask_shape(shape, position, mask)
    return mask.reshape(mask.shape + (1,) * (len(shape) - position - mask.ndim))


def write_at(target, places, values, accumulate):
    """Write or add values at NumPy's places."""
    if accumulate:
        np.add.at(target, places, values)
    else:
        target[places] = values


def result_shape(shape, expanded, common):
    """The shape of what an index list reads: the tensors' dimensions first unless they stand side by side."""
    given = [i for i, index in enumerate(expanded) if index is not None]
    first = given[0] if given and given[-1] - given[0] + 1 == len(given) else 0
    rest = [size for i, size in enumerate(shape) if i >= len(expanded) or expanded[i] is None]
    return (*rest[:first], *common, *rest[first:])


def check_apart(target, indices, values):
    """Refuse operands that show the target's own memory.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    for operand in (values, *indices):
        if operand is not None and overlaps(target, operand):
            raise RuntimeError(errors.PARTIAL_OVERLAP)


def warn_expanded(array, name, example):
    """Warn about a write to an expanded tensor."""
    if overlaps_itself(array.shape, array.strides):
        warnings.warn(EXPANDED.format(name, example), UserWarning, stacklevel=5)


def unwritten_put(zeros, indices, values, accumulate, unsafe):
    """A new tensor with values at some places, whatever zeros it is made of."""
    return calls.index_put(zeros, indices, values, accumulate)


@op(
    "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    self=lambda grad, self_sym_sizes, indices: put_into(
        grad.new_zeros(self_sym_sizes), calls._index_put_impl_, unwritten_put, indices, grad, True, True
    ),
)
def index(self, indices):
    expanded, common = index_list(self.shape, indices)
    shape = result_shape(self.shape, expanded, common)
    bad = None if 0 in shape else first_out_of_bounds(self.shape, expanded, common)
    if bad is not None:
        raise bad[1]
    strides = indexed_strides(self, expanded, common)
    if strides == contiguous_strides(shape) and 0 not in shape:
        return np.array(self[as_places(expanded)], order="C")
    result = empty_strided(shape, strides, self.dtype)
    if 0 not in shape:
        result[...] = self[as_places(expanded)]
    return result


def indexed_strides(array, expanded, common):
    """The strides of what an index list reads, ordered as in the array, then as in the indices."""
    given = [i for i, index in enumerate(expanded) if index is not None]
    rest = [i for i in range(array.ndim) if i >= len(expanded) or expanded[i] is None]
    first = given[0] if given[-1] - given[0] + 1 == len(given) else 0
    before, after = rest[:first], rest[first:]
    shape = (*[array.shape[i] for i in before], *common, *[array.shape[i] for i in after])
    steps = strides_of(array)
    opinions = [(*[steps[i] for i in before], *[0] * len(common), *[steps[i] for i in after])]
    for i in given:
        inner = broadcast_strides(expanded[i], len(common), common)
        outer = contiguous_strides((1,) * len(before) + expanded[i].shape + (1,) * len(after))
        left, right = outer[: len(before)], outer[len(outer) - len(after) :]
        padded = (*left, *inner, *right)
        lone = [j for j in range(len(shape)) if not len(before) <= j < len(before) + len(common)]
        opinions.append(tuple([0 if j in lone and shape[j] != 1 else step for j, step in enumerate(padded)]))
    return ordered_strides(shape, opinions)


INDEX_PUT: dict = {
    "self": lambda grad, indices, accumulate: (
        grad if accumulate else calls.index_put(grad, indices, grad.new_zeros(()), False)
    ),
    "values": lambda grad, indices: calls.index(grad, indices),
}


@op(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    reduced="own",
    **INDEX_PUT,
)
def index_put(self, indices, values, accumulate):
    result = copy_of(self)
    put(result, indices, values, accumulate)
    return result


@op(
    "index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
    reduced="own",
    may_overlap=True,
    writes=True,
    looks_for_overlap=True,
    **INDEX_PUT,
)
def index_put_(self, indices, values, accumulate):
    warn_expanded(self, "index_put_", "tensor[indices] = tensor")
    put(self, indices, values, accumulate)


@op(
    "_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, "
    "bool unsafe=False) -> Tensor(a!)",
    reduced="own",
    may_overlap=True,
    writes=True,
    looks_for_overlap=True,
    **INDEX_PUT,
)
def index_put_impl_(self, indices, values, accumulate, unsafe):
    put(self, indices, values, accumulate)


# Masks ------------------------------------------------------------------------------------------------------


def check_mask(mask):
    """Refuse a mask of another type.

    Raises:
        RuntimeError: it is not a bool mask.
    """
    if mask.dtype != bool:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with "
            f"dtype {dtypes.OF_NUMPY[mask.dtype].cpp_name}"
        )


def broadcast(*arrays):
    """The arrays in their common shape.

    Raises:
        RuntimeError: there is none.
    """
    shape = arrays[0].shape
    for array in arrays[1:]:
        shape = broadcast_shapes(shape, array.shape)
    return [np.broadcast_to(array, shape) for array in arrays]


@op(
    "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
    reduced="own",
    self=lambda grad, mask: grad.masked_fill(mask, 0),
)
def masked_fill(self, mask, value):
    return mask_filled(self, mask, value)


@op(
    "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    reduced="own",
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    value=lambda grad, mask: grad.masked_select(mask).sum(),
    node="MaskedFillBackward1",
)
def masked_fill_tensor(self, mask, value):
    check_fill_value(value)
    return mask_filled(self, mask, value.item())


def mask_filled(self, mask, value):
    """A copy in the common shape, with a number where the mask is true."""
    mask, self = broadcast(mask, self)
    check_mask(mask)
    result = copy_of(self, contiguous=True)
    result[mask] = number_in(value, self.dtype)
    return result


def check_fill_value(value):
    """Refuse a value with dimensions.

    Raises:
        RuntimeError: it has some.
    """
    if value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor "
            f"with {value.ndim} dimension(s)."
        )


@op(
    "masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)",
    reduced="own",
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    may_overlap=True,
    writes=True,
)
def masked_fill_(self, mask, value):
    check_mask(mask)
    if not expands_to(mask.shape, self.shape):
        shape = broadcast_shapes(self.shape, mask.shape)
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(shape)}"
        )
    warn_expanded(self, "masked_fill_", "tensor[mask] = scalar")
    self[np.broadcast_to(mask, self.shape)] = number_in(value, self.dtype)


@op(
    "masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)",
    reduced="own",
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    value=lambda grad, mask: grad.masked_select(mask).sum(),
    node="MaskedFillBackward1",
    may_overlap=True,
    writes=True,
)
def masked_fill_tensor_(self, mask, value):
    check_fill_value(value)
    masked_fill_.kernel(self, mask, value.item())


@op(
    "masked_select(Tensor self, Tensor mask) -> Tensor",
    self=lambda grad, self, mask: masked_select_back(grad, self, mask),
)
def masked_select(self, mask):
    if mask.dtype != bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    mask, self = broadcast(mask, self)
    return self[mask]


def masked_select_back(grad, source, mask):
    """The gradient where the mask is true, zeros elsewhere."""
    shape = broadcast_shapes(source._array.shape, mask._array.shape)
    return put_into(grad.new_zeros(shape), calls.masked_scatter_, calls.masked_scatter, mask, grad)


@op(
    "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    source=lambda grad, mask, source_sym_sizes: calls.masked_scatter_backward(grad, mask, source_sym_sizes),
)
def masked_scatter(self, mask, source):
    mask, self = broadcast(mask, self)
    result = np.array(self, order="C")
    scatter_masked(result, mask, source)
    return result


@op(
    "masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)",
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    source=lambda grad, mask, source_sym_sizes: calls.masked_scatter_backward(grad, mask, source_sym_sizes),
    writes=True,
)
def masked_scatter_(self, mask, source):
    if mask.ndim > self.ndim:
        raise RuntimeError(
            f"expand(CPUBoolType{{{list(mask.shape)}}}, size={list(self.shape)}): the number of "
            f"sizes provided ({self.ndim}) must be greater or equal to the number of dimensions in "
            f"the tensor ({mask.ndim})"
        )
    if not expands_to(mask.shape, self.shape):
        broadcast_shapes(mask.shape, self.shape)
    scatter_masked(self, np.broadcast_to(mask, self.shape), source)


def scatter_masked(target, mask, source):
    """Write the elements of a source, in order, where the mask is true.

    Raises:
        RuntimeError: types differ, or the source is too short.
    """
    if target.dtype != source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got"
            f"{dtypes.OF_NUMPY[target.dtype].scalar_type} and {dtypes.OF_NUMPY[source.dtype].scalar_type}"
        )
    if mask.dtype != bool:
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{dtypes.OF_NUMPY[mask.dtype].scalar_type}"
        )
    count = int(mask.sum())
    if count > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    target[mask] = source.ravel()[:count]


@op(
    "masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor",
    grad_output=lambda grad, grad_output_info, mask: calls.masked_scatter(
        grad.new_zeros(grad_output_info), mask, grad
    ),
    node="MaskedScatterBackwardBackward0",
)
def masked_scatter_backward(grad_output, mask, sizes):
    chosen = grad_output[np.broadcast_to(mask, grad_output.shape)]
    result = np.zeros(int(np.prod(sizes)), grad_output.dtype)
    result[: chosen.size] = chosen
    return result.reshape(sizes)


# Which elements are not zero --------------------------------------------------------------------------------


@op("nonzero(Tensor self) -> Tensor")
def nonzero(self):
    if not self.ndim:
        count = int(self.item() != 0)
        return empty_strided((count, 0), (1, count), np.dtype(np.int64))
    places = np.nonzero(self)
    count = len(places[0])
    result = empty_strided((count, self.ndim), (1, count), np.dtype(np.int64))
    for i, column in enumerate(places):
        result[:, i] = column
    return result


composite("argwhere(Tensor self) -> Tensor")(lambda self: calls.nonzero(self))


@composite("nonzero_numpy(Tensor self) -> Tensor[]")
def nonzero_numpy(self):
    if not self._array.ndim:
        self = calls.unsqueeze(self, 0)
    return calls.unbind(calls.nonzero(self), 1)


@composite("nonzero.as_tuple(Tensor self, *, bool as_tuple=False) -> Tensor")
def nonzero_as_tuple(self, as_tuple=False):
    return nonzero_numpy(self) if as_tuple else calls.nonzero(self)
