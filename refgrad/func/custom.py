"""Custom Functions inside transforms. Source: "Extending torch.func with autograd.Function" in PyTorch's
docs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from refgrad import modes
from refgrad.autograd.function import IN_TRANSFORM, Function
from refgrad.autograd.grad_mode import enable_grad
from refgrad.func import trees
from refgrad.func.batched_tensor import BatchedTensor
from refgrad.func.batching import innermost, selected, whole_of
from refgrad.func.levels import stack
from refgrad.func.tracked_tensor import live, value_of
from refgrad.func.vmapped import vmapped

SEE = " For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
UNHANDLED = object()


class VmapInfo(NamedTuple):
    """What a `vmap` staticmethod is told of the transform."""

    batch_size: int
    randomness: str


def transformed(function: Any, args: tuple) -> Any:
    """The result of `function.apply(*args)` in the innermost transform; UNHANDLED if it is ordinary.

    Raises:
        RuntimeError: the Function lacks what the transform needs.
    """
    if function.setup_context is Function.setup_context:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
            f"...), it must override the setup_context staticmethod.{SEE}"
        )
    level: Any = innermost()
    if level is None:
        return UNHANDLED
    if level.kind == "vmap":
        return batched(function, args, level)
    if level.kind == "jvp":
        if level.is_mapped:
            check_vmap(function)
        if function.jvp is Function.jvp:
            return function.jvp(None)
        if not level.records:
            return further_out(level, function, args)
    return tracked_by(level, function).apply(*args)


def further_out(level: Any, function: Any, args: tuple) -> Any:
    """The result of a Function one level further out, as a level of derivatives shows it."""
    leaves, spec = trees.flatten(args)
    values = [value_of(live(leaf), level) for leaf in leaves]
    with lowered(1):
        output = function.apply(*trees.unflatten(values, spec))
    given = {id(value): leaf for value, leaf in zip(values, leaves, strict=True)}
    return trees.mapped(lambda leaf: level.shown(leaf, given), output)


def batched(function: Any, args: tuple, level: Any) -> Any:
    """The result of a Function in a `vmap`.

    Raises:
        RuntimeError: it has no rule for it, or two.
    """
    check_vmap(function)
    if not any(isinstance(arg, BatchedTensor) and arg.level is level for arg in trees.flatten(args)[0]):
        with lowered(1):
            return function.apply(*args)
    if function.generate_vmap_rule:
        values, dims = whole_of(args, level)
        made, rule = vmapped(function, dims, level)
        with lowered(1):
            result = made.apply(*values), rule.out_tree()
    else:
        leaves, spec = trees.flatten(args)
        values, dims = [trees.unflatten(some, spec) for some in whole_of(leaves, level)]
        with lowered(1):
            result = function.vmap(VmapInfo(level.count, level.randomness), dims, *values)
    return batched_result(level, result)


@contextmanager
def lowered(count: int) -> Iterator[None]:
    """Run what stands below the innermost levels, as many as `count`."""
    above = stack.levels[-count:]
    del stack.levels[-count:]
    modes.state.transforms -= count
    try:
        yield
    finally:
        stack.levels += above
        modes.state.transforms += count


def tracked_by(level: Any, function: Any) -> Any:
    """The Function of a level of derivatives: its `forward` is the other's one level further out."""

    def forward(*args: Any) -> Any:
        with enable_grad():
            return further_out(level, function, args)

    names = ("setup_context", "backward", "vjp", "jvp")
    methods = {name: staticmethod(getattr(function, name)) for name in names}
    methods["forward"] = staticmethod(forward)
    flags = {"is_generated": True, "clear_saved_tensors_on_access": function.clear_saved_tensors_on_access}
    return type(f"{function.__name__}Generated", (Function,), {**methods, **flags})


def check_vmap(function: Any) -> None:
    """Refuse a Function that has no rule for `vmap`, or two.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    has_rule = function.vmap is not Function.vmap
    if function.generate_vmap_rule and has_rule:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an "
            "overridden "
            "vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap "
            f"staticmethod to avoid ambiguity.{SEE}"
        )
    if not function.generate_vmap_rule and not has_rule:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. Please "
            f"override and implement the vmap staticmethod or set generate_vmap_rule=True.{SEE}"
        )


def batched_result(level: Any, result: Any) -> Any:
    """What a `vmap` staticmethod returned, as batched tensors.

    Raises:
        RuntimeError: it is no pair of outputs and their batch dimensions.
    """
    if not isinstance(result, tuple) or len(result) != 2:
        got = f"{len(result)} returns" if isinstance(result, tuple) else f"a {type(result)}"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree "
            f"structure compatible with the output. Got {got} instead"
        )
    output, out_dims = result
    leaves, spec = trees.flatten(output)
    dims = trees.broadcast(out_dims, spec)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
            f"Expected out_dims={out_dims} to be compatible with the structure of `output`. out_dims has "
            f"structure {trees.flatten(out_dims)[1]} but output has structure {spec}.{SEE}"
        )
    return trees.unflatten([selected(level, leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)], spec)


IN_TRANSFORM.append((transformed, UNHANDLED))
