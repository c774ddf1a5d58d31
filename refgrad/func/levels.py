"""Levels: one for each transform that is running, and how tensors enter and leave them.

*Level*: a running `grad`, `vjp`, `jvp` or `vmap`; inner ones have higher numbers. *Entry*: the node of a
tensor that came into a level; it hides the tensor's history from the function and passes gradients on to
it. *Live*: an edge from which a gradient reaches a leaf outside the level.

All levels share one graph; those within a `vmap` share that of its samples, see batched_tensor.py. Inside, an
entered tensor is a leaf; outside, a result shows the graph that remains when entries are taken out: what led
only to them is gone. Where the level goes on to need its graph, as in `vjp`, the graph outside is a copy, so
that neither is freed with the other.
"""

import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from refgrad import autograd, modes
from refgrad.autograd.grad_mode import enable_grad
from refgrad.duals import keep_tangent, tangent_of, with_tangent_of
from refgrad.edges import edge_of
from refgrad.func import trees
from refgrad.graph import PENDING, AccumulateGrad, Node, copy_of, make_edge, split_edge, start
from refgrad.storage import version_cell, version_of
from refgrad.tensor import AutogradMeta, Tensor, alias, is_batched, meta_of
from refgrad.views import CopySlices

NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with "
    "your use case."
)
RARE_MODES: dict[str, dict] = {"grad": {"hooks_disabled": NO_HOOKS}, "jvp": {"saved_tensor_hooks": ()}}
NO_REAL_TYPE = "only Tensors of floating point dtype can require gradients"


class Entry(AccumulateGrad):
    """The node of a tensor inside a level: the gradient goes on to where the tensor came from."""

    __slots__ = ()

    def apply(self, grads: list, create_graph: bool, needed: object) -> tuple | list:
        """Pass the gradient on."""
        return list(grads)


class Stack(threading.local):
    """The levels of this thread, outermost first."""

    def __init__(self) -> None:
        self.levels: list[Level] = []


stack = Stack()


class Level:
    """One running transform, as context manager: within it grad mode is on.

    Hooks on saved tensors are refused in a `grad`, and take no part in a `jvp`, which records nothing in
    PyTorch.
    """

    def __init__(self, kind: str, is_mapped: bool = False):
        self.kind = kind
        self.is_mapped = is_mapped  # whether its tangents come from a `vmap`
        self.number = -2
        self.rare: dict[str, Any] = {}  # the rare modes before it
        self.copies: WeakKeyDictionary = WeakKeyDictionary()  # node -> its copy, or False
        self.samples: Any = None  # the innermost `vmap` within which it runs: the graph is one of its samples

    def __enter__(self) -> "Level":
        hidden = any(level.rare.get("saved_tensor_hooks") for level in stack.levels)
        if self.kind == "grad" and (hidden or modes.state.rare.saved_tensor_hooks):
            raise RuntimeError(NO_HOOKS)
        self.rare = modes.set_rare(**RARE_MODES.get(self.kind, {}))
        if not stack.levels:
            modes.state.wraps = self.kind != "vmap"
        stack.levels.append(self)
        self.number = len(stack.levels)
        self.begin = modes.peek_sequence()
        below = [each for each in stack.levels[:-1] if each.kind == "vmap" and not each.IS_LEGACY]
        self.samples = below[-1] if below else None
        self.grad = modes.grad_enabled()
        modes.state.transforms += 1
        self.mode = enable_grad()
        self.mode.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.mode.__exit__(*exception)
        modes.state.transforms -= 1
        stack.levels.pop()
        if not stack.levels:
            modes.state.wraps = False
        self.number = -2
        modes.set_rare(**self.rare)

    # Entering -----------------------------------------------------------------------------------------------

    def enter(self, tensor: Any) -> Tensor:
        """The tensor as the function sees it: a leaf that requires grad.

        Raises:
            RuntimeError: its elements are integers.
        """
        if not tensor.is_floating_point() and not tensor.is_complex():
            raise RuntimeError(NO_REAL_TYPE)
        samples = self.samples
        is_mine = samples is None or is_batched(tensor) and tensor.level is samples
        outside = edge_of(tensor) if self.grad and is_mine else None
        entry = start(object.__new__(Entry), (outside,), (tensor._array.shape, tensor._array.dtype))
        inside = alias(tensor, version_cell(tensor)) if is_mine else samples.shared(tensor)
        meta = inside._meta = AutogradMeta()
        meta.requires_grad = True
        meta.accumulator = lambda: entry  # type: ignore[assignment]
        entry.variable = inside
        inside._edge = PENDING
        inside.__dict__.update(_level=self, _outside=tensor)
        return inside if is_batched(inside) else with_tangent_of(tensor, inside)

    # Leaving ------------------------------------------------------------------------------------------------

    def leave(self, tensor: Any, spare: bool = False) -> Any:
        """The tensor as it is outside; `spare` keeps the graph as it is, because the level still needs it."""
        if not isinstance(tensor, Tensor):
            return tensor
        if tensor.__dict__.get("_level") is self:
            return tensor.__dict__["_outside"]
        if is_batched(tensor) and tensor.level is not self.samples:  # by a `vmap` that runs within this level
            return tensor.map_whole(lambda whole: self.leave(whole, spare))
        if modes.DUALS and (tangent := tangent_of(tensor)) is not None:
            keep_tangent(meta_of(tensor), self.leave(tangent, spare))
        if not tensor.requires_grad:
            return tensor
        edge = self.outer(edge_of(tensor), spare) if self.grad else None
        if edge is not None and edge is edge_of(tensor):
            return tensor
        outside = alias(tensor, version_cell(tensor))
        if not is_batched(tensor):
            outside = with_tangent_of(tensor, outside)
        if tensor._is_view() and self.kind == "grad":  # tangents are found in another way than PyTorch's
            self.show(outside, tensor._meta, edge, spare)
        else:
            outside._edge = edge
        return outside

    def show(self, outside: Tensor, inner: AutogradMeta, edge: Any, spare: bool) -> None:
        """Make `outside` a view at this edge, of the base of a view inside as that is outside."""
        meta = meta_of(outside)
        meta.base = self.leave(inner.base, spare)
        meta.creation, meta.replay, meta.seen_version = inner.creation, inner.replay, inner.seen_version
        meta.edge, outside._edge = edge, PENDING

    def outer(self, edge: Any, spare: bool) -> Any:
        """The edge as seen from outside, None when it is not live; the graph is changed on the way, or copied
        to `spare` it."""
        if edge is None or edge.__class__ is tuple and edge[0] is None:
            return edge
        known: Any = self.copies if spare else {}
        self.settle(split_edge(edge)[0], known, spare)
        return self.seen(edge, known)

    def seen(self, edge: Any, known: Any) -> Any:
        """An edge whose node is settled, as seen from outside."""
        node = None if edge is None else split_edge(edge)[0]
        if node is None:
            return edge
        if type(node) is Entry:
            level = node.variable.__dict__["_level"]
            if level is self:
                return node._next_edges[0]
            if level.number < 0:  # of an inner level that ended
                return self.seen(node._next_edges[0], known)
        found = known.get(node, True)
        if found is True or not found:
            return edge if found else None
        return make_edge(found, split_edge(edge)[1])

    def settle(self, root: Node, known: Any, spare: bool) -> None:
        """Find out which nodes below `root`, made since the level began, are live; let their edges skip the
        entries, or those of their copies."""
        pending = [root]
        while pending:
            node = pending[-1]
            if node in known or self.is_old(node):
                pending.pop()
                continue
            below = [split_edge(edge)[0] for edge in node._next_edges if edge is not None]
            ahead = [n for n in below if n is not None and n not in known and not self.is_old(n)]
            if ahead:
                pending += ahead
                continue
            pending.pop()
            if type(node) is Entry and node.variable.__dict__["_level"] is self:
                known[node] = node._next_edges[0] is not None
                continue
            edges = tuple([self.seen(edge, known) for edge in node._next_edges])
            known[node] = any(edge is not None for edge in edges)
            if spare and known[node]:
                known[node] = node = self.copied(node)
            elif spare:
                continue
            node._next_edges = edges
            for name, position in getattr(node, "GUARDS", {}).items():
                if edges[position] is None:  # saved for this gradient alone
                    setattr(node, f"s_{name}", None)

    def copied(self, node: Any) -> Any:
        """A copy of a node for the graph outside, with what it saved as seen from there."""
        copy: Any = copy_of(node)
        copy._node_hooks = None
        for name in node.SAVED:
            saved: Any = getattr(node, f"s_{name}")
            version: Any = getattr(node, f"v_{name}", None)
            if isinstance(saved, tuple):
                saved = tuple([self.beside(*each) for each in zip(saved, version, strict=True)])
            setattr(copy, f"s_{name}", self.beside(saved, version))
        if isinstance(node, CopySlices) and isinstance(node.function, Node):
            copy.function = self.copied(node.function)
            copy.function._next_edges = tuple([self.seen(e, self.copies) for e in node.function._next_edges])
        return copy

    def beside(self, saved: Any, version: Any) -> Any:
        """What a node saved, if a tensor that was not written since, at its place in the graph outside."""
        if not isinstance(saved, Tensor) or not saved.requires_grad:
            return saved
        if saved.__dict__.get("_level") is self:
            return saved.__dict__["_outside"]
        if version_of(saved) != version:
            return saved
        outside = alias(saved, version_cell(saved))
        outside._edge = self.outer(edge_of(saved), spare=True)
        return outside if is_batched(saved) else with_tangent_of(saved, outside)

    def is_old(self, node: Node) -> bool:
        """Whether a node is a leaf's, or older than the level."""
        return type(node) is AccumulateGrad or node._order < self.begin


def pulled(outputs: list, inputs: list, cotangents: list, missing: Callable | None = None) -> list:
    """The gradients of some outputs with respect to inputs, recorded; the missing ones are zeros, or what
    `missing(i)` gives for input `i`."""
    from refgrad import ones_like, zeros_like

    chosen = [i for i, output in enumerate(outputs) if output.requires_grad]
    wanted = [i for i, value in enumerate(inputs) if value.requires_grad]
    found: list = [None] * len(inputs)
    with enable_grad():
        for i in chosen:
            if cotangents[i] is None and is_batched(outputs[i]) and not outputs[i].is_complex():
                cotangents[i] = ones_like(outputs[i])
        if chosen and wanted:
            some = autograd.grad(
                [outputs[i] for i in chosen],
                [inputs[i] for i in wanted],
                [cotangents[i] for i in chosen],
                retain_graph=True,
                create_graph=True,
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


def entered(level: Level, tree: Any) -> Any:
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
