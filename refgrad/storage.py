"""Memory and version counters.

*Version counter*: a one-item list, the cheapest mutable cell that Python has; tensors that share it see each
other's writes. A tensor that was never written and shares with nobody has None instead, which counts as zero.
*Storage*: the memory that windows are cut from; here the NumPy array that owns it.
"""

from typing import Any

import numpy as np

from refgrad import errors, modes
from refgrad.layout import NoMemory, root_of


class InferenceVersion(list):
    """The version counter of an inference tensor: there is none; reading it to save the tensor is refused."""

    __slots__ = ()

    def __getitem__(self, index):
        raise RuntimeError(errors.INFERENCE_SAVE)

    def __setitem__(self, index, value):
        raise RuntimeError(errors.INFERENCE_WRITE)


INFERENCE = InferenceVersion()


class DetachedInference(InferenceVersion):
    """The counter of what `detach` made of an inference tensor outside inference mode.

    Writes to it are allowed and counted; saving it is refused all the same.
    """

    __slots__ = ("writes",)

    def __init__(self) -> None:
        self.writes = 0


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


class UntypedStorage:
    """The memory behind a tensor, in bytes."""

    __slots__ = ("_owner",)

    def __init__(self, array: np.ndarray):
        self._owner = root_of(array)

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


def data_ptr(array: np.ndarray) -> int:
    """The address of a window's first element; 0 for an empty one."""
    return array.__array_interface__["data"][0] if array.size else 0


def storage_key(array: np.ndarray) -> int:
    """A number that two windows share exactly when they show the same memory; 0 where there is none."""
    root = root_of(array)
    return 0 if isinstance(root, NoMemory) or not root.nbytes else id(root)
