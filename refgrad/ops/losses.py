"""Losses: each sums or averages what it finds, as `reduction` says (0 none, 1 mean, 2 sum)."""

from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.layout import broadcast_shapes
from refgrad.op import calls, composite, op
from refgrad.ops.binary import div
from refgrad.ops.matmul import is_plain

NONE, MEAN, SUM = range(3)


# Shared -------------------------------------------------------------------------------------------------------------


def reduced(array: np.ndarray, reduction: int) -> np.ndarray:
    """The array itself, its mean, or its sum."""
    if reduction == NONE:
        return array
    total = array.sum(dtype=np.float32 if array.dtype == np.float16 else None)
    if reduction == MEAN:
        total = total / array.size
    return np.asarray(total, array.dtype)


def share(array: np.ndarray, reduction: int) -> float:
    """What one element counts in the reduced loss."""
    if reduction != MEAN:
        return 1.0
    return 1.0 / array.size if array.size else float("inf")


def averaged(grad: Any, self: Any, reduction: int) -> Any:
    """A gradient of the sum, nobody else's yet, as one of the reduced loss."""
    if reduction != MEAN:
        return grad
    count = self._array.size
    return div.call_inplace(grad, count) if is_plain() else calls.div__Scalar(grad, count)


def applied(loss: Any, reduction: int) -> Any:
    """A tensor of losses, reduced."""
    if reduction == NONE:
        return loss
    return calls.mean(loss) if reduction == MEAN else calls.sum(loss)


def refuse_kind(array: np.ndarray, name: str) -> None:
    """Refuse types that are not floating point.

    Raises:
        NotImplementedError: naming the inner function of PyTorch that has no such version.
    """
    if array.dtype.kind != "f":
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{dtypes.OF_NUMPY[array.dtype].scalar_type}'"
        )


# Distances ----------------------------------------------------------------------------------------------------------


@op(
    "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    promote="arithmetic",
    self=lambda grad, self, target, reduction: calls.mse_loss_backward(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: calls.mse_loss_backward(grad, target, self, reduction),
)
def mse_loss(self, target, reduction):
    difference = np.subtract(self, target) if self.dtype != bool else self
    refuse_kind(difference, "mse_cpu")
    return reduced(difference * difference, reduction)


@op(
    "mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
    node="MseLossBackwardBackward0",
    grad_output=lambda grad, self, target, reduction: calls.mse_loss_backward(grad, self, target, reduction),
    self=lambda grad, grad_output, self, reduction: mse_curvature(grad * grad_output, self, reduction),
    target=lambda grad, grad_output, target, reduction: -mse_curvature(grad * grad_output, target, reduction),
)
def mse_loss_backward(grad_output, self, target, reduction):
    slope = difference_of(self, target) * self.dtype.type(2 * share(self, reduction))
    return (slope * grad_output).astype(self.dtype, copy=False)


def difference_of(self: np.ndarray, target: np.ndarray) -> np.ndarray:
    """`self - target`, where integers become the floating type of the other."""
    return self - (target if target.dtype.kind == "f" else target.astype(self.dtype))


def mse_curvature(grad, self, reduction):
    """The second derivative of the squared distance, times a gradient."""
    return averaged(calls.mul__Scalar(grad, 2), self, reduction)


@composite("l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
def l1_loss(self, target, reduction=MEAN):
    return applied(calls.abs(calls.sub(self, target)), reduction)


@op(
    "smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
    promote="arithmetic",
    self=lambda grad, self, target, reduction, beta: calls.smooth_l1_loss_backward(
        grad, self, target, reduction, beta
    ),
    target=lambda grad, self, target, reduction, beta: calls.smooth_l1_loss_backward(
        grad, target, self, reduction, beta
    ),
)
def smooth_l1_loss(self, target, reduction, beta):
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    refuse_kind(self, "smooth_l1_cpu")
    distance = np.abs(self - target)
    loss = np.where(
        distance < beta,
        distance * distance * self.dtype.type(0.5) / beta,
        distance - self.dtype.type(0.5 * beta),
    )
    return reduced(loss.astype(self.dtype, copy=False), reduction)


@op(
    "smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor",
    node="SmoothL1LossBackwardBackward0",
    grad_output=lambda grad, self, target, reduction, beta: calls.smooth_l1_loss_backward(
        grad, self, target, reduction, beta
    ),
    self=lambda grad, grad_output, self, target, reduction, beta: smooth_l1_curvature(
        grad * grad_output, self, target, reduction, beta
    ),
    target=lambda grad, grad_output, self, target, reduction, beta: (
        -smooth_l1_curvature(grad * grad_output, self, target, reduction, beta)
    ),
)
def smooth_l1_loss_backward(grad_output, self, target, reduction, beta):
    x = difference_of(self, target)
    slope = np.where(x <= -beta, -1, np.where(x >= beta, 1, x / beta)).astype(x.dtype)
    return (slope * self.dtype.type(share(self, reduction)) * grad_output).astype(self.dtype, copy=False)


def smooth_l1_curvature(grad, self, target, reduction, beta):
    """The second derivative of the smoothed distance, times a gradient."""
    near = calls.lt((self - target).abs(), beta)
    return averaged(calls.div__Scalar(grad * near.to(grad.dtype), beta), self, reduction)


@op(
    "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
    self=lambda grad, self, target, reduction, delta: calls.huber_loss_backward(
        grad, self, target, reduction, delta
    ),
    target=lambda grad, self, target, reduction, delta: calls.huber_loss_backward(
        grad, target, self, reduction, delta
    ),
)
def huber_loss(self, target, reduction, delta):
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    distance = np.abs(self - target)
    refuse_kind(distance, "huber_cpu")
    kind = distance.dtype.type
    loss = np.where(
        distance <= delta, kind(0.5) * distance * distance, kind(delta) * (distance - kind(0.5 * delta))
    )
    return reduced(loss.astype(self.dtype), reduction)


@op(
    "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor",
    node="HuberLossBackwardBackward0",
    grad_output=lambda grad, grad_output, self, target, reduction, delta: huber_slope_gradient(
        grad, grad_output, self, target, reduction, delta
    ),
    self=lambda grad, grad_output, self, target, reduction, delta: huber_curvature(
        grad * grad_output, self, target, reduction, delta
    ),
    target=lambda grad, grad_output, self, target, reduction, delta: (
        -huber_curvature(grad * grad_output, self, target, reduction, delta)
    ),
)
def huber_loss_backward(grad_output, self, target, reduction, delta):
    if target.dtype is not self.dtype:
        found, wanted = dtypes.OF_NUMPY[target.dtype].scalar_type, dtypes.OF_NUMPY[self.dtype].scalar_type
        raise RuntimeError(f"Found dtype {found} but expected {wanted}")
    kind = self.dtype.type
    slope = np.clip(self - target, kind(-delta), kind(delta))
    return (slope * kind(share(self, reduction)) * grad_output).astype(self.dtype, copy=False)


def huber_slope_gradient(grad, grad_output, self, target, reduction, delta):
    """The gradient of `huber_loss_backward` for its first argument."""
    if reduction == NONE:
        return calls.huber_loss_backward(grad, self, target, reduction, delta)
    slope = calls.huber_loss_backward(grad_output.new_ones(grad_output.shape), self, target, reduction, delta)
    return (slope * grad).sum()


def huber_curvature(grad, self, target, reduction, delta):
    """The second derivative of Huber's distance, times a gradient."""
    near = calls.lt((self - target).abs(), delta)
    return averaged(grad * near.to(grad.dtype), self, reduction)


# Two classes --------------------------------------------------------------------------------------------------------


@op(
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
    constants=("weight",),
    self=lambda grad, self, target, weight, reduction: calls.binary_cross_entropy_backward(
        grad, self, target, weight, reduction
    ),
    target=lambda grad, self, target, weight, reduction: bce_target_gradient(
        grad, self, target, weight, reduction
    ),
)
def binary_cross_entropy(self, target, weight, reduction):
    for array in (target, weight):
        if array is not None and array.dtype is not self.dtype:
            found, wanted = dtypes.OF_NUMPY[array.dtype].scalar_type, dtypes.OF_NUMPY[self.dtype].scalar_type
            raise RuntimeError(f"Found dtype {found} but expected {wanted}")
    refuse_kind(self, "binary_cross_entropy")
    for name, array in (("input", self), ("target", target)):
        if not ((array >= 0) & (array <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    kind = self.dtype.type
    floor = kind(-100)
    loss = (target - kind(1)) * np.maximum(np.log1p(-self), floor) - target * np.maximum(np.log(self), floor)
    return reduced(loss if weight is None else loss * weight, reduction)


def bce_target_gradient(grad, self, target, weight, reduction):
    """The gradient of the binary cross entropy for its target."""
    result = calls.mul_(calls.neg_(calls.logit(self)), grad)
    if weight is not None:
        result = calls.mul_(result, weight)
    return averaged(result, target, reduction)


@op(
    "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=1) -> Tensor",
    node="BinaryCrossEntropyBackwardBackward0",
    grad_output=lambda grad, self, target, weight, reduction: bce_slope_gradient(
        grad, self, target, weight, reduction
    ),
    self=lambda grad, grad_output, self, target, weight, reduction: bce_curvature(
        grad, grad_output, self, target, weight, reduction
    ),
    target=lambda grad, grad_output, self, target, weight, reduction: bce_mixed(
        grad, grad_output, self, target, weight, reduction
    ),
)
def binary_cross_entropy_backward(grad_output, self, target, weight, reduction):
    kind = self.dtype.type
    spread = np.maximum((kind(1) - self) * self, kind(1e-12))
    result = grad_output * (self - target) / spread
    if weight is not None:
        result = result * weight
    return result / kind(self.size) if reduction == MEAN else result


def bce_slope_gradient(grad, self, target, weight, reduction):
    """The gradient of `binary_cross_entropy_backward` for its first argument."""
    result = grad * (self - target) / ((self + 1e-12) * (1 - self + 1e-12))
    if weight is not None:
        result = result * weight
    if reduction == NONE:
        return result
    return averaged(result.sum(), self, reduction)


def bce_curvature(grad, grad_output, self, target, weight, reduction):
    """The gradient of `binary_cross_entropy_backward` for the input."""
    square = (self + 1e-12) * (1 - self + 1e-12)
    result = (self * self - 2 * self * target + target) / (square * square)
    result = calls.mul_(result, grad * grad_output)
    if weight is not None:
        result = calls.mul_(result, weight)
    return averaged(result, self, reduction)


def bce_mixed(grad, grad_output, self, target, weight, reduction):
    """The gradient of `binary_cross_entropy_backward` for the target."""
    result = -grad * grad_output
    if weight is not None:
        result = result * weight
    return averaged(result / ((1 - self) * self), target, reduction)


def log_sigmoid(x: np.ndarray) -> np.ndarray:
    """The logarithm of the sigmoid, without overflow."""
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


@op(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, "
    "int reduction=1) -> Tensor",
    constants=("weight", "pos_weight"),
    self=lambda grad, self, target, weight, pos_weight, reduction: logits_gradient(
        grad, self, target, weight, pos_weight, reduction
    ),
    target=lambda grad, self, target, weight, pos_weight, reduction: logits_target_gradient(
        grad, self, target, weight, pos_weight, reduction
    ),
)
def binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction):
    refuse_kind(self, "log_sigmoid_cpu")
    if target.dtype.kind not in "fc":
        wanted = dtypes.OF_NUMPY[target.dtype].scalar_type
        raise RuntimeError(
            f"result type {dtypes.OF_NUMPY[self.dtype].scalar_type} can't be cast to the desired output type {wanted}"
        )
    inner = log_sigmoid(self)
    if pos_weight is not None:
        broadcast_shapes(pos_weight.shape, target.shape)
        inner = ((pos_weight - pos_weight.dtype.type(1)) * target + pos_weight.dtype.type(1)) * inner
    loss = (target.dtype.type(1) - target) * self - inner
    if weight is not None:
        broadcast_shapes(loss.shape, weight.shape)
        loss = loss * weight
    return reduced(loss.astype(target.dtype, copy=False), reduction)


def logits_gradient(grad, self, target, weight, pos_weight, reduction):
    """The gradient of the binary cross entropy for its logits."""
    # In place, unless the steps are recorded: the version of the gradient shows it.
    sub, mul = (calls.sub_, calls.mul_) if is_plain() else (calls.sub, calls.mul)
    if pos_weight is None:
        slope = sub(calls.sigmoid(self), target)
    else:
        positive = pos_weight * target
        slope = sub(calls.add__Scalar(positive, 1), target)
        slope = sub(mul(slope, calls.sigmoid(self)), positive)
    result = mul(slope, grad)
    if weight is not None:
        result = mul(result, weight)
    return averaged(result, self, reduction)


def logits_target_gradient(grad, self, target, weight, pos_weight, reduction):
    """The gradient of the binary cross entropy with logits for its target."""
    if pos_weight is None:
        result = calls.neg(self) * grad
    else:
        weighted = calls.mul_(calls.log_sigmoid(self), pos_weight)
        result = calls.mul_(calls.sub_(calls.log_sigmoid(-self), weighted), grad)
    if weight is not None:
        result = calls.mul_(result, weight)
    return averaged(result, target, reduction)


# Many classes -------------------------------------------------------------------------------------------------------


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
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
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
    total = np.asarray(weights.sum(), self.dtype)
    if reduction == NONE:
        return losses.reshape(()), total
    loss = losses.sum()
    return np.asarray(loss / total if reduction == MEAN else loss, self.dtype), total


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
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {target.ndim}"
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
    node="NllLoss2DBackwardBackward0",
    grad_output=lambda grad, target, weight, reduction, ignore_index: calls.nll_loss2d_forward(
        grad, target, weight, reduction, ignore_index
    )[0],
    self=lambda grad: grad.new_zeros(grad.shape),
)
def nll_loss2d_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    return nll_gradient(grad_output, self, target, weight, reduction, ignore_index, total_weight)


@composite(
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor"
)
def nll_loss(self, target, weight=None, reduction=MEAN, ignore_index=-100):
    return calls.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]


@composite(
    "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor"
)
def nll_loss2d(self, target, weight=None, reduction=MEAN, ignore_index=-100):
    return calls.nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]


@composite(
    "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor"
)
def nll_loss_nd(self, target, weight=None, reduction=MEAN, ignore_index=-100):
    shape, wanted = self._array.shape, target._array.shape
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(shape) == 1 and len(wanted) == 1 and wanted[0] != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {wanted[0]}")
    if len(shape) != 1 and wanted[:1] != shape[:1]:
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size ({target.size(0)})."
        )
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
    "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, "
    "float label_smoothing=0.0) -> Tensor"
)
def cross_entropy_loss(self, target, weight=None, reduction=MEAN, ignore_index=-100, label_smoothing=0.0):
    if self._array.shape == target._array.shape:
        if target._array.dtype.kind not in "fc":
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
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got "
            f"weight tensor of shape: {list(weight._array.shape)}"
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
    # The second operand comes first, as PyTorch's compiler has it: the order shows in the graph.
    if log_target:
        difference = target - self
        terms = calls.exp(target) * difference
    else:
        products = target * self
        terms = calls.xlogy(target, target) - products
    return applied(terms, reduction)
