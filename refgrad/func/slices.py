"""Samples that lie in one memory as the slices of one tensor."""

from itertools import pairwise

from refgrad import modes
from refgrad.duals import tangent_of
from refgrad.layout import layout_of
from refgrad.storage import storage_key
from refgrad.tensor import Tensor


def windows_together(samples: list) -> Tensor | None:
    """The samples behind a batch dimension as a view, if they are equally spaced windows in one memory.

    So they are after view operations, which PyTorch applies to the whole batch: the result shows its memory.
    """
    first = samples[0]
    if first.__class__ is not Tensor or any(sample.requires_grad for sample in samples):
        return None
    if modes.DUALS and any(tangent_of(sample) is not None for sample in samples):
        return None
    memory = storage_key(first._array)
    if not memory or any(storage_key(sample._array) != memory for sample in samples):
        return None
    if len(samples) == 1:
        return first.unsqueeze(0) if first._is_view() else None
    layouts = [layout_of(sample._array) for sample in samples]
    step = layouts[1].offset - layouts[0].offset
    for before, after in pairwise(layouts):
        if after.strides != before.strides or after.offset - before.offset != step or step < 0:
            return None
    shape, strides, offset = layouts[0]
    return first.as_strided((len(samples), *shape), (step, *strides), offset)
