"""Transforms made of others."""

import functools
import operator
from typing import Any

from refgrad.distributions import constraints
from refgrad.distributions.constraints import require, require_dim
from refgrad.distributions.distribution import (
    lazy_property,
    summed,
)
from refgrad.distributions.transforms.base import TOO_FEW, Transform
from refgrad.op import calls


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
