"""Distributions made of others: side by side as one, and mixed."""

from typing import Any

from refgrad.autograd import no_grad
from refgrad.distributions import constraints
from refgrad.distributions.discrete import Categorical
from refgrad.distributions.distribution import NO_SHAPE, Distribution, summed
from refgrad.layout import Size
from refgrad.nn import functional as F


class Independent(Distribution):
    """Several distributions side by side as one: dimensions of the batch become dimensions of an event.

    Raises:
        ValueError: there are fewer dimensions.
    """

    arg_constraints = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(batch)}"
            )
        cut = len(batch) - reinterpreted_batch_ndims
        event = Size((*batch[cut:], *base_distribution.event_shape))
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(Size(batch[:cut]), event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Independent":
        new = self._expanded(Independent, batch_shape, _instance, ())
        moved = self.event_shape[: self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand(Size((*batch_shape, *moved)))
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether samples can be functions of the parameters."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Whether all values can be listed."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """What holds for all parts of an event."""
        count = self.reinterpreted_batch_ndims
        return constraints.independent(self.base_dist.support, count) if count else self.base_dist.support

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamily(Distribution):
    """A mixture of distributions of one family, the components being the last dimension of its batch.

    Raises:
        ValueError: the two do not fit together.
    """

    arg_constraints: Any = {}

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        check_mixture(mixture_distribution, component_distribution)
        self._num_component = mixture_distribution.logits.shape[-1]
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        batch_shape = component_distribution.batch_shape[:-1]
        super().__init__(batch_shape=batch_shape, event_shape=event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "MixtureSameFamily":
        kept = ("_num_component", "_event_ndims")
        new = self._expanded(MixtureSameFamily, batch_shape, _instance, (), kept)
        of_components = Size((*batch_shape, self._num_component))
        new._component_distribution = self._component_distribution.expand(of_components)
        new._mixture_distribution = self._mixture_distribution.expand(Size(batch_shape))
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        """What holds for every component."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The probabilities of the components."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    def _over_components(self, values: Any) -> Any:
        """The mean over the components."""
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return (probs * values).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        return self._over_components(self.component_distribution.mean)

    @property
    def variance(self) -> Any:
        distance = self.component_distribution.mean - self._pad(self.mean)
        within = self._over_components(self.component_distribution.variance)
        return within + self._over_components(distance.pow(2.0))

    def cdf(self, value: Any) -> Any:
        below = self.component_distribution.cdf(self._pad(value))
        return (below * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        density = self.component_distribution.log_prob(self._pad(value))
        return (density + F.log_softmax(self.mixture_distribution.logits, dim=-1)).logsumexp(-1)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        with no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            of_all = self.component_distribution.sample(sample_shape)
            event = self.event_shape
            chosen = chosen.reshape((*chosen.shape, *[1] * (len(event) + 1)))
            places = chosen.repeat((*[1] * (chosen.dim() - len(event)), *event))
            return of_all.gather(dim, places).squeeze(dim)

    def _pad(self, value: Any) -> Any:
        return value.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, probs: Any) -> Any:
        of_mixture = len(self.mixture_distribution.batch_shape)
        count = 0 if of_mixture == 1 else len(self.batch_shape) - of_mixture
        *batch, components = probs.shape
        return probs.reshape((*batch, *count * [1], components, *self._event_ndims * [1]))

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"


def check_mixture(mixture: Any, components: Any) -> None:
    """Refuse what does not fit together."""
    if not isinstance(mixture, Categorical):
        raise ValueError(
            " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
        )
    if not isinstance(components, Distribution):
        raise ValueError(
            "The Component distribution needs to be an instance of torch.distributions.Distribution"
        )
    batch, other = mixture.batch_shape, components.batch_shape[:-1]
    for size, own in zip(reversed(batch), reversed(other), strict=False):
        if size != 1 and own != 1 and size != own:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({batch}) is not compatible with "
                f"`component_distribution.batch_shape`({other})"
            )
    count, own = mixture.logits.shape[-1], components.batch_shape[-1]
    if count != own:
        raise ValueError(
            f"`mixture_distribution component` ({count}) does not equal "
            f"`component_distribution.batch_shape[-1]` ({own})"
        )
