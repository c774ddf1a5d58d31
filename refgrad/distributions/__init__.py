"""`torch.distributions`: distributions, divergences between them, transforms, constraints.

To import `divergences` declares their formulas.
"""

from typing import Any

from refgrad import loaded  # noqa: F401
from refgrad.distributions import (  # noqa: F401
    composed,
    constraint_registry,
    constraints,
    continuous,
    discrete,
    distribution,
    divergences,
    gamma,
    kl,
    multivariate,
    relaxed,
    transformed,
    transforms,
)
from refgrad.distributions.composed import Independent, MixtureSameFamily
from refgrad.distributions.constraint_registry import biject_to, transform_to
from refgrad.distributions.continuous import (
    Cauchy,
    Exponential,
    GeneralizedPareto,
    Laplace,
    Normal,
    Uniform,
    VonMises,
)
from refgrad.distributions.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from refgrad.distributions.distribution import Distribution, ExponentialFamily
from refgrad.distributions.gamma import Beta, Chi2, Dirichlet, FisherSnedecor, Gamma, StudentT
from refgrad.distributions.kl import kl_divergence, register_kl
from refgrad.distributions.multivariate import (
    LKJCholesky,
    LowRankMultivariateNormal,
    MultivariateNormal,
    Wishart,
)
from refgrad.distributions.relaxed import ContinuousBernoulli, RelaxedBernoulli, RelaxedOneHotCategorical
from refgrad.distributions.transformed import (
    Gumbel,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LogNormal,
    Pareto,
    TransformedDistribution,
    Weibull,
)
from refgrad.distributions.transforms import *  # noqa: F403

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "kl_divergence",
    "register_kl",
    "transform_to",
]
__all__ += transforms.__all__

OTHER_NAMES = {
    name: module
    for module, names in (
        (composed, "independent mixture_same_family"),
        (continuous, "cauchy exponential generalized_pareto laplace normal uniform von_mises"),
        (
            discrete,
            "bernoulli binomial categorical geometric multinomial negative_binomial one_hot_categorical "
            "poisson",
        ),
        (distribution, "exp_family utils"),
        (gamma, "beta chi2 dirichlet fishersnedecor studentT"),
        (multivariate, "lkj_cholesky lowrank_multivariate_normal multivariate_normal wishart"),
        (relaxed, "continuous_bernoulli relaxed_bernoulli relaxed_categorical"),
        (
            transformed,
            "gumbel half_cauchy half_normal inverse_gamma kumaraswamy log_normal logistic_normal pareto "
            "transformed_distribution weibull",
        ),
    )
    for name in names.split()
}
"""PyTorch's modules by what holds their contents here."""


def __getattr__(name: str) -> Any:
    if name in OTHER_NAMES:
        return OTHER_NAMES[name]
    raise AttributeError(f"module 'torch.distributions' has no attribute '{name}'")
