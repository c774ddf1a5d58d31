"""Constraints: which values a parameter may have, and a sample can have.

The classes have PyTorch's names, underscore and all: one is shown by its name without the first letter.
"""

from collections.abc import Callable
from typing import Any

from refgrad import dtypes, linalg
from refgrad.op import calls
from refgrad.toplevel import finfo

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """Base of constraints: `check` says of each value, or vector of values, whether it is allowed."""

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Any) -> Any:
        """Truth values, one for each event."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}()"


# Known only with other values -------------------------------------------------------------------------------


class _Dependent(Constraint):
    """Depends on other values; not checked.

    Raises:
        NotImplementedError: what was not declared is asked for.
    """

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    @property
    def is_discrete(self) -> bool:
        """Whether the values are whole numbers."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:
        """How many dimensions one event has."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> Any:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A constraint that an instance computes; on the class it stands for one that is not known."""

    def __init__(
        self,
        fn: Callable | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable) -> Any:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint is not known."""
    return isinstance(constraint, _Dependent)


# Made of others ---------------------------------------------------------------------------------------------


def require(holds: bool, text: str) -> None:
    """Refuse arguments of the wrong kind."""
    if not holds:
        raise AssertionError(text)


def require_constraint(value: Any) -> None:
    """Refuse what is no constraint."""
    text = f"base_constraint must be a Constraint, got {type(value).__name__}"
    require(isinstance(value, Constraint), text)


def require_dim(dim: int, value: Any, name: str = "value") -> None:
    """Refuse a dimension that a tensor does not have."""
    text = f"dim {dim} out of range for {name} with {value.dim()} dimensions"
    require(-value.dim() <= dim < value.dim(), text)


class _IndependentConstraint(Constraint):
    """A constraint that must hold for all values of the last dimensions together."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        require_constraint(base_constraint)
        count = reinterpreted_batch_ndims
        name = "reinterpreted_batch_ndims"
        require(isinstance(count, int), f"{name} must be an int, got {type(count).__name__}")
        require(count >= 0, f"{name} must be >= 0, got {count}")
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:
        """As of the base."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        """That of the base, and the dimensions taken together."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        count = self.reinterpreted_batch_ndims
        if result.dim() < count:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape((*result.shape[: result.dim() - count], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """A constraint that must hold for every component of a mixture."""

    def __init__(self, base_constraint: Constraint) -> None:
        require_constraint(base_constraint)
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:
        """As of the base."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        """As of the base."""
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape((*result.shape[: value.dim() - self.event_dim], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Joined(Constraint):
    """Base of constraints for the parts of a tensor, one for each."""

    def __init__(self, cseq: Any, dim: int = 0) -> None:
        text = "All elements of cseq must be Constraint instances"
        require(all(isinstance(c, Constraint) for c in cseq), text)
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:
        """Whether any part is discrete."""
        return any(constraint.is_discrete for constraint in self.cseq)


class _Cat(_Joined):
    """Constraints for the parts of a concatenation."""

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        text = f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})"
        require(len(self.lengths) == len(self.cseq), text)

    @property
    def event_dim(self) -> int:
        """The most that a part has."""
        return max(constraint.event_dim for constraint in self.cseq)

    def check(self, value: Any) -> Any:
        require_dim(self.dim, value)
        checks, start = [], 0
        for constraint, length in zip(self.cseq, self.lengths, strict=True):
            checks.append(constraint.check(value.narrow(self.dim, start, length)))
            start += length
        return calls.cat(checks, self.dim)


class _Stack(_Joined):
    """Constraints for the parts of a stack."""

    @property
    def event_dim(self) -> int:
        """The most that a part has; one more where the parts lie within the event."""
        dim = max(constraint.event_dim for constraint in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Any) -> Any:
        require_dim(self.dim, value)
        parts = value.unbind(self.dim)
        return calls.stack([c.check(part) for part, c in zip(parts, self.cseq, strict=False)], self.dim)


# Numbers ----------------------------------------------------------------------------------------------------


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    """Anything but NaN."""

    def check(self, value: Any) -> Any:
        return value == value


class _Bounded(Constraint):
    """Base of the constraints with bounds."""

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{type(self).__name__[1:]}({bounds})"


class _Above(_Bounded):
    """Base of those with a lower bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound


class _Below(_Bounded):
    """Base of those with an upper bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound


class _Between(_Bounded):
    """Base of those with two bounds."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound


class _IntegerInterval(_Between):
    """Whole numbers between two, both included."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Below):
    """Whole numbers up to one."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    """Whole numbers from one on."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _GreaterThan(_Above):
    """Numbers above a bound."""

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_Above):
    """Numbers from a bound on."""

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class _LessThan(_Below):
    """Numbers below a bound."""

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(_Between):
    """Numbers between two, both included."""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers between two, the upper one not included."""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


# Vectors and matrices ---------------------------------------------------------------------------------------


class _OneHot(Constraint):
    """Vectors with a single 1 among zeros."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        is_boolean = (value == 0) | (value == 1)
        return is_boolean.all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    """Vectors of positive numbers that add up to 1."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts that add up to no more than a bound."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    """Matrices with zeros above the diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return (value.tril() == value).view((*value.shape[:-2], -1)).min(-1)[0]


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0]


class _CorrCholesky(_LowerCholesky):
    """Lower triangular matrices with a positive diagonal and rows of length 1."""

    def check(self, value: Any) -> Any:
        tolerance = finfo(value.dtype).eps * value.size(-1) * 10
        length = linalg.norm(value.detach(), dim=-1)
        return super().check(value) & (length - 1.0).abs().le(tolerance).all(-1)


class _Square(Constraint):
    """Matrices with as many rows as columns."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        is_square = value.shape[-2] == value.shape[-1]
        return value.detach().new_full(value.shape[:-2], is_square, dtype=dtypes.bool_)


class _Symmetric(_Square):
    """Symmetric matrices."""

    def check(self, value: Any) -> Any:
        is_square = super().check(value)
        return value.isclose(value.mT, atol=1e-6).all(-2).all(-1) if is_square.all() else is_square


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Any) -> Any:
        is_symmetric = super().check(value)
        return linalg.eigvalsh(value).ge(0).all(-1) if is_symmetric.all() else is_symmetric


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with positive eigenvalues."""

    def check(self, value: Any) -> Any:
        is_symmetric = super().check(value)
        return linalg.cholesky_ex(value).info.eq(0) if is_symmetric.all() else is_symmetric


def all_hold(valid: Any) -> bool:
    """Whether every value is allowed."""
    return bool(calls.all(valid))


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
