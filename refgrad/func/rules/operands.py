"""What a batching rule works with: its batched operands, and the table that it is put into."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from refgrad.layout import wrap_dim
from refgrad.op import calls
from refgrad.tensor import Tensor

RULES: dict[str, Callable] = {}
"""Rules by the op's full name; of an in-place twin that is `name_` or `name_.overload`."""


def rule(*names: str) -> Callable[[Callable], Callable]:
    """Make a function the rule of these ops: it gets the op's function, then the op's arguments."""

    def declare(function: Callable) -> Callable:
        RULES.update(dict.fromkeys(names, function))
        return function

    return declare


class Moved(NamedTuple):
    """A result whose batch dimension is not in front."""

    value: Any
    dim: int


@dataclass(frozen=True, slots=True)
class Operand:
    """A batched argument: its whole, and which dimension of that is the batch."""

    whole: Tensor
    dim: int

    @property
    def rank(self) -> int:
        """How many dimensions one sample has."""
        return self.whole.dim() - 1

    @property
    def count(self) -> int:
        """The number of samples."""
        return self.whole.size(self.dim)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one sample."""
        sizes = tuple(self.whole.shape)
        return sizes[: self.dim] + sizes[self.dim + 1 :]

    def front(self) -> Tensor:
        """The whole with the batch in front."""
        return self.whole if self.dim == 0 else self.in_front()

    def in_front(self) -> Tensor:
        """As `front`, but moved even where it is there already: as PyTorch does in places."""
        return moved(self.whole, self.dim, 0)

    def axis(self, dim: int) -> int:
        """A sample's dimension as one of `front()`.

        Raises:
            IndexError: a sample has no such dimension.
        """
        return wrap_dim(dim, self.rank) + 1

    def axes(self, dims: Any) -> list[int]:
        """Several of a sample's dimensions, or the one, as those of `front()`; all for None or none.

        Raises:
            IndexError: a sample has no such dimension.
        """
        if dims is None or not isinstance(dims, int) and not len(dims):
            return list(range(1, max(self.rank, 1) + 1))
        return [self.axis(dim) for dim in ([dims] if isinstance(dims, int) else dims)]

    def at_least_vector(self) -> Tensor:
        """The whole with the batch in front, and a dimension where a sample has none."""
        return self.front() if self.rank else calls.unsqueeze(self.front(), -1)

    def settled(self, result: Any) -> Any:
        """A result of `at_least_vector`, without the dimension that was added to it."""
        if self.rank:
            return result
        if isinstance(result, tuple):
            kept = [self.settled(one) for one in result]
            return type(result)(*kept) if hasattr(result, "_fields") else tuple(kept)
        return calls.squeeze__dim(result, -1) if result.dim() > 1 else result


def moved(tensor: Tensor, source: int, destination: int) -> Tensor:
    """A tensor with one dimension elsewhere."""
    return calls.movedim(tensor, (source,), (destination,))


def count_of(arguments: Sequence[Any]) -> int:
    """The number of samples of the batched arguments, those in lists too."""
    for argument in arguments:
        if isinstance(argument, Operand):
            return argument.count
        if isinstance(argument, list) and (count := count_of(argument)):
            return count
    return 0


def rank_of(argument: Any) -> int:
    """How many dimensions a sample of a tensor argument has; 0 for what is no tensor."""
    if isinstance(argument, Operand):
        return argument.rank
    return argument.dim() if isinstance(argument, Tensor) else 0


def whole_in_front(argument: Any) -> Any:
    """An argument as the op gets it: of a batched one the whole, the batch in front."""
    return argument.front() if isinstance(argument, Operand) else argument


def spread(argument: Any, count: int) -> Tensor:
    """An argument with a batch dimension in front, expanded where it is the same for all samples."""
    if isinstance(argument, Operand):
        return argument.front()
    return argument.expand(count, *argument.shape)


def padded(argument: Operand, rank: int) -> Tensor:
    """The whole with the batch in front, and ones behind it until a sample has that rank."""
    value = argument.front()
    missing = rank - argument.rank
    if missing <= 0:
        return value
    return calls.view(value, (value.size(0), *[1] * missing, *value.shape[1:]))


def in_images(self: Operand) -> Tensor:
    """The batch joined with the images, or filters, of each sample."""
    value = self.in_front()
    return value.reshape(value.size(0) * value.size(1), *value.shape[2:])


def in_channels(self: Operand) -> Tensor:
    """The batch joined with the channels of each sample."""
    value = moved(self.whole, self.dim, 1)
    return value.reshape(value.size(0), value.size(1) * value.size(2), *value.shape[3:])
