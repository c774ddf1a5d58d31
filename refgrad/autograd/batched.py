"""`is_grads_batched`: one backward pass a sample, and the results stacked."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import refgrad
from refgrad import modes
from refgrad.autograd.grad_mode import set_grad_enabled
from refgrad.duals import tangent_of
from refgrad.layout import layout_of
from refgrad.storage import storage_key, version_cell
from refgrad.tensor import Tensor, alias


def batch_size(gradients: list) -> int:
    """The common size of the gradients' first dimension.

    Raises:
        ValueError: one has no dimension, or they differ.
    """
    for gradient in gradients:
        if not isinstance(gradient, Tensor):
            raise ValueError(
                "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for an input but the input is of "
                f"type {type(gradient)}. We cannot vmap over non-Tensor arguments, please use None as "
                "the respective in_dim"
            )
        if gradient.dim() == 0:
            raise ValueError(
                "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a "
                "Tensor of dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
            )
    sizes = [gradient.shape[0] for gradient in gradients]
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


# Note [Batched gradients run once a sample]
# PyTorch runs one pass over a batched tensor, in which formulas and hooks see the shape of one sample. Here
# they see each sample in turn: results are the same, but a hook is called once a sample.


def run_batched(run: Callable[[list, bool], list], gradients: list, keep: bool, create: bool) -> list:
    """Call `run(sample's gradients, keep the graph)` for every sample, and stack what each input got."""
    size = batch_size(gradients)
    with set_grad_enabled(create):
        rows = [
            run([gradient.select(0, at) for gradient in gradients], keep or at + 1 < size)
            for at in range(size)
        ]
        return [stacked(column, gradients) for column in zip(*rows, strict=True)]


def stacked(column: tuple, given: list) -> Any:
    """One input's gradients in one tensor, the given one where it got just that; None if it got none."""
    if column[0] is None:
        return None
    whole = windows_together(list(column))
    if whole is None:
        return refgrad.stack(column)
    place = layout_of(whole._array)
    for gradient in given:
        if storage_key(gradient._array) == storage_key(whole._array) and layout_of(gradient._array) == place:
            return alias(gradient, version_cell(gradient))
    return whole


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
