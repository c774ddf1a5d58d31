"""Memory and version counters.

*Version counter*: a one-item list, the cheapest mutable cell that Python has; tensors that share it see each
other's writes. A tensor that was never written and shares with nobody has None instead, which counts as zero.
*Storage*: the memory that windows are cut from; here the NumPy array that owns it.
"""

import weakref
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from refgrad import errors, modes
from refgrad.layout import Layout, NoMemory, root_of, window
from refgrad.lazy import WithoutElements, plain


class InferenceVersion(list):
    """The version counter of an inference tensor: there is none; reading it to save the tensor is refused."""

    __slots__ = ()

    def __getitem__(self, index):
        raise RuntimeError(errors.INFERENCE_SAVE)

    def __setitem__(self, index, value):
        raise RuntimeError(errors.INFERENCE_WRITE)


INFERENCE = InferenceVersion()


class DetachedInference(InferenceVersion):
    """The counter of a tensor that shows an inference tensor's memory outside inference mode.

    Writes to it are allowed and counted; saving it is refused all the same.
    """

    __slots__ = ("writes",)

    def __init__(self, writes: int = 0) -> None:
        self.writes = writes


def is_inference(tensor: Any) -> bool:
    """Whether a tensor was made in inference mode."""
    return isinstance(tensor._version_cell, InferenceVersion)


def cell_of_detached(tensor: Any) -> list | None:
    """The counter of a tensor that shows an inference tensor's memory outside its graph, or None."""
    if not isinstance(tensor._version_cell, InferenceVersion):
        return None
    return INFERENCE if modes.inference_enabled() else DetachedInference()


def version_of(tensor: Any) -> int:
    """The number of writes to a tensor's memory."""
    cell = tensor._version_cell
    if cell.__class__ is DetachedInference:
        return cell.writes
    return 0 if cell is None else cell[0]


def version_cell(tensor: Any) -> list:
    """A tensor's counter, to be shared."""
    cell = tensor._version_cell
    if cell is None:
        cell = tensor._version_cell = [0]
    return cell


def count_write(tensor: Any) -> None:
    """Count one write to a tensor's memory, which was just done.

    Raises:
        RuntimeError: it is an inference tensor and inference mode is off.
    """
    cell = tensor._version_cell
    if cell is None:
        tensor._version_cell = [1]
    elif cell.__class__ is DetachedInference:
        cell.writes += 1
    elif cell is not INFERENCE:
        cell[0] += 1
    elif not modes.inference_enabled():
        raise RuntimeError(errors.INFERENCE_WRITE)


SHARED: dict[int, Any] = {}
"""The memory that share_memory_ was called on: weak references by identity, as arrays have no hash."""


class UntypedStorage:
    """The memory behind a tensor, in bytes."""

    __slots__ = ("_owner",)

    def __init__(self, array: np.ndarray):
        self._owner = root_of(array)

    def is_shared(self) -> bool:
        """Whether `share_memory_` was called on this memory."""
        return id(self._owner) in SHARED

    def share_memory_(self) -> "UntypedStorage":
        """Let other processes see this memory; threads do anyway, and processes are not started here."""
        key = id(self._owner)
        SHARED[key] = weakref.ref(self._owner, lambda _: SHARED.pop(key, None))
        return self

    def data_ptr(self) -> int:
        """The address of the first byte, 0 when there is none."""
        return self._owner.__array_interface__["data"][0] if self._owner.nbytes else 0

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._owner.nbytes

    def __len__(self) -> int:
        return self._owner.nbytes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._owner is other._owner

    def __hash__(self) -> int:
        return id(self._owner)

    def __getitem__(self, index: int) -> int:
        return memory_of(self._owner, np.uint8)[index].item()

    def tolist(self) -> list[int]:
        """The bytes."""
        return memory_of(self._owner, np.uint8).tolist()

    def size(self) -> int:
        """The number of bytes."""
        return self._owner.nbytes


class StorageType(type):
    """The class of `torch.FloatStorage` and its like."""


StorageType.__name__ = StorageType.__qualname__ = "_LegacyStorageMeta"
StorageType.__module__ = "torch.storage"


@cache
def legacy_storage_type(name: str) -> type:
    """`torch.FloatStorage` and its like, of an element type's name in capitals."""
    return StorageType(f"{name}Storage", (), {"__module__": "torch"})


class TypedStorage:
    """The memory behind a tensor, in elements of its type; every use of it warns that this class will go."""

    __slots__ = ("_owner", "dtype")

    def __init__(self, array: np.ndarray, dtype: Any):
        warn_typed()
        self._owner, self.dtype = root_of(array), dtype

    def untyped(self) -> UntypedStorage:
        """The same memory in bytes."""
        warn_typed()
        return UntypedStorage(self._owner)

    def data_ptr(self) -> int:
        """The address of the first element, 0 when there is none."""
        warn_typed()
        return UntypedStorage(self._owner).data_ptr()

    def nbytes(self) -> int:
        """The number of bytes."""
        warn_typed()
        return self._owner.nbytes

    def size(self) -> int:
        """The number of elements."""
        warn_typed()
        return self._owner.nbytes // self.dtype.itemsize

    __len__ = size

    def element_size(self) -> int:
        """The number of bytes of an element."""
        warn_typed()
        return self.dtype.itemsize

    def __getitem__(self, index: int) -> Any:
        warn_typed()
        return memory_of(self._owner, self.dtype.numpy)[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        warn_typed()
        memory_of(self._owner, self.dtype.numpy)[index] = value

    def __iter__(self) -> Iterator[Any]:
        warn_typed()
        return (self[index] for index in range(self.size()))

    def tolist(self) -> list:
        """The elements."""
        warn_typed()
        return list(self)


def warn_typed() -> None:
    """Warn that typed storages will go."""
    modes.warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only "
        "storage class. This should only matter to you if you are using storages directly.  To access "
        "UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
    )


def flat_memory(array: np.ndarray) -> np.ndarray:
    """The memory that a window was cut from, as one contiguous array."""
    root = root_of(array)
    if root.flags.c_contiguous:
        return root
    if root.flags.forc:
        return root.T
    # An owner of permuted memory: the axes in the order in which they lie there.
    return root.transpose(np.argsort([-stride for stride in root.strides], kind="stable"))


def window_of(array: np.ndarray, layout: Layout) -> np.ndarray:
    """The window that shows `layout` in the memory of `array`."""
    try:
        found = window(flat_memory(array), array.dtype, layout)
    except (TypeError, ValueError):
        plain(array)  # which has elements, or stops here
        raise out_of_memory(array, layout) from None
    if array.__class__ is np.ndarray:
        return found
    if isinstance(array, WithoutElements):
        plain(array)  # which stops here
    return found.view(array.__class__)


def out_of_memory(array: np.ndarray, layout: Layout) -> RuntimeError:
    """PyTorch's refusal of a layout that reaches beyond the memory."""
    size = array.itemsize
    last = sum((n - 1) * stride for n, stride in zip(layout.shape, layout.strides))
    return RuntimeError(
        f"setStorage: sizes {list(layout.shape)}, strides {list(layout.strides)}, storage offset "
        f"{layout.offset}, and itemsize {size} requiring a storage size of "
        f"{(layout.offset + last + 1) * size} are out of bounds for storage of size {root_of(array).nbytes}"
    )


def windows(array: np.ndarray, layouts: Sequence[Layout]) -> list[np.ndarray]:
    """The windows that show several layouts in the memory of `array`."""
    return [window_of(array, layout) for layout in layouts]


def memory_of(owner: np.ndarray, kind: Any) -> np.ndarray:
    """All the memory of its owner as a row of elements of one kind."""
    return flat_memory(owner).reshape(-1).view(kind)


def data_ptr(array: np.ndarray) -> int:
    """The address of a window's first element; 0 for an empty one."""
    return array.__array_interface__["data"][0] if array.size else 0


def storage_key(array: np.ndarray) -> int:
    """A number that two windows share exactly when they show the same memory; 0 where there is none."""
    root = root_of(array)
    return 0 if isinstance(root, NoMemory) or not root.nbytes else id(root)
