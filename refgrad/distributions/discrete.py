"""Discrete distributions."""

import math
from typing import Any

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
from refgrad.layout import Size
from refgrad.nn import functional as F
from refgrad.op import calls
from refgrad.toplevel import broadcast_tensors

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
        if (probs is None) == (logits is None):
            raise ValueError(ONE_OF_TWO)
        self._given, value = ("logits", logits) if probs is None else ("probs", probs)
        (parameter,) = broadcast_all(value)
        setattr(self, self._given, parameter)
        super().__init__(batch_shape_of(parameter, value), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Bernoulli":
        new = self._expanded(Bernoulli, batch_shape, _instance, ("probs", "logits"))
        new._given = self._given
        return new

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
        if (probs is None) == (logits is None):
            raise ValueError(ONE_OF_TWO)
        self._given, value = ("logits", logits) if probs is None else ("probs", probs)
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
        new = self._expanded(Categorical, batch_shape, _instance, ("probs", "logits"))
        new._given, new._num_events = self._given, self._num_events
        return new

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
        lowest = float(dtypes.finfo(self.logits.dtype).min)
        return -(self.logits.clamp(min=lowest) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        return arange_like(self._param, self._num_events, dtypes.int64, self._batch_shape, expand)
