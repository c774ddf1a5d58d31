"""Losses of class numbers and of probabilities of classes; classes are dimension 1, or 0 of one sample."""

import math

import numpy as np

from refgrad import dtypes
from refgrad.op import calls, composite, op
from refgrad.ops.losses import MEAN, NONE, SUM, applied, refuse_kind


def check_target(target: np.ndarray, classes: int, ignore_index: int) -> np.ndarray:
    """The mask of targets that count.

    Raises:
        RuntimeError: the targets are no class numbers.
        IndexError: one is out of range.
    """
    counts = target != ignore_index
    wrong = counts & ((target < 0) | (target >= classes))
    if wrong.any():
        raise IndexError(f"Target {int(target[wrong].flat[0])} is out of bounds.")
    return counts


def check_nll(
    self: np.ndarray, target: np.ndarray, weight: np.ndarray | None, classes: int, name: str
) -> None:
    """Refuse types and weights that do not fit."""
    if target.dtype not in (np.int64, np.uint8):
        kind = dtypes.OF_NUMPY[target.dtype].scalar_type
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {kind}")
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight "
            f"tensor of shape: {list(weight.shape)}"
        )
    refuse_kind(self, name)
    if weight is not None and weight.dtype is not self.dtype:
        found, wanted = dtypes.OF_NUMPY[weight.dtype].scalar_type, dtypes.OF_NUMPY[self.dtype].scalar_type
        raise RuntimeError(f"expected scalar type {wanted} but found {found}")


def picked(target: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The targets as an index, 0 for those that do not count."""
    return np.where(counts, target, 0).astype(np.int64)


def nll_output(self, target, weight, reduction, ignore_index):
    """The loss and the total weight; the classes are dimension 1, or 0 of one sample."""
    axis = 0 if self.ndim == 1 else 1
    counts = check_target(target, self.shape[axis], ignore_index)
    index = picked(target, counts)
    chosen = np.take_along_axis(self, np.expand_dims(index.reshape(index.shape if axis else ()), axis), axis)
    weights = np.asarray(counts if weight is None else weight[index] * counts).astype(self.dtype)
    losses = np.where(counts, -chosen.reshape(index.shape) * weights, self.dtype.type(0)).astype(self.dtype)
    if reduction == NONE and axis:
        return losses, np.zeros((), self.dtype)
    if self.dtype in dtypes.REDUCED:
        total = counts.sum() if weight is None else cascade_sum(weights, counts)
        total, loss = np.asarray(total).astype(self.dtype), cascade_sum(losses, counts)
    else:
        total, loss = np.asarray(weights.sum(), self.dtype), losses.sum()
    if reduction == NONE:
        return losses.reshape(()), total
    return np.asarray(loss / total if reduction == MEAN else loss, self.dtype), total


def cascade_sum(values, counts):
    """The sum of those that count, each step rounded, in PyTorch's order: of parts of 16 or more first."""
    size = values.size
    bits = max(4, math.ceil(math.log2(max(size, 1))) // 8)
    parts = np.zeros(8, values.dtype)
    for place in np.flatnonzero(counts):
        parts[0] += values.flat[place]
        for level in range(7):
            if place & ((1 << bits) - 1) << level * bits:
                break
            parts[level + 1] += parts[level]
            parts[level] = 0
    total = values.dtype.type(0)
    for part in parts:
        total += part
    return total


def nll_gradient(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    """The gradient of the loss for the log-probabilities."""
    axis = 0 if self.ndim == 1 else 1
    counts = target != ignore_index
    index = picked(target, counts)
    weights = np.asarray(counts if weight is None else weight[index] * counts).astype(self.dtype)
    grad = grad_output / total_weight if reduction == MEAN else grad_output
    result = np.zeros(self.shape, self.dtype)
    values = np.where(
        counts, -weights * grad.reshape(index.shape if reduction == NONE else ()), self.dtype.type(0)
    )
    where = np.expand_dims(index.reshape(index.shape if axis else ()), axis)
    np.put_along_axis(result, where, values.astype(self.dtype).reshape(where.shape), axis)
    return result


@op(
    "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) "
    "-> (Tensor output, Tensor total_weight)",
    reduced="own",
    node="NllLossBackward0",
    constants=("weight",),
    nondifferentiable=(1,),
    self=lambda grad, self, target, weight, reduction, ignore_index, total_weight: calls.nll_loss_backward(
        grad, self, target, weight, reduction, ignore_index, total_weight
    ),
)
def nll_loss_forward(self, target, weight, reduction, ignore_index):
    if self.ndim not in (1, 2):
        raise RuntimeError("input tensor should be 1D or 2D")
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if self.ndim == 2 and (target.ndim != 1 or self.shape[0] != target.shape[0]):
        raise RuntimeError(f"size mismatch (got input: {list(self.shape)}, target: {list(target.shape)})")
    check_nll(self, target, weight, self.shape[-1], "nll_loss_out_frame")
    return nll_output(self, target, weight, reduction, ignore_index)


@op(
    "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
    "SymInt ignore_index, Tensor total_weight) -> Tensor",
    reduced="own",
    node="NllLossBackwardBackward0",
    grad_output=lambda grad, target, weight, reduction, ignore_index: calls.nll_loss_forward(
        grad, target, weight, reduction, ignore_index
    )[0],
    self=lambda grad: grad.new_zeros(grad.shape),
)
def nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    if target.ndim and self.shape[0] != target.shape[0]:
        raise RuntimeError(f"size mismatch (got input: {list(self.shape)}, target: {list(target.shape)})")
    return nll_gradient(grad_output, self, target, weight, reduction, ignore_index, total_weight)


@op(
    "nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) "
    "-> (Tensor output, Tensor total_weight)",
    reduced="own",
    node="NllLoss2DBackward0",
    constants=("weight",),
    nondifferentiable=(1,),
    self=lambda grad, self, target, weight, reduction, ignore_index, total_weight: calls.nll_loss2d_backward(
        grad, self, target, weight, reduction, ignore_index, total_weight
    ),
)
def nll_loss2d_forward(self, target, weight, reduction, ignore_index):
    if target.ndim != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets "
            f"of dimension: {target.ndim}"
        )
    if self.ndim != 4:
        raise RuntimeError(
            f"only batches of spatial inputs supported (4D tensors), but got input of dimension: {self.ndim}"
        )
    if self.shape[:1] + self.shape[2:] != target.shape:
        raise RuntimeError(f"size mismatch (got input: {list(self.shape)} , target: {list(target.shape)}")
    check_nll(self, target, weight, self.shape[1], "nll_loss2d_forward_out_frame")
    return nll_output(self, target, weight, reduction, ignore_index)


@op(
    "nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
    "SymInt ignore_index, Tensor total_weight) -> Tensor",
    reduced="own",
    node="NllLoss2DBackwardBackward0",
    grad_output=lambda grad, target, weight, reduction, ignore_index: calls.nll_loss2d_forward(
        grad, target, weight, reduction, ignore_index
    )[0],
    self=lambda grad: grad.new_zeros(grad.shape),
)
def nll_loss2d_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    return nll_gradient(grad_output, self, target, weight, reduction, ignore_index, total_weight)


@composite(
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) "
    "-> Tensor"
)
def nll_loss(self, target, weight=None, reduction=MEAN, ignore_index=-100):
    return calls.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]


@composite(
    "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) "
    "-> Tensor"
)
def nll_loss2d(self, target, weight=None, reduction=MEAN, ignore_index=-100):
    return calls.nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]


@composite(
    "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) "
    "-> Tensor"
)
def nll_loss_nd(self, target, weight=None, reduction=MEAN, ignore_index=-100):
    shape, wanted = self._array.shape, target._array.shape
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(shape) == 1 and len(wanted) == 1 and wanted[0] != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {wanted[0]}")
    if len(shape) != 1 and wanted[:1] != shape[:1]:
        found = wanted[0] if wanted else 0
        raise ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size ({found}).")
    if len(shape) <= 2:
        return nll_loss(self, target, weight, reduction, ignore_index)
    if len(shape) == 4:
        return nll_loss2d(self, target, weight, reduction, ignore_index)
    if wanted[1:] != shape[2:]:
        raise RuntimeError(f"Expected target size {[shape[0], *shape[2:]]}, got {list(wanted)}")
    rest = -1 if self._array.size else 0
    count = 1 if self._array.size else 0
    flat = calls.reshape(self, (shape[0], shape[1], count, rest))
    result = nll_loss2d(flat, calls.reshape(target, (shape[0], count, rest)), weight, reduction, ignore_index)
    return calls.view(result, (shape[0], *shape[2:])) if reduction == NONE else result


@composite(
    "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor"
)
def cross_entropy_loss(self, target, weight=None, reduction=MEAN, ignore_index=-100, label_smoothing=0.0):
    if self._array.shape == target._array.shape:
        if target.dtype.category < dtypes.FLOATING:
            kind = target.dtype.scalar_type
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {kind}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return probability_loss(self, target, weight, reduction, label_smoothing)
    check_smoothing(label_smoothing)
    dim = 0 if self._array.ndim == 1 else 1
    log_probability = calls.log_softmax(self, dim, self.dtype)
    loss = nll_loss_nd(log_probability, target, weight, reduction, ignore_index)
    if label_smoothing > 0:
        return smoothed(loss, log_probability, target, weight, reduction, ignore_index, label_smoothing)
    return loss


def check_smoothing(label_smoothing: float) -> None:
    """Refuse a label smoothing that is no share.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def weights_along(weight, log_probability, dim):
    """The weights of the classes, ready to multiply the log-probabilities."""
    shape = [1] * log_probability._array.ndim
    shape[dim] = weight._array.size
    return calls.view(weight, shape)


def probability_loss(self, target, weight, reduction, label_smoothing):
    """The cross entropy with a probability for each class as target."""
    check_smoothing(label_smoothing)
    dim = 0 if self._array.ndim == 1 else 1
    classes = self._array.shape[dim]
    if weight is not None and weight._array.shape != (classes,):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes "
            f"but got weight tensor of shape: {list(weight._array.shape)}"
        )
    log_probability = calls.log_softmax(self, dim, self.dtype)
    if label_smoothing > 0:
        target = calls.add__Scalar(calls.mul__Scalar(target, 1 - label_smoothing), label_smoothing / classes)
    terms = log_probability * target
    if weight is not None:
        terms = terms * weights_along(weight, log_probability, dim)
    if reduction == NONE:
        return -calls.sum__dim_IntList(terms, [dim])
    total = -calls.sum(terms)
    if reduction == SUM:
        return total
    if self._array.size == 0:
        return calls.fill_(total, float("nan"))
    return calls.div__Scalar(total, self._array.size // classes)


def smoothed(loss, log_probability, target, weight, reduction, ignore_index, label_smoothing):
    """The loss for class numbers mixed with that for a uniform target."""
    dim = 0 if log_probability._array.ndim == 1 else 1
    terms = log_probability
    if weight is not None:
        terms = log_probability * weights_along(weight, log_probability, dim)
    uniform = -calls.sum__dim_IntList(terms, [dim])
    ignored = calls.eq(target, ignore_index)
    uniform = uniform.masked_fill_(ignored, 0.0)
    if reduction != NONE:
        uniform = calls.sum(uniform)
    if reduction == MEAN:
        counted = ignored.logical_not()
        if weight is not None:
            counted = weight.gather(0, target.masked_select(counted).flatten())
        uniform = uniform / counted.sum()
    share_of_uniform = label_smoothing / log_probability._array.shape[dim]
    return calls.mul__Scalar(loss, 1 - label_smoothing) + calls.mul__Scalar(uniform, share_of_uniform)


@composite("kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor")
def kl_div(self, target, reduction=MEAN, log_target=False):
    kinds = {tensor.dtype.category for tensor in (self, target)}
    if dtypes.COMPLEX in kinds:
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if min(kinds) < dtypes.FLOATING:
        raise RuntimeError("kl_div: Integral inputs not supported.")
    # The second operand comes first, as PyTorch's compiler has it: the order shows in the graph.
    if log_target:
        difference = target - self
        terms = calls.exp(target) * difference
    else:
        products = target * self
        terms = calls.xlogy(target, target) - products
    return applied(terms, reduction)
