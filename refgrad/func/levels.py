"""Levels: one for each transform that is running, and how calls go through them.

*Level*: a running `grad`, `vjp`, `jvp` or `vmap`; inner ones have higher numbers. A call that meets a wrapper
is made by the innermost level: it takes its own wrappers off the arguments, makes the call one level further
out, where the next level does the same, and puts wrappers on the results. A level of derivatives records the
call on the way, in a graph of its own, see tracked_tensor.py; a `vmap` makes it of wholes, see
batched_calls.py. What is made inside of nothing that a level shows is wrapped, too, when it is made.
"""

import threading
from collections.abc import Callable
from typing import Any

from refgrad import autograd, modes
from refgrad.autograd.grad_mode import set_grad_enabled
from refgrad.compiler import recorder_of
from refgrad.edges import edge_of
from refgrad.func import trees
from refgrad.func.tracked_tensor import TrackedTensor, is_own, live, tracked, value_of
from refgrad.func.wrappers import directly
from refgrad.samples import PER_SAMPLE, Batched
from refgrad.tensor import Tensor, is_wrapper

NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with "
    "your use case."
)
RARE_MODES: dict[str, dict] = {"grad": {"hooks_disabled": NO_HOOKS}, "jvp": {"saved_tensor_hooks": ()}}
NO_REAL_TYPE = "only Tensors of floating point dtype can require gradients"
CAPTURED = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
    "operation ({}) that would mutate a captured Tensor. This is not supported; please rewrite the function "
    "being transformed to explicitly accept the mutated Tensor(s) as inputs."
)


class Stack(threading.local):
    """The levels of this thread, outermost first."""

    def __init__(self) -> None:
        self.levels: list[Level] = []


stack = Stack()


class Level:
    """One running transform, as context manager."""

    IS_LEGACY = IS_OLDER = False
    kind = ""

    def __init__(self) -> None:
        self.number = 0
        self.has_ended = False
        self.grad = True  # the grad mode outside

    def __enter__(self) -> Any:
        stack.levels.append(self)
        self.number = len(stack.levels)
        self.grad = modes.grad_enabled()
        modes.state.transforms += 1
        return self

    def __exit__(self, *exception: object) -> None:
        modes.state.transforms -= 1
        stack.levels.pop()
        self.has_ended = True

    def below(self, function: Callable, args: Any, kwargs: dict) -> Any:
        """Call a function one level further out."""
        before = modes.state.grad
        stack.levels.pop()
        if before and not self.grad:
            modes.set_grad(False)
        try:
            return directly(function, args, kwargs)
        finally:
            stack.levels.append(self)
            if modes.state.grad is not before:
                modes.set_grad(before)

    def call(self, function: Callable, args: tuple, kwargs: dict) -> Any:
        """Make a call that met tensors of transforms, as this level makes it."""
        raise NotImplementedError


class DerivativeLevel(Level):
    """A running `grad`, `vjp` or `jvp`; grad mode is on in it, and inference mode off.

    Hooks on saved tensors are refused in a `grad`, and take no part in a `jvp`, which records nothing in
    PyTorch. Where the tangents of a `jvp` are those of dual tensors, `records` is false.
    """

    def __init__(self, kind: str, is_mapped: bool = False, records: bool = True):
        super().__init__()
        self.kind = kind
        self.is_mapped = is_mapped  # whether its tangents come from a `vmap`
        self.records = records
        self.forward = True  # whether forward mode is on outside
        self.rare: dict[str, Any] = {}  # the rare modes before it

    def __enter__(self) -> "DerivativeLevel":
        hidden = any(level.rare.get("saved_tensor_hooks") for level in derivative_levels())
        if self.kind == "grad" and (hidden or modes.state.rare.saved_tensor_hooks):
            raise RuntimeError(NO_HOOKS)
        self.rare = modes.set_rare(track=track, inference=False, **RARE_MODES[self.kind])
        if not stack.levels:
            modes.state.wraps = True
        super().__enter__()
        self.mode = set_grad_enabled(self.records or self.grad)
        self.forward, modes.state.forward = modes.state.forward, self.kind == "jvp" or modes.state.forward
        return self

    def __exit__(self, *exception: object) -> None:
        modes.state.forward = self.forward
        self.mode.__exit__(*exception)
        super().__exit__(*exception)
        if not stack.levels:
            modes.state.wraps = False
        modes.set_rare(**self.rare)

    def below(self, function: Callable, args: Any, kwargs: dict) -> Any:
        """Call a function one level further out, in forward mode as it is there."""
        before = modes.state.forward
        if self.kind == "jvp" and self.records:
            modes.state.forward = self.forward
        try:
            return super().below(function, args, kwargs)
        finally:
            modes.state.forward = before

    def enter(self, tensor: Any) -> Tensor:
        """The tensor as the function sees it: a leaf that requires grad.

        Raises:
            RuntimeError, ValueError: its elements are integers.
        """
        if not tensor.is_floating_point() and not tensor.is_complex():
            if self.kind == "jvp":
                raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
            raise RuntimeError(NO_REAL_TYPE)
        inside = tracked(self, value_of(live(tensor), self))
        inside._set_requires_grad(True)
        return inside

    def leave(self, tensor: Any) -> Any:
        """The tensor as it is outside."""
        if is_wrapper(tensor) and not isinstance(tensor, TrackedTensor):
            return tensor.map_whole(self.leave)  # of a `vmap` that runs within this level
        return value_of(tensor, self)

    def call(self, function: Callable, args: tuple, kwargs: dict) -> Any:
        """Make a call with the values of the level's tensors, and record it."""
        leaves, spec = trees.flatten((args, kwargs))
        leaves = [live(leaf) for leaf in leaves]
        values = [value_of(leaf, self) for leaf in leaves]
        is_captured = bool(leaves) and isinstance(leaves[0], Tensor) and self.captures(leaves[0])
        if is_captured and is_write(getattr(function, "__name__", "")):
            raise RuntimeError(CAPTURED.format(schema_name(function)))
        is_captured = is_captured and is_generated(function) and function.__globals__["op"].is_view
        given = {id(value): leaf for value, leaf in zip(values, leaves, strict=True)}

        def perform() -> Any:
            some, options = trees.unflatten(values, spec)
            result = self.below(function, some, options)
            return trees.mapped(lambda leaf: self.shown(leaf, given, is_captured), result)

        is_still = self.kind == "jvp" and not modes.state.forward
        if is_still or not is_generated(function):
            return perform()
        some, options = trees.unflatten([self.recorded(leaf) for leaf in leaves], spec)
        return recorder_of(function)(perform, self.place_of, *some, **options)

    def recorded(self, leaf: Any) -> Any:
        """An argument as the level's graph may save it: an inference tensor is wrapped."""
        is_inference = isinstance(leaf, Tensor) and not is_wrapper(leaf) and leaf.is_inference()
        return tracked(self, leaf, True) if is_inference else leaf

    def captures(self, tensor: Tensor) -> bool:
        """Whether a tensor's memory comes from outside, though it did not enter."""
        return not is_own(tensor, self) or tensor.__dict__["is_captured"]

    def shown(self, value: Any, given: dict[int, Any], is_captured: bool = False) -> Any:
        """What a call gave, as the level shows it: what went into it is the same object that it was."""
        if not isinstance(value, Tensor):
            return value
        return given[id(value)] if id(value) in given else tracked(self, value, is_captured)

    def place_of(self, value: Any) -> Any:
        """The edge of an argument in the level's graph."""
        return edge_of(value) if is_own(value, self) else None


def derivative_levels() -> list:
    """The levels that track tensors, outermost first."""
    return [level for level in stack.levels if isinstance(level, DerivativeLevel)]


def track(tensor: Any) -> Any:
    """A tensor that was just made, of none that a level shows, as the levels show it."""
    is_view = tensor._meta is not None and tensor._meta.base is not None
    for level in derivative_levels():
        tensor = tracked(level, tensor, is_view)
    return tensor


def run(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Make a call that met a tensor of a transform, by the innermost level that runs.

    Raises:
        Batched: there is none, nor was there one.
    """
    if stack.levels:
        return stack.levels[-1].call(function, args, kwargs)
    leaves, spec = trees.flatten((args, kwargs))
    values = [live(leaf) for leaf in leaves]
    if all(value is leaf for value, leaf in zip(values, leaves, strict=True)):
        raise Batched
    args, kwargs = trees.unflatten(values, spec)
    return function(*args, **kwargs)


PER_SAMPLE.append(run)


def is_generated(function: Callable) -> bool:
    """Whether a function is that of an op."""
    return getattr(function, "__globals__", {}).get("function") is function


def is_write(name: str) -> bool:
    """Whether a function of this name writes in place."""
    return name.endswith("_") and not name.endswith("__")


def full_name(function: Callable) -> str:
    """The name of a generated function with the overload of its op."""
    op = function.__globals__["op"]
    return f"{function.__name__}{op.name[len(op.function_name) :]}"


def schema_name(function: Callable) -> str:
    """The name of a function's schema in PyTorch."""
    return f"aten::{full_name(function) if is_generated(function) else function.__name__}"


def pulled(
    outputs: list,
    inputs: list,
    cotangents: list,
    missing: Callable | None = None,
    create_graph: bool = True,
    retain_graph: bool = True,
) -> list:
    """The gradients of some outputs with respect to inputs; the missing ones are zeros, or what `missing(i)`
    gives for input `i`."""
    from refgrad import ones_like, zeros_like

    chosen = [i for i, output in enumerate(outputs) if output.requires_grad]
    wanted = [i for i, value in enumerate(inputs) if value.requires_grad]
    found: list = [None] * len(inputs)
    with set_grad_enabled(create_graph):
        for i in chosen:
            if cotangents[i] is None and is_wrapper(outputs[i]) and not outputs[i].is_complex():
                cotangents[i] = ones_like(outputs[i])
        if chosen and wanted:
            some = autograd.grad(
                [outputs[i] for i in chosen],
                [inputs[i] for i in wanted],
                [cotangents[i] for i in chosen],
                retain_graph=retain_graph,
                create_graph=create_graph,
                allow_unused=True,
            )
            for i, gradient in zip(wanted, some, strict=True):
                found[i] = gradient
        for i, gradient in enumerate(found):
            if gradient is None:
                found[i] = zeros_like(inputs[i]) if missing is None else missing(i)
    return found


# Arguments
# ------------------------------------------------------------------------------------------------------


def chosen_arguments(argnums: Any, args: tuple) -> Any:
    """The arguments that `argnums` chooses: one, or a tuple.

    Raises:
        RuntimeError: there is no such argument, or `argnums` is nothing of the kind.
    """
    check_argnums(argnums, len(args))
    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)


def check_argnums(argnums: Any, count: int) -> None:
    """Refuse what does not choose arguments.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    for number in numbers:
        if not isinstance(number, int):
            raise RuntimeError(f"argnum must be int, got: {type(number)}")
        if not -count <= number < count:
            raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
    if len({number % count for number in numbers}) < len(numbers):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")


def with_arguments(args: tuple, argnums: Any, values: Any) -> tuple:
    """The arguments with those that `argnums` chooses replaced."""
    replaced = list(args)
    pairs = [(argnums, values)] if isinstance(argnums, int) else zip(argnums, values, strict=True)
    for number, value in pairs:
        replaced[number] = value
    return tuple(replaced)


def entered(level: DerivativeLevel, tree: Any) -> Any:
    """A tree of tensors inside a level.

    Raises:
        ValueError: a leaf is no tensor.
    """

    def enter(value: Any) -> Tensor:
        if not isinstance(value, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
        return level.enter(value)

    return trees.mapped(enter, tree)


def checked_aux(aux: Any) -> Any:
    """An auxiliary output, if it consists of tensors.

    Raises:
        RuntimeError: something in it is none.
    """
    for leaf in trees.flatten(aux)[0]:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return aux
