"""Transforms of random variables: functions with an inverse and the logarithm of their slope.

*Domain*, *codomain*: the constraints that hold for what goes in and for what comes out. *Cache*: the last
pair of argument and result, so that the inverse of a result is the argument itself.
"""

import functools
import math
import operator
from typing import Any

from refgrad import linalg
from refgrad.distributions import constraints
from refgrad.distributions.constraints import require, require_dim
from refgrad.distributions.distribution import (
    broadcast_all,
    lazy_property,
    summed,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)
from refgrad.layout import Size
from refgrad.nn import functional as F
from refgrad.op import calls
from refgrad.tensor import Tensor
from refgrad.toplevel import broadcast_shapes, finfo

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]

TOO_FEW = "Too few dimensions on input"


class Transform:
    """Base of transforms: `_call`, `_inverse` and `log_abs_det_jacobian` make one.

    Raises:
        ValueError: the cache is to hold more than one pair.
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = cache_size
        self._inv: Any = None
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        if cache_size == 1:
            self._cached_x_y: tuple = (None, None)

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """How many dimensions are transformed together."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Any:
        """The inverse."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """Whether it is rising (1) or falling (-1)."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with a cache of this size."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        return self._made_again(cache_size)

    def _made_again(self, cache_size: int) -> Any:
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __call__(self, x: Any) -> Any:
        if self._cache_size == 0:
            return self._call(x)
        x_old, y_old = self._cached_x_y
        if x is x_old:
            return y_old
        y = self._call(x)
        self._cached_x_y = (x, y)
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._inverse(y)
        x_old, y_old = self._cached_x_y
        if y is y_old:
            return x_old
        x = self._inverse(y)
        self._cached_x_y = (x, y)
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the absolute determinant of the Jacobian at x, where the result is y."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the result for an argument of a shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the argument for a result of a shape."""
        return shape


class _InverseTransform(Transform):
    """The inverse of a transform, which keeps the cache for both."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """What may go in."""
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """What can come out."""
        return self._inv.domain

    @property
    def bijective(self) -> bool:
        """Whether there is an inverse."""
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Any:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)


class _OneOfAKind(Transform):
    """Base of the transforms without parameters, which are equal to all of their class."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))


# Made of others ---------------------------------------------------------------------------------------------


class ComposeTransform(Transform):
    """Several transforms one after the other."""

    def __init__(self, parts: list, cache_size: int = 0) -> None:
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """What the first takes, of as many dimensions as the rest needs."""
        if not self.parts:
            return constraints.real
        event_dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim += part.domain.event_dim - part.codomain.event_dim
            event_dim = max(event_dim, part.domain.event_dim)
        return widened(self.parts[0].domain, event_dim, "domain")

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """What the last gives, of as many dimensions as come through."""
        if not self.parts:
            return constraints.real
        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim += part.codomain.event_dim - part.domain.event_dim
            event_dim = max(event_dim, part.codomain.event_dim)
        return widened(self.parts[-1].codomain, event_dim, "codomain")

    @lazy_property
    def bijective(self) -> bool:
        """Whether all parts have an inverse."""
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self) -> Any:
        """The product of the signs."""
        return functools.reduce(operator.mul, [part.sign for part in self.parts], 1)

    @property
    def inv(self) -> Any:
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def _made_again(self, cache_size: int) -> Any:
        return ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return calls.zeros_like(x)
        steps = [x]
        for part in self.parts[:-1]:
            steps.append(part(steps[-1]))
        steps.append(y)
        terms = []
        event_dim = self.domain.event_dim
        for part, start, end in zip(self.parts, steps[:-1], steps[1:], strict=True):
            slope = part.log_abs_det_jacobian(start, end)
            terms.append(summed(slope, event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        parts = ",\n    ".join(repr(part) for part in self.parts)
        return f"{type(self).__name__}(\n    {parts}\n)"


def widened(constraint: Any, event_dim: int, name: str) -> Any:
    """A constraint on so many dimensions together."""
    missing = event_dim - constraint.event_dim
    require(missing >= 0, f"event_dim {event_dim} must be >= {name}.event_dim {constraint.event_dim}")
    return constraints.independent(constraint, missing) if missing else constraint


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose batch dimensions count as dimensions of the event."""

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def _made_again(self, cache_size: int) -> Any:
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """What may go in."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """What can come out."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:
        """As of the base."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError(TOO_FEW)
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError(TOO_FEW)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return summed(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)


class _Joined(Transform):
    """Base of transforms of the parts of a tensor, one for each."""

    def __init__(self, tseq: Any, dim: int = 0, cache_size: int = 0) -> None:
        text = "All elements of tseq must be Transform instances"
        require(all(isinstance(transform, Transform) for transform in tseq), text)
        if cache_size:
            tseq = [transform.with_cache(cache_size) for transform in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms = list(tseq)
        self.dim = dim

    def _expected(self) -> tuple[str, int]:
        """How the size along the dimension is told, and what it must be."""
        raise NotImplementedError

    def _check(self, value: Any, name: str, told: str = "tensor") -> None:
        require_dim(self.dim, value, told)
        words, size = self._expected()
        text = f"{name}.size({self.dim}) = {value.size(self.dim)} must equal {words} {size}"
        require(value.size(self.dim) == size, text)

    def _parts(self, value: Any) -> Any:
        raise NotImplementedError

    def _join(self, parts: list) -> Any:
        raise NotImplementedError

    def _call(self, x: Any) -> Any:
        self._check(x, "x")
        return self._join([t(part) for part, t in zip(self._parts(x), self.transforms, strict=True)])

    def _inverse(self, y: Any) -> Any:
        self._check(y, "y")
        return self._join([t.inv(part) for part, t in zip(self._parts(y), self.transforms, strict=True)])

    def _slopes(self, x: Any, y: Any) -> list:
        self._check(x, "x", "x")
        self._check(y, "y", "y")
        parts = zip(self._parts(x), self._parts(y), self.transforms, strict=True)
        return [transform.log_abs_det_jacobian(start, end) for start, end, transform in parts]

    @property
    def bijective(self) -> bool:
        """Whether all have an inverse."""
        return all(transform.bijective for transform in self.transforms)


class CatTransform(_Joined):
    """Transforms of the parts of a concatenation."""

    def __init__(self, tseq: Any, dim: int = 0, lengths: Any = None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        text = f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
        require(len(self.lengths) == len(self.transforms), text)

    @lazy_property
    def event_dim(self) -> int:
        """The most that a part has."""
        return max(transform.event_dim for transform in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The length of all parts."""
        return sum(self.lengths)

    def _made_again(self, cache_size: int) -> Any:
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _expected(self) -> tuple[str, int]:
        return "length", self.length

    def _parts(self, value: Any) -> Any:
        start = 0
        for length in self.lengths:
            yield value.narrow(self.dim, start, length)
            start += length

    def _join(self, parts: list) -> Any:
        return calls.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        slopes = [
            summed(slope, self.event_dim - transform.event_dim)
            for slope, transform in zip(self._slopes(x, y), self.transforms, strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return calls.cat(slopes, dim) if dim < 0 else sum(slopes)

    @constraints.dependent_property
    def domain(self) -> Any:
        """What may go in."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """What can come out."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Joined):
    """Transforms of the parts of a stack."""

    def _made_again(self, cache_size: int) -> Any:
        return StackTransform(self.transforms, self.dim, cache_size)

    def _expected(self) -> tuple[str, int]:
        return "len(transforms)", len(self.transforms)

    def _parts(self, value: Any) -> Any:
        return [value.select(self.dim, place) for place in range(value.size(self.dim))]

    def _join(self, parts: list) -> Any:
        return calls.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self._join(self._slopes(x, y))

    @constraints.dependent_property
    def domain(self) -> Any:
        """What may go in."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """What can come out."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)


class CumulativeDistributionTransform(Transform):
    """The cumulative distribution function of a distribution."""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """What the distribution can give."""
        return self.distribution.support

    def _made_again(self, cache_size: int) -> Any:
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)


# Numbers ----------------------------------------------------------------------------------------------------


class ReshapeTransform(Transform):
    """Another shape of the event.

    Raises:
        ValueError: the shapes hold different numbers of elements.
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape = Size(in_shape)
        self.out_shape = Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        """Anything of as many dimensions."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Anything of as many dimensions."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _made_again(self, cache_size: int) -> Any:
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: Any) -> Any:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return exchanged(shape, self.out_shape, self.in_shape)


def exchanged(shape: Any, old: Size, new: Size) -> Any:
    """A shape with another end."""
    cut = len(shape) - len(old)
    if cut < 0:
        raise ValueError(TOO_FEW)
    if shape[cut:] != old:
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
    return shape[:cut] + new


class ExpTransform(_OneOfAKind):
    """exp."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(Transform):
    """A power."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def _made_again(self, cache_size: int) -> Any:
        return PowerTransform(self.exponent, cache_size=cache_size)

    @lazy_property
    def sign(self) -> Any:
        """That of the exponent."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and self.exponent.eq(other.exponent).all().item()

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


def clipped_sigmoid(x: Any) -> Any:
    """The sigmoid function, kept off 0 and 1."""
    info = finfo(x.dtype)
    return x.sigmoid().clamp(min=info.tiny, max=1.0 - info.eps)


class SigmoidTransform(_OneOfAKind):
    """The sigmoid function."""

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return clipped_sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        info = finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_OneOfAKind):
    """log(1 + exp(x))."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return F.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -F.softplus(-x)


class TanhTransform(_OneOfAKind):
    """tanh."""

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(_OneOfAKind):
    """The absolute value; its inverse is the positive one of two."""

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """loc + scale * x."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """Anything of as many dimensions."""
        return widened(constraints.real, self.event_dim, "domain")

    codomain = domain

    def _made_again(self, cache_size: int) -> Any:
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AffineTransform)
            and are_equal(self.loc, other.loc)
            and are_equal(self.scale, other.scale)
        )

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if isinstance(self.scale, Tensor):
            result = self.scale.abs().log()
        else:
            result = calls.full_like(x, math.log(abs(self.scale)))
        shape = x.shape
        if self.event_dim:
            result = result.view((*result.size()[: -self.event_dim], -1)).sum(-1)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        return broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


def are_equal(first: Any, second: Any) -> bool:
    """Whether two numbers or tensors are equal throughout."""
    result = first == second
    return result.all().item() if isinstance(result, Tensor) else result


# Vectors and matrices ---------------------------------------------------------------------------------------


class _OfVectors(Transform):
    """Base of the transforms of vectors, which must have a dimension for it."""

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError(TOO_FEW)
        return shape

    inverse_shape = forward_shape


class SoftmaxTransform(_OneOfAKind, _OfVectors):
    """From logits to probabilities, not bijective."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(_OneOfAKind, _OfVectors):
    """From numbers to probabilities, one more: each number says what share of the rest the next one gets."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _offset(self, x: Any) -> Any:
        return x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)

    def _call(self, x: Any) -> Any:
        share = clipped_sigmoid(x - self._offset(x).log())
        rest = (1 - share).cumprod(-1)
        return F.pad(share, [0, 1], value=1) * F.pad(rest, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        cropped = y[..., :-1]
        rest = (1 - cropped.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return cropped.log() - rest.log() + self._offset(cropped).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._offset(x).log()
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        shape = super().forward_shape(shape)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Any:
        shape = super().forward_shape(shape)
        return shape[:-1] + (shape[-1] - 1,)


class CorrCholeskyTransform(Transform):
    """From vectors to Cholesky factors of correlation matrices, row by row by stick breaking."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        x = x.tanh()
        eps = finfo(x.dtype).eps
        below = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        rest = (1 - below**2).sqrt().cumprod(-1)
        rows = below + calls.eye(below.shape[-1], below.dtype)
        return rows * F.pad(rest[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        rest = 1 - (y * y).cumsum(-1)
        before = tril_matrix_to_vec(F.pad(rest[..., :-1], [1, 0], value=1), diag=-1)
        share = tril_matrix_to_vec(y, diag=-1) / before.sqrt()
        return (share.log1p() - share.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        rest = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        of_sticks = 0.5 * rest.log().sum(-1)
        return of_sticks + -2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError(TOO_FEW)
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (size, size)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError(TOO_FEW)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


class LowerCholeskyTransform(_OneOfAKind):
    """From matrices to lower triangular ones with a positive diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_OneOfAKind):
    """From matrices to positive definite ones."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        x = LowerCholeskyTransform()(x)
        return x @ x.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(linalg.cholesky(y))
