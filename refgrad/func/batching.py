"""`vmap`: run a function for all samples of a batch at once.

*Batched tensor*: one value per sample, which the function sees as one tensor without the batch dimension.
It holds the samples themselves; each op runs once for each of them (samples.py). Where a function looks
into a tensor in a way that this does not reach, it is run for each sample on its own.
"""

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from refgrad import modes
from refgrad.autograd.batched import windows_together
from refgrad.duals import with_tangent_of
from refgrad.func import trees
from refgrad.func.levels import Level, stack
from refgrad.samples import PER_SAMPLE, Batched
from refgrad.storage import version_cell, version_of
from refgrad.tensor import Tensor, alias

NO_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() "
    "on a Tensor, please try to rewrite what you're doing with other operations. If error is occurring "
    "somewhere inside PyTorch internals, please file a bug report."
)
NO_BRANCH = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't "
    "support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
NO_MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
    "indexing with a boolean mask."
)
NO_SHAPE = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
    "aten::{}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
)
NO_INPLACE = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in "
    "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "
    "`self` not being vmapped over in a vmap. Please try to use out-of-place operators instead of inplace "
    "arithmetic. If said operator is being called inside the PyTorch framework, please file a bug report "
    "instead."
)


class BatchedTensor(Tensor):
    """A tensor of which each sample has a value of its own."""

    IS_BATCHED = True

    def __init__(self, level: Any, samples: list, whole: tuple | None = None):
        own = self.__dict__
        own["level"], own["samples"], own["whole"] = level, samples, whole

    def like(self, samples: list) -> "BatchedTensor":
        """Other samples of the same level."""
        return batched(self.level, samples)

    def map(self, function: Callable) -> "BatchedTensor":
        """The batched tensor of `function(sample)`."""
        return self.like([function(sample) for sample in self.samples])

    def item(self) -> Any:
        """Refused."""
        raise RuntimeError(self.level.NO_ITEM)

    __int__ = __float__ = __complex__ = __index__ = item

    def __bool__(self) -> bool:
        raise RuntimeError(self.level.NO_BRANCH)

    def tolist(self) -> Any:
        """Refused."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    numpy = tolist

    def nonzero(self, *args: Any, **kwargs: Any) -> Any:
        """Refused."""
        raise RuntimeError(NO_SHAPE.format("nonzero"))

    def __getitem__(self, index: Any) -> Any:
        for each in index if isinstance(index, tuple) else (index,):
            if (
                isinstance(each, BatchedTensor)
                and not each.dtype.is_floating_point
                and str(each.dtype) == "torch.bool"
            ):
                raise RuntimeError(NO_MASK)
        return run(Tensor.__getitem__, (self, index), {})

    def __repr__(self) -> str:
        from refgrad import stack as stacked

        whole, dim = self.__dict__["whole"] or (stacked([s.detach() for s in self.samples]), 0)
        lines = "\n".join("    " + line for line in repr(whole).split("\n"))
        return f"BatchedTensor(lvl={self.level.number}, bdim={dim}, value=\n{lines}\n)"

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)


def batched(level: Any, samples: list, whole: tuple | None = None) -> BatchedTensor:
    """A batched tensor; `whole` is the tensor that it came from, and the batch dimension there."""
    made = object.__new__(BatchedTensor)
    made.__init__(level, samples, whole)  # type: ignore[misc]
    return made


def no_memory(tensor: Any) -> Any:
    """Batched tensors have no memory of their own."""
    raise Batched


def delegate() -> None:
    """Give `BatchedTensor` what `Tensor` has, for each sample."""
    own = vars(BatchedTensor)
    for name in ("_array", "_edge", "_meta", "_version_cell"):
        setattr(BatchedTensor, name, property(no_memory))
    keep = {
        "__init__",
        "__new__",
        "__getattr__",
        "__setattr__",
        "__hash__",
        "__init_subclass__",
        "__torch_function__",
    }
    for name, value in list(vars(Tensor).items()):
        if name in own or name in keep:
            continue
        if isinstance(value, property):
            setattr(BatchedTensor, name, property(sampled_getter(value.fget)))
        elif isinstance(value, types.FunctionType):
            setattr(BatchedTensor, name, sampled(value))


def sampled_getter(get: Any) -> Callable:
    """The getter of a property, run for each sample."""
    return lambda self: run(get, (self,), {})


def sampled(method: Callable) -> Callable:
    """A method that runs for each sample."""

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return run(method, args, kwargs)

    return wrapper


delegate()


def run(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Call a function for each sample of the batched tensors of the innermost level among the arguments."""
    leaves, spec = trees.flatten((args, kwargs))
    inner = [leaf for leaf in leaves if isinstance(leaf, BatchedTensor)]
    if not inner:
        raise Batched
    level = max((tensor.level for tensor in inner), key=lambda level: level.number)
    count = next(len(tensor.samples) for tensor in inner if tensor.level is level)
    check_target(getattr(function, "__name__", ""), args, level, count)
    first = args[0] if args else None
    whole = first.__dict__["whole"] if isinstance(first, BatchedTensor) and first.level is level else None
    before = version_of(whole[0]) if whole is not None and not isinstance(whole[0], BatchedTensor) else None
    results = []
    for i in range(count):
        mine = [
            leaf.samples[i] if isinstance(leaf, BatchedTensor) and leaf.level is level else leaf
            for leaf in leaves
        ]
        some_args, some_kwargs = trees.unflatten(mine, spec)
        results.append(function(*some_args, **some_kwargs))
    if before is not None and version_of(whole[0]) > before:  # type: ignore[index]
        version_cell(whole[0])[0] = before + 1  # type: ignore[index]  # one write, whatever the number of samples
    if (
        isinstance(first, BatchedTensor)
        and first.level is level
        and all(a is b for a, b in zip(results, first.samples, strict=True))
    ):
        return first
    return merged(level, placed(getattr(function, "__name__", ""), args, level, results))


PRODUCTS = frozenset({"dot", "vdot", "mv", "matmul", "rmatmul"})


def placed(name: str, args: tuple, level: Level, results: list) -> list:
    """The results of products with vectors as PyTorch has them: windows in what one product of matrices gave.

    The vectors of all samples are the columns of one matrix, or each the one column of its own.
    """
    if name not in PRODUCTS or len(args) < 2 or len(results) < 2:
        return results
    plain = all(result.__class__ is Tensor and not result.requires_grad for result in results)
    if not plain or not all(isinstance(arg, Tensor) for arg in args[:2]):
        return results
    from refgrad import stack as stacked

    factors = args[1::-1] if name == "rmatmul" else args[:2]
    first, second = (isinstance(factor, BatchedTensor) and factor.level is level for factor in factors)
    ranks = factors[0].dim(), factors[1].dim()
    if first and second and ranks in ((1, 1), (2, 1)):
        return list(stacked(results).unbind(0))
    if second and ranks == (2, 1):
        return list(stacked(results, -1).unbind(-1))
    return results


def check_target(name: str, args: tuple, level: Level, count: int) -> None:
    """Refuse to write batched values into a tensor that is the same for all samples.

    Raises:
        RuntimeError: that is what an in-place function is asked for.
    """
    inplace = name.endswith("_") and not name.endswith("__") or name == "put_item"
    if not inplace or not args or isinstance(args[0], BatchedTensor) and args[0].level is level:
        return
    if name in ("add_", "sub_", "mul_", "div_"):
        shape = list(args[0].shape)
        raise RuntimeError(f"output with shape {shape} doesn't match the broadcast shape {[count, *shape]}")
    raise RuntimeError(NO_INPLACE)


def merged(level: Any, results: list) -> Any:
    """What the samples gave, as one value: tensors become batched, what is the same for all stays."""
    first = results[0]
    if isinstance(first, Tensor):
        return batched(level, results)
    if isinstance(first, (tuple, list)) and any(isinstance(each, Tensor) for each in first):
        columns = [merged(level, list(column)) for column in zip(*results, strict=True)]
        return type(first)(*columns) if hasattr(first, "_fields") else type(first)(columns)
    return first


PER_SAMPLE.append(run)


# vmap -------------------------------------------------------------------------------------------------------


class BatchLevel(Level):
    """A running `vmap`: grad mode stays as it is."""

    IS_LEGACY = False
    NO_ITEM = NO_ITEM
    NO_BRANCH = NO_BRANCH

    def __init__(self, randomness: str, count: int):
        super().__init__("vmap")
        self.randomness = randomness
        self.count = count

    def __enter__(self) -> "BatchLevel":
        before = modes.state.grad
        super().__enter__()
        modes.set_grad(before)
        self.no_random, modes.state.no_random = modes.state.no_random, self.randomness == "error"
        return self

    def __exit__(self, *exception: object) -> None:
        before = modes.state.grad
        modes.state.no_random = self.no_random
        super().__exit__(*exception)
        modes.set_grad(before)


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
            samples = [split(leaf, dim, count) for leaf, dim in zip(leaves, dims, strict=True)]
            output = together(level, func, leaves, dims, samples, spec, kwargs)
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


def split(leaf: Any, dim: int | None, count: int) -> list:
    """One value per sample."""
    return [leaf] * count if dim is None else [leaf.select(dim, i) for i in range(count)]


def together(
    level: BatchLevel, func: Callable, leaves: list, dims: list, samples: list, spec: trees.Spec, kwargs: dict
) -> Any:
    """What `func` returns for batched arguments; it is run for each sample alone where that cannot be
    helped."""
    if level.randomness == "error":
        given = [
            leaf if dim is None else batched(level, some, (leaf, dim))
            for leaf, dim, some in zip(leaves, dims, samples, strict=True)
        ]
        try:
            return func(*trees.unflatten(given, spec), **kwargs)
        except Batched:
            pass
    from refgrad import get_rng_state, set_rng_state

    state = get_rng_state()
    outputs = []
    for i in range(level.count):
        if level.randomness == "same":
            set_rng_state(state)
        outputs.append(func(*trees.unflatten([some[i] for some in samples], spec), **kwargs))
    columns = [trees.flatten(output)[0] for output in outputs]
    return trees.unflatten(
        [merged(level, list(column)) for column in zip(*columns, strict=True)], trees.flatten(outputs[0])[1]
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
    dims = trees.broadcast(out_dims, spec)
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
        return leaf.unsqueeze(dim).expand(*leaf.shape[:dim], level.count, *leaf.shape[dim:])
    whole, place = leaf.__dict__["whole"] or (put_together(leaf.samples), 0)
    return whole if place == dim else whole.movedim(place, dim)


def put_together(samples: list) -> Tensor:
    """The samples as one tensor, which counts writes, and is a view, as each of them does."""
    from refgrad import stack as stacked

    first = samples[0]
    if isinstance(first, BatchedTensor) or any(sample.requires_grad for sample in samples):
        return stacked(samples)
    if (whole := windows_together(samples)) is not None:
        return whole
    order = sorted(range(first.dim()), key=lambda dim: -first.stride(dim))  # as they lie in memory
    back = [0, *(1 + order.index(dim) for dim in range(first.dim()))]
    whole = stacked([sample.permute(order) for sample in samples]).permute(back)
    return whole if first._is_view() else with_tangent_of(whole, alias(whole, [version_of(first)]))


def innermost() -> Level | None:
    """The level that runs now."""
    return stack.levels[-1] if stack.levels else None


def selected(level: Any, tensor: Any, dim: int | None) -> Any:
    """A tensor with a batch dimension as batched tensor."""
    if dim is None or not isinstance(tensor, Tensor):
        return tensor
    return batched(level, split(tensor, dim, tensor.size(dim)), (tensor, dim))


def whole_of(tensors: Sequence[Any], level: Level) -> tuple[list, list]:
    """Arguments with their batch dimension, and where that is (None: not batched)."""
    from refgrad import stack as stacked

    values, dims = [], []
    for tensor in tensors:
        if isinstance(tensor, BatchedTensor) and tensor.level is level:
            value, dim = tensor.__dict__["whole"] or (stacked(tensor.samples), 0)
        else:
            value, dim = tensor, None
        values.append(value)
        dims.append(dim)
    return values, dims
