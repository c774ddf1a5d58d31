"""`torch.distributions`: the common ones, and divergences between them."""

from typing import Any

from refgrad import loaded  # noqa: F401
from refgrad.distributions import constraints, continuous, discrete, kl, more
from refgrad.distributions.continuous import Exponential, Normal, Uniform
from refgrad.distributions.discrete import Bernoulli, Categorical
from refgrad.distributions.distribution import Distribution, ExponentialFamily
from refgrad.distributions.kl import kl_divergence, register_kl
from refgrad.distributions.more import Independent, Laplace, Poisson

__all__ = [
    "Bernoulli",
    "Categorical",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "Independent",
    "Laplace",
    "Normal",
    "Poisson",
    "Uniform",
    "constraints",
    "kl",
    "kl_divergence",
    "register_kl",
]

OTHER_NAMES = {
    "bernoulli": discrete,
    "categorical": discrete,
    "exponential": continuous,
    "independent": more,
    "laplace": more,
    "normal": continuous,
    "poisson": more,
    "uniform": continuous,
}


def __getattr__(name: str) -> Any:
    if name in OTHER_NAMES:
        return OTHER_NAMES[name]
    raise AttributeError(f"module 'torch.distributions' has no attribute '{name}'")
