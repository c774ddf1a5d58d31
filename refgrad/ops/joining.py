"""Tensors put together, and tensors taken apart."""

import functools

import numpy as np

from refgrad import dtypes
from refgrad.layout import layout_of, wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.formats import suggests_channels_last, with_channels_last
from refgrad.ops.views import equal_parts, parts_back, split, split_with_sizes
from refgrad.overloads import Binder
from refgrad.storage import count_write, windows
from refgrad.tensor import Tensor

# Together ---------------------------------------------------------------------------------------------------


def common_dtype(arrays):
    """The NumPy type that the arrays are promoted to."""
    kind = arrays[0].dtype
    if all(array.dtype is kind for array in arrays):
        return kind
    kinds = [dtypes.OF_NUMPY[array.dtype] for array in arrays]
    dimensioned = [k for k, array in zip(kinds, arrays, strict=True) if array.ndim]
    zero_dim = [k for k, array in zip(kinds, arrays, strict=True) if not array.ndim]
    return dtypes.result_of(dimensioned, zero_dim, []).numpy


def is_skipped(array):
    """Whether `cat` ignores an array: an empty vector fits everywhere."""
    return array.ndim == 1 and not array.shape[0]


@op(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    tensors=lambda grad, tensors_args_sizes, tensors_args_scalartypes, dim: cat_back(
        grad, tensors_args_sizes, tensors_args_scalartypes, dim
    ),
)
def cat(tensors, dim):
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for position, array in enumerate(tensors):
        if not array.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {position}) cannot be concatenated")
    joined = [array for array in tensors if not is_skipped(array)]
    if not joined:  # nothing is looked at, the dimension neither
        return np.empty(0, common_dtype(tensors))
    first = joined[0]
    dim = wrap_dim(dim, first.ndim)
    for position, array in enumerate(tensors):
        if is_skipped(array):
            continue
        if array.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {array.ndim}"
            )
        for i, (size, own) in enumerate(zip(first.shape, array.shape, strict=True)):
            if size != own and i != dim:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {size} but got "
                    f"size {own} for "
                    f"tensor number {position} in the list."
                )
    shape = first.shape[:dim] + (sum(array.shape[dim] for array in joined),) + first.shape[dim + 1 :]
    result = np.empty(shape, common_dtype(tensors))
    if all(map(suggests_channels_last, joined)):
        result = with_channels_last(result)
    return np.concatenate(joined, axis=dim, out=result, casting="unsafe")


def cat_back(grad, sizes, kinds, dim):
    """The part of the gradient that belongs to each tensor."""
    shown = next((size for size in sizes if size != (0,)), None)
    dim = 0 if shown is None else wrap_dim(dim, len(shown))
    parts, start = [], 0
    for size, kind in zip(sizes, kinds, strict=True):
        if size == (0,):
            parts.append(calls.zeros((0,), grad.dtype))
            count_write(parts[-1])  # as PyTorch fills it where writes are counted
            continue
        parts.append(real_part(calls.narrow(grad, dim, start, size[dim]), kind))
        start += size[dim]
    return parts


def real_part(grad, kind):
    """The gradient of a real input that met complex ones: its real part."""
    return grad.real if grad.dtype.is_complex and not kind.is_complex else grad


composite("concat(Tensor[] tensors, int dim=0) -> Tensor")(lambda tensors, dim=0: calls.cat(tensors, dim))
composite("concatenate(Tensor[] tensors, int dim=0) -> Tensor")(
    lambda tensors, dim=0: calls.cat(tensors, dim)
)


@op(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    tensors=lambda grad, dim, tensors_args_scalartypes: [
        real_part(calls.select(grad, dim, i), kind) for i, kind in enumerate(tensors_args_scalartypes)
    ],
)
def stack(tensors, dim):
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    shape = tensors[0].shape
    dim = wrap_dim(dim, len(shape) + 1)
    for i, array in enumerate(tensors):
        if array.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                f"{list(array.shape)} at entry {i}"
            )
    result = np.empty(shape[:dim] + (len(tensors),) + shape[dim:], common_dtype(tensors))
    for i, array in enumerate(tensors):
        result[(slice(None),) * dim + (i,)] = array
    return result


def atleast_1d(self):
    """The tensor with at least one dimension."""
    return self if self._array.ndim else self.reshape((1,))


def atleast_2d(self):
    """The tensor with at least two dimensions, new ones in front."""
    if not self._array.ndim:
        return self.reshape((1, 1))
    return calls.unsqueeze(self, 0) if self._array.ndim == 1 else self


def atleast_3d(self):
    """The tensor with at least three dimensions; that of a matrix comes last."""
    ndim = self._array.ndim
    if not ndim:
        return self.reshape((1, 1, 1))
    if ndim == 1:
        return calls.unsqueeze(calls.unsqueeze(self, 0), -1)
    return calls.unsqueeze(self, -1) if ndim == 2 else self


def required(tensors, name):
    """The tensors of a stack.

    Raises:
        RuntimeError: there are none.
    """
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tensors


@composite("hstack(Tensor[] tensors) -> Tensor")
def hstack(tensors):
    tensors = [atleast_1d(tensor) for tensor in required(tensors, "hstack")]
    return calls.cat(tensors, 0 if tensors[0]._array.ndim == 1 else 1)


@composite("vstack(Tensor[] tensors) -> Tensor")
def vstack(tensors):
    return calls.cat([atleast_2d(tensor) for tensor in required(tensors, "vstack")], 0)


@composite("row_stack(Tensor[] tensors) -> Tensor")
def row_stack(tensors):
    return vstack(tensors)


@composite("dstack(Tensor[] tensors) -> Tensor")
def dstack(tensors):
    return calls.cat([atleast_3d(tensor) for tensor in required(tensors, "dstack")], 2)


@composite("column_stack(Tensor[] tensors) -> Tensor")
def column_stack(tensors):
    columns = []
    for tensor in required(tensors, "column_stack"):
        columns.append(tensor.reshape((tensor._array.size, 1)) if tensor._array.ndim <= 1 else tensor)
    return hstack(columns)


# Apart ------------------------------------------------------------------------------------------------------


@op(
    "unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
    self=lambda grads, self_sym_sizes, split_size, dim: parts_back(
        grads, self_sym_sizes, equal_parts(self_sym_sizes[dim], split_size, len(grads)), dim
    ),
)
def unsafe_split(self, split_size, dim):
    return copied_parts(self, split, split_size, dim)


@op(
    "unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
    self=lambda grads, self_sym_sizes, split_sizes, dim: parts_back(grads, self_sym_sizes, split_sizes, dim),
)
def unsafe_split_with_sizes(self, split_sizes, dim):
    return copied_parts(self, split_with_sizes, split_sizes, dim)


def copied_parts(array, view_op, *arguments):
    """The windows that a view op shows; they share memory, although autograd counts them as no views."""
    return windows(array, view_op.kernel(layout_of(array), *arguments))


@composite("unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]")
def unsafe_chunk(self, chunks, dim=0):
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = self._array.shape[wrap_dim(dim, self._array.ndim)]
    step = -(-size // chunks)
    if not step:
        return calls.unsafe_split_with_sizes(self, (0,) * chunks, dim)
    return calls.unsafe_split(self, step, dim)


def split_tensor(self, split_size, dim=0):
    """Consecutive parts of a dimension: of one size, or of the sizes listed."""
    if isinstance(split_size, Tensor):
        split_size = split_size.item()
    if isinstance(split_size, int) and not isinstance(split_size, bool):
        return calls.split(self, split_size, dim)
    return split_with_sizes.call(*split_binder().bind((self, split_size, dim), {})[1])


@functools.cache
def split_binder():
    """What matches the arguments of `split_with_sizes` as those of any function."""
    return Binder("split_with_sizes", [split_with_sizes.schema])


split_tensor.__qualname__ = "Tensor.split"  # Python's own errors name it
Tensor.split = split_tensor


def ends_of(size, sections):
    """Where parts of nearly equal size end, all but the last.

    Raises:
        RuntimeError: there are no parts.
    """
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    step, longer = divmod(size, sections)
    return [step * (i + 1) + min(i + 1, longer) for i in range(sections - 1)]


def cut(self, ends, dim):
    """The parts of a dimension between the given positions, each a view of its own."""
    size = self._array.shape[dim]
    starts = [0, *ends]
    return tuple(
        [calls.slice(self, dim, start, end, 1) for start, end in zip(starts, [*ends, size], strict=True)]
    )


def checked_dim(self, dim):
    """The dimension that `tensor_split` cuts.

    Raises:
        RuntimeError: the tensor has none.
    """
    if not self._array.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    return wrap_dim(dim, self._array.ndim)


@composite("tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]")
def tensor_split(self, sections, dim=0):
    dim = checked_dim(self, dim)
    return cut(self, ends_of(self._array.shape[dim], sections), dim)


@composite("tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]")
def tensor_split_indices(self, indices, dim=0):
    return cut(self, indices, checked_dim(self, dim))


@composite(
    "tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, "
    "int dim=0) -> Tensor(a)[]"
)
def tensor_split_tensor(self, tensor_indices_or_sections, dim=0):
    places = tensor_indices_or_sections._array
    listed = tensor_indices_or_sections.tolist()
    if places.dtype != np.int64:
        raise RuntimeError("tensor_split expected tensor_indices_or_sections to have dtype of long")
    if places.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
            "tensor, but got "
            f"a tensor with {places.ndim} dims"
        )
    if not places.ndim:
        return tensor_split(self, listed, dim)
    return tensor_split_indices(self, listed, dim)


def named_split(name, least, dim_of):
    """Declare `hsplit`, `vsplit` or `dsplit`: a `tensor_split` along a fixed dimension."""

    def checked(self):
        ndim = self._array.ndim
        if ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
                f"with {ndim} dimensions!"
            )
        return dim_of(ndim)

    def by_sections(self, sections):
        dim = checked(self)
        size = self._array.shape[dim]
        if sections == 0 or size % sections:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                f"{size} is not "
                f"divisible by the split_size {sections}!"
            )
        return tensor_split(self, sections, dim)

    def by_indices(self, indices):
        return tensor_split_indices(self, indices, checked(self))

    composite(f"{name}.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")(by_sections)
    composite(f"{name}.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")(by_indices)


named_split("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1)
named_split("vsplit", 2, lambda ndim: 0)
named_split("dsplit", 3, lambda ndim: 2)
