"""`vmap`: run a function for all samples of a batch at once.

Where random numbers are wanted, or a function looks into a tensor in a way that batched tensors do not reach,
the function is run for each sample on its own.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from refgrad import modes
from refgrad.func import trees
from refgrad.func.batched_calls import call, merged
from refgrad.func.batched_tensor import BatchedTensor, of_whole, split
from refgrad.func.levels import Level, stack
from refgrad.func.rules.randomness import one_sample, start_of_samples
from refgrad.ops.random import default_generator
from refgrad.samples import Batched
from refgrad.tensor import Tensor

NO_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() "
    "on a Tensor, please try to rewrite what you're doing with other operations. If error is occurring "
    "somewhere inside PyTorch internals, please file a bug report."
)
NO_BRANCH = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't "
    "support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)


class BatchLevel(Level):
    """A running `vmap`."""

    kind = "vmap"
    NO_ITEM = NO_ITEM
    NO_BRANCH = NO_BRANCH
    NO_PRINT: str | None = None

    def __init__(self, randomness: str, count: int):
        super().__init__()
        self.randomness = randomness
        self.count = count

    def __enter__(self) -> "BatchLevel":
        super().__enter__()
        self.outer_randomness, modes.state.randomness = modes.state.randomness, self.randomness
        return self

    def __exit__(self, *exception: object) -> None:
        modes.state.randomness = self.outer_randomness
        super().__exit__(*exception)

    def call(self, function: Callable, args: tuple, kwargs: dict) -> Any:
        """Make a call of what is batched, of wholes or for each sample."""
        return call(self, function, args, kwargs)


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """A function that applies `func` to each slice of its arguments along `in_dims` and stacks the results.

    Source: `torch.vmap` in PyTorch's docs.

    Raises (when called):
        ValueError: `in_dims` or `out_dims` do not fit.
        RuntimeError: `func` looks at values, or draws random numbers and `randomness` is "error".
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        name = getattr(func, "__name__", None) or repr(func)
        leaves, dims, spec = checked_inputs(name, in_dims, args)
        count = batch_size(leaves, dims)
        with BatchLevel(randomness, count) as level:
            output = together(level, func, leaves, dims, spec, kwargs)
            return joined(name, level, output, out_dims)

    return wrapper


def checked_inputs(
    name: str, in_dims: Any, args: tuple, negative: bool = True
) -> tuple[list, list, trees.Spec]:
    """The leaves of the arguments, the batch dimension of each (None: the same for all), and their spec;
    `negative` dimensions count from the end.

    Raises:
        ValueError: `in_dims` does not fit the arguments.
    """
    called = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{called}expected `in_dims` to be int or a (potentially nested) tuple matching the structure "
            f"of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
            "vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    leaves, spec = trees.flatten(args)
    dims = trees.broadcast(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{called}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{trees.flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"{called}Got in_dim={dim} for an input but in_dim must be either an integer dimension or "
                "None."
            )
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{called}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot "
                "vmap over "
                "non-Tensor arguments, please use None as the respective in_dim"
            )
        rank = leaf.dim()
        least = -rank if negative else 0
        if not least <= dim < rank:
            raise ValueError(
                f"{called}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                f"{rank} so expected in_dim to satisfy {'-' * negative}{rank * negative} <= in_dim < {rank}."
            )
        dims[i] = dim % rank
    return leaves, dims, spec


def batch_size(leaves: list, dims: list) -> int:
    """The number of samples.

    Raises:
        ValueError: the tensors disagree, or none is mapped over.
    """
    sizes = [leaf.size(dim) for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def together(
    level: BatchLevel, func: Callable, leaves: list, dims: list, spec: trees.Spec, kwargs: dict
) -> Any:
    """What `func` returns for batched arguments; it is run for each sample alone where that cannot be
    helped."""
    state = None if level.randomness == "error" else default_generator.get_state()
    given = [
        leaf if dim is None else of_whole(level, leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)
    ]
    try:
        return func(*trees.unflatten(given, spec), **kwargs)
    except Batched:
        if state is not None:
            default_generator.set_state(state)
    if not level.count:
        return of_nothing(level, func, leaves, dims, spec, kwargs)
    samples = [split(leaf, dim, level.count) for leaf, dim in zip(leaves, dims, strict=True)]
    start = start_of_samples()
    outputs = []
    for i in range(level.count):
        with one_sample(start):
            outputs.append(func(*trees.unflatten([some[i] for some in samples], spec), **kwargs))
    columns = [trees.flatten(output)[0] for output in outputs]
    return trees.unflatten(
        [merged(level, list(column)) for column in zip(*columns, strict=True)], trees.flatten(outputs[0])[1]
    )


def of_nothing(
    level: BatchLevel, func: Callable, leaves: list, dims: list, spec: trees.Spec, kwargs: dict
) -> Any:
    """What `func` returns for a batch of no samples: as many of what it returns for zeros."""
    shapes = [
        None if dim is None else leaf.shape[:dim] + leaf.shape[dim + 1 :] for leaf, dim in zip(leaves, dims)
    ]
    zeros = [leaf if shape is None else leaf.new_zeros(shape) for leaf, shape in zip(leaves, shapes)]
    output, out_spec = trees.flatten(func(*trees.unflatten(zeros, spec), **kwargs))
    empty = [each.new_empty((0, *each.shape)) if isinstance(each, Tensor) else each for each in output]
    return trees.unflatten(
        [of_whole(level, each) if isinstance(each, Tensor) else each for each in empty], out_spec
    )


def joined(name: str, level: Level, output: Any, out_dims: Any) -> Any:
    """The outputs with the batch dimension where `out_dims` wants it.

    Raises:
        ValueError: `out_dims` does not fit, or an output is no tensor.
    """
    leaves, spec = trees.flatten(output)
    if not all(dim is None or isinstance(dim, int) for dim in trees.flatten(out_dims)[0]):
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
            "collection of ints "
            "representing where in the outputs the vmapped dimension should appear."
        )
    is_alone = isinstance(output, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1
    dims = trees.broadcast(out_dims[0] if is_alone else out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
            f"structure of `outputs`. out_dims has structure {trees.flatten(out_dims)[1]} but outputs has "
            f"structure {spec}."
        )
    return trees.unflatten(
        [one(name, level, leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)], spec
    )


def one(name: str, level: Any, leaf: Any, dim: int | None) -> Any:
    """One output with the batch dimension at `dim`."""
    mine = isinstance(leaf, BatchedTensor) and leaf.level is level
    if dim is None:
        if mine:
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return leaf
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. Did you mean "
            "to set out_dims= "
            "to None for output?"
        )
    if not mine:
        repeated = leaf.expand(level.count, *leaf.shape)
        return repeated if dim == 0 else repeated.movedim(0, dim)
    whole, place = leaf.together()
    return whole if place == dim else whole.movedim(place, dim)


def innermost() -> Level | None:
    """The level that runs now."""
    return stack.levels[-1] if stack.levels else None


def selected(level: Any, tensor: Any, dim: int | None) -> Any:
    """A tensor with a batch dimension as batched tensor."""
    if dim is None or not isinstance(tensor, Tensor):
        return tensor
    return of_whole(level, tensor, dim)


def whole_of(tensors: Sequence[Any], level: Level) -> tuple[list, list]:
    """Arguments with their batch dimension, and where that is (None: not batched)."""
    values, dims = [], []
    for tensor in tensors:
        if isinstance(tensor, BatchedTensor) and tensor.level is level:
            value, dim = tensor.together()
        else:
            value, dim = tensor, None
        values.append(value)
        dims.append(dim)
    return values, dims
