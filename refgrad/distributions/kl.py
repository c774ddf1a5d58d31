"""Kullback-Leibler divergences between pairs of distributions."""

import math
from collections.abc import Callable
from typing import Any

from refgrad.autograd import grad
from refgrad.distributions.continuous import Exponential, Normal, Uniform
from refgrad.distributions.discrete import Bernoulli, Categorical
from refgrad.distributions.distribution import ExponentialFamily, summed
from refgrad.nn import functional as F

BETWEEN_FAMILIES = (
    "The cross KL-divergence between different exponential families cannot" + " " * 28 + " be computed using "
    "Bregman divergences"
)
FORMULAS: dict[tuple[type, type], Callable] = {}


def register_kl(type_p: type, type_q: type) -> Callable:
    """Declare the divergence of distributions of two types."""

    def declare(function: Callable) -> Callable:
        FORMULAS[type_p, type_q] = function
        return function

    return declare


def formula_for(p: type, q: type) -> Callable | None:
    """The formula for the nearest types that there is one for."""
    for own in p.__mro__:
        for other in q.__mro__:
            if (own, other) in FORMULAS:
                return FORMULAS[own, other]
    return None


def kl_divergence(p: Any, q: Any) -> Any:
    """The divergence KL(p || q).

    Raises:
        NotImplementedError: there is no formula for the types.
    """
    formula = formula_for(type(p), type(q))
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return formula(p, q)


@register_kl(ExponentialFamily, ExponentialFamily)
def by_bregman_divergence(p: Any, q: Any) -> Any:
    """The divergence of two members of one family, out of its normaliser alone."""
    if type(p) is not type(q):
        raise NotImplementedError(BETWEEN_FAMILIES)
    natural = [parameter.detach().requires_grad_() for parameter in p._natural_params]
    others = q._natural_params
    normal = p._log_normalizer(*natural)
    slopes = grad(normal.sum(), natural, create_graph=True)
    result = q._log_normalizer(*others) - normal
    for own, other, slope in zip(natural, others, slopes, strict=True):
        result -= summed((other - own) * slope, len(q.event_shape))
    return result


@register_kl(Normal, Normal)
def normal_normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    distance = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + distance - 1 - ratio.log())


@register_kl(Bernoulli, Bernoulli)
def bernoulli_bernoulli(p: Any, q: Any) -> Any:
    of_ones = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    of_ones[q.probs == 0] = math.inf
    of_ones[p.probs == 0] = 0
    of_zeros = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    of_zeros[q.probs == 1] = math.inf
    of_zeros[p.probs == 1] = 0
    return of_ones + of_zeros


@register_kl(Categorical, Categorical)
def categorical_categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms[(q.probs == 0).expand_as(terms)] = math.inf
    terms[(p.probs == 0).expand_as(terms)] = 0
    return terms.sum(-1)


@register_kl(Uniform, Uniform)
def uniform_uniform(p: Any, q: Any) -> Any:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = math.inf
    return result


@register_kl(Uniform, Normal)
def uniform_normal(p: Any, q: Any) -> Any:
    width = p.high - p.low
    spread = (math.sqrt(math.pi * 2) * q.scale / width).log()
    distance = ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return spread + 0.5 * (width.pow(2) / 12 + distance) / q.scale.pow(2)


@register_kl(Exponential, Exponential)
def exponential_exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Uniform, Exponential)
def uniform_exponential(p: Any, q: Any) -> Any:
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    result[p.low < 0.0] = math.inf
    return result


@register_kl(Exponential, Normal)
def exponential_normal(p: Any, q: Any) -> Any:
    variance, square = q.scale.pow(2), p.rate.pow(2)
    level = 0.5 * (square * variance * 2 * math.pi).log()
    distance = square.reciprocal() - q.loc / p.rate + q.loc.pow(2) * 0.5
    return level - 1 + distance / variance


@register_kl(Normal, Exponential)
@register_kl(Normal, Uniform)
def infinite_from_normal(p: Any, q: Any) -> Any:
    return p.loc.detach().new_full(p.loc.shape, math.inf)


@register_kl(Exponential, Uniform)
def infinite_from_exponential(p: Any, q: Any) -> Any:
    return p.rate.detach().new_full(p.rate.shape, math.inf)
