"""`Distribution`: shapes, checks of parameters and samples, and what distributions share.

*Batch shape*: that of independent distributions side by side; *event shape*: that of one sample of one.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.autograd import enable_grad, grad, no_grad
from refgrad.distributions import constraints
from refgrad.layout import Size
from refgrad.nn import functional as F
from refgrad.ops import from_data
from refgrad.tensor import Tensor, wrap
from refgrad.toplevel import broadcast_tensors, finfo

NO_SHAPE = Size()
EULER = 0.5772156649015329


class lazy_property:
    """A property that is computed once, and then kept as an attribute."""

    def __init__(self, wrapped: Callable) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def broadcast_all(*values: Any) -> tuple:
    """Numbers and tensors as tensors of one shape.

    Raises:
        ValueError: one is neither.
    """
    if not all(isinstance(value, (Tensor, int, float)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
            "__torch_function__."
        )
    kind = next((value.dtype for value in values if isinstance(value, Tensor)), dtypes.default())
    tensors = [v if isinstance(v, Tensor) else from_data.tensor(v, dtype=kind) for v in values]
    return tuple(broadcast_tensors(*tensors))


def batch_shape_of(tensor: Any, *given: Any) -> Size:
    """The shape of the distributions: none where all parameters are numbers."""
    return Size() if not any(isinstance(value, Tensor) for value in given) else tensor.size()


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Probabilities out of their logits."""
    return logits.sigmoid() if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs: Any) -> Any:
    """Probabilities kept off 0 and 1."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Logits out of probabilities, which are kept off 0 and 1."""
    probs = clamp_probs(probs)
    return probs.log() - (-probs).log1p() if is_binary else probs.log()


def arange_like(param: Any, count: int, kind: Any, batch: Size, expand: bool) -> Any:
    """The numbers up to a count, one for each distribution."""
    values = wrap(np.arange(count).astype(kind.numpy)).view((-1,) + (1,) * len(batch))
    return values.expand((-1, *batch)) if expand else values


def summed(value: Any, count: int) -> Any:
    """The sum over so many last dimensions."""
    return value if count == 0 else value.reshape((*value.shape[: value.dim() - count], -1)).sum(-1)


def below_diagonal(size: int, diag: int) -> Any:
    """Which places of a square matrix lie on a diagonal or below it."""
    places = np.arange(size)
    return wrap(places < places[:, None] + (diag + 1))


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """The entries of matrices on a diagonal and below it, row by row.

    Raises:
        ValueError: there is no such diagonal.
    """
    size = mat.shape[-1]
    if diag < -size or diag >= size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    return mat[..., below_diagonal(size, diag)]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Square matrices with these entries on a diagonal and below it, row by row.

    Raises:
        ValueError: the entries fill no such matrix.
    """
    count, step = vec.shape[-1], 1 + 2 * diag
    exact = (-step + (step**2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(exact) - exact > finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part "
            "of a square D x D matrix."
        )
    size = round(exact)
    matrix = vec.new_zeros((*vec.shape[:-1], size, size))
    matrix[..., below_diagonal(size, diag)] = vec
    return matrix


def standard_normal(shape: Any, kind: Any) -> Any:
    """Numbers of the standard normal distribution."""
    return wrap(np.empty(tuple(shape), kind.numpy)).normal_()


class Distribution:
    """Base of distributions.

    Raises:
        ValueError: a parameter is out of range.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Say whether parameters and samples are checked where nothing else is said."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Any = NO_SHAPE, event_shape: Any = NO_SHAPE, validate_args: bool | None = None
    ) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        """Refuse parameters that are out of range."""
        try:
            required = self.arg_constraints
        except NotImplementedError:
            required = {}
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
        for name, constraint in required.items():
            unknown = name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property)
            if constraints.is_dependent(constraint) or unknown:
                continue
            value = getattr(self, name)
            if not constraints.all_hold(constraint.check(value)):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid "
                    f"values:\n{value}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distributions side by side, more of them."""
        raise NotImplementedError

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """The instance given, or a new one, which a subclass with arguments of its own must give.

        Raises:
            NotImplementedError: it does not.
        """
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _expanded(self, cls: type, batch_shape: Any, _instance: Any, names: tuple, kept: tuple = ()) -> Any:
        """A new instance with these parameters expanded, and others kept as they are."""
        new = self._get_checked_instance(cls, _instance)
        for name in kept:
            setattr(new, name, getattr(self, name))
        shape = Size(batch_shape)
        for name in names:
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand((*shape, *self._parameter_event())))
        Distribution.__init__(new, shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _parameter_event(self) -> tuple:
        """What the shape of parameters has behind that of the batch."""
        return ()

    @property
    def batch_shape(self) -> Size:
        """The shape of the distributions side by side."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one sample of one distribution."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict:
        """What holds for each parameter."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """What holds for each sample."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The most probable value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        """Samples without a graph."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        """Samples as functions of the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """The old way of taking several samples."""
        text = "`sample_n(n)` will be deprecated. Use `sample((n,))` instead."
        warnings.warn(text, FutureWarning, stacklevel=2)
        return self.sample(Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, or of the probability."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of lower values."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The value below which a probability lies."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values that a sample can have."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """The exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = NO_SHAPE) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        """Refuse what cannot be a sample.

        Raises:
            ValueError: with PyTorch's text.
        """
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, event = value.size(), self._event_shape
        if shape[len(shape) - len(event) :] != event:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {event}.")
        expected = Size((*self._batch_shape, *event))
        for size, own in zip(reversed(shape), reversed(expected), strict=False):
            if size != 1 and own != 1 and size != own:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not constraints.all_hold(support.check(value)):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _checked(self, value: Any) -> None:
        """Check a sample where that is wanted."""
        if self._validate_args:
            self._validate_sample(value)

    def __repr__(self) -> str:
        given = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        shown = [f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in given.items()]
        return f"{type(self).__name__}({', '.join(shown)})"


class ExponentialFamily(Distribution):
    """Base of the distributions of an exponential family; the entropy follows from the normaliser."""

    @property
    def _natural_params(self) -> tuple:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy, by a Bregman divergence of the normaliser."""
        measure = self._mean_carrier_measure
        natural = [parameter.detach().requires_grad_() for parameter in self._natural_params]
        normal = self._log_normalizer(*natural)
        slopes = grad(normal.sum(), natural, create_graph=True)
        result = -measure
        result += normal
        for parameter, slope in zip(natural, slopes, strict=True):
            result -= (parameter * slope).reshape((*self._batch_shape, -1)).sum(-1)
        return result
