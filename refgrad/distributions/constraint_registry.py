"""From a constraint to a transform whose results satisfy it: `biject_to` and `transform_to`."""

from collections.abc import Callable
from typing import Any

from refgrad.distributions import constraints, transforms
from refgrad.tensor import Tensor

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Which transform leads to which constraint."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable] = {}

    def register(self, constraint: Any, factory: Callable | None = None) -> Callable:
        """Declare what makes the transform for the constraints of a class; also a decorator.

        Raises:
            TypeError: that is no constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints") from None
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def for_both(*kinds: Any) -> Callable:
    """Declare one transform for both, which is bijective."""

    def declare(factory: Callable) -> Callable:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return declare


@for_both(constraints.real)
def to_real(constraint: Any) -> Any:
    return transforms.identity_transform


@for_both(constraints.greater_than, constraints.greater_than_eq)
def to_greater_than(constraint: Any) -> Any:
    shift = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@for_both(constraints.less_than)
def to_less_than(constraint: Any) -> Any:
    shift = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@for_both(constraints.interval, constraints.half_open_interval)
def to_interval(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if not isinstance(low, Tensor) and not isinstance(high, Tensor) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    shift = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), shift])


@for_both(constraints.corr_cholesky)
def to_corr_cholesky(constraint: Any) -> Any:
    return transforms.CorrCholeskyTransform()


@biject_to.register(constraints.simplex)
def biject_to_simplex(constraint: Any) -> Any:
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def transform_to_simplex(constraint: Any) -> Any:
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def to_lower_cholesky(constraint: Any) -> Any:
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)
@transform_to.register(constraints.positive_semidefinite)
def to_positive_definite(constraint: Any) -> Any:
    return transforms.PositiveDefiniteTransform()


def register_joined(registry: ConstraintRegistry) -> None:
    """Declare the transforms for constraints that are made of others."""

    def of_independent(constraint: Any) -> Any:
        base = registry(constraint.base_constraint)
        return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)

    def of_cat(constraint: Any) -> Any:
        parts = [registry(part) for part in constraint.cseq]
        return transforms.CatTransform(parts, constraint.dim, constraint.lengths)

    def of_stack(constraint: Any) -> Any:
        return transforms.StackTransform([registry(part) for part in constraint.cseq], constraint.dim)

    registry.register(constraints.independent, of_independent)
    registry.register(constraints.cat, of_cat)
    registry.register(constraints.stack, of_stack)


register_joined(biject_to)
register_joined(transform_to)
