"""Views: who shares whose memory and history, what may be written, and how a write reaches the base.

*Creation kind*: how a view was made; every kind but DEFAULT forbids writes that autograd would have to
follow.
*Stale*: a view whose base, or another view of it, was written since its node was made.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad import errors, modes
from refgrad.edges import edge_of, set_edge
from refgrad.graph import (
    FREED,
    NOWHERE,
    PENDING,
    Node,
    short_name,
    split_edge,
    start,
)
from refgrad.layout import layout_of
from refgrad.storage import INFERENCE, InferenceVersion, version_cell
from refgrad.tensor import REFRESH, AutogradMeta, Tensor, alias
from refgrad.types import contiguous_format

DEFAULT, NO_GRAD, MULTI_OUTPUT, CUSTOM_FUNCTION, INFERENCE_MODE = (
    "default",
    "no_grad",
    "multi",
    "function",
    "inference",
)

# Note [Creation kinds]
# A view made under no_grad or in inference mode has no node that a later write could be recorded on; a view
# made by a custom Function would lose that Function's backward; of several views made at once none can be
# made anew from the base alone. All these may be read, and may be written where nothing is recorded, but not
# under autograd; nor may they be used there once their memory was written. A view of such a view is of the
# same kind.

APART = object()  # of a view that takes no part in its base's tangent, see duals.py

_CLARIFY = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
    "moving both the view and the inplace either both inside the {mode} block (if you don't want the "
    "inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
_ADVICE = {
    NO_GRAD: _CLARIFY.format(mode="no_grad"),
    INFERENCE_MODE: _CLARIFY.format(mode="inference_mode"),
    MULTI_OUTPUT: (
        " This view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace. You should replace the inplace operation by "
        "an out-of-place one."
    ),
    CUSTOM_FUNCTION: (
        " This view was created inside a custom Function (or because an input was returned as-is) and the "
        "autograd logic to handle view+inplace would override the custom backward associated with the "
        "custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by "
        "cloning the output of the custom Function."
    ),
}


def make_view(
    source: Tensor, array: np.ndarray, multiple: bool = False, replay: Callable | None = None
) -> Tensor:
    """A view of `source` (or of its base) that shows `array`; its place in the graph is still to be set.

    `replay` makes this view from `source` anew, for views that no strides can express.
    """
    view = object.__new__(Tensor)
    view._array = array
    view._version_cell = version_cell(source)
    if isinstance(source._version_cell, InferenceVersion):
        view._version_cell, view._edge = INFERENCE, None
        view._meta = None
        return view
    relate(view, source, multiple, replay)
    return view


def relate(view: Tensor, source: Tensor, multiple: bool, replay: Callable | None) -> None:
    """Make a new tensor a view of `source`, or of its base."""
    view._edge = PENDING
    meta = view._meta = AutogradMeta()
    meta.creation = creation_kind(multiple)
    meta.seen_version = view._version_cell[0]
    above = source._meta
    if above is None or above.base is None:
        meta.base = source
        meta.replay = replay
    else:
        meta.base = above.base
        if meta.creation == DEFAULT:
            meta.creation = above.creation
        meta.replay = chained(above.replay, replay, source, view)
        if above.whole is not None:
            meta.whole = source if above.whole is APART else above.whole


def creation_kind(multiple: bool) -> str:
    """The kind of a view made now."""
    if modes.GRAD_OFF or modes.RARE:
        if modes.inference_enabled():
            return INFERENCE_MODE
        if not modes.state.grad:
            return NO_GRAD
    return MULTI_OUTPUT if multiple else DEFAULT


def chained(first: Callable | None, second: Callable | None, source: Tensor, view: Tensor) -> Callable | None:
    """Replay of a view of a view (`source`): strided steps are one as_strided, other steps are repeated."""
    if second is None:
        if first is None:
            return None
        found = layout_of(view._array)
        return lambda base: first(base).as_strided(*found)
    if first is None:
        layout = layout_of(source._array)
        return lambda base: second(base.as_strided(*layout))
    return lambda base: second(first(base))


# Note [Views that are replayed]
# A stale view of strides is made anew by one as_strided on its base. Views made under
# `_force_original_view_tracking`, and those that no strides can express, keep the steps that led to them, and
# these are taken again. What an in-place view op makes of such a view is none of the steps: a later write is
# recorded for the view as it was, as in PyTorch.


def keep_replay(function: Callable, arguments: tuple, source: Tensor, results: Any) -> None:
    """Let views that were just made of `source` remember how, where that is asked for."""
    if not modes.state.rare.view_replay:
        return
    several = results.__class__ is tuple
    for index, view in enumerate(results if several else (results,)):
        if view._meta is None:
            continue

        def again(base: Tensor, index: int = index) -> Tensor:
            made = function(base, *arguments)
            return made[index] if several else made

        above = source._meta
        is_base = above is None or above.base is None
        view._meta.replay = again if is_base else chained(above.replay, again, source, view)


# Note [Stale views are made anew]
# A write to the base, or through another view of it, gives the base a new history. What was computed from a
# view before keeps its graph; the view itself gets a new node, on top of the new history, when somebody next
# asks for its place in the graph. A chain of strided views becomes one as_strided then.


def refresh(view: Tensor) -> Any:
    """The view's own edge, made anew on top of the base's history when the view is stale.

    Raises:
        RuntimeError: the view is stale and of a kind that forbids it.
    """
    meta = view._meta
    if meta.edge is None and not meta.base.requires_grad:
        return None
    version = view._version_cell[0]
    if meta.seen_version != version:
        check_kind(meta, "its base or another view of its base has been")
        state = modes.state
        grad, state.hidden = state.grad, True
        modes.set_grad(True)
        try:
            node = replayed(meta, view)
        finally:
            state.hidden = False
            modes.set_grad(grad)
        set_edge(view, node)
        meta.seen_version = version
    return meta.edge


def replayed(meta: AutogradMeta, view: Tensor) -> Any:
    """The node of the view taken from its base again; it leads nowhere if the base was detached since."""
    base = meta.base
    if meta.replay is None and not base.requires_grad:
        base = alias(base)
        base._edge = NOWHERE
    return taken_again(view, base).grad_fn


def taken_again(view: Tensor, base: Tensor) -> Tensor:
    """The same view, of another base."""
    replay = view._meta.replay
    return base.as_strided(*layout_of(view._array)) if replay is None else replay(base)


REFRESH.append(refresh)


def check_kind(meta: AutogradMeta, modified: str) -> None:
    """Refuse what a view's creation kind forbids. See note [Creation kinds].

    Raises:
        RuntimeError: the kind is not DEFAULT.
    """
    kind = meta.creation
    if kind == DEFAULT:
        return
    node, number = (None, 0) if meta.edge is None else split_edge(meta.edge)
    if node is None or kind in (NO_GRAD, INFERENCE_MODE):
        made = (
            f"Output {number} of {short_name(node)} is a view of a view which was" if node else "A view was"
        )
        where = "inference mode" if kind == INFERENCE_MODE else "no_grad mode"
        against = "in normal mode" if kind == INFERENCE_MODE else "with grad mode enabled"
        text = f"{made} created in {where} and {modified} modified inplace {against}."
    else:
        text = f"Output {number} of {short_name(node)} is a view and {modified} modified inplace."
    raise RuntimeError(text + _ADVICE[kind])


def check_inplace(tensor: Tensor) -> None:
    """Refuse an in-place write that autograd has to follow and cannot.

    Raises:
        RuntimeError: the tensor is a leaf that requires grad, a view of one, or a view of a forbidden kind.
    """
    meta = tensor._meta
    if meta is not None and meta.base is not None:
        check_kind(meta, "is being")
        if tensor.requires_grad and meta.base.is_leaf:
            raise RuntimeError(errors.VIEW_OF_LEAF_INPLACE)
    if tensor.requires_grad and tensor.is_leaf:
        raise RuntimeError(errors.LEAF_INPLACE)


# Note [A write to a view is a write to its base]
# The node of the write becomes part of the base's history: a CopySlices node takes the base's place, gives
# the written part of the gradient to the op's node, and sends what comes back, with the rest untouched, to
# what the base was before. The view's own node is made anew on top of it. Each write adds one CopySlices.


def rebase_history(tensor: Tensor, node: Node) -> None:
    """Let `node` be what made the tensor's new value; for a view, the base's history takes the write in."""
    meta = tensor._meta
    if meta is None or meta.base is None:
        set_edge(tensor, node)
        return
    base = meta.base
    copy_slices = CopySlices.of(base, tensor, node)
    set_edge(base, copy_slices)
    meta.seen_version = -1  # whoever looked after the write may have renewed it too early
    refresh(tensor)


class CopySlices(Node):
    """A write into a view, seen from the base. See note [A write to a view is a write to its base]."""

    __slots__ = ("base_layout", "view_layout", "replay", "function")
    function: Any  # a node, or FREED

    @classmethod
    def of(cls, base: Tensor, view: Tensor, node: Node) -> "CopySlices":
        """Take the place of `base`'s node: the first edge goes there, the others are those of `node`."""
        new = object.__new__(cls)
        edges = (edge_of(base), *node._next_edges[1:])
        start(new, edges, (base._array.shape, base._array.dtype))
        new.base_layout = layout_of(base._array)
        new.replay = view._meta.replay
        new.function = node
        layout = layout_of(view._array)
        new.view_layout = layout._replace(offset=layout.offset - new.base_layout.offset)
        return new

    def apply(self, grads: list, create_graph: bool, needed: Any) -> tuple | list:
        """Give the written part to the op's node and put what it returns in its place."""
        if self.function is FREED:
            raise RuntimeError(errors.FREED)
        grad = grads[0]
        if grad is None:
            return [None] * len(self._next_edges)
        result = grad.new_empty_strided(self.base_layout.shape, self.base_layout.strides)
        result.copy_(grad)
        part = result.as_strided(*self.view_layout) if self.replay is None else self.replay(result)
        inner = CALL_FUNCTION[0](
            self.function, [part.clone(memory_format=contiguous_format)], create_graph, None
        )
        outputs: list = [None] * len(self._next_edges)
        for i, gradient in enumerate(inner):
            node = self._next_edges[i] and split_edge(self._next_edges[i])[0]
            if node is None or needed is not None and node not in needed:
                continue
            if i == 0:
                if gradient is not None:  # None, which only a custom Function gives, goes for the whole base
                    part.copy_(gradient)
                    outputs[0] = result
            else:
                outputs[i] = gradient
        return outputs

    def release_saved(self) -> None:
        """Let go of the op's node, which who saved its result may still hold."""
        self.function = FREED

    def name(self) -> str:
        """The name that PyTorch shows."""
        return "torch::autograd::CopySlices"


CopySlices.__module__ = "builtins"
CALL_FUNCTION: list[Callable] = []  # engine.py puts the function here that runs a node outside a run
