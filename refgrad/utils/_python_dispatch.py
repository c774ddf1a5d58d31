"""Modes that see each op: `torch.utils._python_dispatch.TorchDispatchMode`.

*Mode*: an object whose `__torch_dispatch__` is called with every op that its thread runs while it is entered;
the innermost one first, each with itself taken out.

# Note [Modes see ops that ran]
PyTorch calls a mode in the place of the op, below autograd. Here the op has run when its mode is called, and
`func(*args)` hands out what it gave, cut off from the graph. A tensor of other values that the mode returns
is written into the result. The difference shows in what an op does besides giving a result: an op that
a mode does not run has run nevertheless.

Generated code comes here over the door of forward mode (the beacon `modes.DUALS`), so that nothing is asked
while there is neither.
"""

import threading
from collections.abc import Callable
from typing import Any

from refgrad import _ops, duals, modes
from refgrad._ops import OpOverload, ops
from refgrad.autograd import tangents
from refgrad.autograd.grad_mode import no_grad
from refgrad.inplace_source import inplace_name
from refgrad.storage import version_cell
from refgrad.tensor import Tensor, alias


class Modes(threading.local):
    """The modes of a thread, innermost last, and the op that they are shown."""

    def __init__(self) -> None:
        self.stack: list[TorchDispatchMode] = []
        self.shown: Shown | None = None


state = Modes()


def _get_current_dispatch_mode() -> "TorchDispatchMode | None":
    """The innermost mode of this thread."""
    return state.stack[-1] if state.stack else None


class TorchDispatchMode:
    """Base of modes; see note [Modes see ops that ran]."""

    def __torch_dispatch__(self, func: Any, types: tuple, args: tuple = (), kwargs: Any = None) -> Any:
        """Called with each op; returns its result. To be overridden."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        state.stack.append(self)
        modes.DUALS.add(threading.get_ident())
        return self

    def __exit__(self, *exception: object) -> None:
        state.stack.pop()
        if not state.stack:
            modes.DUALS.discard(threading.get_ident())


class Shown:
    """An op that ran, on its way through the modes."""

    def __init__(self, overload: OpOverload, args: tuple, kwargs: dict, output: Any):
        self.overload, self.args, self.kwargs = overload, args, kwargs
        several = isinstance(output, (tuple, list))
        self.plain: Any = tuple(map(detached, output)) if several else detached(output)
        self.waiting = list(state.stack)

    def passed_on(self) -> Any:
        """What the next mode makes of the op; without one, what the op gave."""
        if not self.waiting:
            return self.plain
        mode = self.waiting.pop()
        before = state.stack, state.shown
        state.stack, state.shown = list(self.waiting), self
        try:
            with no_grad():
                return mode.__torch_dispatch__(self.overload, (), self.args, dict(self.kwargs))
        finally:
            state.stack, state.shown = before
            self.waiting.append(mode)


def detached(value: Any) -> Any:
    """A tensor over the same memory and counter, outside the graph."""
    return alias(value, version_cell(value)) if isinstance(value, Tensor) else value


def run_shown(overload: OpOverload, args: tuple, kwargs: dict) -> Any:
    """The result of the op that a mode is shown, if that is what it calls; else NotImplemented."""
    shown = state.shown
    if shown is None or shown.overload is not overload or len(args) != len(shown.args):
        return NotImplemented
    same = all(one is other for one, other in zip(args, shown.args, strict=True)) and kwargs == shown.kwargs
    return shown.passed_on() if same else NotImplemented


_ops.RUNNING.append(run_shown)


def show(op: Any, name: str, arguments: tuple, output: Any) -> None:
    """Show an op that ran to the modes of this thread, and write into its result what they return."""
    if not state.stack or modes.state.hidden:
        return
    packet = getattr(ops.aten, name)
    overload = getattr(packet, op.schema.overload or "default")
    shown = Shown(overload, *written_out(op, arguments), output)
    result = shown.passed_on()
    several = isinstance(output, (tuple, list))
    ours, theirs = (output, result) if several else ((output,), (result,))
    if not (op.is_view or name.endswith("_")):  # memory that others have too is what the op made of it
        for one, other in zip(ours, theirs, strict=True):
            if isinstance(one, Tensor) and isinstance(other, Tensor) and other._array is not one._array:
                one._array[...] = other._array
    if ours[0].requires_grad and not modes.state.rare.saved_tensor_hooks:
        for number in tangents.recipe_of(op).saved_results.values():
            if op.is_differentiable(number):  # its node keeps it so
                show_detach(ours[number], detached(ours[number]))


def show_detach(tensor: Tensor, made: Tensor) -> None:
    """Show the modes of this thread that a tensor was detached."""
    if state.stack and not modes.state.hidden:
        Shown(ops.aten.detach.default, (tensor,), {}, made).passed_on()


def written_out(op: Any, arguments: tuple) -> tuple[tuple, dict[str, Any]]:
    """The arguments by position and by keyword, without those that have their defaults."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    needed = 0
    for argument, value in zip(op.schema.arguments, arguments, strict=False):
        usual = argument.default is not None and same_value(value, argument.value)
        if argument.keyword_only:
            if not usual:
                keywords[argument.name] = value
            continue
        positional.append(list(value) if isinstance(value, tuple) else value)
        if not usual:
            needed = len(positional)
    return tuple(positional[:needed]), keywords


def same_value(value: Any, default: Any) -> bool:
    """Whether an argument has its default."""
    return not isinstance(value, Tensor) and type(value) is type(default) and value == default


# The doors of forward mode ----------------------------------------------------------------------------------


class Watched:
    """What the door before a write hands to the one after it, while a mode is on."""

    def __init__(self, carried: Any):
        self.carried = carried


def carry(op: Any, function: Callable, arguments: tuple, output: Any) -> None:
    """After a plain call, or one of a view."""
    tangents.carry(op, function, arguments, output)
    show(op, op.function_name, arguments, output)


def before_write(op: Any, function: Callable, arguments: tuple) -> Any:
    """Before a call in place."""
    carried = tangents.before_write(op, function, arguments)
    return Watched((arguments, carried)) if state.stack else carried


def after_write(op: Any, function: Callable, carried: Any, written: Tensor) -> None:
    """After a call in place."""
    if not isinstance(carried, Watched):
        tangents.after_write(op, function, carried, written)
        return
    arguments, of_tangents = carried.carried
    if of_tangents is not None:
        tangents.after_write(op, function, of_tangents, written)
    show(op, inplace_name(op), arguments, written)


duals.CARRY[0], duals.BEFORE_WRITE[0], duals.AFTER_WRITE[0] = carry, before_write, after_write
duals.ON_DETACH.append(show_detach)
