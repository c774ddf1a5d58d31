"""Distributions of transformed samples of other distributions."""

import math
from typing import Any

from refgrad.autograd import no_grad
from refgrad.distributions import constraints
from refgrad.distributions.composed import Independent
from refgrad.distributions.constraints import require
from refgrad.distributions.continuous import Cauchy, Exponential, Normal, Uniform
from refgrad.distributions.distribution import (
    EULER,
    NO_SHAPE,
    Distribution,
    broadcast_all,
    summed,
)
from refgrad.distributions.gamma import Gamma
from refgrad.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    StickBreakingTransform,
    Transform,
)
from refgrad.layout import Size
from refgrad.op import calls
from refgrad.ops import from_data
from refgrad.tensor import Tensor
from refgrad.toplevel import finfo


def listed(transforms: Any) -> list:
    """Transforms as a list.

    Raises:
        ValueError: they are something else.
    """
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(transform, Transform) for transform in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms


class TransformedDistribution(Distribution):
    """The distribution of what transforms, one after the other, make of samples.

    Raises:
        ValueError: the base has too few dimensions for them.
    """

    arg_constraints: Any = {}

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms = listed(transforms)
        transform = ComposeTransform(self.transforms)
        domain, codomain = transform.domain.event_dim, transform.codomain.event_dim
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event_dim = len(base_distribution.event_shape)
        if len(base_shape) < domain:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {domain}, but got {base_shape}."
            )
        shape = transform.forward_shape(base_shape)
        expanded = transform.inverse_shape(shape)
        if base_shape != expanded:
            base_distribution = base_distribution.expand(expanded[: len(expanded) - base_event_dim])
        if domain > base_event_dim:
            base_distribution = Independent(base_distribution, domain - base_event_dim)
        self.base_dist = base_distribution
        event_dim = max(codomain, base_event_dim + codomain - domain)
        cut = len(shape) - event_dim
        require(cut >= 0, f"forward_shape length {len(shape)} must be >= event_dim {event_dim}")
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(TransformedDistribution, batch_shape, _instance, (), ("transforms",))
        shape: Any = Size((*batch_shape, *self.event_shape))
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """What comes out of the last transform."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self.event_shape) - support.event_dim
        return constraints.independent(support, missing) if missing > 0 else support

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether samples can be functions of the parameters."""
        return self.base_dist.has_rsample

    def _transformed(self, value: Any) -> Any:
        for transform in self.transforms:
            value = transform(value)
        return value

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        event_dim = len(self.event_shape)
        density: Any = 0.0
        for transform in reversed(self.transforms):
            before = transform.inv(value)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            slope = transform.log_abs_det_jacobian(before, value)
            density = density - summed(slope, event_dim - transform.domain.event_dim)
            value = before
        of_base = self.base_dist.log_prob(value)
        return density + summed(of_base, event_dim - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value: Any) -> Any:
        """Probabilities counted from the other end where the transforms are falling."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for transform in self.transforms[::-1]:
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._transformed(self.base_dist.icdf(self._monotonize_cdf(value)))


class LogNormal(TransformedDistribution):
    """Numbers whose logarithm is normal."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "LogNormal":
        return super().expand(batch_shape, self._get_checked_instance(LogNormal, _instance))

    @property
    def loc(self) -> Any:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Probabilities, one more than there are normal numbers to make them of."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "LogisticNormal":
        return super().expand(batch_shape, self._get_checked_instance(LogisticNormal, _instance))

    @property
    def loc(self) -> Any:
        """The means."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviations."""
        return self.base_dist.base_dist.scale


class Gumbel(TransformedDistribution):
    """The greatest of many numbers."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = finfo(self.loc.dtype)
        low, high = info.tiny, 1 - info.eps
        if isinstance(loc, Tensor) or isinstance(scale, Tensor):
            low, high = calls.full_like(self.loc, low), calls.full_like(self.loc, high)
        transforms = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-calls.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=loc, scale=-self.scale),
        ]
        base = Uniform(low, high, validate_args=validate_args)
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Gumbel":
        new = self._expanded(Gumbel, batch_shape, _instance, ("loc", "scale"))
        return super().expand(batch_shape, _instance=new)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def entropy(self) -> Any:
        return self.scale.log() + (1 + EULER)


class _Half(TransformedDistribution):
    """Base of the distributions of absolute values; the base is symmetric around 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    @property
    def scale(self) -> Any:
        """The scale of the base."""
        return self.base_dist.scale

    @property
    def mode(self) -> Any:
        return calls.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        density = self.base_dist.log_prob(value) + math.log(2)
        return density.where(value >= 0, -math.inf)

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The absolute value of a normal number of mean 0."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "HalfNormal":
        return super().expand(batch_shape, self._get_checked_instance(HalfNormal, _instance))

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The absolute value of a Cauchy number around 0."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Cauchy(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "HalfCauchy":
        return super().expand(batch_shape, self._get_checked_instance(HalfCauchy, _instance))

    @property
    def mean(self) -> Any:
        return self.scale.detach().new_full(self._extended_shape(), math.inf)

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        value = from_data.as_tensor(value, dtype=self.scale.dtype)
        density = self.base_dist.log_prob(value) + math.log(2)
        return density.where(value >= 0, -math.inf)


class Pareto(TransformedDistribution):
    """Numbers from `scale` on, whose logarithm is exponential."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        transforms = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Pareto":
        new = self._expanded(Pareto, batch_shape, _instance, ("scale", "alpha"))
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self) -> Any:
        alpha = self.alpha.clamp(min=1)
        return alpha * self.scale / (alpha - 1)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        alpha = self.alpha.clamp(min=2)
        return self.scale.pow(2) * alpha / ((alpha - 1).pow(2) * (alpha - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From the scale on."""
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Kumaraswamy(TransformedDistribution):
    """A probability, much as of `Beta`, made of one uniform number."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        low, high = (calls.full_like(self.concentration0, number) for number in (0, 1))
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        base = Uniform(low, high, validate_args=validate_args)
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Kumaraswamy":
        names = ("concentration1", "concentration0")
        new = self._expanded(Kumaraswamy, batch_shape, _instance, names)
        return super().expand(batch_shape, _instance=new)

    def _moment(self, order: int) -> Any:
        b, start = self.concentration0, 1 + order / self.concentration1
        return b * (start.lgamma() + b.lgamma() - (start + b).lgamma()).exp()

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        log_mode = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        log_mode[(b < 1) | (a < 1)] = math.nan
        return log_mode.exp()

    @property
    def variance(self) -> Any:
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        level = (b + 1).digamma() + EULER
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * level - a.log() - b.log()


class Weibull(TransformedDistribution):
    """Times to failure; a concentration of 1 means exponential."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(calls.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, self._steps(), validate_args=validate_args)

    def _steps(self) -> list:
        power = PowerTransform(exponent=self.concentration_reciprocal)
        return [power, AffineTransform(loc=0, scale=self.scale)]

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Weibull":
        new = self._expanded(Weibull, batch_shape, _instance, ("scale", "concentration"))
        new.concentration_reciprocal = new.concentration.reciprocal()
        base = self.base_dist.expand(batch_shape)
        TransformedDistribution.__init__(new, base, new._steps(), validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def mean(self) -> Any:
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Any:
        concentration = self.concentration
        return self.scale * ((concentration - 1) / concentration) ** concentration.reciprocal()

    @property
    def variance(self) -> Any:
        share = self.concentration_reciprocal
        square = (1 + 2 * share).lgamma().exp() - (2 * (1 + share).lgamma()).exp()
        return self.scale.pow(2) * square

    def entropy(self) -> Any:
        share = self.concentration_reciprocal
        return EULER * (1 - share) + (self.scale * share).log() + 1


class InverseGamma(TransformedDistribution):
    """The reciprocal of a gamma number."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, power, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "InverseGamma":
        return super().expand(batch_shape, self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self) -> Any:
        """The concentration of the gamma number."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The rate of the gamma number."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        return (self.rate / (self.concentration - 1)).where(self.concentration > 1, math.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        concentration = self.concentration
        result = self.rate.square() / ((concentration - 1).square() * (concentration - 2))
        return result.where(concentration > 2, math.inf)

    def entropy(self) -> Any:
        concentration = self.concentration
        level = concentration + self.rate.log() + concentration.lgamma()
        return level - (1 + concentration) * concentration.digamma()
