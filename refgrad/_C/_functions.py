"""`torch._C._functions`: nodes that PyTorch's own tests put into graphs."""

from typing import Any

from refgrad.edges import edge_of
from refgrad.graph import AccumulateGrad, Node, start
from refgrad.graph import DelayedError as Error
from refgrad.tensor import Tensor, wrap
from refgrad.views import CopySlices

__all__ = ["AccumulateGrad", "CopySlices", "DelayedError", "UndefinedGrad"]


class Undefined(Node):
    """Sends an undefined gradient back, whatever arrives."""

    __slots__ = ()

    def name(self) -> str:
        """The name in C++."""
        return "torch::autograd::UndefinedGradBackward"

    def apply(self, grads: list, create_graph: bool, needed: Any) -> list:
        return [None]


Undefined.__name__ = Undefined.__qualname__ = "UndefinedGradBackward"


class UndefinedGrad:
    """Makes a copy of a tensor through which no gradient comes back.

    Raises:
        RuntimeError: arguments were given.
    """

    MAKES_NODES = True  # in PyTorch this is the class of the nodes

    def __init__(self, *args: Any):
        if args:
            raise RuntimeError(f"Requires zero arguments, got {len(args)}")

    def __call__(self, *args: Any) -> Tensor:
        (result,) = results(Undefined(), args, 1)
        return result


class DelayedError:
    """Makes copies of tensors whose gradients raise an error.

    Raises:
        RuntimeError: there is no message.
    """

    MAKES_NODES = True

    def __init__(self, *args: Any):
        if len(args) != 2:
            raise RuntimeError(f"Requires two arguments, got {len(args)}")
        self.message, self.count = args
        if not isinstance(self.message, str):
            raise RuntimeError("argument 'msg' must be a string")

    def __call__(self, *args: Any) -> Any:
        node = Error()
        node.message = self.message
        made = results(node, args, self.count)
        return made[0] if len(made) == 1 else made


def results(node: Node, args: tuple, count: int) -> tuple[Tensor, ...]:
    """Copies of the arguments as outputs of a node.

    Raises:
        TypeError: there are more or fewer of them, or one is no tensor.
    """
    if len(args) != count:
        raise TypeError(f"expected {count} arguments, got {len(args)} instead")
    for position, tensor in enumerate(args):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"argument {position} is not a Variable")
    made = tuple(wrap(tensor._array.copy()) for tensor in args)
    if any(tensor.requires_grad for tensor in args):
        start(
            node, tuple(map(edge_of, args)), *[(tensor._array.shape, tensor._array.dtype) for tensor in args]
        )
        for position, tensor in enumerate(made):
            tensor._edge = (node, position) if position else node
    return made
