"""Kullback-Leibler divergences: which formula is for which pair of distributions."""

import warnings
from collections.abc import Callable
from typing import Any

from refgrad.autograd import grad
from refgrad.distributions.distribution import Distribution, ExponentialFamily, summed

BETWEEN_FAMILIES = (
    "The cross KL-divergence between different exponential families cannot" + " " * 28 + " be computed using "
    "Bregman divergences"
)
FORMULAS: dict[tuple[type, type], Callable] = {}
FOUND: dict[tuple[type, type], Callable | None] = {}


def register_kl(type_p: Any, type_q: Any) -> Callable:
    """Declare the divergence of distributions of two types.

    Raises:
        TypeError: that are no types of distributions.
    """
    for kind in (type_p, type_q):
        issubclass(kind, Distribution)

    def declare(function: Callable) -> Callable:
        FORMULAS[type_p, type_q] = function
        FOUND.clear()
        return function

    return declare


def precedes(types: tuple, others: tuple) -> bool:
    """Whether a pair of types is nearer than another, the first type counting first."""
    for own, other in zip(types, others, strict=True):
        if not issubclass(own, other):
            return False
        if own is not other:
            break
    return True


def nearest(pairs: list) -> tuple:
    """The pair that no other is nearer than."""
    best = pairs[0]
    for pair in pairs[1:]:
        if pair != best and precedes(pair, best):
            best = pair
    return best


def formula_for(p: type, q: type) -> Callable | None:
    """The formula for the nearest types that there is one for; which type counts first should not matter."""
    pairs = [pair for pair in FORMULAS if issubclass(p, pair[0]) and issubclass(q, pair[1])]
    if not pairs:
        return None
    by_p = nearest(pairs)
    by_q = nearest([pair[::-1] for pair in pairs])[::-1]
    if FORMULAS[by_p] is not FORMULAS[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({p.__name__}, {q.__name__}). "
            f"Please register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return FORMULAS[by_p]


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The divergence KL(p || q).

    Raises:
        NotImplementedError: there is no formula for the types.
    """
    types = type(p), type(q)
    if types not in FOUND:
        FOUND[types] = formula_for(*types)
    formula = FOUND[types]
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
