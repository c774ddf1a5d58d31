"""Constraints: which values a parameter may have, and a sample can have."""

from collections.abc import Callable
from typing import Any

from refgrad.op import calls


class Constraint:
    """Base of constraints: `check` says of each value, or vector of values, whether it is allowed."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Truth values, one for each event."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Dependent(Constraint):
    """Depends on other values; not checked."""

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


class DependentProperty(property, Dependent):
    """A constraint that an instance computes; on the class it stands for one that is not known."""


def dependent_property(fn: Callable | None = None, *, is_discrete: bool = False, event_dim: int = 0) -> Any:
    """A property that gives a constraint."""
    return DependentProperty(fn) if fn is not None else DependentProperty


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint is not known."""
    return isinstance(constraint, Dependent)


class IndependentConstraint(Constraint):
    """A constraint that must hold for all values of the last dimensions together."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        count = self.reinterpreted_batch_ndims
        if result.dim() < count:
            expected = self.base_constraint.event_dim + count
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")
        return result.reshape((*result.shape[: result.dim() - count], -1)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class Real(Constraint):
    """Anything but NaN."""

    def check(self, value: Any) -> Any:
        return value == value


class Simplex(Constraint):
    """Vectors of positive numbers that add up to 1."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class Bounded(Constraint):
    """Base of the constraints with bounds."""

    def __init__(self, **bounds: Any) -> None:
        self.__dict__.update(bounds)

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{type(self).__name__}({bounds})"


class IntegerInterval(Bounded):
    """Whole numbers between two, both included."""

    is_discrete = True

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class IntegerGreaterThan(Bounded):
    """Whole numbers from one on."""

    is_discrete = True

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class GreaterThan(Bounded):
    """Numbers above a bound."""

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class GreaterThanEq(GreaterThan):
    """Numbers from a bound on."""

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class LessThan(Bounded):
    """Numbers below a bound."""

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class Interval(Bounded):
    """Numbers between two, both included."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class HalfOpenInterval(Interval):
    """Numbers between two, the upper one not included."""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


def all_hold(valid: Any) -> bool:
    """Whether every value is allowed."""
    return bool(calls.all(valid))


dependent = Dependent()
independent = IndependentConstraint
boolean = Boolean()
nonnegative_integer = IntegerGreaterThan(0)
positive_integer = IntegerGreaterThan(1)
integer_interval = IntegerInterval
real = Real()
real_vector = IndependentConstraint(real, 1)
positive = GreaterThan(0.0)
nonnegative = GreaterThanEq(0.0)
greater_than = GreaterThan
greater_than_eq = GreaterThanEq
less_than = LessThan
unit_interval = Interval(0.0, 1.0)
interval = Interval
half_open_interval = HalfOpenInterval
simplex = Simplex()
