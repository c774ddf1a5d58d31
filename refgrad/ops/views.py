"""Views: other shapes of the same memory. Their kernels map layouts."""

import sys

import numpy as np

from refgrad.layout import Layout, contiguous_strides, infer_size, view_strides, window, wrap_dim
from refgrad.op import calls, op
from refgrad.ops.checks import written_zeros
from refgrad.tensor import wrap


@op(
    "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    self=lambda grad, dim0, dim1: grad.transpose(dim0, dim1),
    inplace=True,
    inplace_node="TransposeBackward1",
)
def transpose(layout, dim0, dim1):
    order = list(range(layout.ndim))
    i, j = layout.wrap_dim(dim0), layout.wrap_dim(dim1)
    if order:
        order[i], order[j] = order[j], order[i]
    return layout.permuted(order)


@op(
    "t(Tensor(a) self) -> Tensor(a)",
    self=lambda grad: grad.t(),
    inplace=True,
    inplace_node="TBackward1",
)
def t(layout):
    if layout.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {layout.ndim}D")
    return layout.permuted(range(layout.ndim - 1, -1, -1))


@op(
    "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
    self=lambda grad, dims: permute_back(grad, dims),
)
def permute(layout, dims):
    if len(dims) != layout.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
            f"the desired ordering of dimensions i.e. input.dim() = {layout.ndim} is not equal to "
            f"len(dims) = {len(dims)}"
        )
    order = [layout.wrap_dim(dim) for dim in dims]
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return layout.permuted(order)


def permute_back(grad, dims):
    """The gradient with its dimensions in their former order."""
    return grad.permute([int(i) for i in np.argsort([wrap_dim(dim, len(dims)) for dim in dims])])


@op(
    "view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)
def view(layout, size):
    shape = infer_size(size, layout.numel)
    strides = view_strides(layout.shape, layout.strides, shape)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans "
            "across two contiguous subspaces). Use .reshape(...) instead."
        )
    return Layout(shape, strides, layout.offset)


@op(
    "_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
    node="UnsafeViewBackward0",
)
def unsafe_view(self, size):
    return self.reshape(infer_size(size, self.size))


@op(
    "_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
    node="ReshapeAliasBackward0",
)
def reshape_alias(layout, size, stride):
    return Layout(tuple(size), tuple(stride), layout.offset)


@op(
    "alias(Tensor(a) self) -> Tensor(a)",
    self=lambda grad: grad,
)
def alias(layout):
    return layout


@op(
    "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
    self=lambda grad, self_sym_sizes: grad.sum_to_size(self_sym_sizes) if self_sym_sizes else grad.sum(),
)
def expand(layout, size, implicit):
    if len(size) < layout.ndim:
        raise RuntimeError(
            f"expand({tensor_text(layout)}, size={list(size)}): the number of sizes provided ({len(size)}) "
            f"must be greater or equal to the number of dimensions in the tensor ({layout.ndim})"
        )
    lead = len(size) - layout.ndim
    shape = list(size)
    strides = [0] * len(size)
    for i in reversed(range(len(size))):
        if i < lead:
            if size[i] == -1:
                raise RuntimeError(
                    "The expanded size of the tensor (-1) isn't allowed in a leading, "
                    f"non-existing dimension {i}"
                )
            if size[i] == 1 and layout.ndim:
                strides[i] = shape[i + 1] * strides[i + 1]
            continue
        own = layout.shape[i - lead]
        if size[i] in (-1, own):
            shape[i], strides[i] = own, layout.strides[i - lead]
        elif own != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({size[i]}) must match the existing size "
                f"({own}) at non-singleton dimension {i}.  Target sizes: {list(size)}.  "
                f"Tensor sizes: {list(layout.shape)}"
            )
    return Layout(tuple(shape), tuple(strides), layout.offset)


def tensor_text(layout):
    """How messages of `expand` show the tensor."""
    return f"torch.FloatTensor{{{list(layout.shape)}}}"


@op(
    "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
    self=lambda grad, self_geometry, size, stride, storage_offset: as_strided_back(
        grad, self_geometry, size, stride, storage_offset
    ),
    inplace=True,
    inplace_node="AsStridedBackward1",
)
def as_strided(layout, size, stride, storage_offset):
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
        )
    if any(n < 0 for n in size):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
        )
    if storage_offset is not None and storage_offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
    return Layout(tuple(size), tuple(stride), layout.offset if storage_offset is None else storage_offset)


def as_strided_back(grad, geometry, size, stride, storage_offset):
    """The gradient of the source: what lies at each place of memory, summed over the places of the view."""
    storage_offset = geometry.offset if storage_offset is None else storage_offset
    if 0 in size or 0 in geometry.shape:
        return written_zeros(grad, geometry.shape)
    kept = [i for i, (n, step) in enumerate(zip(size, stride, strict=True)) if n != 1 and step != 0]
    for i in reversed(range(len(size))):
        if size[i] == 1:
            grad = calls.squeeze__dim(grad, i)
        elif stride[i] == 0:
            grad = calls.sum__dim_IntList(grad, (i,), False)
    shared = min(geometry.offset, storage_offset)
    view = Layout(tuple(size[i] for i in kept), tuple(stride[i] for i in kept), storage_offset - shared)
    source = Layout(geometry.shape, geometry.strides, geometry.offset - shared)
    view_places, source_places = positions(*view), positions(*source)
    length = 1 + max(int(view_places.max(initial=0)), int(source_places.max(initial=0)))
    memory = grad.new_zeros((length,))
    if overlapping(view.shape, view.strides):
        memory = memory.index_add_(0, wrap(view_places.reshape(-1)), grad.reshape((-1,)))
    else:
        calls.as_strided(memory, *view).copy_(grad)
    if overlapping(source.shape, source.strides):
        counts = np.bincount(source_places.ravel(), minlength=length)
        memory = memory / wrap(counts.astype(grad._array.dtype))
    return calls.as_strided(memory, *source)


def positions(size, stride, offset):
    """Where in memory each element lies."""
    result = np.full(size, offset, np.int64)
    for axis, (n, step) in enumerate(zip(size, stride, strict=True)):
        result += (np.arange(n) * step).reshape([-1 if i == axis else 1 for i in range(len(size))])
    return result


def overlapping(size, stride):
    """Whether two elements may lie at one place."""
    extent = 0
    for step, n in sorted((step, n) for n, step in zip(size, stride, strict=True) if n != 1):
        if step <= extent:
            return True
        extent += step * (n - 1)
    return False


@op(
    "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
    self=lambda grad, self_sym_sizes, dim, index: calls.select_backward(grad, self_sym_sizes, dim, index),
)
def select(layout, dim, index):
    if not layout.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = layout.wrap_dim(dim)
    size = layout.shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(layout.shape)} at dimension {dim}"
        )
    index += size if index < 0 else 0
    offset = layout.offset + index * layout.strides[dim]
    return Layout(without(layout.shape, dim), without(layout.strides, dim), offset)


def without(values, position):
    """A tuple less one of its items."""
    return values[:position] + values[position + 1 :]


@op(
    "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) "
    "-> Tensor(a)",
    self=lambda grad, self_sym_sizes, dim, start, end, step: calls.slice_backward(
        grad, self_sym_sizes, dim, start or 0, sys.maxsize if end is None else end, step
    ),
)
def slice_(layout, dim, start, end, step):
    if not layout.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    dim = layout.wrap_dim(dim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    size = layout.shape[dim]
    start, end, _ = slice(start, end, step).indices(size)
    count = max(0, -(-(end - start) // step))
    shape = layout.shape[:dim] + (count,) + layout.shape[dim + 1 :]
    strides = layout.strides[:dim] + (layout.strides[dim] * step,) + layout.strides[dim + 1 :]
    return Layout(shape, strides, layout.offset + min(start, size) * layout.strides[dim])


@op(
    "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
    self=lambda grad, dim: grad.squeeze(dim),
    inplace=True,
    inplace_node="UnsqueezeBackward1",
)
def unsqueeze(layout, dim):
    dim = wrap_dim(dim, layout.ndim + 1)
    stride = layout.shape[dim] * layout.strides[dim] if dim < layout.ndim else 1
    shape = layout.shape[:dim] + (1,) + layout.shape[dim:]
    return Layout(shape, layout.strides[:dim] + (stride,) + layout.strides[dim:], layout.offset)


def squeezed(layout, dims):
    """The layout without those of the given dimensions that have size 1."""
    kept = [i for i in range(layout.ndim) if not (i in dims and layout.shape[i] == 1)]
    return layout.permuted(kept)


@op(
    "squeeze(Tensor(a) self) -> Tensor(a)",
    self=lambda grad, self_sym_sizes: unsqueezed(grad, self_sym_sizes, range(len(self_sym_sizes))),
    inplace=True,
    inplace_node="SqueezeBackward3",
)
def squeeze(layout):
    return squeezed(layout, range(layout.ndim))


@op(
    "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
    node="SqueezeBackward1",
    self=lambda grad, self_sym_sizes, dim: unsqueezed(grad, self_sym_sizes, (dim,)),
    inplace=True,
    inplace_node="SqueezeBackward4",
)
def squeeze_dim(layout, dim):
    return squeezed(layout, (layout.wrap_dim(dim),))


@op(
    "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
    node="SqueezeBackward2",
    self=lambda grad, self_sym_sizes, dim: unsqueezed(grad, self_sym_sizes, dim),
    inplace=True,
    inplace_node="SqueezeBackward5",
)
def squeeze_dims(layout, dim):
    dims = [layout.wrap_dim(d) for d in dim]
    for i, wrapped in enumerate(dims):
        if wrapped in dims[:i]:
            raise RuntimeError(f"dim {wrapped} appears multiple times in the list of dims")
    return squeezed(layout, dims)


def unsqueezed(grad, sizes, dims):
    """The gradient with those of the given dimensions put back whose size is 1."""
    wrapped = {wrap_dim(dim, len(sizes)) for dim in dims}
    for dim, size in enumerate(sizes):
        if size == 1 and dim in wrapped:
            grad = calls.unsqueeze(grad, dim)
    return grad


@op(
    "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    self=lambda grads, self_sym_sizes, split_size, dim: parts_back(
        grads, self_sym_sizes, equal_parts(self_sym_sizes[dim], split_size, len(grads)), dim
    ),
)
def split(layout, split_size, dim):
    check_splittable(layout)
    dim = layout.wrap_dim(dim)
    size = layout.shape[dim]
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    if split_size == 0 and size:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )
    count = max(-(-size // split_size), 1) if split_size else 1
    return pieces(layout, [min(split_size, size - i * split_size) for i in range(count)], dim)


@op(
    "split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
    self=lambda grads, self_sym_sizes, split_sizes, dim: parts_back(grads, self_sym_sizes, split_sizes, dim),
)
def split_with_sizes(layout, split_sizes, dim):
    check_splittable(layout)
    dim = layout.wrap_dim(dim)
    if sum(split_sizes) != layout.shape[dim]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {layout.shape[dim]} (input tensor's "
            f"size at dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    return pieces(layout, split_sizes, dim)


def check_splittable(layout):
    """Refuse a layout without dimensions.

    Raises:
        RuntimeError: it has none.
    """
    if not layout.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")


def pieces(layout, sizes, dim):
    """Layouts of consecutive parts of a dimension."""
    found, start = [], 0
    for size in sizes:
        shape = layout.shape[:dim] + (size,) + layout.shape[dim + 1 :]
        found.append(Layout(shape, layout.strides, layout.offset + start * layout.strides[dim]))
        start += size
    return found


def parts_back(grads, sizes, split_sizes, dim):
    """The gradients of consecutive parts put together; zeros where there is none."""
    dim = wrap_dim(dim, len(sizes))
    given = next(grad for grad in grads if grad is not None)
    parts = []
    for grad, size in zip(grads, split_sizes, strict=True):
        if grad is None:
            grad = given.new_zeros((*sizes[:dim], size, *sizes[dim + 1 :]))
        parts.append(grad)
    return calls.cat(parts, dim)


def equal_parts(size, step, count):
    """The sizes of parts of a dimension of which all but the last are equally long."""
    return [min(step, size - i * step) for i in range(count)]


@op(
    "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
    self=lambda grads, dim: stacked(grads, dim),
)
def unbind(layout, dim):
    dim = layout.wrap_dim(dim)
    if not layout.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return [select.kernel(layout, dim, i) for i in range(layout.shape[dim])]


def stacked(grads, dim):
    """The gradients of slices put together; zeros where there is none."""
    given = next(grad for grad in grads if grad is not None)
    return calls.stack([given.new_zeros(given.shape) if g is None else g for g in grads], dim)


@op(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    self=lambda grad, self_sym_sizes, offset, dim1, dim2: calls.diagonal_backward(
        grad, self_sym_sizes, offset, dim1, dim2
    ),
)
def diagonal(layout, offset, dim1, dim2):
    first, second = layout.wrap_dim(dim1), layout.wrap_dim(dim2)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, columns = layout.shape[first], layout.shape[second]
    length = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    length = max(length, 0)
    start = layout.offset
    if length:
        start += offset * layout.strides[second] if offset >= 0 else -offset * layout.strides[first]
    keep = [i for i in range(layout.ndim) if i not in (first, second)]
    rest = layout.permuted(keep)
    stride = layout.strides[first] + layout.strides[second]
    return Layout(rest.shape + (length,), rest.strides + (stride,), start)


@op(
    "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    self=lambda grad, self_sym_sizes, dimension, size, step: calls.unfold_backward(
        grad, self_sym_sizes, dimension, size, step
    ),
)
def unfold(layout, dimension, size, step):
    dim = layout.wrap_dim(dimension)
    length = layout.shape[dim] if layout.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not layout.ndim:
        return Layout((size,), (1,), layout.offset)
    count = (layout.shape[dim] - size) // step + 1
    shape = layout.shape[:dim] + (count,) + layout.shape[dim + 1 :] + (size,)
    strides = layout.strides[:dim] + (layout.strides[dim] * step,) + layout.strides[dim + 1 :]
    return Layout(shape, strides + (layout.strides[dim],), layout.offset)


# What second-order graphs need ------------------------------------------------------------------------------


@op(
    "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
    grad_output=lambda grad, dim, index: grad.select(dim, index),
    node="SelectBackwardBackward0",
)
def select_backward(grad_output, input_sizes, dim, index):
    result = np.zeros(input_sizes, grad_output.dtype)
    result[(slice(None),) * wrap_dim(dim, len(input_sizes)) + (index,)] = grad_output
    return result


@op(
    "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, "
    "SymInt step) -> Tensor",
    grad_output=lambda grad, dim, start, end, step: calls.slice(grad, dim, start, end, step),
    node="SliceBackwardBackward0",
)
def slice_backward(grad_output, input_sizes, dim, start, end, step):
    result = np.zeros(input_sizes, grad_output.dtype)
    result[(slice(None),) * wrap_dim(dim, len(input_sizes)) + (slice(start, end, step),)] = grad_output
    return result


@op(
    "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
    grad_output=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
    node="DiagonalBackwardBackward0",
)
def diagonal_backward(grad_output, input_sizes, offset, dim1, dim2):
    result = np.zeros(input_sizes, grad_output.dtype)
    window_in(result, diagonal, offset, dim1, dim2)[...] = grad_output
    return result


def window_in(array, view_op, *arguments):
    """The window that a view op shows of a contiguous array."""
    layout = view_op.kernel(Layout(array.shape, contiguous_strides(array.shape), 0), *arguments)
    return window(array, array.dtype, layout)


@op(
    "unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor",
    grad_in=lambda grad, dim, size, step: grad.unfold(dim, size, step),
    node="UnfoldBackwardBackward0",
)
def unfold_backward(grad_in, input_sizes, dim, size, step):
    result = np.zeros(input_sizes, grad_in.dtype)
    shown = window_in(result, unfold, dim, size, step)
    axis = wrap_dim(dim, len(input_sizes))
    for i in range(shown.shape[axis] if input_sizes else 0):
        place = (slice(None),) * axis + (i,)
        shown[place] += grad_in[place]
    return result if input_sizes else grad_in.sum()
