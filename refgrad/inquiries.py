"""What tensors are asked about where and how they live: dense, on the CPU, unless shared between processes.

Also old methods: two in another shape, two that run a Python function over the elements. Attached to
`Tensor` when the functions are loaded.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad.layout import layout_of, root_of, strides_of
from refgrad.methods import attach
from refgrad.op import calls
from refgrad.ops.from_data import full_type_name
from refgrad.storage import TypedStorage, UntypedStorage, legacy_storage_type, storage_key, warn_typed
from refgrad.tensor import Tensor
from refgrad.types import MemoryFormat
from refgrad.views import taken_again

ELSEWHERE = (
    *("is_cuda", "is_ipu", "is_maia", "is_meta", "is_mkldnn", "is_mps", "is_mtia", "is_nested"),
    *("is_quantized", "is_sparse", "is_sparse_csr", "is_vulkan", "is_xla", "is_xpu"),
)

for _name in ELSEWHERE:
    setattr(Tensor, _name, property(lambda self: False))
Tensor.name = property(lambda self: None)


@attach
def get_device(self: Tensor) -> int:
    """The number of the device: -1 for the CPU."""
    return -1


def lies_alike(tensor: Tensor, other: Any) -> bool:
    """Whether two tensors have the same place in storages of the same number of elements."""
    if tensor.shape != other.shape or tensor.storage_offset() != other.storage_offset():
        return False
    strides = zip(tensor.shape, tensor.stride(), other.stride(), strict=True)
    if any(size > 1 and own != theirs for size, own, theirs in strides):
        return False
    sizes = [each.untyped_storage().nbytes() // each.element_size() for each in (tensor, other)]
    return sizes[0] == sizes[1] and tensor.is_conj() == other.is_conj() and tensor.is_neg() == other.is_neg()


@attach
def _view_func(self: Tensor, new_base: Tensor) -> Tensor | None:
    """This view taken of another base; None if it is no view, or the base lies otherwise in memory."""
    if not self._is_view() or not lies_alike(new_base, self._base):
        return None
    return taken_again(self, new_base)


@attach
def _view_func_unsafe(self: Tensor, new_base: Tensor) -> Tensor | None:
    """This view taken of another base, whatever that looks like; None if it is no view."""
    return taken_again(self, new_base) if self._is_view() else None


@attach
def _rev_view_func_unsafe(self: Tensor, new_view: Tensor) -> Tensor | None:
    """What this view's base would be if this view were another tensor: a view of that; None if it is no view.

    Raises:
        RuntimeError: it was made by strides alone, while views did not keep how they were made.
    """
    if not self._is_view():
        return None
    if self._meta.replay is None:
        raise RuntimeError("No _rev_view_func() found")
    base: Any = self._base
    if base.is_complex() and not new_view.is_complex():
        pairs = new_view.as_strided(
            (root_of(new_view._array).nbytes // (2 * new_view.itemsize), 2), (2, 1), 0
        )
        new_view = calls.view_as_complex(pairs)
    elif new_view.is_complex() and not base.is_complex():
        new_view = calls.view_as_real(new_view)
    return new_view.as_strided(*layout_of(base._array))


@attach
def is_distributed(self: Tensor) -> bool:
    """Whether it is spread over processes: never here."""
    return False


@attach
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether its memory is page-locked: never here."""
    return False


@attach
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Copy to page-locked memory.

    Raises:
        RuntimeError: always; there is no accelerator.
    """
    raise RuntimeError("Cannot access accelerator device when none is available.")


@attach
def is_shared(self: Tensor) -> bool:
    """Whether `share_memory_` was called on a tensor with this memory."""
    return UntypedStorage(self._array).is_shared()


@attach
def share_memory_(self: Tensor) -> Tensor:
    """Let other processes see this memory; threads do anyway, and processes are not started here."""
    UntypedStorage(self._array).share_memory_()
    return self


@attach
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
    """The tensor itself: it is dense."""
    return self if dtype is None else self.to(dtype)


@attach
def dense_dim(self: Tensor) -> int:
    """The number of dense dimensions: all."""
    return self._array.ndim


@attach
def sparse_dim(self: Tensor) -> int:
    """The number of sparse dimensions: none."""
    return 0


@attach
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the one with the longest steps in memory to that with the shortest.

    Raises:
        TypeError: `ambiguity_check` is neither a bool nor a list of memory formats.
        RuntimeError: other orders are as good, and none of these formats decides.
    """
    is_list = isinstance(ambiguity_check, list)
    if not (isinstance(ambiguity_check, bool) or is_list and all_formats(ambiguity_check)):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    shape, strides = self._array.shape, strides_of(self._array)
    order = tuple(sorted(range(len(strides)), key=lambda dim: -strides[dim]))
    is_ambiguous = any(
        size == 1 or strides.count(stride) > 1 for size, stride in zip(shape, strides, strict=True)
    )
    if ambiguity_check and is_ambiguous:
        fitting = (
            [each for each in ambiguity_check if self.is_contiguous(memory_format=each)] if is_list else []
        )
        if not fitting:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given memory "
                "formats."
            )
        return (0, 2, 3, 1) if fitting[0].name == "channels_last" else tuple(range(len(shape)))
    return order


def all_formats(values: list) -> bool:
    """Whether a list holds memory formats and nothing else."""
    return all(isinstance(value, MemoryFormat) for value in values)


@attach
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both show the same elements of the same memory in the same layout."""
    mine, other = self._array, tensor._array
    return (
        storage_key(mine) == storage_key(other)
        and mine.shape == other.shape
        and strides_of(mine) == strides_of(other)
        and self.storage_offset() == tensor.storage_offset()
    )


@attach
def storage(self: Tensor) -> TypedStorage:
    """Its memory, in elements of its type; warns that this class will go."""
    return TypedStorage(self._array, self.dtype)


@attach
def storage_type(self: Tensor) -> type:
    """The class of its memory in elements; warns that it will go."""
    for _ in range(3):  # PyTorch asks a typed storage for its device, twice, and each use warns too
        warn_typed()
    return legacy_storage_type(self.dtype.scalar_type)


@attach
def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """What a module that loads `other` swaps with this tensor: with `assign` the other's memory."""
    return other.detach() if assign else self.copy_(other).detach()


# Old methods that warn --------------------------------------------------------------------------------------


@attach
def resize(self: Tensor, *sizes: Any) -> Tensor:
    """The elements in another shape. Deprecated.

    Raises:
        RuntimeError: the number of elements would differ.
    """
    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    from refgrad.autograd._functions import Resize

    return Resize.apply(self, sizes)


@attach
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """The elements in the shape of another tensor. Deprecated.

    Raises:
        RuntimeError: the number of elements would differ.
    """
    warnings.warn("non-inplace resize_as is deprecated", stacklevel=2)
    from refgrad.autograd._functions import Resize

    return Resize.apply(self, tensor.size())


# Functions over the elements --------------------------------------------------------------------------------


@attach
def apply_(self: Tensor, callable: Callable) -> Tensor:
    """Replace each element by what the function makes of it; the write is not counted.

    Raises:
        RuntimeError: it requires grad.
        TypeError: no function was given, or it returns no number.
    """
    refuse_graph("apply_", self)
    array = self._array
    for index in np.ndindex(*array.shape):
        array[index] = number(callable(array[index].item()), array)
    return self


@attach
def map_(self: Tensor, tensor: Tensor, callable: Callable) -> Tensor:
    """Replace each element by what the function makes of it and of the other tensor's; no write is counted.

    Raises:
        RuntimeError: one of them requires grad, or the other cannot be expanded to this shape.
        TypeError: the other is no tensor of the same type.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"map_(): argument 'other' (position 1) must be Tensor, not {type(tensor).__name__}")
    refuse_graph("map_", self, tensor)
    if tensor.dtype is not self.dtype:
        wanted, got = full_name(self), full_name(tensor)
        raise TypeError(f"map_: expected {wanted} for 'other' (got {got})")
    array, other = self._array, calls.expand(tensor, self._array.shape)._array
    for index in np.ndindex(*array.shape):
        array[index] = number(callable(array[index].item(), other[index].item()), array)
    return self


def full_name(tensor: Tensor) -> str:
    """`torch.FloatTensor` and its like."""
    return f"torch.{tensor.dtype.scalar_type}Tensor"


def refuse_graph(name: str, *tensors: Tensor) -> None:
    """Refuse a Python function over elements that require grad.

    Raises:
        RuntimeError: one of the tensors requires grad.
    """
    if any(tensor.requires_grad for tensor in tensors):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
        )


def number(value: Any, array: np.ndarray) -> Any:
    """What a function returned, as an element.

    Raises:
        TypeError: it is no number.
    """
    if not isinstance(value, (int, float, complex)):
        raise TypeError(f"must be real number, not {full_type_name(value)}")
    return value
