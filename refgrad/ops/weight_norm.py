"""Weights as a direction times a length (Salimans and Kingma)."""

from typing import Any

import numpy as np

from refgrad import modes
from refgrad.op import OPS, Op, calls, composite, op
from refgrad.ops.norms import norm_back, vector_norm
from refgrad.tensor import wrap


def other_axes(ndim: int, dim: int) -> tuple:
    """All dimensions but one."""
    return tuple([axis for axis in range(ndim) if axis != dim % ndim])


def norm_of_all(self, p):
    """The norm over all dimensions."""
    return vector_norm.kernel(self, p, None, False, None)


OPS["norm.Scalar"] = Op(
    "norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
    norm_of_all,
    {"self": lambda grad, self, p, result: norm_back(grad, self, p, result, (), False)},
    node="NormBackward0",
)


@composite("norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor")
def norm_except_dim(v, pow=2, dim=0):
    ndim = v._array.ndim
    if dim == -1:
        return calls.norm__Scalar(v, pow)
    if dim == 0:
        size = (v._array.shape[0],) + (1,) * (ndim - 1)
        return calls.norm__ScalarOpt_dim(v.contiguous().view((size[0], -1)), pow, (1,), False).view(size)
    if dim == ndim - 1:
        size = (1,) * (ndim - 1) + (v._array.shape[-1],)
        return calls.norm__ScalarOpt_dim(v.contiguous().view((-1, size[-1])), pow, (0,), False).view(size)
    return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


@op(
    "_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
    node="WeightNormInterfaceBackward0",
    nondifferentiable=(1,),
    jointly=("v, g", lambda grad, v, g, result1, dim: weight_norm_back(grad, v, g, result1, dim)),
)
def weight_norm_interface(v, g, dim):
    norms = np.sqrt(np.square(v).sum(other_axes(v.ndim, dim), keepdims=True))
    return v * (g / norms), norms


def weight_norm_back(grad: Any, v: Any, g: Any, norms: Any, dim: int) -> list:
    """The gradients of direction and length; with a graph of their own by way of plain ops."""
    if modes.grad_enabled():
        return differentiable_back(grad, v, g, norms, dim)
    axes = other_axes(v._array.ndim, dim)
    slopes, array, length, size = (tensor._array for tensor in (grad, v, g, norms))
    along = (slopes * array).sum(axes, keepdims=True)
    grad_v = length / size * (slopes - array * (along / (size * size)))
    return [wrap(grad_v), wrap(along / size)]


def differentiable_back(grad: Any, v: Any, g: Any, norms: Any, dim: int) -> list:
    """The gradients, made of plain ops."""
    ndim = v._array.ndim
    if dim == 0:
        size = (v._array.shape[0],) + (1,) * (ndim - 1)
        along = (grad * v).contiguous().view((size[0], -1)).sum(1).view(size)
    else:
        size = (1,) * (ndim - 1) + (v._array.shape[-1],)
        along = (grad * v).contiguous().view((-1, size[-1])).sum(0).view(size)
    return [(g / norms) * (grad - v * (along / (norms * norms))), along / norms]


@composite("_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor")
def weight_norm(v, g, dim=0):
    v, g = v.contiguous(), g.contiguous()
    if dim in (0, v._array.ndim - 1):
        return calls._weight_norm_interface(v, g, dim)[0]
    return v * (g / norm_except_dim(v, 2, dim))
