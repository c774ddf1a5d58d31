"""`torch.utils.checkpoint`: keep the inputs of a function instead of its intermediate results, and run it
again in backward.

*Frame*: one checkpointed call. *Holder*: stands in a node for a tensor that the call saved; the tensor
itself is computed again when backward asks for it. The older, reentrant form stands in reentrant.py.
Source: `torch.utils.checkpoint` in PyTorch's docs.
"""

import contextlib
import importlib
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

from refgrad import modes
from refgrad.autograd.function import Function
from refgrad.autograd.grad_mode import enable_grad
from refgrad.autograd.graph import saved_tensors_hooks
from refgrad.tensor import Tensor
from refgrad.utils.reentrant import (
    CheckpointFunction,
    check_backward_validity,
    detach_variable,
    replayed,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",  # noqa: F822
    "GraphExecGroup",
    "SAC_IGNORED_OPS",  # noqa: F822
    "SelectiveCheckpointContext",  # noqa: F822
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",  # noqa: F822
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

NO_CHOICE = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch "
    "2.9, calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is "
    "recommended, but if you need to preserve the current default behavior, you can pass "
    "use_reentrant=True. Refer to docs for more details on the differences between the two variants."
)
NO_CHOICE_SEQUENTIAL = (
    "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed "
    "explicitly. In version 2.9 we will raise an exception if use_reentrant is not passed. "
    "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you "
    "can pass use_reentrant=True. Refer to docs for more details on the differences between the two "
    "variants."
)
UNPACKED_TWICE = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. {}If "
    "you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open "
    "an issue with details on your use case."
)
OVERLAP = (
    "Performing two backward calls that overlap (i.e. require the same saved activation in order to "
    "compute gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
)
SUPPRESSED = (
    "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised "
    "during the checkpointed forward. This is not supported because checkpoint cannot return a value for "
    "a failed forward."
)
TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\u2011debug mode globally.

If this error occurs under torch.compile with automatic_dynamic_shapes enabled,
it may be because the recomputation selected a different compiled graph than the
forward pass (e.g., a dynamic graph instead of the original static graph).
To fix this, either:
  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as
    dynamic upfront, avoiding the static-to-dynamic transition.
  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache
    reordering, which can change which graph is checked first between forward
    and recompute.
See https://github.com/pytorch/pytorch/issues/166926 for more details and
workaround examples.
"""

SELECTIVE = frozenset(
    [
        *("CheckpointPolicy", "SAC_IGNORED_OPS", "SelectiveCheckpointContext", "_CachedTorchDispatchMode"),
        *("_CachingTorchDispatchMode", "create_selective_checkpoint_contexts"),
    ]
)


def __getattr__(name: str) -> Any:
    """What stands in selective.py, which is loaded when it is needed."""
    if name in SELECTIVE:
        return getattr(importlib.import_module("refgrad.utils.selective"), name)
    raise AttributeError(f"module 'torch.utils.checkpoint' has no attribute '{name}'")


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function does not fit the first."""


class Overrides:
    """What the context managers of this module force, for calls made inside them; None leaves the choice to
    the call."""

    early_stop: bool | None = None
    debug: bool | None = None


@contextlib.contextmanager
def overriding(name: str, value: bool | None) -> Iterator[None]:
    """Force an option inside the block."""
    before = getattr(Overrides, name)
    setattr(Overrides, name, value)
    try:
        yield
    finally:
        setattr(Overrides, name, before)


def set_checkpoint_early_stop(enable: bool) -> contextlib.AbstractContextManager:
    """Inside the block, choose whether the second run stops as soon as the last needed tensor is there."""
    return overriding("early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> contextlib.AbstractContextManager:
    """Inside the block, choose whether errors list what the two runs saved."""
    return overriding("debug", enabled)


def noop_context_fn() -> tuple:
    """No contexts around the two runs."""
    return contextlib.nullcontext(), contextlib.nullcontext()


# The form that is not reentrant ---------------------------------------------------------------------------


class Holder:
    """In place of a saved tensor: what each backward computed again, None once it was taken."""

    __slots__ = ("again", "__weakref__")

    def __init__(self) -> None:
        self.again: dict[Any, Tensor | None] = {}


class KeepInputs(Function):
    """A node that saves the tensors among the arguments, so that hooks and version checks apply to them."""

    @staticmethod
    def forward(*tensors: Any) -> Tensor:
        """An empty tensor, whose node is all that matters."""
        return tensors[0].new_empty(0)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        """Save the arguments, but for the one that makes the node be recorded."""
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        """A tangent as empty as the output."""
        return tangents[0].new_empty(0)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Never reached: nobody has the output."""
        raise AssertionError("Did not expect to backward on this graph")


class Frame:
    """One checkpointed call: its arguments, what its first run saved, and what each second run has saved so
    far."""

    def __init__(self, recompute: Callable, early_stop: bool, describe: Callable, debug: bool):
        self.recompute = recompute
        self.early_stop = early_stop
        self.describe = describe
        self.debug = debug
        self.holders: list[weakref.ref] = []
        self.described: list = []
        self.counts: dict[Any, int] = {}
        self.finished: set = set()
        self.completed = False  # whether the first run came to its end
        self.lenient = False  # a second run inside the first one saved more: nothing is compared

    def keep_inputs(self, args: tuple) -> None:
        """Save the arguments."""
        from refgrad import empty

        self.args = [None if isinstance(arg, Tensor) else arg for arg in args]
        self.places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        dummy = empty(0, requires_grad=True)
        self.keeper = KeepInputs.apply(dummy, *[args[i] for i in self.places])

    def inputs(self) -> list:
        """The arguments, checked for writes since."""
        args = list(self.args)
        for place, tensor in zip(self.places, self.keeper.grad_fn.saved_tensors, strict=True):
            args[place] = tensor
        return args

    def pack(self, tensor: Tensor) -> Holder:
        """First run: keep a holder instead of the tensor."""
        holder = Holder()
        self.holders.append(weakref.ref(holder))
        self.described.append(self.describe(tensor))
        return holder

    def unpack(self, holder: Holder) -> Tensor:
        """Backward: the tensor, for which the function runs again unless this backward did so already."""
        run: Any = group.current
        if run is None:
            run = object() if modes.state.task is None else modes.state.task.id
        if run not in self.finished:
            self.run_again(run)
        if run not in holder.again:
            raise AssertionError(
                "Something went unexpectedly wrong in activation checkpoint. Please report this bug by "
                "filing an issue to PyTorch."
            )
        tensor = holder.again[run]
        if tensor is None:
            raise CheckpointError(UNPACKED_TWICE.format(OVERLAP if group.current is not None else ""))
        holder.again[run] = None
        return tensor

    def run_again(self, run: Any) -> None:
        """Run the function and keep what it saves, then see whether that fits."""
        args = self.inputs()
        self.counts.setdefault(run, 0)
        with (
            saved_tensors_hooks(lambda tensor: self.pack_again(run, tensor), lambda tensor: tensor),
            enable_grad(),
            contextlib.suppress(Enough),
        ):
            self.recompute(*args)
        self.finished.add(run)
        try:
            self.check(run)
        except CheckpointError as error:
            if self.debug:
                raise self.detailed(run) from error
            raise

    def pack_again(self, run: Any, tensor: Tensor) -> Tensor:
        """Second run: give the tensor to its holder. See note [The second run stops early]."""
        tensor = tensor.detach() if tensor.requires_grad else tensor
        number = self.counts[run]
        self.counts[run] = number + 1
        if number >= len(self.holders):
            if self.completed:
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during "
                    f"the original forward pass.\n{TIP}"
                )
            self.lenient = True
            return tensor
        holder = self.holders[number]()
        if holder is not None:
            holder.again[run] = tensor
        if self.early_stop and self.counts[run] == len(self.holders):
            raise Enough
        return tensor

    def check(self, run: Any) -> None:
        """Compare what the two runs saved.

        Raises:
            CheckpointError: in number or description.
        """
        if self.lenient:
            return
        if self.counts[run] != len(self.holders):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original "
                "forward and recomputation.\nNumber of tensors saved during forward: "
                f"{len(self.holders)}\n"
                f"Number of tensors saved during recomputation: {self.counts[run]}.\n{TIP}"
            )
        text = ""
        for number, (reference, first) in enumerate(zip(self.holders, self.described, strict=True)):
            holder = reference()
            if holder is not None:
                second = self.describe(holder.again[run])
                if second != first:
                    text += f"tensor at position {number}:\nsaved metadata: {first}\n"
                    text += f"recomputed metadata: {second}\n"
        if text:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different "
                f"metadata than during the forward pass.\n{text}.\n{TIP}"
            )

    def detailed(self, run: Any) -> CheckpointError:
        """The error of debug mode: what the first run saved, and how many tensors the second did."""
        first = "\n".join(f"  {number}: {text}" for number, text in enumerate(self.described))
        return CheckpointError(
            " An error happened while unpacking tensors.\n\nTensors saved during the original forward:\n"
            f"{first}\nNumber of tensors saved during recomputation: {self.counts[run]}\n\n"
            " ERROR: Detected non-determinism while running activation checkpointing\n\n"
            " You are seeing this error because you passed `debug=True` to checkpoint and\n"
            " tensors to be saved during the original forward and differ between those saved\n"
            " during recomputation."
        )


class Group(threading.local):
    """The group of backward calls that this thread is in."""

    current: "GraphExecGroup | None" = None


group = Group()


class GraphExecGroup:
    """Backward calls inside the block share second runs; they must not need the same saved tensor."""

    def __enter__(self) -> "GraphExecGroup":
        if group.current is not None:
            raise RuntimeError(
                f"GraphExecGroup contexts cannot be nested. Already inside group {group.current}"
            )
        group.current = self
        return self

    def __exit__(self, *exception: object) -> None:
        group.current = None

    @classmethod
    def _get_current_group(cls) -> "GraphExecGroup | None":
        return group.current


# Note [The second run stops early]
# The second run of a checkpointed function is there for the tensors that the first one saved: when it has
# saved as many as they were, it is left by an exception, and what would follow (a last operation that saves
# nothing, a print) does not happen again. `set_checkpoint_early_stop(False)` lets it come to its end.


class Enough(Exception):
    """Leaves the second run once it has saved all that is needed."""


def metadata_of(tensor: Tensor) -> dict[str, Any]:
    """What must be equal in both runs."""
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


DETERMINISM_CHECKS: dict[str, Callable] = {"default": metadata_of, "none": lambda tensor: None}


def checkpoint(
    function: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function(*args, **kwargs)` without keeping what it saves; backward runs it again.

    Source: `torch.utils.checkpoint.checkpoint` in PyTorch's docs.

    Raises:
        ValueError: options that the chosen form does not have.
        CheckpointError: in backward, when the second run saves other tensors than the first.
    """
    if use_reentrant is None:
        warnings.warn(NO_CHOICE, UserWarning, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        if Overrides.debug is not None:
            debug = Overrides.debug
        if Overrides.early_stop is not None:
            early_stop = Overrides.early_stop
        if debug and context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        if determinism_check not in DETERMINISM_CHECKS:
            names = list(DETERMINISM_CHECKS)
            raise ValueError(f"determinism_check should be one of {names}, but got {determinism_check}")
        describe = DETERMINISM_CHECKS[determinism_check]
        return non_reentrant(function, args, kwargs, preserve, context_fn(), (early_stop, describe, debug))
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve, *args)


def non_reentrant(
    function: Callable, args: tuple, kwargs: dict, preserve: bool, contexts: tuple, options: tuple
) -> Any:
    """Run the function with hooks that put holders in the place of what it saves."""
    first_context, second_context = contexts
    surroundings = replayed(preserve)

    def recompute(*inputs: Any) -> None:
        with surroundings(), second_context:
            function(*inputs, **kwargs)

    if not modes.grad_enabled():
        return function(*args, **kwargs)
    frame = Frame(recompute, *options)
    frame.keep_inputs(args)
    with saved_tensors_hooks(frame.pack, frame.unpack), first_context:
        result = function(*args, **kwargs)
        frame.completed = True
    if not frame.completed:
        raise RuntimeError(SUPPRESSED)
    return result


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run functions one after the other, cut into segments of which all but the last are checkpointed.

    Source: `torch.utils.checkpoint.checkpoint_sequential` in PyTorch's docs.

    Raises:
        ValueError: unknown keywords, or more segments than functions.
    """
    from refgrad.nn import Sequential

    if use_reentrant is None:
        warnings.warn(NO_CHOICE_SEQUENTIAL, UserWarning, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if isinstance(functions, Sequential) else functions
    size = len(steps) // segments
    *firsts, last = range(0, size * (segments - 1) + 1, size)
    options = {"use_reentrant": use_reentrant, "preserve_rng_state": preserve}
    for first in firsts:
        input = checkpoint(in_turn(steps[first : first + size]), input, **options)
    return in_turn(steps[last:])(input)


def in_turn(steps: Sequence[Callable]) -> Callable:
    """The function that passes a value through all the steps."""
    return lambda value: reduce(lambda so_far, step: step(so_far), steps, value)
