"""The gamma distribution, and those whose samples are made of its samples."""

import math
from typing import Any

from refgrad.autograd.function import Function, once_differentiable
from refgrad.distributions import constraints
from refgrad.distributions.distribution import (
    NO_SHAPE,
    Distribution,
    ExponentialFamily,
    batch_shape_of,
    broadcast_all,
    standard_normal,
)
from refgrad.layout import Size
from refgrad.nn import functional as F
from refgrad.op import calls
from refgrad.ops import from_data
from refgrad.toplevel import finfo
from refgrad.types import contiguous_format


class Gamma(ExponentialFamily):
    """The sum of exponential numbers of one rate, `concentration` of them."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        shape = batch_shape_of(self.concentration, concentration, rate)
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Gamma":
        return self._expanded(Gamma, batch_shape, _instance, ("concentration", "rate"))

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = calls._standard_gamma(self.concentration.expand(shape), None)
        value = drawn / self.rate.expand(shape)
        value.detach().clamp_(min=finfo(value.dtype).tiny)  # the graph does not see it
        return value

    def log_prob(self, value: Any) -> Any:
        value = from_data.as_tensor(value, dtype=self.rate.dtype)
        self._checked(value)
        concentration, rate = self.concentration, self.rate
        level = concentration.xlogy(rate) + (concentration - 1).xlogy(value)
        return level - rate * value - concentration.lgamma()

    def entropy(self) -> Any:
        concentration = self.concentration
        level = concentration - self.rate.log() + concentration.lgamma()
        return level + (1.0 - concentration) * concentration.digamma()

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        return calls.igamma(self.concentration, self.rate * value)

    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return (x + 1).lgamma() + (x + 1) * (-y.reciprocal()).log()


class Chi2(Gamma):
    """The sum of the squares of `df` normal numbers."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Chi2":
        return super().expand(batch_shape, self._get_checked_instance(Chi2, _instance))  # type: ignore[return-value]

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2


class _Dirichlet(Function):
    """Samples of the Dirichlet distribution, with a gradient that cannot be differentiated again."""

    @staticmethod
    def forward(ctx: Any, concentration: Any) -> Any:
        x = calls._sample_dirichlet(concentration, None)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        slope = calls._dirichlet_grad(x, concentration, total)
        return slope * (grad_output - (x * grad_output).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Probabilities: shares of gamma numbers in their sum.

    Raises:
        ValueError: the parameter is no vector.
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def _parameter_event(self) -> tuple:
        return self.event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Dirichlet":
        return self._expanded(Dirichlet, batch_shape, _instance, ("concentration",))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        concentration = self.concentration
        level = (concentration - 1.0).xlogy(value).sum(-1) + concentration.sum(-1).lgamma()
        return level - concentration.lgamma().sum(-1)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        mask = (self.concentration < 1).all(dim=-1)
        mode[mask] = F.one_hot(mode[mask].argmax(dim=-1), above.shape[-1]).to(mode)
        return mode

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Any:
        concentration = self.concentration
        total = concentration.sum(-1)
        level = concentration.lgamma().sum(-1) - total.lgamma()
        level = level - (concentration.size(-1) - total) * total.digamma()
        return level - ((concentration - 1.0) * concentration.digamma()).sum(-1)

    @property
    def _natural_params(self) -> tuple:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()


class Beta(ExponentialFamily):
    """A probability: the first of two shares."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        if isinstance(concentration1, (int, float)) and isinstance(concentration0, (int, float)):
            both = from_data.tensor([float(concentration1), float(concentration0)])
        else:
            both = calls.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Beta":
        new = self._expanded(Beta, batch_shape, _instance, ())
        new._dirichlet = self._dirichlet.expand(Size(batch_shape))
        return new

    @property
    def concentration1(self) -> Any:
        """The concentration of the first share."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """The concentration of the second share."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Any:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        return self._dirichlet.log_prob(calls.stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return x.lgamma() + y.lgamma() - (x + y).lgamma()


class StudentT(Distribution):
    """A normal number over the root of a mean square of `df` others."""

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "StudentT":
        new = self._expanded(StudentT, batch_shape, _instance, ("df", "loc", "scale"))
        new._chi2 = self._chi2.expand(Size(batch_shape))
        return new

    @property
    def mean(self) -> Any:
        mean = self.loc.clone(memory_format=contiguous_format)
        mean[self.df <= 1] = math.nan
        return mean

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        df = self.df
        variance = df.clone(memory_format=contiguous_format)
        known = df > 2
        variance[known] = self.scale[known].pow(2) * df[known] / (df[known] - 2)
        variance[(df <= 2) & (df > 1)] = math.inf
        variance[df <= 1] = math.nan
        return variance

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        normal = standard_normal(self._extended_shape(sample_shape), self.df.dtype)
        square = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (normal * (square / self.df).rsqrt())

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        df = self.df
        y = (value - self.loc) / self.scale
        level = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi)
        level = level + (0.5 * df).lgamma() - (0.5 * (df + 1.0)).lgamma()
        return -0.5 * (df + 1.0) * (y**2.0 / df).log1p() - level

    def entropy(self) -> Any:
        df = self.df
        log_beta = (0.5 * df).lgamma() + math.lgamma(0.5) - (0.5 * (df + 1)).lgamma()
        spread = 0.5 * (df + 1) * ((0.5 * (df + 1)).digamma() - (0.5 * df).digamma())
        return self.scale.log() + spread + 0.5 * df.log() + log_beta


class FisherSnedecor(Distribution):
    """The quotient of two mean squares, of `df1` and of `df2` normal numbers."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(batch_shape_of(self.df1, df1, df2), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "FisherSnedecor":
        new = self._expanded(FisherSnedecor, batch_shape, _instance, ("df1", "df2"))
        new._gamma1 = self._gamma1.expand(Size(batch_shape))
        new._gamma2 = self._gamma2.expand(Size(batch_shape))
        return new

    @property
    def mean(self) -> Any:
        df2 = self.df2.clone(memory_format=contiguous_format)
        df2[df2 <= 2] = math.nan
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        mode[self.df1 <= 2] = math.nan
        return mode

    @property
    def variance(self) -> Any:
        df2 = self.df2.clone(memory_format=contiguous_format)
        df2[df2 <= 4] = math.nan
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape = self._extended_shape(sample_shape)
        first = self._gamma1.rsample(sample_shape).view(shape)
        second = self._gamma2.rsample(sample_shape).view(shape)
        tiny = finfo(second.dtype).tiny
        second.clamp_(min=tiny)
        result = first / second
        result.clamp_(min=tiny)
        return result

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        first, second, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        level = (first + second).lgamma() - first.lgamma() - second.lgamma()
        near = first * ratio.log() + (first - 1) * value.log()
        return level + near - (first + second) * (ratio * value).log1p()
