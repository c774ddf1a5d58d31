"""Dual tensors: what a tensor carries while a level of forward mode is open.

*Level*: the time between `enter_dual_level` and `exit_dual_level`; one at a time, for the whole process.
*Tangent*: the tensor that a dual one carries, laid out in memory as its *primal*, the dual's own value.
*Whole*: the tensor of whose tangent a view's tangent is a view. That is the view's base, but for views of a
dual, for which it is the dual: the dual is itself a view of the tensor that it was made of, which carries
nothing.

The whole of a dual, and of an unpacked primal, is APART: they take no part in their base's tangent.

Generated code looks at the beacon `modes.DUALS` and comes here while a level is open.
"""

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad import modes
from refgrad.edges import placed_at
from refgrad.graph import PLACED
from refgrad.layout import layout_of, root_of, window
from refgrad.tensor import AutogradMeta, Tensor, is_batched, meta_of, wrap
from refgrad.views import APART, make_view

DUAL_LEVEL = -1
"""What stands in `modes.RARE` while a level is open: no thread has this ident."""


class Level:
    """An open level: who carries a tangent, and the tangents of the results that nodes saved."""

    __slots__ = ("carriers", "of_results", "primal")

    def __init__(self) -> None:
        self.primal: Callable | None = None  # what makes primals, if not the op for it; such a level nests
        self.carriers: list[weakref.ref] = []
        self.of_results: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


# Note [Levels do not nest]
# PyTorch numbers its levels and opens one at a time, for all threads. Closing it takes every tangent away; a
# level opened later begins with none.
LEVELS: list[Level] = []

# Functions of higher layers; autograd/tangents.py puts them here.
CARRY: list[Callable] = []
BEFORE_WRITE: list[Callable] = []
AFTER_WRITE: list[Callable] = []
ON_DETACH: list[Callable] = []  # utils/_python_dispatch.py shows them to dispatch modes


def open_level() -> int:
    """Open a level; returns its number.

    Raises:
        RuntimeError: one is open.
    """
    refuse_nesting()
    LEVELS.append(Level())
    modes.DUALS.add(DUAL_LEVEL)
    modes.RARE.add(DUAL_LEVEL)
    return 0


def refuse_nesting() -> None:
    """Refuse a second level, whoever would open it.

    Raises:
        RuntimeError: one is open.
    """
    if LEVELS:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")


def close_level(number: int) -> None:
    """Close the level: every tangent is gone.

    Raises:
        RuntimeError: it is not open.
    """
    if number != len(LEVELS) - 1:
        raise RuntimeError(
            "Exiting a forward AD level that is not the last that was created is not support. Ensure they "
            "are released in the reverse order they were created."
        )
    level = LEVELS.pop()
    modes.DUALS.discard(DUAL_LEVEL)
    modes.RARE.discard(DUAL_LEVEL)
    for carrier in level.carriers:
        meta = carrier()
        if meta is not None:
            meta.tangent = None


def after_detach(tensor: Tensor, made: Tensor) -> None:
    """Tell those who want to know that a tensor was detached."""
    for show in ON_DETACH:
        show(tensor, made)


def is_enabled() -> bool:
    """Whether operations of this thread carry tangents along when a level is open."""
    return modes.state.forward and not modes.inference_enabled()


class Apart:
    """Steps that see no tangents: those with which tangents are computed."""

    __slots__ = ("previous",)

    def __enter__(self) -> None:
        self.previous = modes.state.forward
        modes.state.forward = False

    def __exit__(self, *exception: object) -> None:
        modes.state.forward = self.previous


# Note [The tangent of a view is a view of the tangent]
# A view asks its whole for a tangent each time it has none of its own, and takes the same window out of it: a
# write to either tangent reaches the other, as with the tensors themselves. A dual written into a view of a
# plain tensor gives the whole base a tangent, zero elsewhere.


def tangent_of(tensor: Tensor) -> Tensor | None:
    """The tangent of a tensor, None if it has none; a view takes its own out of its whole's."""
    meta = tensor._meta
    if meta is None or not LEVELS or not is_enabled():
        return None
    if meta.tangent is None and meta.base is not None:
        whole = whole_of(meta)
        tangent = None if whole is None else tangent_of(whole)
        if tangent is not None:
            with Apart():
                keep_tangent(meta, part_of(tangent, tensor))
    return meta.tangent


def whole_of(meta: AutogradMeta) -> Tensor | None:
    """The tensor of whose tangent this view's is a part, None if it has none."""
    whole = meta.whole
    return meta.base if whole is None else None if whole is APART else whole


def part_of(tangent: Tensor, view: Tensor) -> Tensor:
    """The view of a whole's tangent that belongs to a view of the whole."""
    meta = view._meta
    if meta.replay is not None:
        whole = meta.base if meta.whole is None else meta.whole
        if layout_of(whole._array) == layout_of(meta.base._array):
            return meta.replay(tangent)
    return tangent.as_strided(*layout_of(view._array))


def keep_tangent(meta: AutogradMeta, tangent: Tensor) -> None:
    """Store a tangent until the level closes."""
    meta.tangent = tangent
    LEVELS[-1].carriers.append(weakref.ref(meta))


def set_tangent(tensor: Tensor, tangent: Tensor, written: bool = False) -> None:
    """Give a tensor a tangent; with `written` one that a write brought, so that the base of a view gets it.

    Raises:
        RuntimeError: the sizes differ, or the tangent itself has a tangent.
    """
    if tensor._array.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            f"this is not supported. Tensor is of size {list(tensor._array.shape)} while the given forward "
            f"gradient is of size {list(tangent.shape)}."
        )
    if not is_batched(tangent) and tangent_of(tangent) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported."
        )
    meta = meta_of(tensor)
    whole = whole_of(meta) if written and meta.base is not None else None
    with Apart():
        if whole is not None and not has_tangent(whole):
            entire = tangent
            if not (lies_like(tangent, whole) and lies_like(tangent, tensor)):
                entire = zeros_like(whole, tangent)
                tangent = part_of(entire, tensor).copy_(tangent)
            set_tangent(whole, entire)
        if not lies_like(tangent, tensor):
            tangent = zeros_like(tensor, tangent).copy_(tangent)
    keep_tangent(meta, tangent)


def has_tangent(tensor: Tensor) -> bool:
    """Whether a tensor carries a tangent, asked where tangents are out of sight."""
    before, modes.state.forward = modes.state.forward, True
    try:
        return tangent_of(tensor) is not None
    finally:
        modes.state.forward = before


def lies_like(tangent: Tensor, tensor: Tensor) -> bool:
    """Whether a tangent lies in its memory as the tensor lies in its own."""
    if is_batched(tangent):
        return tangent.lies_like(tensor)
    first, second = tangent._array, tensor._array
    one, other = layout_of(first), layout_of(second)
    if first.__class__ is not second.__class__ or one.shape != other.shape:
        return False
    if first.size and (capacity(first) != capacity(second) or one.offset != other.offset):
        return False
    return all(n == 1 or a == b for n, a, b in zip(one.shape, one.strides, other.strides, strict=True))


def capacity(array: np.ndarray) -> int:
    """How many elements of a window's type its memory holds."""
    return root_of(array).nbytes // array.itemsize


def zeros_like(tensor: Tensor, tangent: Tensor) -> Tensor:
    """Zeros in memory like that of a tensor, batched as a tangent is."""
    if is_batched(tangent):
        return tangent.zeros_for(tensor)
    array = tensor._array
    memory = np.zeros(capacity(array), array.dtype)
    zeros = window(memory, memory.dtype, layout_of(array))
    return wrap(zeros if array.__class__ is np.ndarray else zeros.view(array.__class__))


def dual_view(tensor: Tensor) -> Tensor:
    """A view of a whole tensor that takes no part in its tangent, its place in the graph still to be set."""
    view = make_view(tensor, tensor._array)
    meta_of(view).whole = APART
    return view


# What nodes saved -------------------------------------------------------------------------------------------


def remember_result(node: Any, number: int, tangent: Tensor) -> None:
    """Note the tangent of a result that its own node may have saved."""
    LEVELS[-1].of_results.setdefault(node, {})[number] = tangent


def restore_result(node: Any, number: int, tensor: Tensor) -> None:
    """Give a saved result, which was just unpacked, its tangent again."""
    tangent = LEVELS[-1].of_results.get(node, {}).get(number) if LEVELS and is_enabled() else None
    if tangent is not None:
        keep_tangent(meta_of(tensor), tangent)


def with_tangent_of(source: Tensor, other: Tensor) -> Tensor:
    """The other tensor, with the tangent of the source, over whose memory it is."""
    tangent = tangent_of(source) if LEVELS else None
    if tangent is not None:
        keep_tangent(meta_of(other), tangent)
    return other


def placed_dual(tensor: Tensor, edge: Any) -> Tensor:
    """See `placed_at`; what an unpack hook gives back keeps its tangent."""
    return with_tangent_of(tensor, placed_at(tensor, edge))


PLACED[0] = placed_dual
