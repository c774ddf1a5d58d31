"""Sequences of different lengths: padded to one length, or packed step by step without padding.

*Batch sizes*: how many sequences are still running at each step; the longest sequence comes first.
"""

from typing import Any

import numpy as np

from refgrad.layout import wrap_dim
from refgrad.op import calls, composite, op
from refgrad.storage import count_write
from refgrad.tensor import wrap

NOT_SORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
    "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
    "do not need ONNX exportability."
)


def check_lengths(lengths: np.ndarray, batch: int) -> None:
    """Refuse lengths that cannot be.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if lengths.size != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.size} (batch_size={batch})"
        )
    if lengths[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if (lengths[1:] > lengths[:-1]).any():
        raise RuntimeError(NOT_SORTED)


@op(
    "_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
    node="PackPaddedSequenceBackward0",
    nondifferentiable=(1,),
    constants=("lengths",),
    input=lambda grad, input_sym_sizes, result1, batch_first: unpacked(
        grad, input_sym_sizes, result1, batch_first
    ),
)
def pack_padded_sequence(input, lengths, batch_first):
    steps = input.swapaxes(0, wrap_dim(1, input.ndim)) if batch_first else input
    if not input.size:
        raise RuntimeError("Cannot pack empty tensors.")
    if not input.ndim:
        raise IndexError("Dimension specified as 1 but tensor has no dimensions")
    wrap_dim(1, input.ndim)
    check_lengths(lengths, steps.shape[1])
    sizes = np.array([np.count_nonzero(lengths > t) for t in range(lengths[0])], np.int64)
    return np.concatenate([steps[t, :size] for t, size in enumerate(sizes) if t < len(steps)]), sizes


def filled(like: Any, shape: tuple, value: Any) -> Any:
    """A tensor filled with a value where writes are counted, as PyTorch does within an op."""
    result = like.detach().new_full(shape, value)
    count_write(result)
    return result


def unpacked(grad: Any, sizes: tuple, batch_sizes: Any, batch_first: bool) -> Any:
    """The gradient of the padded input."""
    shape = (sizes[1], sizes[0], *sizes[2:]) if batch_first else tuple(sizes)
    result, start = filled(grad, shape, 0), 0
    for t, size in enumerate(batch_sizes._array.tolist()):
        calls.copy_(result[t][:size], calls.slice(grad, 0, start, start + size))
        start += size
    return result.transpose(0, 1) if batch_first else result


@composite(
    "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, "
    "int total_length) -> (Tensor, Tensor)"
)
def pad_packed_sequence(data, batch_sizes, batch_first, padding_value, total_length):
    sizes = batch_sizes._array.tolist()
    output = filled(data, (total_length, sizes[0], *data._array.shape[1:]), padding_value)
    start = first = 0
    for t in range(1, len(sizes) + 1):
        if t < len(sizes) and sizes[t] == sizes[first]:
            continue
        # All steps with the same number of sequences are copied at once.
        count, steps = sizes[first], t - first
        part = calls.slice(data, 0, start, start + count * steps)
        target = calls.slice(calls.slice(output, 0, first, t), 1, 0, count)
        calls.copy_(target, part.view((steps, count, *data._array.shape[1:])))
        start += count * steps
        first = t
    lengths = np.array([sum(size > i for size in sizes) for i in range(sizes[0])], np.int64)
    return (output.transpose(0, 1) if batch_first else output), wrap(lengths)


@composite(
    "pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, "
    'str padding_side="right") -> Tensor'
)
def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max(sequence._array.shape[0] for sequence in sequences)
    sizes = (len(sequences), longest) if batch_first else (longest, len(sequences))
    first = sequences[0]
    result = filled(first, (*sizes, *first._array.shape[1:]), padding_value)
    for i, sequence in enumerate(sequences):
        count = sequence._array.shape[0]
        start = longest - count if padding_side == "left" else 0
        if batch_first:
            place = calls.narrow(calls.select(result, 0, i), 0, start, count)
        else:
            place = calls.select(calls.narrow(result, 0, start, count), 1, i)
        calls.copy_(place, sequence)
    return result
