"""Ops that under `vmap` are several others: they get batched tensors as they are."""

from collections.abc import Callable
from typing import Any

from refgrad.op import calls
from refgrad.ops.losses import MEAN, SUM

DECOMPOSED: dict[str, Callable] = {}
"""Functions of the op's arguments, by the op's full name."""


def decomposed(name: str) -> Callable[[Callable], Callable]:
    """Make a function what an op is under `vmap`."""

    def declare(function: Callable) -> Callable:
        DECOMPOSED[name] = function
        return function

    return declare


def reduced(loss: Any, reduction: int) -> Any:
    """A loss of each element, reduced as asked."""
    if reduction == MEAN:
        return calls.mean(loss)
    return calls.sum(loss) if reduction == SUM else loss


@decomposed("nll_loss_forward")
@decomposed("nll_loss2d_forward")
def nll_loss(input: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> tuple:
    """The negative log likelihood, gathered, and the sum of the weights."""
    channel = 0 if input.dim() < 2 else 1
    factors: Any = None
    if weight is not None:
        shape = [1] * input.dim()
        shape[channel] = weight.shape[0]
        factors = weight.reshape(shape)
        input = input * factors
    counts = target != ignore_index
    places = calls.unsqueeze(calls.where__self(counts, target, 0), channel)
    result = calls.neg(calls.squeeze__dims(calls.gather(input, channel, places), [channel]))
    result = calls.where__self(counts, result, 0)
    if reduction not in (MEAN, SUM):
        return result, input.new_zeros(())
    if weight is not None:
        used = calls.squeeze__dims(calls.gather(factors.expand(input.shape), channel, places), [channel])
        total = calls.sum(calls.where__self(counts, used, 0))
    else:
        total = calls.sum(counts).to(input.dtype)
    summed = calls.sum(result)
    return (calls.div(summed, total) if reduction == MEAN else summed), total


@decomposed("nll_loss_backward")
@decomposed("nll_loss2d_backward")
def nll_loss_backward(
    grad: Any, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total: Any
) -> Any:
    """The gradient of the negative log likelihood: minus the weight at each target."""
    channel = 0 if self.dim() < 2 else 1
    if reduction == MEAN:
        grad = calls.div(grad, total)
    target = calls.unsqueeze(target, channel)
    counts = target != ignore_index
    places = calls.where__self(counts, target, 0)
    at_targets = calls.scatter__value(calls.zeros_like(self), channel, places, -1.0)
    if at_targets.dim() > grad.dim() > 0:
        grad = calls.unsqueeze(grad, channel)
    if weight is not None:
        shape = [1] * self.dim()
        shape[channel] = weight.shape[0]
        grad = calls.mul(grad, weight.reshape(shape))
    return calls.mul(at_targets, calls.where__self(counts, grad, 0))


def share(self: Any, reduction: int) -> float:
    """How much an element counts in a reduced loss."""
    return 1.0 / self.numel() if reduction == MEAN else 1.0


@decomposed("mse_loss_backward")
def mse_loss_backward(grad: Any, self: Any, target: Any, reduction: int) -> Any:
    """The gradient of squared errors."""
    factor = 2.0 * share(self, reduction)
    return calls.mul(calls.mul(calls.sub(self, target), factor), grad)


@decomposed("smooth_l1_loss_backward")
def smooth_l1_loss_backward(grad: Any, self: Any, target: Any, reduction: int, beta: float) -> Any:
    """The gradient of errors that are squared near zero."""
    error = calls.sub(self, target)
    grad = calls.mul(grad, share(self, reduction))
    near = calls.div(calls.mul(grad, error), beta)
    return calls.where__self(
        calls.lt__Scalar(calls.abs(error), beta), near, calls.mul(grad, calls.sign(error))
    )


@decomposed("huber_loss_backward")
def huber_loss_backward(grad: Any, self: Any, target: Any, reduction: int, delta: float) -> Any:
    """The gradient of errors that are squared up to a bound."""
    norm = share(self, reduction)
    error = calls.sub(self, target)
    below = calls.mul(calls.mul(grad, -norm), delta)
    above = calls.mul(calls.mul(grad, norm), delta)
    between = calls.mul(calls.mul(error, norm), grad)
    inner = calls.where__self(calls.gt__Scalar(error, delta), above, between)
    return calls.where__self(calls.lt__Scalar(error, -delta), below, inner)


@decomposed("binary_cross_entropy_with_logits")
def with_logits(
    self: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = MEAN
) -> Any:
    """Binary cross entropy of logits, without overflow."""
    one = calls.ones((), dtype=self.dtype)
    largest = calls.clamp_min(calls.neg(self), 0)
    logarithm = calls.log(
        calls.add(calls.exp(calls.neg(largest)), calls.exp(calls.sub(calls.neg(self), largest)))
    )
    if pos_weight is None:
        loss = calls.add(calls.add(calls.mul(calls.sub(one, target), self), largest), logarithm)
    else:
        factor = calls.add(calls.mul(calls.sub(pos_weight, 1), target), 1)
        inner = calls.mul(factor, calls.add(logarithm, largest))
        loss = calls.add(calls.mul(calls.sub(one, target), self), inner)
    return reduced(loss if weight is None else calls.mul(loss, weight), reduction)


@decomposed("addmm")
def addmm(self: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """A sum and a product of matrices."""
    return calls.add(calls.mul__Scalar(self, beta), calls.mm(mat1, mat2), alpha)


def sum_and_product(name: str, product: Callable) -> None:
    """Make an op that adds a product two steps under `vmap`, or three."""

    @decomposed(name)
    def in_steps(self: Any, first: Any, second: Any, beta: Any = 1, alpha: Any = 1) -> Any:
        value = product(first, second)
        return calls.add(
            calls.mul__Scalar(self, beta), value if alpha == 1 else calls.mul__Scalar(value, alpha)
        )


for _name, _product in (
    ("baddbmm", lambda first, second: calls.bmm(first, second)),
    ("addmv", lambda first, second: calls.mv(first, second)),
    ("addbmm", lambda first, second: calls.sum__dim_IntList(calls.bmm(first, second), [0])),
):
    sum_and_product(_name, _product)


@decomposed("addr")
def addr(self: Any, vec1: Any, vec2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """A sum and an outer product."""
    product = calls.outer(vec1, vec2)
    scaled = calls.mul(product, alpha)
    return scaled if beta == 0 else calls.add(calls.mul(calls.expand(self, product.shape), beta), scaled)


@decomposed("dist")
def dist(self: Any, other: Any, p: Any = 2) -> Any:
    """The norm of a difference."""
    return calls.norm__Scalar(calls.sub(self, other), p)


@decomposed("diagonal_copy")
def diagonal_copy(self: Any, *places: Any) -> Any:
    """A copy of a diagonal."""
    return calls.clone(calls.diagonal(self, *places))
