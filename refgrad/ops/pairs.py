"""Similarity and distance of pairs of vectors, and the losses made of them."""

import math

from refgrad import dtypes
from refgrad.call import result_type
from refgrad.layout import broadcast_shapes, wrap_dim
from refgrad.op import OPS, Op, calls, composite
from refgrad.ops.losses import MEAN, applied
from refgrad.ops.norms import norm_back, vector_norm
from refgrad.tensor import is_batched

# Distances


def norm_kernel(self, p, dim, keepdim):
    """The norm over some dimensions."""
    return vector_norm.kernel(self, 2 if p is None else p, tuple(dim), keepdim, None)


OPS["norm.ScalarOpt_dim"] = Op(
    "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
    norm_kernel,
    {
        "self": lambda grad, self, p, result, dim, keepdim: norm_back(
            grad, self, p, result, tuple(dim), keepdim
        )
    },
    node="NormBackward1",
)


@composite(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor"
)
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    last = max(x1._array.ndim, x2._array.ndim) - 1
    return calls.norm__ScalarOpt_dim(calls.add__Scalar(x1 - x2, eps), float(p), (last,), keepdim)


@composite("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor")
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    kind = result_type((x1, x2))
    if kind.category < dtypes.FLOATING:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {kind.scalar_type}"
        )
    shape = broadcast_shapes(x1._array.shape, x2._array.shape)
    wrap_dim(dim, len(shape))
    pair = []
    for tensor in (x1, x2):
        tensor = tensor if tensor.dtype is kind else tensor.to(kind)
        pair.append(tensor if tensor._array.shape == shape else calls.expand(tensor, shape))
    norms = [calls.clone(calls.linalg_vector_norm(tensor, 2, (dim,), True)) for tensor in pair]
    for norm in norms:
        (norm.detach() if is_batched(norm) else norm.data).clamp_min_(eps)
    second = pair[1] / norms[1]
    return calls.sum__dim_IntList((pair[0] / norms[0]) * second, (dim,))


# Losses


def zeros_like(tensor):
    """Zeros in the shape and type of a tensor, outside the graph."""
    return tensor.new_zeros(tensor._array.shape)


def beyond(number, tensor):
    """`number - tensor`, where the number counts as a tensor."""
    return calls.sub(tensor.new_ones(tensor._array.shape) * number, tensor)


@composite("hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=1) -> Tensor")
def hinge_embedding_loss(self, target, margin=1.0, reduction=MEAN):
    zeros = zeros_like(self)
    lacking = calls.clamp_min(beyond(margin, self), 0)
    apart = calls.where__self(calls.ne(target, 1), lacking, zeros)
    return applied(apart + calls.where__self(calls.ne(target, -1), self, zeros), reduction)


@composite(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) "
    "-> Tensor"
)
def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=MEAN):
    wrong = calls.add__Scalar(-target * (input1 - input2), margin)
    return applied(calls.clamp_min_(wrong, 0), reduction)


@composite(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) "
    "-> Tensor"
)
def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=MEAN):
    dim = target._array.ndim
    if dim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1._array.ndim == input2._array.ndim == dim + 1:
        sizes = [list(tensor._array.shape) for tensor in (input1, input2)]
        raise RuntimeError(
            f"{dim}D target tensor expects {dim + 1}D input tensors, but found inputs with sizes "
            f"{sizes[0]} and {sizes[1]}."
        )

    def total(product):
        return calls.sum__dim_IntList(product, (dim,))

    products = total(input1 * input2)
    squares = [calls.add__Scalar(total(tensor * tensor), 1e-12) for tensor in (input1, input2)]
    cosine = products / calls.sqrt(squares[0] * squares[1])
    zeros = zeros_like(cosine)
    apart = calls.clamp_min_(calls.sub__Scalar(cosine, margin), 0)
    parallel = calls.where__self(calls.eq(target, 1), beyond(1, cosine), zeros)
    return applied(parallel + calls.where__self(calls.eq(target, -1), apart, zeros), reduction)


@composite(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, "
    "float eps=1e-06, bool swap=False, int reduction=1) -> Tensor"
)
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=MEAN):
    ranks = (anchor._array.ndim, positive._array.ndim, negative._array.ndim)
    if len(set(ranks)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {ranks[0]}D, positive {ranks[1]}D, and negative {ranks[2]}D inputs"
        )
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = calls.minimum(far, pairwise_distance(positive, negative, p, eps))
    return applied(calls.clamp_min(calls.add__Scalar(near, margin) - far, 0), reduction)


@composite(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) "
    "-> Tensor"
)
def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    if log_input:
        products = target * input
        loss = calls.exp(input) - products
    else:
        loss = input - target * calls.log(calls.add__Scalar(input, eps))
    if full:
        spread = calls.mul__Scalar(calls.log(calls.mul__Scalar(target, 2 * math.pi)), 0.5)
        stirling = (target * calls.log(target) - target) + spread
        loss = calls.add_(loss, stirling.masked_fill(calls.le__Scalar(target, 1), 0))
    return applied(loss, reduction)
