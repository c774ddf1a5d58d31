"""Discrete distributions."""

import math
from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.autograd import no_grad
from refgrad.distributions import constraints
from refgrad.distributions.distribution import (
    NO_SHAPE,
    Distribution,
    ExponentialFamily,
    arange_like,
    batch_shape_of,
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from refgrad.distributions.gamma import Gamma
from refgrad.layout import Size
from refgrad.nn import functional as F
from refgrad.op import calls
from refgrad.tensor import wrap
from refgrad.toplevel import broadcast_tensors, finfo
from refgrad.types import contiguous_format

ONE_OF_TWO = "Either `probs` or `logits` must be specified, but not both."


class WithProbabilities(Distribution):
    """Base of the distributions given by probabilities or by their logits."""

    is_binary = False

    @lazy_property
    def logits(self) -> Any:
        """The logits."""
        return probs_to_logits(self.probs, self.is_binary)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits, self.is_binary)

    def _take(self, probs: Any, logits: Any) -> Any:
        """Whichever of the two is given.

        Raises:
            ValueError: not just one is.
        """
        if (probs is None) == (logits is None):
            raise ValueError(ONE_OF_TWO)
        self._given = "logits" if probs is None else "probs"
        return logits if probs is None else probs

    @property
    def _param(self) -> Any:
        return self.__dict__[self._given]

    @property
    def param_shape(self) -> Size:
        """The shape of what was given."""
        return self._param.size()


class Bernoulli(WithProbabilities, ExponentialFamily):
    """1 with a probability, else 0.

    Raises:
        ValueError: not just one of the parameters is given.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    is_binary = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        value = self._take(probs, logits)
        (parameter,) = broadcast_all(value)
        setattr(self, self._given, parameter)
        super().__init__(batch_shape_of(parameter, value), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Bernoulli":
        return self._expanded(Bernoulli, batch_shape, _instance, ("probs", "logits"), ("_given",))

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = math.nan
        return mode

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        with no_grad():
            return calls.bernoulli(self.probs.expand(self._extended_shape(sample_shape)), None)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        return arange_like(self._param, 2, self._param.dtype, self._batch_shape, expand)

    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple:
        return (self.probs.logit(),)

    def _log_normalizer(self, x: Any) -> Any:
        return x.exp().log1p()


class Categorical(WithProbabilities):
    """One of several numbers from 0, each with a probability.

    Raises:
        ValueError: not just one of the parameters is given, or it is no vector.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        value = self._take(probs, logits)
        if value.dim() < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        super().__init__(Size(self._param.size()[:-1]), validate_args=validate_args)

    def _parameter_event(self) -> tuple:
        return (self._num_events,)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Categorical":
        kept = ("_given", "_num_events")
        return self._expanded(Categorical, batch_shape, _instance, ("probs", "logits"), kept)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The numbers of the events."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Any:
        return self.probs.detach().new_full(self._extended_shape(), math.nan)

    @property
    def mode(self) -> Any:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Any:
        return self.probs.detach().new_full(self._extended_shape(), math.nan)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        flat = self.probs.reshape(-1, self._num_events)
        drawn = calls.multinomial(flat, math.prod(sample_shape), True, None).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        value, logits = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        lowest = finfo(self.logits.dtype).min
        return -(self.logits.clamp(min=lowest) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        return arange_like(self._param, self._num_events, dtypes.int64, self._batch_shape, expand)


class OneHotCategorical(Distribution):
    """One of several numbers, each with a probability, as a vector with a 1 in its place."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape[-1:]
        super().__init__(self._categorical.batch_shape, shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "OneHotCategorical":
        new = self._expanded(OneHotCategorical, batch_shape, _instance, ())
        new._categorical = self._categorical.expand(Size(batch_shape))
        return new

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logits."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of what was given."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return F.one_hot(self.probs.argmax(dim=-1), num_classes=self.probs.shape[-1]).to(self.probs)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        places = self._categorical.sample(Size(sample_shape))
        return F.one_hot(places, self._categorical._num_events).to(self.probs)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        count = self.event_shape[0]
        values = calls.eye(count, self._param.dtype).view((count, *[1] * len(self.batch_shape), count))
        return values.expand((count, *self.batch_shape, count)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same, with the gradient of the probabilities for that of a sample."""

    has_rsample = True

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        samples = self.sample(sample_shape)
        return samples + (self.probs - self.probs.detach())


class Poisson(ExponentialFamily):
    """How often something happens at a rate."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_shape_of(self.rate, rate), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Poisson":
        return self._expanded(Poisson, batch_shape, _instance, ("rate",))

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        return self.rate

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        with no_grad():
            return calls.poisson(self.rate.expand(self._extended_shape(sample_shape)), None)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple:
        return (self.rate.log(),)

    def _log_normalizer(self, x: Any) -> Any:
        return x.exp()


class Geometric(WithProbabilities):
    """How often something fails before it succeeds with a probability.

    Raises:
        ValueError: not just one of the parameters is given, or a probability is 0.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    is_binary = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        value = self._take(probs, logits)
        (parameter,) = broadcast_all(value)
        setattr(self, self._given, parameter)
        super().__init__(batch_shape_of(parameter, value), validate_args=validate_args)
        if self._validate_args and probs is not None:
            self._check_positive(self.probs)

    def _check_positive(self, value: Any) -> None:
        valid = value > 0
        if not valid.all():
            raise ValueError(
                f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of "
                f"distribution {self!r} to be positive but found invalid values:\n{value.data[~valid]}"
            )

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Geometric":
        return self._expanded(Geometric, batch_shape, _instance, ("probs", "logits"), ("_given",))

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return calls.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            share = self.probs.new_empty(shape).uniform_(finfo(self.probs.dtype).tiny, 1)
            return (share.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=contiguous_format)
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class _Counted(WithProbabilities):
    """Base of the distributions with a count and a probability."""

    is_binary = True

    def _take_counts(self, total_count: Any, probs: Any, logits: Any) -> Size:
        """Keep the count and whichever of the two is given; their common shape."""
        self.total_count, parameter = broadcast_all(total_count, self._take(probs, logits))
        self.total_count = self.total_count.type_as(parameter)
        setattr(self, self._given, parameter)
        return parameter.size()

    def _expanded_counts(self, cls: type, batch_shape: Any, _instance: Any) -> Any:
        names = ("total_count", "probs", "logits")
        return self._expanded(cls, batch_shape, _instance, names, ("_given",))


def clamp_by_zero(x: Any) -> Any:
    """The positive part, with half its slope at 0."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(_Counted):
    """How often of a number of times something happens with a probability.

    Raises:
        ValueError: not just one of the parameters is given.
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(self._take_counts(total_count, probs, logits), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Binomial":
        return self._expanded_counts(Binomial, batch_shape, _instance)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """Whole numbers up to the count."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return calls.binomial(self.total_count.expand(shape), self.probs.expand(shape), None)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        count, logits = self.total_count, self.logits
        ways = (count + 1).lgamma()
        first, second = (value + 1).lgamma(), (count - value + 1).lgamma()
        level = count * clamp_by_zero(logits) + count * (-logits.abs()).exp().log1p() - ways
        return value * logits - first - second - level

    def _only_count(self, name: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{name}`.")
        return count

    def entropy(self) -> Any:
        self._only_count("entropy")
        density = self.log_prob(self.enumerate_support(False))
        return -(density.exp() * density).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        count = self._only_count("enumerate_support")
        return arange_like(self._param, 1 + count, self._param.dtype, self._batch_shape, expand)


class NegativeBinomial(_Counted):
    """How often something succeeds with a probability before it fails a number of times.

    Raises:
        ValueError: not just one of the parameters is given.
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._take_counts(total_count, probs, logits), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "NegativeBinomial":
        return self._expanded_counts(NegativeBinomial, batch_shape, _instance)

    @property
    def mean(self) -> Any:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / (-self.logits).sigmoid()

    @lazy_property
    def _gamma(self) -> Any:
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        with no_grad():
            return calls.poisson(self._gamma.sample(sample_shape=sample_shape), None)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        count, logits = self.total_count, self.logits
        level = count * F.logsigmoid(-logits) + value * F.logsigmoid(logits)
        ways = -(count + value).lgamma() + (1.0 + value).lgamma() + count.lgamma()
        return level - ways.masked_fill(count + value == 0.0, 0.0)


class Multinomial(Distribution):
    """How often each of several numbers comes, drawn a number of times."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        shape = self._categorical.param_shape[-1:]
        super().__init__(self._categorical.batch_shape, shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Multinomial":
        new = self._expanded(Multinomial, batch_shape, _instance, (), ("total_count",))
        new._categorical = self._categorical.expand(Size(batch_shape))
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Counts that add up to the number of draws."""
        return constraints.multinomial(self.total_count)

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logits."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of what was given."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        sample_shape = Size(sample_shape)
        samples = self._categorical.sample(Size((self.total_count, *sample_shape))).movedim(0, -1)
        counts = samples.new_zeros(self._extended_shape(sample_shape))
        counts.scatter_add_(-1, samples, calls.ones_like(samples))
        return counts.type_as(self.probs)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=contiguous_format)
        ways = (value.sum(-1) + 1).lgamma()
        of_each = (value + 1).lgamma().sum(-1)
        logits[(value == 0) & (logits == -math.inf)] = 0
        return ways - of_each + (logits * value).sum(-1)

    def entropy(self) -> Any:
        count = wrap(np.asarray(self.total_count))
        level = count * self._categorical.entropy() - (count + 1).lgamma()
        support = self._binomial.enumerate_support(expand=False)[1:]
        probs = self._binomial.log_prob(support).exp()
        return level + (probs * (support + 1).lgamma()).sum([0, -1])
