"""Batches out of items: tensors are stacked, containers are gone into."""

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.op import calls
from refgrad.ops import from_data
from refgrad.tensor import Tensor

UNKNOWN = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def refilled(container: Any, parts: Any) -> Any:
    """A container of the same kind with other parts, or a plain one where that cannot be made."""
    is_mapping = isinstance(container, Mapping)
    try:
        if isinstance(container, (MutableMapping, MutableSequence)):
            result = copy.copy(container)
            for key, part in parts.items() if is_mapping else enumerate(parts):
                result[key] = part
            return result
        return type(container)(parts)
    except TypeError:
        return parts


def default_convert(data: Any) -> Any:
    """One item with its arrays and NumPy numbers as tensors."""
    if isinstance(data, (np.ndarray, np.generic)):
        if data.dtype.kind in "SUO":
            return data
        return from_data.as_tensor(data)
    if isinstance(data, Mapping):
        return refilled(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        parts = [default_convert(part) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return refilled(data, [default_convert(part) for part in data])
    return data


def default_collate(batch: Any) -> Any:
    """A batch out of a list of items.

    Raises:
        TypeError: an item is of no kind that can be put together.
        RuntimeError: items differ in length.
    """
    first = batch[0]
    for kind, function in BY_KIND.items():
        if isinstance(first, kind):
            return function(batch)
    if isinstance(first, Mapping):
        return refilled(first, {key: default_collate([item[key] for item in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(column) for column in zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else refilled(first, columns)
    raise TypeError(UNKNOWN.format(type(first)))


def stacked(batch: Any) -> Any:
    """Tensors as one."""
    return calls.stack(list(batch), 0)


def stacked_arrays(batch: Any) -> Any:
    """Arrays as one tensor."""
    if batch[0].dtype.kind in "SUO":
        raise TypeError(UNKNOWN.format(batch[0].dtype))
    return default_collate([from_data.as_tensor(array) for array in batch])


BY_KIND: dict[Any, Callable] = {
    Tensor: stacked,
    np.ndarray: stacked_arrays,
    (np.bool_, np.number, np.object_): from_data.as_tensor,
    float: lambda batch: from_data.tensor(batch, dtype=dtypes.float64),
    int: lambda batch: from_data.tensor(batch),
    str: lambda batch: batch,
    bytes: lambda batch: batch,
}
