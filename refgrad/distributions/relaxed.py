"""Continuous distributions that stand in for discrete ones."""

import math
from typing import Any

from refgrad.autograd import no_grad
from refgrad.distributions import constraints
from refgrad.distributions.discrete import Categorical, WithProbabilities
from refgrad.distributions.distribution import (
    NO_SHAPE,
    Distribution,
    ExponentialFamily,
    batch_shape_of,
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
)
from refgrad.distributions.transformed import TransformedDistribution
from refgrad.distributions.transforms import ExpTransform, SigmoidTransform
from refgrad.layout import Size
from refgrad.nn import functional as F
from refgrad.op import calls

OF_ONE = {"probs": constraints.unit_interval, "logits": constraints.real}
OF_SEVERAL = {"probs": constraints.simplex, "logits": constraints.real_vector}


class LogitRelaxedBernoulli(WithProbabilities):
    """The logit of a number near 0 or 1, the nearer the lower the temperature."""

    arg_constraints = OF_ONE
    support = constraints.real
    is_binary = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        value = self._take(probs, logits)
        (parameter,) = broadcast_all(value)
        setattr(self, self._given, parameter)
        super().__init__(batch_shape_of(parameter, value), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "LogitRelaxedBernoulli":
        names, kept = ("probs", "logits"), ("temperature", "_given")
        return self._expanded(LogitRelaxedBernoulli, batch_shape, _instance, names, kept)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        share = clamp_probs(calls.rand(tuple(shape), None, probs.dtype))
        level = share.log() - (-share).log1p() + probs.log() - (-probs).log1p()
        return level / self.temperature

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        distance = logits - value.mul(self.temperature)
        return self.temperature.log() + distance - 2 * distance.exp().log1p()


class _Relaxed(TransformedDistribution):
    """Base of the relaxed distributions, which are known by the parameters of their base."""

    has_rsample = True

    @property
    def temperature(self) -> Any:
        """How far from discrete the samples are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The logits."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self.base_dist.probs


class RelaxedBernoulli(_Relaxed):
    """A number near 0 or 1, the nearer the lower the temperature."""

    arg_constraints = OF_ONE
    support = constraints.unit_interval

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "RelaxedBernoulli":
        return super().expand(batch_shape, self._get_checked_instance(RelaxedBernoulli, _instance))


class ExpRelaxedCategorical(Distribution):
    """The logarithm of a vector near one that has a 1 among zeros."""

    arg_constraints = OF_SEVERAL
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        shape = self._categorical.param_shape[-1:]
        super().__init__(self._categorical.batch_shape, shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "ExpRelaxedCategorical":
        new = self._expanded(ExpRelaxedCategorical, batch_shape, _instance, (), ("temperature",))
        new._categorical = self._categorical.expand(Size(batch_shape))
        return new

    @property
    def param_shape(self) -> Size:
        """The shape of what was given."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Any:
        """The logits."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape = self._extended_shape(sample_shape)
        share = clamp_probs(calls.rand(tuple(shape), None, self.logits.dtype))
        scores = (self.logits + -(-share.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        count = self._categorical._num_events
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        level = calls.full_like(self.temperature, float(count)).lgamma()
        level = level - self.temperature.log().mul(-(count - 1))
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + level


class RelaxedOneHotCategorical(_Relaxed):
    """A vector near one that has a 1 among zeros, the nearer the lower the temperature."""

    arg_constraints = OF_SEVERAL
    support = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "RelaxedOneHotCategorical":
        new = self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        return super().expand(batch_shape, new)


class ContinuousBernoulli(WithProbabilities, ExponentialFamily):
    """A number between 0 and 1 whose density is that of `Bernoulli`, normalised.

    Around one half (`lims`), where the exact terms cancel, their Taylor series stand in for them.

    Raises:
        ValueError: not just one of the parameters is given.
    """

    arg_constraints = OF_ONE
    support = constraints.unit_interval
    has_rsample = True
    is_binary = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        value = self._take(probs, logits)
        (parameter,) = broadcast_all(value)
        if probs is not None:
            if validate_args is not None and not self.arg_constraints["probs"].check(parameter).all():
                raise ValueError("The parameter probs has invalid values")
            parameter = clamp_probs(parameter)
        setattr(self, self._given, parameter)
        self._lims = lims
        super().__init__(batch_shape_of(parameter, value), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "ContinuousBernoulli":
        names, kept = ("probs", "logits"), ("_lims", "_given")
        return self._expanded(ContinuousBernoulli, batch_shape, _instance, names, kept)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities, kept off 0 and 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self) -> Any:
        return calls.maximum(self.probs.le(self._lims[0]), self.probs.gt(self._lims[1]))

    def _cut_probs(self) -> Any:
        near = self._lims[0] * calls.ones_like(self.probs)
        return self.probs.where(self._outside_unstable_region(), near)

    def _cont_bern_log_norm(self) -> Any:
        cut = self._cut_probs()
        below = cut.where(cut.le(0.5), calls.zeros_like(cut))
        above = cut.where(cut.ge(0.5), calls.ones_like(cut))
        width = (-2.0 * below).log1p().where(cut.le(0.5), (2.0 * above - 1.0).log())
        exact = ((-cut).log1p() - cut.log()).abs().log() - width
        x = (self.probs - 0.5).pow(2)
        taylor = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return exact.where(self._outside_unstable_region(), taylor)

    @property
    def mean(self) -> Any:
        cut = self._cut_probs()
        exact = cut / (2.0 * cut - 1.0) + 1.0 / ((-cut).log1p() - cut.log())
        x = self.probs - 0.5
        taylor = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x
        return exact.where(self._outside_unstable_region(), taylor)

    @property
    def variance(self) -> Any:
        cut = self._cut_probs()
        exact = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2) + 1.0 / ((-cut).log1p() - cut.log()).pow(2)
        x = (self.probs - 0.5).pow(2)
        taylor = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return exact.where(self._outside_unstable_region(), taylor)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        return self.icdf(calls.rand(tuple(self._extended_shape(sample_shape)), None, self.probs.dtype))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        density = -F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return density + self._cont_bern_log_norm()

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        cut = self._cut_probs()
        exact = cut.pow(value) * (1.0 - cut).pow(1.0 - value) + cut - 1.0
        inside = (exact / (2.0 * cut - 1.0)).where(self._outside_unstable_region(), value)
        to_one = calls.ones_like(value).where(value.ge(1.0), inside)
        return calls.zeros_like(value).where(value.le(0.0), to_one)

    def icdf(self, value: Any) -> Any:
        cut = self._cut_probs()
        exact = (-cut + value * (2.0 * cut - 1.0)).log1p() - (-cut).log1p()
        return (exact / (cut.log() - (-cut).log1p())).where(self._outside_unstable_region(), value)

    def entropy(self) -> Any:
        of_zero, of_one = (-self.probs).log1p(), self.probs.log()
        return self.mean * (of_zero - of_one) - self._cont_bern_log_norm() - of_zero

    @property
    def _natural_params(self) -> tuple:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        low, high = self._lims[0] - 0.5, self._lims[1] - 0.5
        is_outside = calls.maximum(x.le(low), x.gt(high))
        cut = x.where(is_outside, low * calls.ones_like(x))
        exact = cut.expm1().abs().log() - cut.abs().log()
        taylor = 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0
        return exact.where(is_outside, taylor)
