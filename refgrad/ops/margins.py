"""Losses that ask for a margin between the score of the right class and the others."""

import numpy as np

from refgrad import dtypes
from refgrad.layout import broadcast_shapes
from refgrad.op import calls, composite, op
from refgrad.ops.checks import unreduced
from refgrad.ops.losses import MEAN, NONE, averaged, reduced, refuse_kind, share

# Two classes, labelled 1 and -1


@op(
    "soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    reduced="own",
    constants=("target",),
    self=lambda grad, self, target, reduction: calls.soft_margin_loss_backward(grad, self, target, reduction),
)
def soft_margin_loss(self, target, reduction):
    broadcast_shapes(self.shape, target.shape)
    return reduced(np.log1p(np.exp(-target.astype(self.dtype, copy=False) * self)), reduction)


@op(
    "soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
    reduced="own",
    node="SoftMarginLossBackwardBackward0",
    grad_output=lambda grad, grad_output, self, target, reduction: slope_gradient(
        grad, grad_output, self, target, reduction
    ),
    self=lambda grad, grad_output, self, target, reduction: curvature(
        grad * grad_output, self, target, reduction
    ),
)
def soft_margin_loss_backward(grad_output, self, target, reduction):
    label = target.astype(self.dtype, copy=False)
    odds = np.exp(-label * self)
    return -label * odds / (odds + 1) * self.dtype.type(share(self, reduction)) * grad_output


def slope_gradient(grad, grad_output, self, target, reduction):
    """The gradient of `soft_margin_loss_backward` for its first argument."""
    if reduction == NONE:
        return calls.soft_margin_loss_backward(grad, self, target, reduction)
    slope = calls.soft_margin_loss_backward(grad_output.new_ones(grad_output.shape), self, target, reduction)
    return (slope * grad).sum()


def curvature(grad, self, target, reduction):
    """The second derivative of the loss, times a gradient."""
    odds = (self * -target).exp()
    more = odds + 1
    return averaged(grad * (target * target) * odds / (more * more), self, reduction)


# Many classes


def check_samples(self: np.ndarray) -> tuple[int, int]:
    """The number of samples and of classes.

    Raises:
        RuntimeError: the input is neither a vector nor a matrix, or has no classes.
    """
    if self.ndim > 2 or (self.ndim and not self.shape[-1]):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(self.shape)}"
        )
    return (self.shape[0] if self.ndim == 2 else 1), (self.shape[-1] if self.ndim else 1)


def check_long(target: np.ndarray) -> None:
    """Refuse targets of another type than int64."""
    if target.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {dtypes.OF_NUMPY[target.dtype].scalar_type}")


def violations(self, target, margin):
    """By how much each class violates the margin of its sample's target, and where the targets are."""
    rows = np.arange(self.shape[0])
    excess = self.dtype.type(margin) - self[rows, target][:, None] + self
    excess[rows, target] = 0
    return np.fmax(excess, 0), rows  # NaN violates no margin


@op(
    "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, "
    "int reduction=1) -> Tensor",
    constants=("weight",),
    self=lambda grad, self, target, p, margin, weight, reduction: calls.multi_margin_loss_backward(
        grad, self, target, p, margin, weight, reduction
    ),
)
@unreduced("multi_margin_loss_cpu_kernel")
def multi_margin_loss(self, target, p, margin, weight, reduction):
    samples, classes = check_samples(self)
    if target.ndim > 1 or target.size != samples:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{samples}], but got {list(target.shape)}. Input "
            f"has shape {list(self.shape)}."
        )
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    refuse_kind(self, "multi_margin_loss_cpu_kernel")
    check_long(target)
    if ((target < 0) | (target >= classes)).any():
        raise RuntimeError("target out of range")
    excess, _ = violations(self.reshape(samples, classes), target.reshape(-1), margin)
    losses = (excess if p == 1 else excess * excess).sum(1) / self.dtype.type(classes)
    if weight is not None:
        losses = losses * weight[target.reshape(-1)]
    return reduced(losses.reshape(target.shape), reduction)


@op(
    "multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, "
    "Tensor? weight=None, int reduction=1) -> Tensor",
    refused="aten::multi_margin_loss_backward",
)
def multi_margin_loss_backward(grad_output, self, target, p, margin, weight, reduction):
    samples, classes = check_samples(self)
    target = target.reshape(-1)
    excess, rows = violations(self.reshape(samples, classes), target, margin)
    slope = (excess > 0).astype(self.dtype) if p == 1 else 2 * excess
    slope[rows, target] = 0 - slope.sum(1)
    scale = self.dtype.type(1 / (classes * samples if reduction == MEAN else classes))
    if weight is not None:
        slope = slope * weight[target][:, None]
    grad = grad_output.reshape(-1, 1) if reduction == NONE else grad_output
    return np.asarray(slope * scale * grad, order="C").reshape(self.shape)


def label_counts(target, classes):
    """How often each class is named as a target, before the first -1."""
    counts = np.zeros((target.shape[0], classes), np.int64)
    before = np.cumsum(target < 0, axis=1) == 0
    rows, columns = np.nonzero(before)
    np.add.at(counts, (rows, target[rows, columns]), 1)
    return counts


def label_excess(self, counts):
    """By how much each class that is no target comes within 1 of each that is: sample, target, other."""
    excess = 1 - self[:, :, None] + self[:, None, :]
    return np.where((counts > 0)[:, :, None] & (counts == 0)[:, None, :], np.fmax(excess, 0), 0)


@op(
    "multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, "
    "Tensor is_target)",
    node="MultilabelMarginLossBackward0",
    nondifferentiable=(1,),
    self=lambda grad, self, target, reduction, is_target: calls.multilabel_margin_loss_backward(
        grad, self, target, reduction, is_target
    ),
)
@unreduced("multilabel_margin_loss_forward_out_frame")
def multilabel_margin_loss_forward(self, target, reduction):
    samples, classes = check_samples(self)
    if target.shape != self.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(self.shape)}"
        )
    check_long(target)
    if target.size and (target.min() < -1 or target.max() >= classes):
        raise RuntimeError("argument #2 'target' is out of range")
    refuse_kind(self, "multilabel_margin_loss_forward_out_frame")
    counts = label_counts(target.reshape(samples, classes), classes)
    excess = label_excess(self.reshape(samples, classes), counts) * counts[:, :, None]
    losses = excess.sum((1, 2), dtype=self.dtype) / self.dtype.type(classes)
    shape = () if self.ndim < 2 else (samples,)
    return reduced(losses.reshape(shape), reduction), (counts > 0).astype(self.dtype).reshape(self.shape)


@op(
    "multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, "
    "Tensor is_target) -> Tensor",
    refused="aten::multilabel_margin_loss_backward",
)
def multilabel_margin_loss_backward(grad_output, self, target, reduction, is_target):
    samples, classes = check_samples(self)
    counts = label_counts(target.reshape(samples, classes), classes)
    hit = (label_excess(self.reshape(samples, classes), counts) > 0).astype(self.dtype) * counts[:, :, None]
    scale = self.dtype.type(1 / (classes * samples if reduction == MEAN else classes))
    grad = grad_output.reshape(-1, 1) if reduction == NONE else grad_output
    return ((hit.sum(1) - hit.sum(2)) * scale * grad).astype(self.dtype, copy=False).reshape(self.shape)


@composite("multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
def multilabel_margin_loss(self, target, reduction=MEAN):
    return calls.multilabel_margin_loss_forward(self, target, reduction)[0]
