"""A tensor's memory exchanged, resized, or shown as another element type."""

import numpy as np

from refgrad import dtypes, duals, modes
from refgrad.call import check_write, refused
from refgrad.edges import edge_of
from refgrad.errors import INFERENCE_WRITE
from refgrad.layout import Layout, contiguous_strides, layout_of, window
from refgrad.op import composite
from refgrad.ops.copying import empty_strided, format_strides
from refgrad.samples import stop_at_wrapper
from refgrad.storage import count_write, flat_memory, version_cell
from refgrad.tensor import alias
from refgrad.views import check_inplace, rebase_history

# Writes without derivative ----------------------------------------------------------------------------------


def write_refused(self, sources, name, write):
    """Run `write()` on a tensor; where autograd would follow, it records a node that refuses to run.

    Raises:
        RuntimeError: the tensor must not be written.
    """
    tensors = [self, *sources]
    wanted = modes.grad_enabled() and any(edge_of(tensor) is not None for tensor in tensors)
    wanted = wanted and not all(tensor.is_inference() for tensor in tensors)
    if wanted:
        check_inplace(self)
    edges = tuple([edge_of(tensor) for tensor in tensors]) if wanted else ()
    if name.startswith("aten::"):  # a fallback records those that require grad alone
        edges = tuple([edge for edge in edges if edge is not None])
    write()
    count_write(self)
    if wanted:
        rebase_history(self, refused(name, edges, (self._array.shape, self._array.dtype)))
    return self


def set_memory(self, array, source=None):
    """Let a tensor show other memory, with a counter of its own.

    Raises:
        RuntimeError: the element types differ.
    """
    if array.dtype != self._array.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {dtypes.OF_NUMPY[array.dtype].cpp_name} to a tensor "
            f"of type {self.dtype.cpp_name}"
        )

    def write():
        self._array = array
        if self._meta is not None:
            self._meta.accumulator = None

    check_write(self, (), True)
    return write_refused(self, () if source is None else (source,), "set_", write)


@composite("set_(Tensor(a!) self) -> Tensor(a!)")
def set_(self):
    return set_memory(self, np.empty(0, self._array.dtype))


@composite("set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)")
def set_tensor_(self, source):
    return set_memory(self, source._array, source)


@composite(
    "set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, SymInt[] size, "
    "SymInt[] stride=[]) -> Tensor(a!)"
)
def set_tensor_window_(self, source, storage_offset, size, stride=()):
    layout = Layout(tuple(size), tuple(stride) or contiguous_strides(size), storage_offset)
    return set_memory(self, window(flat_memory(source._array), source._array.dtype, layout), source)


@composite("set_.source_Storage(Tensor(a!) self, Storage source) -> Tensor(a!)")
def set_storage_(self, source):
    count = source.nbytes() // self._array.itemsize
    return set_storage_window_(self, source, 0, (count,))


@composite(
    "set_.source_Storage_storage_offset(Tensor(a!) self, Storage source, SymInt storage_offset, "
    "SymInt[] size, SymInt[] stride=[]) -> Tensor(a!)"
)
def set_storage_window_(self, source, storage_offset, size, stride=()):
    layout = Layout(tuple(size), tuple(stride) or contiguous_strides(size), storage_offset)
    return set_memory(self, window(flat_memory(source._owner), self._array.dtype, layout))


# Sizes ------------------------------------------------------------------------------------------------------


@composite("resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)")
def resize_(self, size, memory_format=None):
    """Memory that has to grow is new memory: other tensors keep showing the old."""
    if self.requires_grad and not (modes.inference_enabled() or self.is_inference()):
        raise RuntimeError("cannot resize variables that require grad")
    if modes.DUALS and duals.tangent_of(self) is not None:
        raise RuntimeError("cannot resize variables that has a forward grad")
    size = tuple(size)
    if any(n < 0 for n in size):
        raise RuntimeError("numel: integer multiplication overflow")
    if size == self._array.shape:
        return self
    strides = contiguous_strides(size)
    if memory_format is not None and memory_format.name.startswith("channels_last"):
        strides = format_strides(size, memory_format.name)
    self._array = resized(self._array, size, strides)
    check_resizable(self)  # too late, as in PyTorch, which finds out when it counts the write
    count_write(self)
    return self


def check_resizable(self):
    """Refuse an inference tensor outside inference mode.

    Raises:
        RuntimeError: it is one.
    """
    if self.is_inference() and not modes.inference_enabled():
        raise RuntimeError(INFERENCE_WRITE)


def resized(array, size, strides):
    """A window of another shape on the same memory, or on a larger copy of it.

    Raises:
        RuntimeError: the memory belongs to NumPy and is too small.
    """
    offset, memory = layout_of(array).offset, flat_memory(array).reshape(-1)
    needed = offset + empty_strided(size, strides, array.dtype).size if 0 not in size else offset
    if needed * array.itemsize > memory.nbytes:
        larger = np.zeros(needed, array.dtype)
        larger[: memory.nbytes // array.itemsize] = memory.view(array.dtype)
        memory = larger
    return window(memory, array.dtype, Layout(size, strides, offset))


@composite(
    "resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)"
)
def resize_as_(self, the_template, memory_format=None):
    return resize_(self, the_template._array.shape, memory_format)


# Other element types over the same memory -------------------------------------------------------------------


@composite("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)")
def view_dtype(self, dtype):
    """The same bytes as another type: memory and counter are shared, autograd sees no relation."""
    conjugate, negative = "conjugate view tensors", "tensors with negative bit set"
    for found, words in ((self.is_conj(), conjugate), (self.is_neg(), negative)):
        if found:
            raise RuntimeError(
                f"torch.Tensor.view is not supported for {words} when converting to a different dtype."
            )
    stop_at_wrapper(self)
    array = self._array
    layout = retyped(layout_of(array), self.dtype, dtype)
    new = alias(self, version_cell(self))
    new._array = window(flat_memory(array), dtype.numpy, layout)
    return new


def retyped(layout, source, target):
    """The layout of the same bytes as another type.

    Raises:
        RuntimeError: sizes, strides or offset do not divide.
    """
    if source.itemsize == target.itemsize:
        return layout
    words = f"to view {source.scalar_type} as {target.scalar_type} (different element sizes)"
    if not layout.ndim:
        raise RuntimeError(f"self.dim() cannot be 0 {words}")
    if layout.strides[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {words}, but got {layout.strides[-1]}")
    shape, strides = list(layout.shape), list(layout.strides)
    if source.itemsize > target.itemsize:
        ratio = source.itemsize // target.itemsize
        shape[-1] *= ratio
        strides = [*[stride * ratio for stride in strides[:-1]], 1]
        return Layout(tuple(shape), tuple(strides), layout.offset * ratio)
    ratio = target.itemsize // source.itemsize
    checked = [("size(-1)", shape[-1]), ("storage_offset()", layout.offset)]
    checked += [(f"stride({i})", stride) for i, stride in enumerate(strides[:-1])]
    for name, number in checked:
        if number % ratio:
            raise RuntimeError(f"self.{name} must be divisible by {ratio} {words}, but got {number}")
    shape[-1] //= ratio
    strides = [*[stride // ratio for stride in strides[:-1]], 1]
    return Layout(tuple(shape), tuple(strides), layout.offset // ratio)
