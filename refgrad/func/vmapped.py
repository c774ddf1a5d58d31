"""Custom Functions with `generate_vmap_rule`: another Function, whose methods run under `vmap`.

Source: "Extending torch.func with autograd.Function" in PyTorch's docs.
"""

from collections.abc import Sequence
from typing import Any

from refgrad.autograd.function import Function
from refgrad.func import trees
from refgrad.func.batched_tensor import BatchedTensor, of_whole
from refgrad.func.batching import BatchLevel
from refgrad.tensor import Tensor


class Context:
    """A Function's context inside `vmap`: what is saved there are wholes, what is read batched tensors."""

    def __init__(self, ctx: Any, rule: "Rule", level: BatchLevel):
        vars(self).update(ctx=ctx, rule=rule, level=level)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.ctx, name, value)

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors, and where their batch dimensions are."""
        pairs = [parted(tensor, self.level) for tensor in tensors]
        self.rule.saved_dims = [dim for _, dim in pairs]
        self.ctx.save_for_backward(*[whole for whole, _ in pairs])

    @property
    def saved_tensors(self) -> tuple:
        """What was kept."""
        return tuple(joined(self.ctx.saved_tensors, self.rule.saved_dims, self.level))


def parted(value: Any, level: BatchLevel) -> tuple[Any, int | None]:
    """A value and its batch dimension, None if it is the same for all samples."""
    if isinstance(value, BatchedTensor) and value.level is level:
        return value.together()
    return value, None


def joined(values: Sequence[Any], dims: Sequence[int | None], level: BatchLevel) -> list:
    """Values with batch dimensions as batched tensors."""
    pairs = zip(values, dims, strict=True)
    return [value if dim is None or value is None else of_whole(level, value, dim) for value, dim in pairs]


class Rule:
    """What the methods of one application share: where the batch dimensions are."""

    def __init__(self, function: Any, in_dims: Sequence[int | None], count: int, randomness: str):
        self.function, self.in_dims, self.count, self.randomness = function, in_dims, count, randomness
        self.out_dims: list[int | None] = []
        self.out_spec: Any = None
        self.saved_dims: list[int | None] = []
        self.shapes: list[tuple | None] = []

    def forward(self, *inputs: Any) -> Any:
        """The Function's `forward` under `vmap`."""
        with BatchLevel(self.randomness, self.count) as level:
            output = self.function.forward(*joined(inputs, self.in_dims, level))
            leaves, spec = trees.flatten(output)
            pairs = [parted(leaf, level) for leaf in leaves]
        self.out_dims, self.out_spec = [dim for _, dim in pairs], spec
        return trees.unflatten([whole for whole, _ in pairs], spec)

    def out_tree(self) -> Any:
        """The batch dimensions of the outputs, in their structure."""
        return trees.unflatten(self.out_dims, self.out_spec)

    def setup_context(self, ctx: Any, inputs: tuple, output: Any) -> None:
        """The Function's `setup_context` under `vmap`."""
        with BatchLevel(self.randomness, self.count) as level:
            given = joined(inputs, self.in_dims, level)
            self.shapes = [tuple(each.shape) if isinstance(each, Tensor) else None for each in given]
            leaves, spec = trees.flatten(output)
            outputs = trees.unflatten(joined(leaves, self.out_dims, level), spec)
            self.function.setup_context(Context(ctx, self, level), tuple(given), outputs)

    def backward(self, ctx: Any, *grads: Any) -> tuple:
        """The Function's `backward` under `vmap`; the gradient of what all samples share is summed."""
        with BatchLevel(self.randomness, self.count) as level:
            found = self.function.backward(Context(ctx, self, level), *joined(grads, self.out_dims, level))
            results = found if isinstance(found, tuple) else (found,)
            pairs = [parted(result, level) for result in results]
        return tuple([self.fitted(i, *pair) for i, pair in enumerate(pairs)])

    def fitted(self, index: int, gradient: Any, dim: int | None) -> Any:
        """The gradient of one input, as the input lies: with its batch dimension, or summed over it."""
        wanted, shape = self.in_dims[index], self.shapes[index]
        if gradient is None or shape is None:
            return None
        if wanted is None:
            return (gradient if dim is None else gradient.sum(dim)).sum_to_size(shape)
        if dim is None:
            gradient, dim = gradient.expand(self.count, *gradient.shape), 0
        if tuple(gradient.shape[:dim] + gradient.shape[dim + 1 :]) != shape:
            gradient, dim = gradient.movedim(dim, 0).sum_to_size((self.count, *shape)), 0
        return gradient if dim == wanted else gradient.movedim(dim, wanted)


def vmapped(function: Any, in_dims: Sequence[int | None], level: BatchLevel) -> tuple[Any, Rule]:
    """A Function that does for wholes what another does for samples, and what its methods share."""
    rule = Rule(function, in_dims, level.count, level.randomness)
    methods = {name: staticmethod(getattr(rule, name)) for name in ("forward", "setup_context", "backward")}
    return type(f"Vmapped{function.__name__}", (Function,), {**methods, "generate_vmap_rule": True}), rule
