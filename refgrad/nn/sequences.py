"""The functions of `torch.nn.functional` for bags of embeddings, and the loss of sequences."""

import warnings
from typing import Any

from refgrad import dtypes
from refgrad.nn.native import native
from refgrad.op import calls

MODES = {"sum": 0, "mean": 1, "max": 2}
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def bags_of(input: Any, offsets: Any, weights: Any) -> tuple:
    """Indices, where bags begin, and weights of samples, as vectors.

    Raises:
        ValueError: shapes do not go together.
    """
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                f"length sequences. However, found offsets of type {type(offsets)}"
            )
        offsets = native("arange")(0, input.numel(), input.size(1), dtype=input.dtype)
        return input.reshape(-1), offsets, None if weights is None else weights.reshape(-1)
    if input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return input, offsets, weights


def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The rows of `weight` at the given numbers, put together bag by bag, (bags, size).

    Raises:
        ValueError, NotImplementedError: options do not go together.
    """
    if weight.dtype is dtypes.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, "
            "...)` is deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must "
            f"have the same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    include_last_offset = include_last_offset and input.dim() != 2
    input, offsets, per_sample_weights = bags_of(input, offsets, per_sample_weights)
    if mode not in MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        calls.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )
    return native("embedding_bag")(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        MODES[mode],
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )[0]


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """The loss of targets that are not aligned, for logarithms of probabilities (T, N, C).

    Raises:
        ValueError: an unknown reduction.
    """
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return native("ctc_loss")(
        log_probs, targets, input_lengths, target_lengths, blank, REDUCTIONS[reduction], zero_infinity
    )
