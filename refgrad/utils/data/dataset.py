"""Data sets: things with a length and items by number, or things that can only be gone through."""

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from refgrad.op import calls

Item = TypeVar("Item", covariant=True)


class Dataset(Generic[Item]):
    """Base of data sets with items by number; `+` puts two behind each other."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: "Dataset") -> "ConcatDataset":
        return ConcatDataset([self, other])


class IterableDataset(Dataset[Item], Iterable[Item]):
    """Base of data sets that can only be gone through."""

    def __add__(self, other: Dataset) -> "ChainDataset":  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Tensors with as many rows each; an item is a tuple of rows.

    Raises:
        AssertionError: the numbers of rows differ.
    """

    def __init__(self, *tensors: Any) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


def items_of(dataset: Any, indices: list) -> list:
    """The items at some indices, all at once where the data set can do that."""
    if callable(getattr(dataset, "__getitems__", None)):
        items = dataset.__getitems__(indices)
        if len(items) != len(indices):
            raise ValueError(
                f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}"
            )
        return items
    return [dataset[index] for index in indices]


class StackDataset(Dataset):
    """Data sets of one length; an item is a tuple, or a dict by name, of items.

    Raises:
        ValueError: lengths differ, or sets are given both with and without names.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, "
                "but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: Any = args or kwargs
        lengths = [len(dataset) for dataset in self._all()]
        if any(length != lengths[0] for length in lengths):
            raise ValueError("Size mismatch between datasets")
        self._length = lengths[0]

    def _all(self) -> list:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _joined(self, parts: Iterable) -> Any:
        return (
            dict(zip(self.datasets, parts, strict=True)) if isinstance(self.datasets, dict) else tuple(parts)
        )

    def __getitem__(self, index: Any) -> Any:
        return self._joined([dataset[index] for dataset in self._all()])

    def __getitems__(self, indices: list) -> list:
        columns = [items_of(dataset, indices) for dataset in self._all()]
        return [self._joined(row) for row in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset):
    """Data sets behind each other.

    Raises:
        AssertionError: there are none, or one can only be gone through.
    """

    def __init__(self, datasets: Iterable) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable) -> list[int]:
        """The sums of the lengths so far."""
        return list(itertools.accumulate(len(part) for part in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        number = bisect.bisect_right(self.cumulative_sizes, idx)
        start = self.cumulative_sizes[number - 1] if number else 0
        return self.datasets[number][idx - start]


class ChainDataset(IterableDataset):
    """Data sets gone through one after the other."""

    def __init__(self, datasets: Iterable) -> None:
        self.datasets = datasets

    def _checked(self) -> Iterator:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator:
        for dataset in self._checked():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._checked())


class Subset(Dataset):
    """The items of a data set at some indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices
        own = type(self)
        if own.__getitem__ is not Subset.__getitem__ and own.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{own.__name__} overrides __getitem__ but not __getitems__. When subclassing Subset and "
                "overriding __getitem__, you must also override __getitems__ to ensure DataLoader works "
                "correctly with your custom logic."
            )

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list:
        chosen = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(chosen)
        return [self.dataset[i] for i in chosen]

    def __len__(self) -> int:
        return len(self.indices)


def sizes_of(lengths: Sequence[float], total: int) -> list[int]:
    """The sizes that shares of a total come to; what is left over goes to the first ones.

    Raises:
        ValueError: a share is none.
    """
    for i, share in enumerate(lengths):
        if share < 0 or share > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    sizes = [math.floor(total * share) for share in lengths]
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    for i, size in enumerate(sizes):
        if size == 0:
            text = f"Length of split at index {i} is 0. This might result in an empty dataset."
            warnings.warn(text, stacklevel=3)
    return sizes


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Parts of a data set of these lengths, or shares, chosen at random.

    Raises:
        ValueError: the lengths do not come to the whole.
    """
    sizes: Any = lengths
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        sizes = sizes_of(lengths, len(dataset))
    if sum(sizes) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = calls.randperm(sum(sizes), generator).tolist()
    ends = itertools.accumulate(sizes)
    return [Subset(dataset, order[end - size : end]) for end, size in zip(ends, sizes, strict=True)]
