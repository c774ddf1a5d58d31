"""Dropout: products with random noise."""

import math

import numpy as np

from refgrad import modes
from refgrad.call import as_tracked
from refgrad.op import calls, composite, op
from refgrad.ops.random import bernoulli_kernel
from refgrad.ops.random_tensors import empty_as
from refgrad.tensor import is_batched, is_wrapper, wrap

SELU_LOWER = 1.7580993408473766  # what SELU gives for minus infinity, negated


def noise_for(input, p, feature):
    """Ones and zeros in the shape of the input, or with one element for each channel."""
    shape = input._array.shape
    if feature:
        if len(shape) < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        shape = shape[:2] + (1,) * (len(shape) - 2)
    if is_batched(input):
        different = modes.state.randomness == "different"
        noise = input.new_empty(shape) if different else calls.empty(shape, dtype=input.dtype)
        return noise.bernoulli_(1 - p)
    if is_wrapper(input):
        return (calls.empty(shape, dtype=input.dtype) if feature else calls.empty_like(input)).bernoulli_(
            1 - p
        )
    array = np.empty(shape, input._array.dtype) if feature else empty_as(input)
    bernoulli_kernel(array, 1 - p, None)
    return as_tracked(wrap(array))


def dropped(input, p, train, feature=False, alpha=False, inplace=False):
    """The input times noise; for alpha dropout, plus what keeps mean and variance.

    Raises:
        RuntimeError: `p` is no probability, or channels are asked for and there are none.
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    if p == 0 or not train or not input._array.size:
        return input
    if p == 1:
        zero = wrap(np.zeros((), input._array.dtype))
        return input.mul_(zero) if inplace else input.mul(zero)
    noise = noise_for(input, p, feature)
    if not alpha:
        calls.div_(noise, 1 - p)
        return input.mul_(noise) if inplace else input.mul(noise)
    scale = 1 / math.sqrt((SELU_LOWER**2 * p + 1) * (1 - p))
    shift = noise.add(-1).mul_(SELU_LOWER * scale).add_(SELU_LOWER * scale * p)
    noise.mul_(scale)
    return (input.mul_(noise) if inplace else input.mul(noise)).add_(shift)


@composite("dropout(Tensor input, float p, bool train) -> Tensor")
def dropout(input, p, train):
    return dropped(input, p, train)


@composite("dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
def dropout_(self, p, train):
    return dropped(self, p, train, inplace=True)


@composite("feature_dropout(Tensor input, float p, bool train) -> Tensor")
def feature_dropout(input, p, train):
    return dropped(input, p, train, feature=True)


@composite("feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
def feature_dropout_(self, p, train):
    return dropped(self, p, train, feature=True, inplace=True)


@composite("alpha_dropout(Tensor input, float p, bool train) -> Tensor")
def alpha_dropout(input, p, train):
    return dropped(input, p, train, alpha=True)


@composite("alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
def alpha_dropout_(self, p, train):
    return dropped(self, p, train, alpha=True, inplace=True)


@composite("feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor")
def feature_alpha_dropout(input, p, train):
    return dropped(input, p, train, feature=True, alpha=True)


@composite("feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
def feature_alpha_dropout_(self, p, train):
    return dropped(self, p, train, feature=True, alpha=True, inplace=True)


@op(
    "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
    input=lambda grad, result1, p, train: grad * (result1.to(grad.dtype) * growth(p, bool(train))),
    nondifferentiable=(1,),
)
def native_dropout(input, p, train):
    if train is False or not input.size:
        return input.copy(), np.ones(input.shape, bool)
    keep = np.empty(input.shape, bool)
    bernoulli_kernel(keep, 1 - p, None)
    return input * keep * input.dtype.type(growth(p, True)), keep


def growth(p, train):
    """What the kept elements are multiplied by."""
    if not train:
        return 1.0
    return 0.0 if p == 1 else 1.0 / (1.0 - p)
