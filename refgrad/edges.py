"""Where tensors stand in the graph: the edge along which a gradient flows, and new places for tensors."""

import weakref
from typing import Any

from refgrad import modes
from refgrad.graph import (
    EDGE_OF,
    LEAF_SEQUENCE,
    NOWHERE,
    PENDING,
    PLACED,
    AccumulateGrad,
    node_hooks,
    split_edge,
)
from refgrad.storage import version_cell, version_of
from refgrad.tensor import REFRESH, REMEMBER, AutogradMeta, Tensor, alias


def accumulator(leaf: Tensor) -> AccumulateGrad:
    """The leaf's AccumulateGrad; it lives as long as something outside the leaf holds it."""
    meta = leaf._meta
    node = None if meta.accumulator is None else meta.accumulator()
    if node is None:
        node = object.__new__(AccumulateGrad)
        node._next_edges = ()
        node._output_shape, node._output_dtype = leaf._array.shape, leaf._array.dtype
        node._order = LEAF_SEQUENCE
        node._node_hooks = None
        node.variable = leaf
        meta.accumulator = weakref.ref(node)
        if modes.RARE and modes.state.rare.anomaly:
            REMEMBER[0](node)
    return node


def edge_of(tensor: Tensor) -> Any:
    """Where a gradient of this tensor goes; None: it requires none, NOWHERE: it requires one in vain."""
    edge = tensor._edge
    if edge is not PENDING:
        return edge
    meta = tensor._meta
    if meta.base is not None:
        edge = REFRESH[0](tensor)
        if edge is not None:
            return edge
        if not meta.requires_grad:
            return NOWHERE if meta.base.requires_grad else None
    return accumulator(tensor)


def placed_at(tensor: Tensor, edge: Any) -> Tensor:
    """A tensor over the same memory and counter at this place in the graph; at a leaf's, a leaf."""
    new = alias(tensor, version_cell(tensor))
    node = None if edge is None else split_edge(edge)[0]
    if type(node) is AccumulateGrad:
        meta = new._meta = AutogradMeta()
        meta.requires_grad, meta.accumulator = True, weakref.ref(node)
        edge = PENDING
    new._edge = edge
    return new


EDGE_OF.append(edge_of)
PLACED.append(placed_at)


def set_edge(tensor: Tensor, edge: Any) -> None:
    """Give a tensor a new place in the graph."""
    # Note [Retained gradients move, hooks stay]
    # A hook watches the value that it was put on, and stays with the node of that value; `retain_grad` is
    # about the tensor, so that `.grad` becomes the gradient of what the tensor holds last.
    meta = tensor._meta
    if meta is None:
        tensor._edge = edge
        return
    old = tensor._edge if tensor._edge is not PENDING else meta.edge
    if meta.base is None:
        tensor._edge = edge
    else:
        meta.edge = edge
        meta.seen_version = version_of(tensor)
    if meta.backward_hooks is not None and edge is not None:
        meta.backward_hooks = None
    if meta.retains_grad and edge is not None:
        old_node, old_number = (None, 0) if old is None else split_edge(old)
        if old_node is not None and old_node._node_hooks is not None:
            old_node._node_hooks.retained.pop(old_number, None)
        node, number = split_edge(edge)
        node_hooks(node).retained[number] = weakref.ref(tensor)
