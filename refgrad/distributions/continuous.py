"""Continuous distributions."""

import math
from typing import Any

from refgrad import dtypes
from refgrad.autograd import no_grad
from refgrad.distributions import constraints
from refgrad.distributions.distribution import (
    NO_SHAPE,
    Distribution,
    ExponentialFamily,
    batch_shape_of,
    broadcast_all,
    lazy_property,
    standard_normal,
)
from refgrad.layout import Size
from refgrad.op import calls
from refgrad.ops import from_data
from refgrad.toplevel import finfo


class Normal(ExponentialFamily):
    """The normal distribution of mean `loc` and standard deviation `scale`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_shape_of(self.loc, loc, scale), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Normal":
        return self._expanded(Normal, batch_shape, _instance, ("loc", "scale"))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return calls.normal__Tensor_Tensor(self.loc.expand(shape), self.scale.expand(shape), None)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.loc + standard_normal(shape, self.loc.dtype) * self.scale

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        square = -((value - self.loc) ** 2) / (2 * self.scale**2)
        return square - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        return 0.5 * (1 + ((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)).erf())

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return -0.25 * x.pow(2) / y + 0.5 * (-math.pi / y).log()


class Uniform(Distribution):
    """All values between `low` and `high` alike."""

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(batch_shape_of(self.low, low, high), validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict:
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Uniform":
        return self._expanded(Uniform, batch_shape, _instance, ("low", "high"))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Values between the bounds."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        return math.nan * self.high

    @property
    def stddev(self) -> Any:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Any:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape = self._extended_shape(sample_shape)
        share = calls.rand(tuple(shape), None, self.low.dtype)
        return self.low + share * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        above, below = self.low.le(value).type_as(self.low), self.high.gt(value).type_as(self.low)
        return above.mul(below).log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return (self.high - self.low).log()


class Exponential(ExponentialFamily):
    """Times between events that happen at a rate."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_shape_of(self.rate, rate), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Exponential":
        return self._expanded(Exponential, batch_shape, _instance, ("rate",))

    @property
    def mean(self) -> Any:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        return self.rate.new_zeros(self.rate.shape)

    @property
    def stddev(self) -> Any:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Any) -> Any:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Any:
        return 1.0 - self.rate.log()

    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:
        return -(-x).log()


class Laplace(Distribution):
    """The double exponential distribution around `loc`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_shape_of(self.loc, loc, scale), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Laplace":
        return self._expanded(Laplace, batch_shape, _instance, ("loc", "scale"))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        eps = finfo(self.loc.dtype).eps
        share = self.loc.detach().new_empty(self._extended_shape(sample_shape)).uniform_(eps - 1, 1)
        return self.loc - self.scale * share.sign() * (-share.abs()).log1p()

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        distance = value - self.loc
        return 0.5 - 0.5 * distance.sign() * (-(value - self.loc).abs() / self.scale).expm1()

    def icdf(self, value: Any) -> Any:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()


class Cauchy(Distribution):
    """The quotient of two normal numbers: it has no mean."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_shape_of(self.loc, loc, scale), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Cauchy":
        return self._expanded(Cauchy, batch_shape, _instance, ("loc", "scale"))

    @property
    def mean(self) -> Any:
        return self.loc.detach().new_full(self._extended_shape(), math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return self.loc.detach().new_full(self._extended_shape(), math.inf)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        noise = self.loc.detach().new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + noise * self.scale

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        square = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - self.scale.log() - square.log1p()

    def cdf(self, value: Any) -> Any:
        self._checked(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class GeneralizedPareto(Distribution):
    """What lies beyond a high threshold `loc`; a concentration of 0 means exponential."""

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        shape = batch_shape_of(self.loc, loc, scale, concentration)
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "GeneralizedPareto":
        names = ("loc", "scale", "concentration")
        return self._expanded(GeneralizedPareto, batch_shape, _instance, names)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From the threshold on; to an end where the concentration is negative."""
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, end.where(self.concentration < 0, math.inf))

    @property
    def mean(self) -> Any:
        is_known = self.concentration < 1
        result = self.loc + self.scale / (1 - self.concentration.where(is_known, 0.5))
        return result.where(is_known, math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        is_known = self.concentration < 0.5
        safe = self.concentration.where(is_known, 0.25)
        return (self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe))).where(is_known, math.nan)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        return self.icdf(calls.rand(tuple(self._extended_shape(sample_shape)), None, self.loc.dtype))

    def _safe(self, zero: Any) -> tuple:
        """Where the concentration is 0, and what is 1 there."""
        is_zero = self.concentration.isclose(zero)
        return is_zero, calls.ones_like(self.concentration).where(is_zero, self.concentration)

    def _z(self, value: Any) -> Any:
        return (value - self.loc) / self.scale

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        z = self._z(value)
        is_zero, safe = self._safe(from_data.tensor(0.0))
        factor = 1 / safe + calls.ones_like(z)
        otherwise = factor.where(factor == 0, factor * (safe * z).log1p())
        return -self.scale.log() - z.where(is_zero, otherwise)

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the probability of higher values."""
        self._checked(value)
        z = self._z(value)
        is_zero, safe = self._safe(from_data.tensor(0.0))
        return (-z).where(is_zero, -(safe * z).log1p() / safe)

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of the probability of lower values."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Any) -> Any:
        return self.log_cdf(value).exp()

    def icdf(self, value: Any) -> Any:
        is_zero, safe = self._safe(calls.zeros_like(self.concentration))
        level = (-value).log1p()
        otherwise = self.loc + self.scale / safe * (-safe * level).expm1()
        return (self.loc - self.scale * level).where(is_zero, otherwise)

    def entropy(self) -> Any:
        return calls.broadcast_to(self.scale.log() + self.concentration + 1, self._batch_shape)


# Von Mises --------------------------------------------------------------------------------------------------

SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411),
)
LARGE = (
    (0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281)
    + (-0.02057706, 0.02635537, -0.01647633, 0.00392377),
    (0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555)
    + (0.02282967, -0.02895312, 0.01787654, -0.00420059),
)


def polynomial(y: Any, coefficients: tuple) -> Any:
    """The value of a polynomial, the constant coefficient first."""
    result = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = coefficient + y * result
    return result


def log_bessel(x: Any, order: int) -> Any:
    """The logarithm of the modified Bessel function of order 0 or 1."""
    y = x / 3.75
    small = polynomial(y * y, SMALL[order])
    if order == 1:
        small = x.abs() * small
    large = x - 0.5 * x.log() + polynomial(3.75 / x, LARGE[order]).log()
    return small.log().where(x < 3.75, large)


class VonMises(Distribution):
    """Angles around `loc`, the closer the higher the concentration; drawn by rejection (Best and Fisher)."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "VonMises":
        loc, concentration = self.loc.expand(batch_shape), self.concentration.expand(batch_shape)
        return type(self)(loc, concentration, validate_args=self.__dict__.get("_validate_args"))

    @lazy_property
    def _loc(self) -> Any:
        return self.loc.to(dtypes.float64)

    @lazy_property
    def _concentration(self) -> Any:
        return self.concentration.to(dtypes.float64)

    @lazy_property
    def _proposal_r(self) -> Any:
        kappa = self._concentration
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return (1 / kappa + kappa).where(kappa < 1e-5, (1 + rho**2) / (2 * rho))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """The circular variance."""
        return 1 - (log_bessel(self.concentration, 1) - log_bessel(self.concentration, 0)).exp()

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            angle = self._loc.new_empty(shape)
            is_done = angle.new_zeros(shape, dtype=dtypes.bool_)
            while not is_done.all():
                is_taken, proposed = self._proposed(shape)
                if is_taken.any():
                    angle = proposed.where(is_taken, angle)
                    is_done = is_done | is_taken
            angle = (angle + math.pi + self._loc) % (2 * math.pi) - math.pi
            return angle.to(self.loc.dtype)

    def _proposed(self, shape: Any) -> tuple:
        """Which of the angles proposed are taken, and the angles."""
        first, second, third = calls.rand((3, *shape), None, dtypes.float64).unbind()
        r = self._proposal_r
        z = (math.pi * first).cos()
        f = (1 + r * z) / (r + z)
        c = self._concentration * (r - f)
        is_taken = (c * (2 - c) - second > 0) | ((c / second).log() + 1 - c >= 0)
        return is_taken, (third - 0.5).sign() * f.acos()

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        level = self.concentration * (value - self.loc).cos()
        return level - math.log(2 * math.pi) - log_bessel(self.concentration, 0)
