"""Losses: each sums or averages what it finds, as `reduction` says (0 none, 1 mean, 2 sum)."""

from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.layout import broadcast_shapes, widened
from refgrad.op import calls, composite, op
from refgrad.ops.binary import div
from refgrad.ops.checks import in_transform
from refgrad.ops.matmul import is_plain

NONE, MEAN, SUM = range(3)


# Shared -----------------------------------------------------------------------------------------------------


def reduced(array: np.ndarray, reduction: int) -> np.ndarray:
    """The array itself, its mean, or its sum."""
    if reduction == NONE:
        return array
    total = widened(array).sum()
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
    return div.call_inplace(grad, self._array.size)


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
    if array.dtype.kind not in "fV":
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{dtypes.OF_NUMPY[array.dtype].scalar_type}'"
        )


# Distances --------------------------------------------------------------------------------------------------


@op(
    "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    reduced="own",
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
    reduced="own",
    node="MseLossBackwardBackward0",
    grad_output=lambda grad, self, target, reduction: calls.mse_loss_backward(grad, self, target, reduction),
    self=lambda grad, grad_output, self, reduction: mse_curvature(grad * grad_output, self, reduction),
    target=lambda grad, grad_output, target, reduction: -mse_curvature(grad * grad_output, target, reduction),
)
def mse_loss_backward(grad_output, self, target, reduction):
    slope = difference_of(self, target) * self.dtype.type(2 * share(self, reduction))
    return np.asarray(slope * grad_output, self.dtype, order="C")


def difference_of(self: np.ndarray, target: np.ndarray) -> np.ndarray:
    """`self - target`, where integers become the floating type of the other."""
    return self - (target if target.dtype.kind in "fV" else target.astype(self.dtype))


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
    "smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) "
    "-> Tensor",
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
    return np.asarray(slope * self.dtype.type(share(self, reduction)) * grad_output, self.dtype, order="C")


def smooth_l1_curvature(grad, self, target, reduction, beta):
    """The second derivative of the smoothed distance, times a gradient."""
    near = calls.lt((self - target).abs(), beta)
    return averaged(calls.div__Scalar(grad * near.to(grad.dtype), beta), self, reduction)


@op(
    "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
    reduced="vectors",
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
    refuse_kind(self, "huber_cpu")
    distance = np.abs(self - target)
    kind = distance.dtype.type
    loss = np.where(
        distance <= delta, kind(0.5) * distance * distance, kind(delta) * (distance - kind(0.5 * delta))
    )
    return reduced(loss.astype(self.dtype), reduction)


@op(
    "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) "
    "-> Tensor",
    reduced="vectors",
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
    return np.asarray(slope * kind(share(self, reduction)) * grad_output, self.dtype, order="C")


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


# Two classes ------------------------------------------------------------------------------------------------


@op(
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
    reduced="own",
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
    return div.call_inplace(result, target._array.size) if reduction == MEAN else result


@op(
    "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=1) -> Tensor",
    reduced="own",
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
    least = kind(np.float32(1e-12))  # a float in PyTorch, whatever the type
    spread = np.maximum((kind(1) - self) * self, least)
    result = grad_output * (self - target) / spread
    if weight is not None:
        result = result * weight
    return result / kind(self.size) if reduction == MEAN else result


def bce_slope_gradient(grad, self, target, weight, reduction):
    """The gradient of `binary_cross_entropy_backward` for its first argument."""
    result = (self - target) / ((self + 1e-12) * (1 - self + 1e-12))
    result = calls.mul_(result, grad)
    if weight is not None:
        result = calls.mul_(result, weight)
    return result if reduction == NONE else averaged(result, self, reduction).sum()


def bce_curvature(grad, grad_output, self, target, weight, reduction):
    """The gradient of `binary_cross_entropy_backward` for the input."""
    squares = (self + 1e-12).pow(2) * (1 - self + 1e-12).pow(2)
    result = (self * self - 2 * self * target + target) / squares
    result = calls.mul_(result, grad * grad_output)
    if weight is not None:
        result = calls.mul_(result, weight)
    return result / self._array.size if reduction == MEAN else result


def bce_mixed(grad, grad_output, self, target, weight, reduction):
    """The gradient of `binary_cross_entropy_backward` for the target."""
    result = -grad * grad_output
    if weight is not None:
        result = calls.mul_(result, weight)
    spread = (1 - self) * self
    np.maximum(spread._array, 1e-12, out=spread._array)  # bounded, but not in the graph
    return averaged(calls.div_(result, spread), target, reduction)


def log_sigmoid(x: np.ndarray) -> np.ndarray:
    """The logarithm of the sigmoid, without overflow."""
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


@op(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, "
    "Tensor? pos_weight=None, int reduction=1) -> Tensor",
    reduced="own",
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
    if target.dtype.kind not in "fcV":
        wanted = dtypes.OF_NUMPY[target.dtype].scalar_type
        raise RuntimeError(
            f"result type {dtypes.OF_NUMPY[self.dtype].scalar_type} can't be cast to the desired "
            f"output type {wanted}"
        )
    inner = log_sigmoid(widened(self)).astype(self.dtype, copy=False)
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
    # In place, unless the steps are recorded or transformed: the version of the gradient shows it.
    in_place = is_plain() and not in_transform()
    sub, mul = (calls.sub_, calls.mul_) if in_place else (calls.sub, calls.mul)
    if pos_weight is None:
        slope = sub(calls.sigmoid(self), target)
    else:
        positive = pos_weight * target
        slope = sub(calls.add__Scalar(positive, 1), target)
        slope = sub(mul(slope, calls.sigmoid(self)), positive)
    result = mul(slope, grad)
    if weight is not None:
        result = mul(result, weight)
    if reduction != MEAN:
        return result
    return (calls.div if in_transform() else calls.div_)(result, self._array.size)


def logits_target_gradient(grad, self, target, weight, pos_weight, reduction):
    """The gradient of the binary cross entropy with logits for its target."""
    if pos_weight is None:
        result = calls.neg(self) * grad
    else:
        weighted = calls.mul_(calls.log_sigmoid(self), pos_weight)
        result = calls.mul_(calls.sub_(calls.log_sigmoid(-self), weighted), grad)
    if weight is not None:
        result = calls.mul_(result, weight)
    return div.call_inplace(result, target._array.size) if reduction == MEAN else result
