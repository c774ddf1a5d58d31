"""`is_grads_batched`: one backward pass a sample, and the results stacked.

PyTorch runs one pass over a batched tensor in which formulas and hooks see the shape of one sample. Here they
see each sample in turn, so that a hook is called once a sample.
"""

from collections.abc import Callable
from typing import Any

import refgrad
from refgrad.autograd.grad_mode import set_grad_enabled
from refgrad.tensor import Tensor


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


def run_batched(run: Callable[[list, bool], list], gradients: list, keep: bool, create: bool) -> list:
    """Call `run(sample's gradients, keep the graph)` for every sample, and stack what each input got."""
    size = batch_size(gradients)
    with set_grad_enabled(create):
        rows = [
            run([gradient.select(0, at) for gradient in gradients], keep or at + 1 < size)
            for at in range(size)
        ]
        return [stacked(column) for column in zip(*rows, strict=True)]


def stacked(column: tuple) -> Any:
    """One input's gradients in one tensor; None if it got none."""
    return None if column[0] is None else refgrad.stack(column)
