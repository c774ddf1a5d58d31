"""Calls that met a batched tensor: by the op's batching rule, or once for each sample."""

from collections.abc import Callable, Sequence
from typing import Any

from refgrad import modes
from refgrad.call import in_formula
from refgrad.func import trees
from refgrad.func.batched_tensor import BatchedTensor, of_parts, of_whole
from refgrad.func.levels import Level, full_name, is_generated, is_write
from refgrad.func.rules import DECOMPOSED, OLDER, RULES, Moved, Operand, randomness
from refgrad.func.rules.operands import padded, rank_of
from refgrad.func.rules.pointwise import broadcast, of_schema
from refgrad.func.rules.refusals import SLOW, check_allowed, warn_slow
from refgrad.func.tracked_tensor import live
from refgrad.op import calls
from refgrad.samples import Batched
from refgrad.storage import version_cell, version_of
from refgrad.tensor import Tensor

NO_INPLACE = (
    "vmap: inplace {}(self, *extra_args) is not possible because there exists a Tensor `other` in "
    "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "
    "`self` not being vmapped over in a vmap. Please try to use out-of-place operators instead of inplace "
    "arithmetic. If said operator is being called inside the PyTorch framework, please file a bug report "
    "instead."
)


def call(level: Any, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Make a call that met tensors of transforms as a `vmap` makes it: by a rule, or for each sample."""
    leaves, spec = trees.flatten((args, kwargs))
    leaves = [live(leaf) for leaf in leaves]
    args, kwargs = trees.unflatten(leaves, spec)
    name = getattr(function, "__name__", "")
    if not any(isinstance(leaf, BatchedTensor) and leaf.level is level for leaf in leaves):
        return drawn_apart(level, function, args, kwargs)
    check_allowed(name, args, lambda value: isinstance(value, BatchedTensor))
    check_target(name, args, level)
    if level.IS_LEGACY:
        return level.below(for_each, (level, function, leaves, spec), {})
    if (decomposed := decomposition(level, function)) is not None:
        return decomposed(*args)
    result = level.below(by_rule, (level, function, args, kwargs), {})
    if result is not NotImplemented:
        return result
    if name in SLOW and not level.IS_OLDER:
        warn_slow(name, level.count)
    result = level.below(for_each, (level, function, leaves, spec), {})
    return level.below(stacked, (result,), {}) if name in SLOW or level.IS_OLDER else result


def decomposition(level: Level, function: Callable) -> Callable | None:
    """The steps of which an op is made under `vmap`, if it is."""
    if not is_generated(function) or level.IS_OLDER and full_name(function) not in OLDER:
        return None
    return DECOMPOSED.get(full_name(function))


def drawn_apart(level: Any, function: Callable, args: tuple, kwargs: dict) -> Any:
    """A call without tensors of this level: of what is the same for all samples, unless it draws numbers for
    each.

    Raises:
        Batched: it stopped for another reason.
    """
    try:
        return level.below(function, args, kwargs)
    except Batched:
        if level.randomness != "different":
            raise
    name = getattr(function, "__name__", "")
    return of_whole(level, level.below(randomness.drawn, (name, function, args, kwargs, level.count), {}))


def stacked(result: Any) -> Any:
    """Samples put together as PyTorch does it where it has no batching rule."""
    if isinstance(result, (tuple, list)):
        return rebuilt(result, [stacked(each) for each in result])
    if isinstance(result, BatchedTensor):
        own = result.__dict__
        whole = calls.stack(result.samples)
        own["whole"], own["bdim"], own["parts"] = calls.view(whole, whole.shape), 0, None
    return result


LIKE = frozenset({"like", "zeros_like", "ones_like", "empty_like", "full_like"})
NEW = frozenset({"new_zeros", "new_ones", "new_empty", "new_full"})


def by_rule(level: Any, function: Callable, args: tuple, kwargs: dict) -> Any:
    """The call made of wholes; NotImplemented where there is no rule for it."""
    name = getattr(function, "__name__", "")
    if name == "detach":
        return args[0].detach()
    operands = [operand(level, arg) for arg in args]
    if not is_generated(function) or kwargs:
        return created(level, name, function, args, kwargs)
    op = function.__globals__["op"]
    twin = name != op.function_name
    full = full_name(function)
    if level.IS_OLDER and full not in OLDER:
        return NotImplemented
    rule = OLDER[full] if level.IS_OLDER else RULES.get(full)
    if rule is None and (name in SLOW or not op.promote):
        return NotImplemented
    rule = rule or of_schema(op)
    is_aligned = level.IS_OLDER and rule is broadcast
    result = aligned(function, operands) if is_aligned else rule(function, *operands)
    if result is NotImplemented:
        return result
    if not (twin or op.only_inplace):
        return of_wholes(level, result)
    own = args[0].__dict__
    own["parts"] = None
    if op.is_view:
        own["whole"], own["bdim"] = result if isinstance(result, Moved) else (result, 0)
    return args[0]


def aligned(function: Callable, operands: list) -> Tensor:
    """A pointwise op as the older `vmap` runs it: what is the same for all samples gets a dimension for the
    batch, too."""
    rank = max(map(rank_of, operands))
    for i, each in enumerate(operands):
        if isinstance(each, Operand):
            operands[i] = padded(each, rank)
        elif isinstance(each, Tensor) and each.dim():
            operands[i] = each.view((1,) * (1 + rank - each.dim()) + tuple(each.shape))
    return function(*operands)


def created(level: Any, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
    """New tensors after a batched one: of its whole, or of the size asked for, one for each sample."""
    if not args or not isinstance(args[0], BatchedTensor) or args[0].level is not level:
        return NotImplemented
    whole, dim = args[0].together()
    if name in randomness.LIKE:
        found = randomness.like(function, Operand(whole, dim), args[1:], kwargs)
        return of_wholes(level, Moved(found.whole, found.dim)) if isinstance(found, Operand) else found
    if name in LIKE and level.IS_OLDER:
        return NotImplemented
    if name in LIKE:
        return of_wholes(level, Moved(function(whole, *args[1:], **kwargs), dim))
    if name == "new_empty_strided":
        return of_wholes(level, apart_in_memory(function, whole, args[1:], kwargs, level.count))
    if name in NEW and len(args) > 1:
        size = args[1:] if isinstance(args[1], int) else args[1]
        rest = () if isinstance(args[1], int) else args[2:]
        return of_wholes(level, function(whole, (level.count, *size), *rest, **kwargs))
    return NotImplemented


def apart_in_memory(function: Callable, whole: Tensor, args: tuple, kwargs: dict, count: int) -> Tensor:
    """New memory in which each sample lies with the given strides, one behind the other."""
    size, stride, *rest = args
    room = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) if 0 not in size else 0
    return function(whole, (count, *size), (room, *stride), *rest, **kwargs)


def operand(level: Level, argument: Any) -> Any:
    """An argument as a rule gets it."""
    if isinstance(argument, BatchedTensor) and argument.level is level:
        return Operand(*argument.together())
    if isinstance(argument, (list, tuple)) and any(isinstance(each, Tensor) for each in argument):
        return [operand(level, each) for each in argument]
    return argument


def of_wholes(level: Level, result: Any) -> Any:
    """What a rule gave, as batched tensors."""
    if isinstance(result, Moved):
        if not isinstance(result.value, Tensor):
            return rebuilt(result.value, [of_wholes(level, Moved(one, result.dim)) for one in result.value])
        return of_whole(level, result.value, result.dim % result.value.dim())
    if isinstance(result, Tensor):
        return of_whole(level, result)
    if result is None:  # a gradient that nobody asked for
        return None
    return rebuilt(result, [of_wholes(level, one) for one in result])


def rebuilt(like: Any, items: list) -> Any:
    """Items in a tuple or list of the same kind."""
    return type(like)(*items) if hasattr(like, "_fields") else type(like)(items)


def for_each(level: Any, function: Callable, leaves: list, spec: trees.Spec) -> Any:
    """Call a function once for each sample.

    Raises:
        Batched: there are none, and the level is none of the older `vmap`.
    """
    if not level.count:
        return for_none(level, function, leaves, spec)
    first = leaves[0] if leaves else None
    is_mine = isinstance(first, BatchedTensor) and first.level is level
    whole = first.__dict__["whole"] if is_mine else None
    before = version_of(whole) if whole is not None and not isinstance(whole, BatchedTensor) else None
    results: list = []
    start = randomness.start_of_samples()
    for i in range(level.count):
        mine = [
            leaf.samples[i] if isinstance(leaf, BatchedTensor) and leaf.level is level else leaf
            for leaf in leaves
        ]
        some_args, some_kwargs = trees.unflatten(mine, spec)
        with randomness.one_sample(start):
            results.append(function(*some_args, **some_kwargs))
        if not isinstance(results[0], (Tensor, tuple, list, type(None))):
            return results[0]  # a fact that is the same for all
    if before is not None and version_of(whole) > before:
        version_cell(whole)[0] = before + 1  # one write, whatever the number of samples
    if is_mine and all(a is b for a, b in zip(results, first.samples, strict=True)):  # type: ignore[union-attr]
        own = first.__dict__
        if own["whole"] is not None and list(results[0].shape) != shape_of_sample(own["whole"], own["bdim"]):
            own["whole"] = None  # an in-place view
        return first
    return merged(level, placed(getattr(function, "__name__", ""), leaves, level, results))


def for_none(level: Any, function: Callable, leaves: list, spec: trees.Spec) -> Any:
    """What a function gives for a batch of no samples: as many of what it gives for zeros.

    Raises:
        Batched: the level is none of the older `vmap`.
    """
    if not level.IS_LEGACY:
        raise Batched
    zeros = [
        leaf.first if isinstance(leaf, BatchedTensor) and leaf.level is level else leaf for leaf in leaves
    ]
    some_args, some_kwargs = trees.unflatten(zeros, spec)
    return trees.mapped(
        lambda value: (
            of_whole(level, value.new_empty((0, *value.shape))) if isinstance(value, Tensor) else value
        ),
        function(*some_args, **some_kwargs),
    )


def shape_of_sample(whole: Tensor, dim: int) -> list:
    """The shape of one sample."""
    sizes = list(whole.shape)
    return sizes[:dim] + sizes[dim + 1 :]


PRODUCTS = frozenset({"dot", "vdot", "mv", "matmul", "rmatmul"})


def placed(name: str, args: Sequence[Any], level: Level, results: list) -> list:
    """The results of products with vectors as PyTorch has them: windows in what one product of matrices gave.

    The vectors of all samples are the columns of one matrix, or each the one column of its own.
    """
    if name not in PRODUCTS or len(args) < 2 or len(results) < 2:
        return results
    plain = all(result.__class__ is Tensor and not result.requires_grad for result in results)
    if not plain or not all(isinstance(arg, Tensor) for arg in args[:2]):
        return results
    factors = args[1::-1] if name == "rmatmul" else args[:2]
    first, second = (isinstance(factor, BatchedTensor) and factor.level is level for factor in factors)
    ranks = factors[0].dim(), factors[1].dim()
    if first and second and ranks in ((1, 1), (2, 1)):
        return list(calls.stack(results).unbind(0))
    if second and ranks == (2, 1):
        return list(calls.stack(results, -1).unbind(-1))
    return results


def check_target(name: str, args: tuple, level: Any) -> None:
    """Refuse to write batched values into a tensor that is the same for all samples.

    Raises:
        RuntimeError: that is what an in-place function is asked for.
        Batched: the same, by a gradient formula, which then runs for each sample.
    """
    if not is_write(name) or not args:
        return
    target = args[0]
    if isinstance(target, BatchedTensor) and target.level is level:
        return
    if in_formula():
        raise Batched
    if name in ("add_", "sub_", "mul_", "div_"):
        shape = list(target.shape)
        raise RuntimeError(
            f"output with shape {shape} doesn't match the broadcast shape {[level.count, *shape]}"
        )
    if name == "bernoulli_" and modes.state.randomness == "same":
        raise RuntimeError(randomness.NO_SAME)
    raise RuntimeError(NO_INPLACE.format("bernoulli" if name == "bernoulli_" else "arithmetic"))


def merged(level: Any, results: list) -> Any:
    """What the samples gave, as one value: tensors become batched, what is the same for all stays."""
    first = results[0]
    if isinstance(first, Tensor):
        return of_parts(level, results)
    if isinstance(first, (tuple, list)) and any(isinstance(each, Tensor) for each in first):
        columns = [merged(level, list(column)) for column in zip(*results, strict=True)]
        return rebuilt(first, columns)
    return first
