"""Batching rules of pointwise ops: what is batched is brought to one rank, the rest broadcasts."""

from collections.abc import Callable
from typing import Any

from refgrad import dtypes
from refgrad.call import result_type
from refgrad.func.rules.operands import Moved, Operand, padded, rank_of, rule, spread
from refgrad.op import calls
from refgrad.ops.losses import MEAN, SUM
from refgrad.tensor import Tensor


def alone(function: Callable, self: Operand, *others: Any) -> Moved:
    """An op of one tensor: the batch stays where it is."""
    return Moved(function(self.whole, *others), self.dim)


def broadcast(function: Callable, *arguments: Any) -> Tensor:
    """An op of several tensors that broadcasts: the batch goes in front, and ranks are made equal behind
    it."""
    arguments = with_one_type(arguments)
    rank = max(map(rank_of, arguments))
    return function(*[padded(a, rank) if isinstance(a, Operand) else a for a in arguments])


def with_one_type(arguments: tuple) -> tuple:
    """Numbers without dimensions in a batch, cast to what they count for among the others.

    A batch of them is a tensor with a dimension, and would count for more.
    """
    tensors = [a for a in arguments if isinstance(a, (Tensor, Operand))]
    kinds = {whole_of(tensor).dtype for tensor in tensors if whole_of(tensor).dtype is not dtypes.bool_}
    if len(kinds) < 2 or not any(map(rank_of, tensors)):
        return arguments
    wanted = result_type([calls.empty((1,) * rank_of(a), dtype=whole_of(a).dtype) for a in tensors])
    return tuple(
        Operand(calls._to_copy(a.whole, wanted), a.dim)
        if isinstance(a, Operand) and not a.rank and a.whole.dtype is not wanted
        else a
        for a in arguments
    )


def whole_of(argument: Any) -> Tensor:
    """The tensor of an argument, batched or not."""
    return argument.whole if isinstance(argument, Operand) else argument


def of_schema(op: Any) -> Callable:
    """The rule of a pointwise op, which takes one tensor or several."""
    return alone if sum(argument.type == "Tensor" for argument in op.schema.arguments) == 1 else broadcast


ALONE = """
_to_copy alias _conj _neg_view _conj_physical conj_physical_ view_as_real zero_ fill_.Scalar
add.Scalar sub.Scalar rsub.Scalar mul.Scalar div.Scalar remainder.Scalar fmod.Scalar copysign.Scalar
eq.Scalar ne.Scalar lt.Scalar le.Scalar gt.Scalar ge.Scalar pow.Tensor_Scalar
add_.Scalar sub_.Scalar mul_.Scalar div_.Scalar pow_.Tensor_Scalar
elu elu_ celu celu_ softplus silu silu_ mish mish_ gelu hardswish hardswish_ hardsigmoid hardsigmoid_
leaky_relu leaky_relu_ threshold threshold_ hardtanh hardtanh_ softshrink hardshrink
clamp clamp_ clamp_min clamp_min_ clamp_max clamp_max_ isnan isinf isfinite isreal isposinf isneginf signbit
logit logit_ abs_ nan_to_num nan_to_num_
"""
TOGETHER = """
pow.Scalar clamp.Tensor _prelu_kernel elu_backward softplus_backward log_sigmoid_backward silu_backward
mish_backward gelu_backward threshold_backward hardtanh_backward leaky_relu_backward hardsigmoid_backward
hardswish_backward softshrink_backward hardshrink_backward tanh_backward sigmoid_backward
_prelu_kernel_backward
masked_fill.Scalar masked_fill_.Scalar copy_ isin.Tensor_Scalar frexp.Tensor log_sigmoid_forward
"""
rule(*ALONE.split())(alone)
rule(*TOGETHER.split())(broadcast)


@rule("polygamma")
def polygamma(function: Callable, n: int, self: Operand) -> Moved:
    """An op of one tensor, behind a number."""
    return Moved(function(n, self.whole), self.dim)


@rule("clone")
def clone(function: Callable, self: Operand, memory_format: Any = None) -> Any:
    """A copy; where its layout is asked for, the batch goes in front."""
    if memory_format is None or memory_format.name == "preserve_format":
        return alone(function, self, memory_format)
    return function(self.front(), memory_format)


# Losses -----------------------------------------------------------------------------------------------------


@rule("mse_loss", "smooth_l1_loss", "huber_loss")
def loss(function: Callable, self: Any, target: Any, reduction: int = MEAN, *others: Any) -> Tensor:
    """A loss without weights: elementwise for rows of samples, then reduced for each."""
    operands = [a for a in (self, target) if isinstance(a, Operand)]
    rank, count = max(rank_of(self), rank_of(target)), operands[0].count
    if len(operands) == 2:
        shape = (count, *wider_shape(self, target, rank))
        rows = [padded(a, rank).reshape(count, -1) if rank > 1 else padded(a, rank) for a in operands]
        each = function(*rows, 0, *others)
        return reduced(each if reduction else each.reshape(shape), reduction)
    values = [padded(a, rank) if isinstance(a, Operand) else a for a in (self, target)]
    return reduced(function(*values, 0, *others), reduction)


@rule("binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    function: Callable, grad: Any, self: Any, target: Any, weight: Any = None, reduction: int = MEAN
) -> Tensor:
    """The gradient of binary cross entropy: elementwise, then weighted and shared."""
    operands = (grad, self, target)
    count = next(a for a in operands if isinstance(a, Operand)).count
    values, goals = spread(self, count), spread(target, count)
    ahead = spread(grad, count)
    if ahead.dim() < values.dim():
        ahead = ahead.view(count, *[1] * (values.dim() - 1)).expand(values.shape)
    each = function(ahead, values, goals, None, 0)
    if weight is not None:
        each = each * (weight.front() if isinstance(weight, Operand) else weight)
    return calls.div__Scalar(each, values.numel() // count) if reduction == MEAN else each


def wider_shape(self: Operand, target: Operand, rank: int) -> tuple:
    """The shape of what a loss compares, for one sample."""
    return self.shape if self.rank == rank else target.shape


def reduced(each: Tensor, reduction: int) -> Tensor:
    """A loss of each element, reduced as asked for each sample."""
    if reduction not in (MEAN, SUM) or each.dim() < 2:
        return each
    dims = list(range(1, each.dim()))
    return calls.mean__dim(each, dims) if reduction == MEAN else calls.sum__dim_IntList(each, dims)


@rule("binary_cross_entropy")
def binary_cross_entropy(
    function: Callable, self: Any, target: Any, weight: Any = None, reduction: int = MEAN
) -> Tensor:
    """Binary cross entropy: elementwise, then weighted and reduced for each sample."""
    operands = [a for a in (self, target, weight) if isinstance(a, Operand)]
    count = operands[0].count
    each = function(spread(self, count), spread(target, count), None, 0)
    if weight is not None:
        each = each * (weight.front() if isinstance(weight, Operand) else weight)
    return reduced(each if each.dim() > 1 or not reduction else each.unsqueeze(-1), reduction)
