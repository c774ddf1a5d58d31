"""Batching rules of reductions, scans, softmax and sorting: the same along the sample's dimensions."""

from collections.abc import Callable
from typing import Any

from refgrad.func.rules.operands import Operand, padded, rank_of, rule
from refgrad.op import calls
from refgrad.tensor import Tensor


def rows(self: Operand) -> Tensor:
    """All elements of each sample in a row."""
    value = self.front()
    return value if self.rank == 1 else value.reshape(value.size(0), -1)


def over_all(reduce: str) -> Callable:
    """The rule of a reduction of all elements by one that takes dimensions."""

    def reduce_all(function: Callable, self: Operand, dtype: Any = None) -> Tensor:
        return getattr(calls, reduce)(self.at_least_vector(), self.axes(None), False, dtype)

    return reduce_all


rule("sum")(over_all("sum__dim_IntList"))
rule("mean")(over_all("mean__dim"))


@rule("prod")
def prod(function: Callable, self: Operand, dtype: Any = None) -> Tensor:
    """The product of all elements."""
    return calls.prod__dim_int(rows(self), 1, False, dtype)


@rule("max", "min", "median", "nanmedian")
def extreme(function: Callable, self: Operand) -> Tensor:
    """One element among all."""
    return getattr(calls, f"{function.__name__}__dim")(rows(self), 1)[0]


@rule("all", "any")
def truth(function: Callable, self: Operand) -> Tensor:
    """Whether all, or some, are true."""
    return getattr(calls, f"{function.__name__}__dim")(rows(self), 1)


@rule("sum.dim_IntList", "mean.dim", "nansum", "var.correction", "std.correction", "var_mean.correction",
      "std_mean.correction", "logsumexp", "amax", "amin", "all.dims", "any.dims")  # fmt: skip
def along(function: Callable, self: Operand, dim: Any = None, *others: Any) -> Any:
    """A reduction along dimensions; of none given, all."""
    return self.settled(function(self.at_least_vector(), self.axes(dim), *others))


@rule("linalg_vector_norm")
def vector_norm(function: Callable, self: Operand, order: Any = 2, dim: Any = None, *others: Any) -> Tensor:
    """The norm along dimensions."""
    return self.settled(function(self.at_least_vector(), order, self.axes(dim), *others))


@rule("norm.Scalar", "norm.ScalarOpt_dim")
def norm(
    function: Callable, self: Operand, order: Any = 2, dim: Any = None, keepdim: bool = False, *rest: Any
) -> Tensor:
    """The older norm, along all dimensions where none are given."""
    value = self.at_least_vector()
    return self.settled(
        calls.norm__ScalarOpt_dim(value, 2 if order is None else order, self.axes(dim), keepdim)
    )


@rule("prod.dim_int", "max.dim", "min.dim", "all.dim", "any.dim", "median.dim", "nanmedian.dim")
def along_one(function: Callable, self: Operand, dim: int, *others: Any) -> Any:
    """A reduction along one dimension."""
    return self.settled(function(self.at_least_vector(), self.axis(dim), *others))


@rule("argmax", "argmin")
def place_of_extreme(
    function: Callable, self: Operand, dim: int | None = None, keepdim: bool = False
) -> Tensor:
    """Where the extreme element is, among all or along a dimension."""
    if dim is not None:
        return self.settled(function(self.at_least_vector(), self.axis(dim), keepdim))
    place = function(rows(self), 1, False)
    return place.view(place.size(0), *[1] * self.rank) if keepdim else place


@rule("aminmax")
def aminmax(function: Callable, self: Operand, dim: int | None = None, keepdim: bool = False) -> Any:
    """The extremes among all, or along a dimension."""
    if dim is not None:
        return self.settled(function(self.at_least_vector(), self.axis(dim), keepdim))
    value = calls.reshape(self.front(), (self.count, -1)) if self.rank else self.at_least_vector()
    return function(value, 1, False)


@rule("kthvalue")
def kth_value(function: Callable, self: Operand, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest element along a dimension."""
    return self.settled(function(self.at_least_vector(), k, self.axis(dim), keepdim))


@rule("mode")
def mode(function: Callable, self: Operand, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along a dimension."""
    return self.settled(function(self.at_least_vector(), self.axis(dim), keepdim))


# Shape-preserving -------------------------------------------------------------------------------------------


def keeping(function: Callable, self: Operand, dim: int, *others: Any) -> Any:
    """An op along one dimension that keeps the shape: what has none gets one for it."""
    return self.settled(function(self.at_least_vector(), self.axis(dim), *others))


rule("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "_softmax", "_log_softmax", "_safe_softmax")(
    keeping
)


@rule("sort")
def sort(function: Callable, self: Operand, dim: int = -1, *others: Any) -> Any:
    """Sorted along a dimension."""
    return keeping(function, self, dim, *others)


@rule("sort.stable")
def stable_sort(
    function: Callable, self: Operand, stable: Any, dim: int = -1, descending: bool = False
) -> Any:
    """Sorted along a dimension, equal elements in their order."""
    return keeping(lambda value, axis: function(value, stable, axis, descending), self, dim)


@rule("topk")
def topk(function: Callable, self: Operand, k: int, dim: int = -1, *others: Any) -> Any:
    """The largest elements along a dimension."""
    return keeping(lambda value, axis: function(value, k, axis, *others), self, dim)


@rule("_softmax_backward_data", "_log_softmax_backward_data")
def softmax_backward(function: Callable, grad: Any, output: Any, dim: int, kind: Any) -> Tensor:
    """The gradient of softmax."""
    rank = max(rank_of(grad), rank_of(output), 1)
    first, second = [padded(a, rank) if isinstance(a, Operand) else a.unsqueeze(0) for a in (grad, output)]
    if first.shape != second.shape:
        first, second = (
            first.expand(*shape_of_both(first, second)),
            second.expand(*shape_of_both(first, second)),
        )
    result = function(first, second, dim % rank + 1, kind)
    return result if max(rank_of(grad), rank_of(output)) else result.squeeze(-1)


def shape_of_both(first: Tensor, second: Tensor) -> tuple:
    """The shape that two tensors of one rank broadcast to."""
    return tuple(max(a, b) for a, b in zip(first.shape, second.shape, strict=True))


@rule("native_layer_norm_backward")
def layer_norm_backward(
    function: Callable, grad: Any, input: Any, shape: Any, mean: Any, rstd: Any, weight: Any, bias: Any,
    wanted: Any,
) -> Any:  # fmt: skip
    """The gradients of layer norm: those of weights are sums over what they were applied to."""
    if not (isinstance(grad, Operand) and isinstance(input, Operand)):
        return NotImplemented
    ahead, value, middle, inverse = [each.front() for each in (grad, input, mean, rstd)]
    summed = list(range(1, 1 + input.rank - len(shape)))
    of_weight = of_bias = None
    if weight is not None and wanted[1]:
        of_weight = (value - middle) * inverse * ahead
        of_weight = of_weight.sum(summed) if summed else of_weight
    if bias is not None and wanted[2]:
        of_bias = ahead.sum(summed) if summed else ahead
    if not wanted[0]:
        return None, of_weight, of_bias
    if weight is not None:
        ahead = ahead * (padded(weight, input.rank) if isinstance(weight, Operand) else weight)
    found = function(ahead, value, shape, middle, inverse, None, None, [True, False, False])[0]
    return found, of_weight, of_bias


@rule("native_layer_norm")
def layer_norm(function: Callable, input: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Layer norm: the batch is one more dimension in front; weights of samples are applied afterwards."""
    if not isinstance(weight, Operand) and not isinstance(bias, Operand):
        return function(input.front(), shape, weight, bias, eps)
    result, mean, rstd = function(
        input.front() if isinstance(input, Operand) else input, shape, None, None, eps
    )
    rank = rank_of(input)
    for part, apply in ((weight, calls.mul), (bias, calls.add)):
        if part is not None:
            result = apply(result, padded(part, rank) if isinstance(part, Operand) else part)
    return result, mean, rstd
