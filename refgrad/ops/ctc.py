"""The loss of connectionist temporal classification (Graves and others).

*States*: a target with blanks before, between and behind its labels. *Alpha*: the logarithms of the
probabilities of all paths up to a time that end in a state; *beta*: of all paths from there to the end.
"""

from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.op import calls, composite, op
from refgrad.ops.checks import unreduced

WHILE = "(while checking arguments for ctc_loss_allocate_outputs)"


def check_lengths(lengths: tuple, name: str, batch: int, limit: int | None) -> None:
    """Refuse lengths that cannot be.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    for length in lengths:
        if length < 0:
            raise RuntimeError(f"Expected {name} to have value at least 0, but got value {length} {WHILE}")
        if limit is not None and length > limit:
            raise RuntimeError(
                f"Expected {name} to have value at most {limit}, but got value {length} {WHILE}"
            )


def rows_of(targets: np.ndarray, lengths: tuple) -> list[np.ndarray]:
    """The labels of each sample.

    Raises:
        RuntimeError: there are fewer than the lengths say.
    """
    if targets.ndim not in (1, 2):
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument #2 "
            f"'targets' {WHILE}"
        )
    if targets.ndim == 2 and len(targets) != len(lengths):
        raise RuntimeError(
            f"Expected tensor to have size {len(lengths)} at dimension 0, but got size {len(targets)} for "
            f"argument #2 'targets' {WHILE}"
        )
    axis, needed = (0, sum(lengths)) if targets.ndim == 1 else (1, max(lengths, default=0))
    if targets.shape[axis] < needed or targets.ndim == 1 and targets.shape[0] != needed:
        bound = "size" if targets.ndim == 1 else "size at least"
        raise RuntimeError(
            f"Expected tensor to have {bound} {needed} at dimension {axis}, but got size "
            f"{targets.shape[axis]} for argument #2 'targets' {WHILE}"
        )
    if targets.ndim == 2:
        return [row[:length] for row, length in zip(targets, lengths, strict=True)]
    ends = np.cumsum(lengths)
    return [targets[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def check_ctc(log_probs: np.ndarray, input_lengths: tuple, target_lengths: tuple, blank: int) -> None:
    """Refuse what does not fit.

    Raises:
        RuntimeError, NotImplementedError: with PyTorch's text.
    """
    if log_probs.dtype not in (np.float32, np.float64):
        kind = dtypes.OF_NUMPY[log_probs.dtype].scalar_type
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{kind}'")
    if not log_probs.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for argument #1 "
            f"'log_probs' {WHILE}"
        )
    steps, batch, labels = log_probs.shape
    if not 0 <= blank < labels:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if len(lengths) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
    check_lengths(target_lengths, "target_lengths", batch, None)
    check_lengths(input_lengths, "input_lengths", batch, steps)


def states_of(labels: np.ndarray, blank: int) -> tuple[np.ndarray, np.ndarray]:
    """The states of a target, and which may be reached from the state before the last one."""
    states = np.full(2 * len(labels) + 1, blank)
    states[1::2] = labels
    skips = np.zeros(len(states), bool)
    skips[3::2] = labels[1:] != labels[:-1]
    return states, skips


def shifted(values: np.ndarray, by: int, allowed: np.ndarray | None = None) -> np.ndarray:
    """Values moved towards later states; minus infinity where nothing comes from."""
    result = np.full_like(values, -np.inf)
    result[by:] = values[: len(values) - by]
    return result if allowed is None else np.where(allowed, result, -np.inf)


def alphas(lines: np.ndarray, labels: np.ndarray, blank: int) -> np.ndarray:
    """Alpha at each time of a sample, (times, states); `lines` are its logarithms of probabilities."""
    states, skips = states_of(labels, blank)
    found = np.full((len(lines), len(states)), -np.inf, lines.dtype)
    found[0, :2] = lines[0, states[:2]]
    for t in range(1, len(lines)):
        before = found[t - 1]
        paths = np.logaddexp(np.logaddexp(before, shifted(before, 1)), shifted(before, 2, skips))
        found[t] = paths + lines[t, states]
    return found


@op(
    "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, "
    "bool zero_infinity=False) -> (Tensor, Tensor)",
    node="CtcLossBackward0",
    nondifferentiable=(1,),
    constants=("targets",),
    log_probs=lambda grad, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity: (  # noqa: E501 - all that PyTorch saves
        calls._ctc_loss_backward(
            grad,
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            result0,
            result1,
            blank,
            zero_infinity,
        )
    ),
)
@unreduced("ctc_loss_cpu")
def ctc_loss_kernel(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    check_ctc(log_probs, input_lengths, target_lengths, blank)
    rows = rows_of(targets, target_lengths)
    steps, batch, _ = log_probs.shape
    width = 2 * max(target_lengths, default=0) + 1
    alpha = np.full((batch, steps, width), -np.inf, log_probs.dtype)
    losses = np.empty(batch, log_probs.dtype)
    for b, (labels, length) in enumerate(zip(rows, input_lengths, strict=True)):
        if length == 0:
            losses[b] = 0 if not len(labels) else np.inf
            continue
        found = alphas(log_probs[:length, b], labels, blank)
        alpha[b, :length, : found.shape[1]] = found
        losses[b] = -np.logaddexp.reduce(found[-1, -2:] if len(labels) else found[-1, -1:])
    return losses, alpha


@op(
    "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, "
    "int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, "
    "bool zero_infinity=False) -> Tensor",
    refused="aten::_ctc_loss_backward",
)
def ctc_loss_backward(
    grad,
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    neg_log_likelihood,
    log_alpha,
    blank,
    zero_infinity,
):
    result = np.zeros_like(log_probs)
    for b, (labels, length) in enumerate(zip(rows_of(targets, target_lengths), input_lengths, strict=True)):
        loss = neg_log_likelihood[b]
        if length == 0 or zero_infinity and np.isposinf(loss):
            continue
        lines = log_probs[:length, b]
        states, _ = states_of(labels, blank)
        beta = alphas(lines[::-1], labels[::-1], blank)[::-1, ::-1]
        both = log_alpha[b, :length, : len(states)] + beta
        paths = np.full_like(lines, -np.inf)
        for place, state in enumerate(states):
            paths[:, state] = np.logaddexp(paths[:, state], both[:, place])
        if len(labels):  # PyTorch writes the last label over the blank, which shows when they are the same
            paths[-1, states[-2]] = both[-1, -2]
        result[:length, b] = (np.exp(lines) - np.exp(paths + loss - lines)) * grad[b]
    return result


def as_lengths(lengths: Any, name: str) -> tuple:
    """The lengths as numbers.

    Raises:
        RuntimeError: they are no whole numbers.
    """
    if lengths._array.dtype.kind not in "iu":
        raise RuntimeError(f"{name} must be integral")
    return tuple(lengths._array.reshape(-1).tolist())


@composite(
    "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, "
    "int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor"
)
def ctc_loss_of_tensors(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False
):
    lengths = (as_lengths(input_lengths, "input_lengths"), as_lengths(target_lengths, "target_lengths"))
    return ctc_loss(log_probs, targets, *lengths, blank, reduction, zero_infinity)


@composite(
    "ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, "
    "int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor"
)
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False):
    is_batched = log_probs._array.ndim == 3
    lines = log_probs if is_batched else log_probs.unsqueeze(1)
    if targets._array.dtype.kind not in "iu":
        targets = targets.long()
    lengths = (tuple(input_lengths), tuple(target_lengths))
    losses = calls._ctc_loss(lines, targets, *lengths, blank, zero_infinity)[0]
    if zero_infinity:
        zero = losses.new_zeros(())
        losses = calls.where__self(losses == float("inf"), zero, losses)
    if reduction == 1:
        return (losses / losses.new_tensor(lengths[1]).clamp_min(1)).mean()
    if reduction == 2:
        return losses.sum()
    return losses if is_batched else losses.squeeze(0)
