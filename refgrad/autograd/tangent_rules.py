"""Which ops move tangents how; for all others the backward is differentiated (see tangents.py).

The kinds and formulas are those that PyTorch uses, so that a tangent's own graph has the same nodes. In a
formula `self_p` is the value of an argument, `self_t` its tangent (zeros where it has none), and a plain name
the argument itself or a result.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad.call import WrappedFloat
from refgrad.op import calls
from refgrad.tensor import Tensor

LINEAR = "linear"
"""The op itself, applied to the tangents."""

ELEMENTWISE = "elementwise"
"""The op's gradient formula, applied to the tangent."""

VOID = "_void"
"""Marks, among a tensor's attributes, the zeros that stand for the tangent of what does not move."""

ZEROED = "zeroed"
"""What was written does not move any more."""

LOSS = "loss"
"""The op's gradient formulas, one for each operand, applied to the tangents, added up and then reduced."""

REDUCED_APART = ("huber_loss", "binary_cross_entropy_with_logits")
"""Losses whose reduction makes a tensor of its own."""

KINDS = {
    LINEAR: """
        clone zero_ roll flip rot90 tril triu diag_embed select_scatter slice_scatter diagonal_scatter
        as_strided_scatter repeat select_backward slice_backward diagonal_backward unfold_backward
        avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d mean mean.dim sum sum.dim_IntList
        trace index.Tensor masked_select index_select reflection_pad1d reflection_pad2d reflection_pad3d
        replication_pad1d replication_pad2d replication_pad3d cumsum cumsum_ gather take
        unsafe_split.Tensor unsafe_split_with_sizes embedding _unsafe_view _reshape_alias cat stack
        block_diag fill_.Tensor fill.Tensor complex where.self index_put index_put_ masked_fill.Tensor
        masked_fill_.Tensor masked_scatter masked_scatter_ index_add index_add_ index_copy index_copy_
        index_fill.int_Tensor index_fill_.int_Tensor scatter.src scatter_.src scatter_add scatter_add_ put
        put_ lerp.Scalar _to_copy _conj_physical conj_physical_ nll_loss_forward nll_loss2d_forward
        diagonal_copy embedding_dense_backward
    """,
    ZEROED: """
        fill_.Scalar uniform_ normal_ bernoulli_.float bernoulli_.Tensor random_ random_.from random_.to
        exponential_ geometric_ log_normal_ cauchy_
    """,
    LOSS: """
        mse_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits
        soft_margin_loss
    """,
    ELEMENTWISE: """
        elu celu softplus silu mish gelu rsub.Scalar remainder.Scalar fmod.Scalar pow.Tensor_Scalar
        pow.Scalar copysign.Scalar bernoulli normal.Tensor_float normal.float_Tensor poisson clamp
        clamp_min clamp_max threshold hardtanh leaky_relu rrelu_with_noise hardsigmoid hardswish
        softshrink hardshrink floor ceil trunc round round.decimals nan_to_num erf erfc erfinv
        special_erfcx special_ndtri special_log_ndtr lgamma digamma polygamma mvlgamma xlogy.Scalar_Self
        xlogy.Scalar_Other special_xlog1py.self_scalar special_xlog1py.other_scalar special_entr logit
        sinc i0 special_i0e special_i1 special_i1e deg2rad rad2deg neg sign exp exp2 expm1 log log10 log2
        log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh asinh atanh acosh tanh sigmoid
        relu
    """,
}
RULES: dict[str, Any] = {name: kind for kind, names in KINDS.items() for name in names.split()}
"""The rule of each op that has one: a kind, or a formula."""

MOVED_BY = {
    "SgnBackward0": 0, "LeakyReluBackwardBackward0": 1, "HardtanhBackwardBackward0": 1,
    "SoftshrinkBackwardBackward0": 1,
}  # fmt: skip
"""Of nodes whose other operands give no tangent at all: how many of the first ones do."""

_UNSUPPORTED = """
    _cdist_backward _cdist_forward _ctc_loss _ctc_loss.Tensor _embedding_bag _euclidean_dist
    _pdist_backward _pdist_forward _scaled_dot_product_flash_attention_for_cpu _unique2 grid_sampler_2d
    grid_sampler_2d_backward grid_sampler_3d grid_sampler_3d_backward huber_loss_backward igamma igammac
    index_reduce index_reduce_ multi_margin_loss multilabel_margin_loss_forward soft_margin_loss_backward
    special_zeta special_zeta.other_scalar special_zeta.self_scalar unique_consecutive unique_dim
"""
UNSUPPORTED = frozenset(_UNSUPPORTED.split())
"""Ops that have a backward and, in PyTorch, no forward derivative."""


def rule(*names: str) -> Callable[[Callable], Callable]:
    """Give ops a formula."""

    def declare(formula: Callable) -> Callable:
        RULES.update(dict.fromkeys(names, formula))
        return formula

    return declare


def times(tensor: Any, factor: Any) -> Any:
    """A multiple; the tensor itself for the factor one."""
    return tensor if factor == 1 else tensor * factor


def like(result: Tensor, tensor: Tensor) -> Tensor:
    """A tangent as real as its result."""
    return tensor.real if tensor.is_complex() and not result.is_complex() else tensor


def is_void(tangent: Any) -> bool:
    """Whether a tangent stands for none."""
    return not isinstance(tangent, Tensor) or VOID in tangent.__dict__


def still(result: Any, tangent: Any) -> Any:
    """A result that is linear in a tangent; zeros for none where that is, even times infinity."""
    if is_void(tangent) and isinstance(result, Tensor):
        result._array = np.zeros_like(result._array)
        result.__dict__[VOID] = True
    return result


def product(tangent: Any, value: Any) -> Any:
    """A tangent times a value."""
    return still(calls.mul(tangent, value), tangent)


def both(first: Any, second: Any, third: Any, fourth: Any) -> Tensor:
    """The sum of two products with tangents, which stand first; numbers do not move."""
    return added(product(first, second), product(third, fourth), 1)


def added(one: Any, other: Any, factor: Any) -> Tensor:
    """The sum of a tangent and a multiple of another; a void one takes no part, not even in the layout."""
    # Negative zero leaves the sign of every number that it is added to.
    other = times(other, factor) if not is_void(other) else other
    if isinstance(one, Tensor) and isinstance(other, Tensor) and is_void(one) is not is_void(other):
        void, moving = (one, other) if is_void(one) else (other, one)
        like = moving if one.shape == other.shape else void
        void._array = np.full_like(like._array, -0.0, void._array.dtype, subok=False)
    elif not isinstance(other, Tensor) and is_void(other):
        other = WrappedFloat(-0.0)
    return one + other


# Arithmetic -------------------------------------------------------------------------------------------------

rule("add.Tensor")(lambda self_t, other_t, alpha: added(self_t, other_t, alpha))
rule("sub.Tensor")(lambda self_t, other_t, alpha: self_t - times(other_t, alpha))
rule("rsub.Tensor")(lambda self_t, other_t, alpha: -times(self_t, alpha) + other_t)
rule("add.Scalar", "sub.Scalar")(lambda self_t: self_t.clone())
rule("mul.Tensor")(lambda self_p, self_t, other_p, other_t: both(other_t, self_p, self_t, other_p))
rule("mul.Scalar")(lambda self_t, other: self_t * other)
rule("div.Scalar")(lambda self_t, other: self_t / other)
rule("div.Tensor")(lambda self_t, other_p, other_t, result: (self_t - product(other_t, result)) / other_p)
rule("remainder.Tensor")(
    lambda self_p, self_t, other_p, other_t: (
        self_t - product(other_t, self_p.div(other_p, rounding_mode="floor"))
    )
)
rule("fmod.Tensor")(
    lambda self_p, self_t, other_p, other_t: (
        self_t - product(other_t, self_p.div(other_p, rounding_mode="trunc"))
    )
)
rule("atan2")(
    lambda self_p, self_t, other_p, other_t: (
        added(still(-self_p * other_t, other_t), still(other_p * self_t, self_t), 1)
        / (self_p.pow(2) + other_p.pow(2))
    )
)
rule("hypot")(
    lambda self_p, self_t, other_p, other_t, result: added(
        still(self_t * self_p / result, self_t), still(other_t * other_p / result, other_t), 1
    )
)
rule("lerp.Tensor")(
    lambda self_p, self_t, end_p, end_t, weight_p, weight_t: (
        calls.lerp__Tensor(self_t, end_t, weight_p) + product(weight_t, end_p - self_p)
    )
)
rule("frac")(lambda self_t: self_t)
rule("abs")(lambda self_p, self_t, result: like(result, self_t.conj() * self_p.sgn()))


@rule("logaddexp")
def logaddexp(self_p, self_t, other_p, other_t):
    """Weighted by the shares of the two."""
    return self_t / (1 + (other_p - self_p).exp()) + other_t / (1 + (self_p - other_p).exp())


@rule("xlogy.Tensor")
def xlogy(self_p, self_t, other_p, other_t):
    """Where zero meets no positive number, the first operand's tangent does not count."""
    first = calls.xlogy(self_t, other_p).masked_fill((self_p == 0) & (other_p <= 0), 0)
    return first + still(calls.mul(other_t, self_p) / other_p, other_t)


@rule("div.Tensor_mode")
def div_mode(self_p, self_t, other_p, other_t, rounding_mode, result):
    """A rounded quotient does not move."""
    if rounding_mode is not None:
        return result.detach().new_zeros(result.shape)
    return still(self_t / other_p, self_t) - still(other_t * (self_p / other_p) / other_p, other_t)


@rule("addcmul")
def addcmul(self_t, tensor1_p, tensor1_t, tensor2_p, tensor2_t, value):
    """A sum with a product."""
    return self_t + times(product(tensor1_t, tensor2_p), value) + times(product(tensor2_t, tensor1_p), value)


@rule("addcdiv")
def addcdiv(self_t, tensor1_p, tensor1_t, tensor2_p, tensor2_t, value):
    """A sum with a quotient."""
    quotient = tensor1_p / tensor2_p
    of_first = still(tensor1_t / tensor2_p, tensor1_t)
    return self_t + times(of_first, value) - times(still(tensor2_t * quotient / tensor2_p, tensor2_t), value)


def chosen(self_t: Any, other_t: Any, equal: Tensor, first: Tensor, result: Tensor) -> Tensor:
    """The tangent of the operand that was chosen; the mean of both where they are equal."""
    half = result.detach().new_full((), 0.5)
    return other_t + calls.where__self(equal, half, first.to(result.dtype)) * (self_t - other_t)


@rule("maximum")
def maximum(self_p, self_t, other_p, other_t, result):
    """The greater operand's."""
    return chosen(self_t, other_t, self_p == other_p, self_p > other_p, result)


@rule("minimum")
def minimum(self_p, self_t, other_p, other_t, result):
    """The smaller operand's."""
    return chosen(self_t, other_t, self_p == other_p, self_p < other_p, result)


@rule("scatter_reduce.two", "scatter_reduce_.two")
def scatter_reduce(self_p, self_t, dim, index, src_p, src_t, reduce, include_self, result):
    """Sums and means are linear; an extremum moves as the mean of the elements that attain it; PyTorch has no
    tangent for products."""
    options = {"reduce": "sum", "include_self": include_self}
    if reduce in ("sum", "mean"):
        return self_t.scatter_reduce(dim, index, src_t, **(options | {"reduce": reduce}))
    if reduce == "prod":
        return None
    from_self = (self_p == result).to(self_p.dtype)
    from_source = (src_p == result.gather(dim, index)).to(self_p.dtype)
    total = (self_t * from_self).scatter_reduce(dim, index, src_t * from_source, **options)
    return total / from_self.scatter_reduce(dim, index, from_source, **options)


# Values put in place of others ------------------------------------------------------------------------------

rule("fill.Scalar")(lambda self_t: calls.zeros_like(self_t))
rule("normal.Tensor_Tensor")(lambda mean_t: calls.zeros_like(mean_t))
rule("masked_fill.Scalar", "masked_fill_.Scalar")(lambda self_t, mask: self_t.masked_fill(mask, 0))
rule("index_fill.int_Scalar", "index_fill_.int_Scalar")(
    lambda self_t, dim, index: self_t.index_fill(dim, index, 0)
)
rule("scatter.value", "scatter_.value")(lambda self_t, dim, index: self_t.scatter(dim, index, 0))
rule("constant_pad_nd")(lambda self_t, pad: calls.constant_pad_nd(self_t, pad, 0))


@rule("copy_")
def copy_(self, self_t, src_t):
    """The source's, in the shape of what is written."""
    return src_t.clone() if src_t.shape == self.shape else src_t.broadcast_to(self.shape)


# Products of matrices ---------------------------------------------------------------------------------------

rule("mm")(lambda self_p, self_t, mat2_p, mat2_t: calls.mm(self_t, mat2_p) + calls.mm(self_p, mat2_t))
rule("bmm")(lambda self_p, self_t, mat2_p, mat2_t: calls.bmm(self_t, mat2_p) + calls.bmm(self_p, mat2_t))
rule("mv")(lambda self_p, self_t, vec_p, vec_t: calls.mv(self_t, vec_p) + calls.mv(self_p, vec_t))
rule("dot")(
    lambda self_p, self_t, tensor_p, tensor_t: (
        still(calls.dot(self_t, tensor_p), self_t) + still(calls.dot(self_p, tensor_t), tensor_t)
    )
)
rule("vdot")(
    lambda self_p, self_t, other_p, other_t: (
        still(calls.vdot(self_t, other_p), self_t) + still(calls.vdot(self_p, other_t), other_t)
    )
)


def weighted(self_t: Any, beta: Any, first: Tensor, second: Tensor, alpha: Any) -> Tensor:
    """The tangent of a sum with a product, from the two halves of the product's."""
    return times(self_t, beta) + times(first, alpha) + times(second, alpha)


@rule("addmm", "addmm_")
def addmm(self_t, mat1_p, mat1_t, mat2_p, mat2_t, beta, alpha):
    """A sum with a product of matrices."""
    return weighted(self_t, beta, mat1_t.mm(mat2_p), mat1_p.mm(mat2_t), alpha)


@rule("baddbmm", "baddbmm_")
def baddbmm(self_t, batch1_p, batch1_t, batch2_p, batch2_t, beta, alpha):
    """A sum with products of matrices."""
    return weighted(self_t, beta, batch1_t.bmm(batch2_p), batch1_p.bmm(batch2_t), alpha)


@rule("addmv", "addmv_")
def addmv(self_t, mat_p, mat_t, vec_p, vec_t, beta, alpha):
    """A sum with a matrix times a vector."""
    return weighted(self_t, beta, mat_t.mv(vec_p), mat_p.mv(vec_t), alpha)


@rule("addr", "addr_")
def addr(self_t, vec1_p, vec1_t, vec2_p, vec2_t, beta, alpha):
    """A sum with an outer product."""
    return weighted(self_t, beta, vec1_t.outer(vec2_p), vec1_p.outer(vec2_t), alpha)


# Reductions and choices -------------------------------------------------------------------------------------


def read_at(self_t: Tensor, dim: int, indices: Tensor, keepdim: bool) -> Tensor:
    """The tangents of the elements that were chosen along a dimension."""
    if self_t.dim() == 0 or keepdim:
        return self_t.gather(dim, indices)
    return self_t.gather(dim, indices.unsqueeze(dim)).squeeze(dim)


rule("max.dim", "min.dim", "median.dim", "nanmedian.dim", "mode", "kthvalue")(
    lambda self_t, dim, indices, keepdim: read_at(self_t, dim, indices, keepdim)
)
rule("sort", "sort.stable", "topk", "cummax", "cummin")(
    lambda self_t, dim, indices: read_at(self_t, dim, indices, True)
)


@rule("max", "min", "median", "nanmedian")
def chosen_evenly(self_p, self_t, result):
    """The mean over all elements that are the result."""
    mask = self_p == result
    return (mask * (self_t / mask.sum())).sum()


def of_log_sum(self_p: Tensor, self_t: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """The tangent of the logarithm of a sum of exponentials; as in PyTorch these are then overwritten."""
    greatest = calls.amax(self_p.real if self_p.is_complex() else self_p, dim, True)
    infinite = greatest.abs() == math.inf
    if infinite.any():
        greatest = greatest.masked_fill(infinite, 0)
    exponentials = (self_p - greatest).exp()
    total = exponentials.sum(dim, keepdim)
    return exponentials.mul_(self_t).sum(dim, keepdim).div_(total)


rule("logsumexp")(lambda self_p, self_t, dim, keepdim: of_log_sum(self_p, self_t, dim, keepdim))
rule("_softmax")(
    lambda self_p, self_t, dim, result: result * (self_t - of_log_sum(self_p, self_t, (dim,), True))
)
rule("_log_softmax")(lambda self_p, self_t, dim: self_t - of_log_sum(self_p, self_t, (dim,), True))


def of_variance(self_p, self_t, dim, correction, keepdim):
    """The tangent of a variance."""
    dims = tuple(range(self_p.dim())) if dim is None or len(dim) == 0 else dim
    count = math.prod(self_p.shape[d] for d in dims) if self_p.dim() else 1
    free = count - (1 if correction is None else correction)
    if free <= 0 or not self_p.dim():
        return NotImplemented
    mean = self_p.mean() if dims is not dim else self_p.mean(dims, True)
    products = (2.0 / free) * self_t.conj() * (self_p - mean)
    return (products.real if products.is_complex() else products).sum(dim or (), keepdim)


rule("var.correction")(
    lambda self_p, self_t, dim, correction, keepdim: of_variance(self_p, self_t, dim, correction, keepdim)
)


@rule("std.correction")
def std(self_p, self_t, dim, correction, keepdim, result):
    """That of the variance, divided."""
    slope = of_variance(self_p, self_t, dim, correction, keepdim)
    if slope is NotImplemented:
        return NotImplemented
    return (slope / (result * 2.0)).masked_fill_(result == 0, 0)


@rule("var_mean.correction")
def var_mean(self_p, self_t, dim, correction, keepdim):
    """Those of the variance and of the mean."""
    slope = of_variance(self_p, self_t, dim, correction, keepdim)
    return NotImplemented if slope is NotImplemented else (slope, self_t.mean(dim or (), keepdim))


@rule("std_mean.correction")
def std_mean(self_p, self_t, dim, correction, keepdim, result0):
    """Those of the deviation and of the mean."""
    slope = std(self_p, self_t, dim, correction, keepdim, result0)
    return NotImplemented if slope is NotImplemented else (slope, self_t.mean(dim or (), keepdim))


def read_window(self_t, indices, rank):
    """The tangents of the elements that were the greatest of their windows."""
    return self_t.flatten(-rank).gather(-1, indices.flatten(-rank)).view(indices.shape)


rule("max_pool2d_with_indices", "adaptive_max_pool2d")(
    lambda self_t, result1: read_window(self_t, result1, 2)
)
rule("max_pool3d_with_indices", "adaptive_max_pool3d")(
    lambda self_t, result1: read_window(self_t, result1, 3)
)


@rule("convolution")
def convolution(input_p, input_t, weight_p, weight_t, bias_t, stride, padding, dilation, transposed,
                output_padding, groups):  # fmt: skip
    """Linear in the input and in the weight; the bias goes with the first."""
    options = (stride, padding, dilation, transposed, output_padding, groups)
    moved = calls.convolution(input_t, weight_p, bias_t, *options)
    return moved + calls.convolution(input_p, weight_t, None, *options)


@rule("native_dropout")
def native_dropout(input_t, p, train, result1):
    """What is kept moves as the input, scaled."""
    if train is not None and not train:
        return input_t
    return (0.0 if p == 1 else 1.0 / (1.0 - p)) * input_t * result1


# Normalization ----------------------------------------------------------------------------------------------


def of_deviation(input_p, input_t, mean, scale, dims):
    """The tangent of one over the standard deviation, `scale`."""
    count = math.prod(input_p.shape[d] for d in dims)
    products = (input_t - input_t.mean(dims, True)) * (input_p - mean)
    return (products * -scale.pow(3)).sum(dims, True) / count


def of_normalized(input_p, input_t, mean, scale, dims):
    """The tangent of centered and scaled numbers."""
    slope = of_deviation(input_p, input_t, mean, scale, dims)
    return (input_t - input_t.mean(dims, True)).mul_(scale).add_((input_p - mean) * slope)


def of_affine(moved, normal, weight_p, weight_t, bias_t, shape):
    """The tangent after weight and bias; `normal()` gives what they were applied to."""
    if weight_p is not None:
        moved = moved.mul_(weight_p.view(shape))
        moved = moved.add_(normal().mul_(weight_t.view(shape)))
    return moved if bias_t is None else moved.add_(bias_t.view(shape))


@rule("native_layer_norm")
def native_layer_norm(input_p, input_t, normalized_shape, weight_p, weight_t, bias_t, result1, result2):
    """As in PyTorch, mean and deviation are no part of the tangent's graph."""
    dims = tuple(range(input_p.dim() - len(normalized_shape), input_p.dim()))
    if not input_p.numel():
        return NotImplemented
    moved = of_normalized(input_p, input_t, result1, result2, dims)
    shape = (1,) * dims[0] + tuple(normalized_shape)
    return of_affine(moved, lambda: (input_p - result1) * result2, weight_p, weight_t, bias_t, shape)


@rule("native_batch_norm")
def native_batch_norm(
    input_p, input_t, weight_p, weight_t, bias_t, running_mean, running_var, training, eps, result1, result2
):
    """In training by the batch's mean and deviation, else by the running ones, which do not move."""
    shape = (1, -1) + (1,) * (input_p.dim() - 2)
    dims = (0, *range(2, input_p.dim()))
    if not input_p.numel():
        return NotImplemented
    if training:
        mean, scale = result1.view(shape), result2.view(shape)
        moved = of_normalized(input_p, input_t, mean, scale, dims)
    else:
        mean, scale = running_mean.view(shape), (running_var + eps).rsqrt().view(shape)
        moved = input_t * scale
    return of_affine(moved, lambda: (input_p - mean) * scale, weight_p, weight_t, bias_t, shape)


@rule("native_group_norm")
def native_group_norm(input_p, input_t, weight_p, weight_t, bias_t, N, C, group, result1, result2):
    """Group by group; here mean and deviation have tangents too."""
    if not input_p.numel():
        return NotImplemented
    inside, mean, scale = (N, group, -1), result1.view(N, group, 1), result2.view(N, group, 1)
    values, tangents = input_p.reshape(inside), input_t.reshape(inside)
    moved = of_normalized(values, tangents, mean, scale, (2,)).view(input_p.shape)
    shape = (1, -1) + (1,) * (input_p.dim() - 2)

    def normal():
        return ((values - mean) * scale).view(input_p.shape)

    moved = of_affine(moved, normal, weight_p, weight_t, bias_t, shape)
    slope = of_deviation(values, tangents, mean, scale, (2,))
    return moved, tangents.mean((2,)).view(result1.shape), slope.view(result2.shape)
