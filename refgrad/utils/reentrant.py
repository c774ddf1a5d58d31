"""The reentrant form of checkpointing: one node for a call, whose backward runs a backward of its own.

Source: `torch.utils.checkpoint` in PyTorch's docs.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from refgrad import autograd
from refgrad.amp.autocast_mode import (
    autocast,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
)
from refgrad.autograd.function import Function
from refgrad.autograd.grad_mode import enable_grad, no_grad
from refgrad.random import fork_rng, get_rng_state, set_rng_state
from refgrad.tensor import Tensor

ONLY_BACKWARD = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
    "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
    ".backward() without passing the `inputs` argument."
)


class CheckpointFunction(Function):
    """The node of a checkpointed call; its saved tensors are the tensors among the call's arguments."""

    @staticmethod
    def forward(ctx: Any, function: Callable, preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function without recording."""
        check_backward_validity(args)
        ctx.replayed = replayed(preserve_rng_state)
        ctx.save_for_backward(*[arg for arg in args if isinstance(arg, Tensor)])
        plain = [None if isinstance(arg, Tensor) else (arg,) for arg in args]

        def again(tensors: Sequence[Tensor]) -> tuple[tuple, Any]:
            """Run the function on fresh leaves: these, and the results."""
            given = iter(tensors)
            leaves = detach_variable(tuple([next(given) if held is None else held[0] for held in plain]))
            with enable_grad():
                return leaves, function(*leaves)

        ctx.again = again
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple:
        """Run the function again, then a backward from its results to its arguments.

        Raises:
            RuntimeError: the run is for chosen inputs, which an inner run cannot know; or no result of the
                second run requires grad.
        """
        if not autograd.Variable._execution_engine.is_checkpoint_valid():
            raise RuntimeError(ONLY_BACKWARD)
        tensors = ctx.saved_tensors
        with ctx.replayed():
            leaves, results = ctx.again(tensors)
        results = (results,) if isinstance(results, Tensor) else results
        roots = [i for i, one in enumerate(results) if isinstance(one, Tensor) and one.requires_grad]
        if not roots:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        autograd.backward([results[i] for i in roots], [grads[i] for i in roots])
        return (None, None, *[leaf.grad if isinstance(leaf, Tensor) else None for leaf in leaves])


def detach_variable(inputs: Any) -> tuple:
    """Leaves over the same memory, in a tuple like the one given.

    Raises:
        RuntimeError: it is no tuple.
    """
    if not isinstance(inputs, tuple):
        kind = type(inputs).__name__
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {kind}")
    return tuple([leaf_of(value) if isinstance(value, Tensor) else value for value in inputs])


def leaf_of(tensor: Tensor) -> Tensor:
    """A leaf over a tensor's memory that requires grad where the tensor does."""
    leaf = tensor.detach()
    leaf.requires_grad = tensor.requires_grad
    return leaf


def check_backward_validity(inputs: Sequence[Any]) -> None:
    """Warn when no input requires grad."""
    if not any(value.requires_grad for value in inputs if isinstance(value, Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=2
        )


def replayed(preserve_rng_state: bool) -> Callable[[], contextlib.AbstractContextManager]:
    """What makes the surroundings of a second run like those of now: autocast, and the random numbers.

    Afterwards these go on as if the second run had not been.
    """
    state = get_rng_state() if preserve_rng_state else None
    mode = is_autocast_enabled("cpu"), get_autocast_dtype("cpu"), is_autocast_cache_enabled()

    @contextlib.contextmanager
    def surroundings() -> Iterator[None]:
        enabled, dtype, cache_enabled = mode
        with fork_rng(enabled=state is not None):
            if state is not None:
                set_rng_state(state)
            with autocast("cpu", dtype, enabled, cache_enabled):
                yield

    return surroundings
