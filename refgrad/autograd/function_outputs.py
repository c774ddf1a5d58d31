"""What becomes of the tensors around a custom Function: its outputs' places in the graph, and what it saves.

*Dirty*: an input that `forward` wrote to. Source: "Extending torch.autograd" in PyTorch's docs.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from refgrad import call, duals, errors, modes, views
from refgrad.edges import set_edge
from refgrad.graph import Node, Packed, make_edge, set_outputs
from refgrad.op import calls
from refgrad.overriding import hand_on, overriding_in
from refgrad.storage import count_write, version_cell, version_of
from refgrad.tensor import Tensor, alias, is_wrapper, type_name

NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
    "are modified inplace must all be outputs of the Function."
)
NOT_AN_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
    "should be passed to ctx.mark_dirty()."
)
SAVED_AS_IS = (
    "An input that has been returned as-is as output is being saved for backward. This is not supported if "
    "you override setup_context. You should return and save a view of the input instead, e.g. with "
    "x.view_as(x) or setup ctx inside the forward function itself."
)
ONE_OUTPUT = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
    "return more than one Tensor. This is not supported by the current autograd engine. You should either "
    "make sure the input is not a view (using .clone() for example) or make your Function only return one "
    "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single "
    "Tensor and a second one that does the other operations). You can ask on the forum "
    "https://discuss.pytorch.org/ if you need help to do this change."
)


class SavedResult:
    """An output that its own Function saved. See note [Saved inputs and saved results]."""

    __slots__ = ("kept", "cell", "number")

    def __init__(self, tensor: Tensor):
        self.kept = tensor.again() if is_wrapper(tensor) else tensor._array
        self.cell = version_cell(tensor)
        self.number = tensor.output_nr


def unpack(node: Node, saved: Any) -> Any:
    """One saved tensor as users see it."""
    if saved is None:
        return None
    if isinstance(saved, Packed):
        return saved.unpack(Tensor, node)
    kept, version = saved
    if isinstance(kept, SavedResult):
        tensor = call.at_result(kept.kept, kept.cell)
        if kept.cell[0] != version:
            kind = call.type_text(tensor.dtype)
            raise call.version_error(kind, tensor._array.shape, node, kept.number, kept.cell[0], version)
        tensor._edge = make_edge(node, kept.number)
        if modes.DUALS:
            duals.restore_result(node, kept.number, tensor)
        return tensor
    return call.check_saved(kept, version)  # one that was detached in place is not refused here


def wrap_outputs(ctx: Any, output: Any, inputs: list, recorded: bool, carry: Callable | None = None) -> Any:
    """Make the outputs of `forward` outputs of the node, then save what `forward` asked to save.

    `carry` gives them their tangents in forward mode.
    """
    is_tuple = isinstance(output, tuple)
    if not is_tuple and not isinstance(output, Tensor):
        finish(ctx, False)
        return output
    raw = output if is_tuple else (output,)
    dirty, fixed = marked(ctx)
    pairs = [(x._array.shape, x._array.dtype) if isinstance(x, Tensor) else None for x in raw]
    lives = [isinstance(x, Tensor) and not contains(fixed, x) and x._can_require_grad() for x in raw]
    if recorded:
        ctx._result_pairs = pairs
        set_outputs(ctx, tuple([pair if live else None for pair, live in zip(pairs, lives, strict=True)]))
    outputs = []
    for number, tensor in enumerate(raw):
        if isinstance(tensor, Tensor):
            tensor = placed(ctx, tensor, number, inputs, dirty, recorded and lives[number], len(raw))
        outputs.append(tensor)
    if not all(contains(outputs, tensor) or contains(raw, tensor) for tensor in dirty):
        raise RuntimeError(NOT_RETURNED)
    live_outputs = [x for x in outputs if isinstance(x, Tensor) and x.requires_grad] if recorded else []
    for tensor in outputs:
        if isinstance(tensor, Tensor) and tensor._is_view() and not contains(dirty, tensor):
            multiple = len(live_outputs) > 1
            tensor._meta.creation = views.MULTI_OUTPUT if multiple else views.CUSTOM_FUNCTION
    if carry is not None:
        carry(outputs, dirty, (*fixed, *[x for x in outputs if contains(fixed, x)]))
    finish(ctx, recorded)
    return tuple(outputs) if is_tuple else outputs[0]


def contains(tensors: Sequence, tensor: Any) -> bool:
    """Whether this very object is among the others."""
    return any(other is tensor for other in tensors)


def marked(ctx: Any) -> tuple[tuple, tuple]:
    """The tensors marked as dirty, whose writes are counted here, and those marked as not differentiable."""
    dirty = ctx.dirty_tensors or ()
    for tensor in dirty:
        if not isinstance(tensor, Tensor):
            raise RuntimeError("mark_dirty can only accept variables, but argument ")
        count_write(tensor)
    fixed = ctx.non_differentiable or ()
    for tensor in fixed:
        if not isinstance(tensor, Tensor):
            raise RuntimeError("mark_non_differentiable only accepts variable arguments, but got ")
    return dirty, fixed


def placed(
    ctx: Any, tensor: Tensor, number: int, inputs: list, dirty: tuple, live: bool, count: int
) -> Tensor:
    """One output in its place in the graph: detached, rebased, a view of an input, or made by the node."""
    is_input, is_dirty = contains(inputs, tensor), contains(dirty, tensor)
    if not live:
        if not tensor.requires_grad:
            return returned_as_is(ctx, tensor) if is_input and not is_dirty else tensor
        if is_input:
            return alias(tensor, version_cell(tensor))
        if not tensor._is_view():
            detach_in_place(tensor)
        return tensor
    if is_dirty:
        return rebased(ctx, tensor, number, is_input, count)
    if is_input:
        tensor = returned_as_is(ctx, tensor)
    set_edge(tensor, make_edge(ctx, number))
    return tensor


def rebased(ctx: Any, tensor: Tensor, number: int, is_input: bool, count: int) -> Tensor:
    """A dirty input whose history goes on with the node."""
    is_view = tensor._is_view()
    is_leaf = tensor._meta.edge is None if is_view else tensor.is_leaf  # of a stale view, as it was
    if is_leaf and tensor.requires_grad:
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    if not is_input:
        warnings.warn(NOT_AN_INPUT, UserWarning, stacklevel=5)
    if not is_view:
        set_edge(tensor, make_edge(ctx, number))
        return tensor
    if count > 1:
        raise RuntimeError(ONE_OUTPUT)
    views.check_inplace(tensor)
    views.rebase_history(tensor, ctx)
    return tensor


def returned_as_is(ctx: Any, tensor: Tensor) -> Tensor:
    """An input as an output: a view of the whole.

    Raises:
        RuntimeError: `setup_context` saves it, which has seen the input in the place of the output.
    """
    if ctx._has_setup and contains((*(ctx.to_save or ()), *(ctx.saved_for_forward or ())), tensor):
        raise RuntimeError(SAVED_AS_IS)
    return view_of_itself(tensor)


def view_of_itself(tensor: Tensor) -> Tensor:
    """A view of the whole tensor, made outside the graph; by a subclass's own rule, if it has one."""
    before = modes.state.grad
    modes.set_grad(False)
    try:
        if overriding_in((tensor,)):
            return hand_on(Tensor.view_as, "torch.Tensor.view_as", [tensor], (tensor, tensor), {})
        return calls.view(tensor, tensor._array.shape)  # dimensions of size one get strides of their own
    finally:
        modes.set_grad(before)


def detach_in_place(tensor: Tensor) -> None:
    """Take a tensor out of the graph."""
    set_edge(tensor, None)
    tensor._set_requires_grad(False)
    tensor._edge = None


def finish(ctx: Any, recorded: bool) -> None:
    """Save what was asked for, and forget the marks."""
    to_save = ctx.to_save
    ctx.to_save = ctx.saved_for_forward = ctx.dirty_tensors = ctx.non_differentiable = None
    if not recorded:
        return
    saved = []
    for position, tensor in enumerate(to_save or ()):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {position} is "
                f"of type {type_name(tensor)}"
            )
        saved.append(None if tensor is None else kept(ctx, tensor))
    ctx._kept_values = tuple(saved)
    if modes.RARE and modes.state.rare.saved_tensor_hooks:
        pack, unpack_hook = modes.state.rare.saved_tensor_hooks[-1]
        packed = [
            None if tensor is None else Packed(pack, unpack_hook, unpack(ctx, held), ctx, tensor)
            for tensor, held in zip(to_save or (), saved, strict=True)
        ]
        ctx._kept_values = tuple(packed)


def kept(ctx: Any, tensor: Tensor) -> tuple:
    """What is kept of a saved tensor: itself, or an output's memory and counter; and the version."""
    node = tensor.grad_fn
    if node is ctx:
        return SavedResult(tensor), version_of(tensor)
    if tensor.is_inference():
        raise RuntimeError(errors.INFERENCE_SAVE)
    return tensor, version_of(tensor)
