"""`DataLoader`: goes through a data set in batches.

All work is done in the process itself, whatever `num_workers` says: what comes out is the same, except for
random numbers that a data set draws.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from refgrad.utils.data.collate import default_collate, default_convert
from refgrad.utils.data.dataset import IterableDataset
from refgrad.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, drawn_seed

Item = TypeVar("Item", covariant=True)
FIXED = frozenset(["batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"])
NO_PINNING = (
    "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
    "used."
)


class EndlessSampler(Sampler):
    """Stands for the sampler of a data set that has no indices."""

    def __iter__(self) -> Iterator:
        while True:
            yield None


def check_workers(num_workers: int, timeout: float, prefetch_factor: Any, persistent_workers: bool) -> None:
    """Refuse options about workers that do not go together.

    Raises:
        ValueError: with PyTorch's text.
    """
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def check_order(dataset: Any, shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    """Refuse an order for a data set that has its own.

    Raises:
        ValueError: with PyTorch's text.
    """
    if isinstance(dataset, IterableDataset):
        given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        for name, value in given.items():
            if value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                    f"{name}={value}"
                )
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")


class DataLoader(Generic[Item]):
    """Goes through a data set, in order or shuffled, in batches made by `collate_fn`.

    Raises:
        ValueError: options do not go together.
    """

    _made = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        if multiprocessing_context is not None and num_workers == 0:
            raise ValueError(
                "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
                f"got num_workers={num_workers}"
            )
        check_order(dataset, shuffle, sampler, batch_sampler)
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                    "drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None:
            if isinstance(dataset, IterableDataset):
                sampler = EndlessSampler()
            else:
                sampler = (
                    RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
                )
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.persistent_workers = persistent_workers
        self._told_length: int | None = None
        self._made = True

    def __setattr__(self, attr: str, val: Any) -> None:
        if self._made and attr in FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> "LoaderIterator":
        return LoaderIterator(self)

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_sampler)
        length = self._told_length = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


class LoaderIterator:
    """One pass through a loader's data set."""

    def __init__(self, loader: DataLoader) -> None:
        if loader.pin_memory:
            warnings.warn(NO_PINNING, stacklevel=3)
        self.loader = loader
        self._indices = iter(loader._index_sampler)
        # PyTorch draws a seed for workers from the stream, whether there are any or not.
        self._base_seed = drawn_seed(loader.generator)
        self._items = iter(loader.dataset) if isinstance(loader.dataset, IterableDataset) else None
        self._count = 0

    def __iter__(self) -> "LoaderIterator":
        return self

    def __len__(self) -> int:
        return len(self.loader._index_sampler)

    def __next__(self) -> Any:
        loader, index = self.loader, next(self._indices)
        found = self._indexed(index) if self._items is None else self._following(index)
        result = loader.collate_fn(found)
        self._count += 1
        told = loader._told_length
        if self._items is not None and told is not None and self._count > told:
            warnings.warn(
                f"Length of IterableDataset {loader.dataset} was reported to be {told}(when accessing "
                f"len(dataloader)), but {self._count} samples have been fetched. ",
                stacklevel=2,
            )
        return result

    def _indexed(self, index: Any) -> Any:
        """The item at an index, or the items of a batch."""
        dataset = self.loader.dataset
        if self.loader.batch_sampler is None:
            return dataset[index]
        if getattr(dataset, "__getitems__", None):
            return dataset.__getitems__(index)
        return [dataset[i] for i in index]

    def _following(self, index: Any) -> Any:
        """The next item, or the next ones as a batch."""
        items: Any = self._items
        if self.loader.batch_sampler is None:
            return next(items)
        found = [item for _, item in zip(index, items, strict=False)]
        if not found or self.loader.drop_last and len(found) < len(index):
            raise StopIteration
        return found
