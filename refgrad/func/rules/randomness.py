"""Random numbers under `vmap`: other ones for each sample (`different`), the same for all, or none at all.

*Drawing*: while a rule draws for the whole batch, the mode is lifted.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from refgrad import modes
from refgrad.func.rules.operands import Operand, rule, spread, whole_in_front
from refgrad.func.rules.pointwise import alone
from refgrad.op import calls
from refgrad.ops.random import check_randomness, default_generator
from refgrad.samples import Batched
from refgrad.tensor import Tensor

NO_DIFFERENT = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
    "randomness. If this is necessary for your usage, please file an issue with functorch."
)
NO_SAME = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with "
    "functorch"
)
LIKE = frozenset({"rand_like", "randn_like", "randint_like"})
OF_SIZE = frozenset({"rand", "randn", "randint", "normal"})
OF_TENSOR = frozenset({
    *LIKE, "bernoulli", "multinomial", "poisson", "normal", "dropout", "feature_dropout", "alpha_dropout",
    "feature_alpha_dropout",
})  # fmt: skip


@contextmanager
def drawing() -> Iterator[None]:
    """Draw as outside `vmap`.

    Raises:
        RuntimeError: nothing random is allowed.
    """
    check_randomness()
    before, modes.state.randomness = modes.state.randomness, ""
    try:
        yield
    finally:
        modes.state.randomness = before


def start_of_samples() -> Any:
    """The random state that each sample begins with where all draw the same numbers, else None."""
    return default_generator.get_state() if modes.state.randomness == "same" else None


@contextmanager
def one_sample(start: Any) -> Iterator[None]:
    """Run one sample on its own: it draws as it should."""
    if start is not None:
        default_generator.set_state(start)
    if modes.state.randomness != "different":
        yield
        return
    with drawing():
        yield


@rule("uniform_", "normal_", "bernoulli_.float", "random_.from", "random_.to", "random_", "exponential_",
      "geometric_", "log_normal_", "cauchy_")  # fmt: skip
def fill(function: Callable, self: Operand, *others: Any) -> Any:
    """A tensor filled with random numbers."""
    if modes.state.randomness == "same":
        sample = function(calls.empty(self.shape, dtype=self.whole.dtype), *others)
        return calls.copy_(self.front(), sample)
    with drawing():
        return alone(function, self, *others)


@rule("bernoulli_.Tensor", "bernoulli", "bernoulli.p", "poisson", "normal.Tensor_float",
      "normal.float_Tensor", "normal.Tensor_Tensor")  # fmt: skip
def sampled(function: Callable, *arguments: Any) -> Any:
    """Random numbers whose distribution each sample gives.

    Raises:
        RuntimeError: they are to be the same for all samples.
    """
    if modes.state.randomness == "same":
        raise RuntimeError(NO_SAME)
    with drawing():
        return function(*map(whole_in_front, arguments))


@rule("multinomial")
def multinomial(function: Callable, self: Operand, *others: Any) -> Tensor:
    """Places drawn by weights: the rows of all samples are those of one matrix."""
    if self.rank < 2:
        return sampled(function, self, *others)
    count, rows, choices = self.front().shape
    found = sampled(function, Operand(self.front().reshape(count * rows, choices), 0), *others)
    return found.view(count, rows, -1)


def like(function: Callable, self: Operand, args: tuple, kwargs: dict) -> Any:
    """New random numbers after a batched tensor: a whole, or the sample that is the same for all."""
    if modes.state.randomness == "same":
        return function(calls.empty(self.shape, dtype=self.whole.dtype), *args, **kwargs)
    with drawing():
        return Operand(function(self.whole, *args, **kwargs), self.dim)


def drawn(name: str, function: Callable, args: tuple, kwargs: dict, count: int) -> Tensor:
    """Random numbers that differ between samples, of a call without batched tensors: a whole.

    Raises:
        RuntimeError: a tensor that is the same for all samples is to be filled.
        Batched: the function is none of those that are known.
    """
    if name.endswith("_") and args and isinstance(args[0], Tensor):
        raise RuntimeError(NO_DIFFERENT)
    with drawing():
        if name == "randperm":
            return calls.stack([function(*args, **kwargs) for _ in range(count)])
        if name in OF_TENSOR and any(isinstance(arg, Tensor) for arg in args):
            return function(*[spread(a, count) if isinstance(a, Tensor) else a for a in args], **kwargs)
        if name not in OF_SIZE:
            raise Batched
        if "size" in kwargs:
            return function(*args, **{**kwargs, "size": (count, *kwargs["size"])})
        if all(isinstance(arg, int) for arg in args):
            return function(count, *args, **kwargs)
        return function(*[(count, *a) if isinstance(a, (tuple, list)) else a for a in args], **kwargs)
