"""`torch.nn.utils.rnn`: sequences of different lengths, padded or packed."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from refgrad import dtypes
from refgrad.op import calls
from refgrad.ops import from_data
from refgrad.storage import count_write
from refgrad.tensor import Tensor, wrap


class PackedFields(NamedTuple):
    """What a packed sequence is made of."""

    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


def invert_permutation(permutation: Any) -> Any:
    """The permutation that leads back; None for None."""
    if permutation is None:
        return None
    inverse = wrap(np.argsort(permutation._array).astype(np.int64))
    count_write(inverse)  # PyTorch scatters into it
    return inverse


class PackedSequence(PackedFields):
    """Sequences without padding: the first elements of all, then the second ones, and so on.

    Raises:
        ValueError: `batch_sizes` is missing.
    """

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> "PackedSequence":
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """The same with the data converted."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def double(self) -> "PackedSequence":
        """The same in double precision."""
        return self.to(dtype=dtypes.float64)

    def float(self) -> "PackedSequence":
        """The same in single precision."""
        return self.to(dtype=dtypes.float32)

    def cpu(self) -> "PackedSequence":
        """The same: it is there already."""
        return self

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a device."""
        return False


PackedSequence.__qualname__ = "PackedSequence"


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Padded sequences (T, N, …) without their padding.

    Raises:
        RuntimeError: lengths do not fit, or are not sorted although they should be.
    """
    if isinstance(lengths, Tensor):
        lengths = lengths.to(dtype=dtypes.int64)
    else:
        lengths = from_data.as_tensor(lengths, dtype=dtypes.int64)
    order = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    data, batch_sizes = calls._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, order)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple:
    """Packed sequences padded again (T, N, …), and their lengths.

    Raises:
        ValueError: `total_length` is less than the longest sequence.
    """
    length = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < length:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {length}"
            )
        length = total_length
    padded, lengths = calls._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, length
    )
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order]


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Sequences of different lengths as one tensor (T, N, …).

    Raises:
        RuntimeError: they come in nothing that can be gone through.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    return calls.pad_sequence(list(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list:
    """The sequences of a padded tensor, by their lengths."""
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    places = wrap(np.arange(padded_sequences.shape[1]))
    return [sequence[places < length] for sequence, length in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences: list, enforce_sorted: bool = True) -> PackedSequence:
    """Sequences of different lengths, packed."""
    lengths = from_data.as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list:
    """The sequences of a packed one."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
