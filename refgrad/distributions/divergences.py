"""The formulas of Kullback-Leibler divergences. See `kl` for how one is found."""

import math
from typing import Any

from refgrad import linalg
from refgrad.distributions.composed import Independent
from refgrad.distributions.continuous import Cauchy, Exponential, Laplace, Normal, Uniform
from refgrad.distributions.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    OneHotCategorical,
    Poisson,
)
from refgrad.distributions.distribution import EULER, summed
from refgrad.distributions.gamma import Beta, Dirichlet, Gamma
from refgrad.distributions.kl import kl_divergence, register_kl
from refgrad.distributions.multivariate import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    batch_lowrank_logdet,
    batch_lowrank_mahalanobis,
    batch_mahalanobis,
    log_of_diagonal,
)
from refgrad.distributions.relaxed import ContinuousBernoulli
from refgrad.distributions.transformed import Gumbel, HalfNormal, Pareto, TransformedDistribution
from refgrad.nn import functional as F
from refgrad.op import calls
from refgrad.toplevel import broadcast_shapes

# Infinite ---------------------------------------------------------------------------------------------------

BOUNDED_ABOVE = (Beta, ContinuousBernoulli, Uniform)
POSITIVE = (Exponential, Gamma)
INFINITE = {
    (Beta, "concentration1"): (Pareto,),
    (ContinuousBernoulli, "probs"): (Pareto,),
    (Exponential, "rate"): (*BOUNDED_ABOVE, Pareto),
    (Gamma, "concentration"): (*BOUNDED_ABOVE, Pareto),
    (Gumbel, "loc"): (*BOUNDED_ABOVE, *POSITIVE, Pareto),
    (Laplace, "loc"): (*BOUNDED_ABOVE, *POSITIVE, Pareto),
    (Normal, "loc"): (*BOUNDED_ABOVE, *POSITIVE, Pareto),
    (Pareto, "scale"): BOUNDED_ABOVE,
    (Poisson, "rate"): (Bernoulli, Binomial),
}
"""Pairs of which the first has values that the second cannot have, and the parameter whose shape it takes."""


def declare_infinite(name: str, type_p: type, type_q: type) -> None:
    """Declare an infinite divergence."""
    register_kl(type_p, type_q)(lambda p, q: calls.full_like(getattr(p, name), math.inf))


for (type_p, name), others in INFINITE.items():
    for type_q in others:
        declare_infinite(name, type_p, type_q)


def x_log_x(x: Any) -> Any:
    return x.xlogy(x)


# Within one family ------------------------------------------------------------------------------------------


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


@register_kl(Exponential, Exponential)
def exponential_exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def laplace_laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Poisson, Poisson)
def poisson_poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Independent, Independent)
def independent_independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return summed(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Beta, Beta)
def beta_beta(p: Any, q: Any) -> Any:
    of_p, of_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + of_p.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + of_q.lgamma()
    t3 = (p.concentration1 - q.concentration1) * p.concentration1.digamma()
    t4 = (p.concentration0 - q.concentration0) * p.concentration0.digamma()
    return t1 - t2 + t3 + t4 + (of_q - of_p) * of_p.digamma()


@register_kl(Binomial, Binomial)
def binomial_binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    of_one = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    result = p.total_count * of_one
    beyond = p.total_count > q.total_count
    result[beyond] = calls.full_like(result[beyond], math.inf)
    return result


@register_kl(Cauchy, Cauchy)
def cauchy_cauchy(p: Any, q: Any) -> Any:
    distance = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return distance.log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def continuous_bernoulli_continuous_bernoulli(p: Any, q: Any) -> Any:
    distance = p.mean * (p.logits - q.logits)
    of_p = p._cont_bern_log_norm() + (-p.probs).log1p()
    return distance + of_p + (-q._cont_bern_log_norm() - (-q.probs).log1p())


@register_kl(Dirichlet, Dirichlet)
def dirichlet_dirichlet(p: Any, q: Any) -> Any:
    of_p, of_q = p.concentration.sum(-1), q.concentration.sum(-1)
    t1 = of_p.lgamma() - of_q.lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    t3 = p.concentration - q.concentration
    t4 = p.concentration.digamma() - of_p.digamma().unsqueeze(-1)
    return t1 - t2 + (t3 * t4).sum(-1)


@register_kl(Gamma, Gamma)
def gamma_gamma(p: Any, q: Any) -> Any:
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = q.concentration.lgamma() - p.concentration.lgamma()
    t3 = (p.concentration - q.concentration) * p.concentration.digamma()
    return t1 + t2 + t3 + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Geometric, Geometric)
def geometric_geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def gumbel_gumbel(p: Any, q: Any) -> Any:
    ratio, of_q, of_p = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    level = -ratio.log() - of_q + of_p + ratio * EULER
    return level + (of_q + (1 + ratio).lgamma() - of_p).exp() - (1 + EULER)


@register_kl(HalfNormal, HalfNormal)
def half_normal_half_normal(p: Any, q: Any) -> Any:
    return normal_normal(p.base_dist, q.base_dist)


@register_kl(OneHotCategorical, OneHotCategorical)
def one_hot_categorical_one_hot_categorical(p: Any, q: Any) -> Any:
    return categorical_categorical(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def pareto_pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() + -ratio.log() + ratio - 1
    result[p.support.lower_bound < q.support.lower_bound] = math.inf
    return result


@register_kl(TransformedDistribution, TransformedDistribution)
def transformed_transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


# Normal vectors ---------------------------------------------------------------------------------------------


def check_events(p: Any, q: Any, told: str) -> None:
    """Refuse vectors of different lengths."""
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two {told}Multivariate Normals with" + " " * 25 + " "
            "different event shapes cannot be computed"
        )


def batch_trace_xxt(x: Any) -> Any:
    """The traces of X X^T."""
    return x.reshape(-1, x.size(-2) * x.size(-1)).pow(2).sum(-1).reshape(x.shape[:-2])


def lowrank_distance(p: Any, q: Any) -> tuple:
    """The distance of the means by the covariance of q, and a factor of what its low rank takes away."""
    distance = batch_lowrank_mahalanobis(q, q.loc - p.loc)
    scaled = q._unbroadcasted_cov_factor.mT / q._unbroadcasted_cov_diag.unsqueeze(-2)
    return distance, linalg.solve_triangular(q._capacitance_tril, scaled, upper=False)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def lowrank_lowrank(p: Any, q: Any) -> Any:
    check_events(p, q, "Low Rank ")
    level = batch_lowrank_logdet(q) - batch_lowrank_logdet(p)
    distance, factor = lowrank_distance(p, q)
    of_p, of_q = p._unbroadcasted_cov_diag, q._unbroadcasted_cov_diag
    spread = (of_p / of_q).sum(-1)
    spread = spread + batch_trace_xxt(p._unbroadcasted_cov_factor * of_q.rsqrt().unsqueeze(-1))
    spread = spread - batch_trace_xxt(factor * of_p.sqrt().unsqueeze(-2))
    spread = spread - batch_trace_xxt(factor.matmul(p._unbroadcasted_cov_factor))
    return 0.5 * (level + spread + distance - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def multivariate_lowrank(p: Any, q: Any) -> Any:
    check_events(p, q, "(Low Rank) ")
    own = p._unbroadcasted_scale_tril
    level = batch_lowrank_logdet(q) - 2 * log_of_diagonal(own)
    distance, factor = lowrank_distance(p, q)
    spread = batch_trace_xxt(own * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1))
    spread = spread - batch_trace_xxt(factor.matmul(own))
    return 0.5 * (level + spread + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def lowrank_multivariate(p: Any, q: Any) -> Any:
    check_events(p, q, "(Low Rank) ")
    other, factor = q._unbroadcasted_scale_tril, p._unbroadcasted_cov_factor
    level = 2 * log_of_diagonal(other) - batch_lowrank_logdet(p)
    distance = batch_mahalanobis(other, q.loc - p.loc)
    batch, size = broadcast_shapes(other.shape[:-2], factor.shape[:-2]), p.event_shape[0]
    other = other.expand((*batch, size, size))
    factor = factor.expand((*batch, size, p.cov_factor.size(-1)))
    diagonal = p._unbroadcasted_cov_diag.sqrt().diag_embed().expand((*batch, size, size))
    spread = batch_trace_xxt(linalg.solve_triangular(other, factor, upper=False))
    spread = spread + batch_trace_xxt(linalg.solve_triangular(other, diagonal, upper=False))
    return 0.5 * (level + spread + distance - size)


@register_kl(MultivariateNormal, MultivariateNormal)
def multivariate_multivariate(p: Any, q: Any) -> Any:
    check_events(p, q, "")
    own, other = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    level = log_of_diagonal(other) - log_of_diagonal(own)
    batch, size = broadcast_shapes(other.shape[:-2], own.shape[:-2]), p.event_shape[0]
    wide, wide_own = other.expand((*batch, size, size)), own.expand((*batch, size, size))
    spread = batch_trace_xxt(linalg.solve_triangular(wide, wide_own, upper=False))
    return level + 0.5 * (spread + batch_mahalanobis(other, q.loc - p.loc) - size)


# Between families -------------------------------------------------------------------------------------------


@register_kl(Uniform, Normal)
def uniform_normal(p: Any, q: Any) -> Any:
    width = p.high - p.low
    spread = (math.sqrt(math.pi * 2) * q.scale / width).log()
    distance = ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return spread + 0.5 * (width.pow(2) / 12 + distance) / q.scale.pow(2)


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


@register_kl(Laplace, Normal)
def laplace_normal(p: Any, q: Any) -> Any:
    variance = q.scale.pow(2)
    ratio = p.scale.pow(2) / variance
    level = 0.5 * (2 * ratio / math.pi).log()
    distance = 0.5 * p.loc.pow(2) - p.loc * q.loc + 0.5 * q.loc.pow(2)
    return -level + ratio + distance / variance - 1


@register_kl(Normal, Laplace)
def normal_laplace(p: Any, q: Any) -> Any:
    distance = p.loc - q.loc
    level = (p.scale / q.scale).log()
    relative = distance / p.scale
    near = math.sqrt(2 / math.pi) * p.scale * (-0.5 * relative.pow(2)).exp()
    far = distance * (math.sqrt(0.5) * relative).erf()
    return -level + (near + far) / q.scale - 0.5 * (1 + math.log(0.5 * math.pi))


@register_kl(Bernoulli, Poisson)
def bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def to_continuous_bernoulli(p: Any, q: Any) -> Any:
    result = -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._cont_bern_log_norm()
    if isinstance(p, Beta):
        return result
    is_out = calls.maximum(p.high.ge(q.support.upper_bound), p.low.le(q.support.lower_bound))
    return (calls.ones_like(result) * math.inf).where(is_out, result)


@register_kl(Beta, Exponential)
def beta_exponential(p: Any, q: Any) -> Any:
    mean = p.concentration1 / (p.concentration1 + p.concentration0)
    return -p.entropy() - q.rate.log() + q.rate * mean


@register_kl(Beta, Gamma)
def beta_gamma(p: Any, q: Any) -> Any:
    total = p.concentration1 + p.concentration0
    level = -p.entropy() + (q.concentration.lgamma() - q.concentration * q.rate.log())
    spread = (q.concentration - 1) * (p.concentration1.digamma() - total.digamma())
    return level - spread + q.rate * p.concentration1 / total


@register_kl(Beta, Normal)
def beta_normal(p: Any, q: Any) -> Any:
    total = p.concentration1 + p.concentration0
    mean, variance = p.concentration1 / total, q.scale.pow(2)
    level = -p.entropy() + 0.5 * (variance * 2 * math.pi).log()
    square = (mean * (1 - mean) / (total + 1) + mean.pow(2)) * 0.5
    return level + (square - q.loc * mean + q.loc.pow(2) * 0.5) / variance


@register_kl(Beta, Uniform)
def beta_uniform(p: Any, q: Any) -> Any:
    result = -p.entropy() + (q.high - q.low).log()
    result[(q.low > p.support.lower_bound) | (q.high < p.support.upper_bound)] = math.inf
    return result


@register_kl(ContinuousBernoulli, Exponential)
def continuous_bernoulli_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(ContinuousBernoulli, Normal)
def continuous_bernoulli_normal(p: Any, q: Any) -> Any:
    level = 0.5 * (math.log(2.0 * math.pi) + (q.loc / q.scale).square()) + q.scale.log()
    spread = p.variance + p.mean.square() - 2.0 * q.loc * p.mean
    return -p.entropy() + level + spread / (2.0 * q.scale.square())


@register_kl(ContinuousBernoulli, Uniform)
def continuous_bernoulli_uniform(p: Any, q: Any) -> Any:
    result = -p.entropy() + (q.high - q.low).log()
    is_out = calls.maximum(q.low.ge(p.support.lower_bound), q.high.le(p.support.upper_bound))
    return (calls.ones_like(result) * math.inf).where(is_out, result)


@register_kl(Exponential, Gamma)
def exponential_gamma(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    level = -q.concentration * ratio.log() + ratio + q.concentration.lgamma()
    return level + q.concentration * EULER - (1 + EULER)


@register_kl(Exponential, Gumbel)
def exponential_gumbel(p: Any, q: Any) -> Any:
    product, ratio = p.rate * q.scale, q.loc / q.scale
    level = product.log() - 1 - ratio
    return level + ratio.exp() * product / (product + 1) + product.reciprocal()


@register_kl(Gamma, Exponential)
def gamma_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Gamma, Gumbel)
def gamma_gumbel(p: Any, q: Any) -> Any:
    product, ratio, concentration = p.rate * q.scale, q.loc / q.scale, p.concentration
    t1 = (concentration - 1) * concentration.digamma() - concentration.lgamma() - concentration
    t2 = product.log() + concentration / product
    return t1 + t2 + (ratio.exp() * (1 + product.reciprocal()).pow(-concentration) - ratio)


@register_kl(Gamma, Normal)
def gamma_normal(p: Any, q: Any) -> Any:
    variance, square, concentration = q.scale.pow(2), p.rate.pow(2), p.concentration
    level = 0.5 * (square * variance * 2 * math.pi).log() - concentration - concentration.lgamma()
    spread = 0.5 * (concentration.pow(2) + concentration) / square - q.loc * concentration / p.rate
    spread = (spread + 0.5 * q.loc.pow(2)) / variance
    return level + (concentration - 1) * concentration.digamma() + spread


@register_kl(Gumbel, Normal)
def gumbel_normal(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    level = (ratio / math.sqrt(2 * math.pi)).log()
    spread = (math.pi * ratio * 0.5).pow(2) / 3
    distance = ((p.loc + p.scale * EULER - q.loc) / q.scale).pow(2) * 0.5
    return -level + spread + distance - (EULER + 1)


@register_kl(Normal, Gumbel)
def normal_gumbel(p: Any, q: Any) -> Any:
    mean, ratio, loc = p.loc / q.scale, (p.scale / q.scale).pow(2), q.loc / q.scale
    level = -(ratio.log() * 0.5) + (mean - loc)
    return level + (-mean + 0.5 * ratio + loc).exp() - 0.5 * (1 + math.log(2 * math.pi))


@register_kl(Pareto, Exponential)
def pareto_exponential(p: Any, q: Any) -> Any:
    product = p.scale * q.rate
    level = (p.alpha / product).log() - p.alpha.reciprocal()
    result = level + p.alpha * product / (p.alpha - 1) - 1
    result[p.alpha <= 1] = math.inf
    return result


@register_kl(Pareto, Gamma)
def pareto_gamma(p: Any, q: Any) -> Any:
    common = p.scale.log() + p.alpha.reciprocal()
    level = p.alpha.log() - common + (q.concentration.lgamma() - q.concentration * q.rate.log())
    level = level + (1 - q.concentration) * common
    result = level + q.rate * p.alpha * p.scale / (p.alpha - 1) - 1
    result[p.alpha <= 1] = math.inf
    return result


@register_kl(Pareto, Normal)
def pareto_normal(p: Any, q: Any) -> Any:
    variance, common = 2 * q.scale.pow(2), p.scale / (p.alpha - 1)
    level = (math.sqrt(2 * math.pi) * q.scale * p.alpha / p.scale).log() - p.alpha.reciprocal()
    spread = p.alpha * common.pow(2) / (p.alpha - 2) + (p.alpha * common - q.loc).pow(2)
    result = level + spread / variance - 1
    result[p.alpha <= 2] = math.inf
    return result


@register_kl(Uniform, Beta)
def uniform_beta(p: Any, q: Any) -> Any:
    width = p.high - p.low
    near_zero = (q.concentration1 - 1) * (x_log_x(p.high) - x_log_x(p.low) - width) / width
    near_one = (q.concentration0 - 1) * (x_log_x(1 - p.high) - x_log_x(1 - p.low) + width) / width
    level = q.concentration1.lgamma() + q.concentration0.lgamma()
    level = level - (q.concentration1 + q.concentration0).lgamma()
    result = near_one + level - width.log() - near_zero
    result[(p.high > q.support.upper_bound) | (p.low < q.support.lower_bound)] = math.inf
    return result


@register_kl(Uniform, Gamma)
def uniform_gamma(p: Any, q: Any) -> Any:
    width = p.high - p.low
    level = -width.log() + (q.concentration.lgamma() - q.concentration * q.rate.log())
    spread = (1 - q.concentration) * (x_log_x(p.high) - x_log_x(p.low) - width) / width
    result = level + spread + q.rate * (p.high + p.low) / 2
    result[p.low < q.support.lower_bound] = math.inf
    return result


@register_kl(Uniform, Gumbel)
def uniform_gumbel(p: Any, q: Any) -> Any:
    ratio = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return ratio.log() + 0.5 * (high + low) - ratio * ((-high).exp() - (-low).exp())


@register_kl(Uniform, Pareto)
def uniform_pareto(p: Any, q: Any) -> Any:
    width = p.high - p.low
    level = (q.alpha * q.scale.pow(q.alpha) * width).log()
    spread = (x_log_x(p.high) - x_log_x(p.low) - width) / width
    result = spread * (q.alpha + 1) - level
    result[p.low < q.support.lower_bound] = math.inf
    return result
