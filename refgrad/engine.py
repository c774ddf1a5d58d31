"""The backward engine: what runs when, how gradients meet, and where they end.

*Ready*: a node all of whose expected gradients have arrived. *Needed*: in a run that asks for certain inputs,
the nodes on a path to them. *Capture*: a gradient that `autograd.grad` takes out of the run at a node. Source
of the order: "Autograd mechanics" in PyTorch's docs and the notes in its engine header.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from refgrad import errors, modes
from refgrad.gradients import (
    MISFIT,
    check_nan,
    fitted,
    fitted_array,
    fitted_later,
    report_anomaly,
    shapes_refused,
    validated,
    wrapped,
)
from refgrad.graph import CALL_NODE, AccumulateGrad, GraphRoot, Node, split_edge, start
from refgrad.hooks import late_hooks, post_accumulate_hooks, pre_hooks, tensor_hooks
from refgrad.layout import is_dense, layout_of, overlaps_itself, strides_of
from refgrad.ready import Ready
from refgrad.samples import Batched, apply_per_sample
from refgrad.storage import count_write, version_cell
from refgrad.tensor import SAME_DTYPE, Tensor, alias, wrap
from refgrad.types import contiguous_format
from refgrad.views import CALL_FUNCTION

new = object.__new__
ndarray = np.ndarray
references = sys.getrefcount
task_ids = iter(range(2**62))

# A run inside of so many others goes on in a new thread, whose stack is empty: so PyTorch nests to any depth.
# It does so at 60; here a level takes more of Python's frames.
NESTING = 30


class GraphTask:
    """One run: its options and what is under way."""

    __slots__ = (
        "keep_graph",
        "create_graph",
        "by_ops",
        "needed",
        "captures",
        "captured",
        "callbacks",
        "warnings",
        "id",
        "depth",
        "dependencies",
        "root",
        "modes",
    )

    def __init__(self, keep_graph: bool, create_graph: bool, by_ops: bool):
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.by_ops = by_ops  # formulas get tensors, and run as ops
        self.needed: dict[Node, bool] | None = None  # who takes part; True: runs, False: only captured
        self.captures: dict[Node, list[tuple[int, int]]] = {}  # node -> (output number, index of the input)
        self.captured: list = []
        self.callbacks: list = []
        self.warnings: tuple[str, ...] = ()  # PyTorch's own come out when the call ends, after those of hooks
        self.id = next(task_ids)
        self.depth = 0  # how many runs it is inside of


# Note [Modes that are switched in a run]
# What hooks and formulas switch on or off and do not switch back, holds until their node has run: the next
# runs in the modes of the call, which has them back when it ends. Anomaly mode belongs to the process.


def execute(
    roots: Sequence[Any],
    gradients: Sequence[Tensor | None],
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Any] = (),
    accumulate: bool = True,
    batched: bool = False,
) -> list[Tensor | None]:
    """Send `gradients` into the graph at `roots`.

    With `inputs`, only nodes on a path to these edges run; unless `accumulate`, their gradients are returned,
    None for those that were not reached. `batched` gradients are batched tensors.
    """
    task = GraphTask(keep_graph, create_graph, create_graph or batched)
    given = validated(roots, list(gradients), "")  # held until the end, so no leaf takes their memory
    if len(roots) == 1:
        root, number = split_edge(roots[0])
        grads: list = [None] * len(root.forward_outputs)
        grads[number] = given[0]
    else:
        root = start(GraphRoot(), tuple(roots))
        root.gradients = list(given)
        grads = []
    starting = [grads]
    del grads  # whoever looks at reference counts next must not see them
    dependencies = count_dependencies(root)
    if inputs:
        choose_needed(task, root, inputs, accumulate)
    if create_graph and accumulate:
        task.warnings = (errors.CYCLE,)
    state = modes.state
    before = state.grad, state.task, state.node, state.multithreading
    task.modes = modes.rare_modes()
    if state.grad is not create_graph:
        modes.set_grad(create_graph)
    state.task = task
    task.dependencies, task.root = dependencies, root
    try:
        if task.needed is not None:
            task.needed.setdefault(root, False)  # its tensor hooks run even where it leads to no input
        if before[1] is not None and deepened(task, before[1]) % NESTING == 0:
            modes.in_new_thread(lambda: run(task, root, starting.pop(), dependencies))
        else:
            run(task, root, starting.pop(), dependencies)
        state.node = None
        for callback in task.callbacks:  # which may add more
            callback()
    finally:
        if state.grad is not before[0]:
            modes.set_grad(before[0])
        state.task, state.node, state.multithreading = before[1:]
        if modes.RARE or task.modes is not modes.DEFAULTS:
            modes.give_back(task.modes)
        for text in task.warnings:
            modes.warn_once(text)
    return task.captured


def deepened(task: GraphTask, outer: GraphTask) -> int:
    """How many runs a run is inside of, noted in it."""
    task.depth = outer.depth + 1
    return task.depth


def count_dependencies(root: Node) -> dict[Node, int]:
    """How many gradients each node below `root` has to wait for."""
    dependencies: dict[Node, int] = {root: 0}
    stack = [root]
    get = dependencies.get
    while stack:
        for node in stack.pop()._next_edges:
            if node.__class__ is tuple:
                node = node[0]
            if node is not None:
                count = get(node)
                if count is None:
                    dependencies[node] = 1
                    stack.append(node)
                else:
                    dependencies[node] = count + 1
    return dependencies


def choose_needed(task: GraphTask, root: Node, inputs: Sequence[Any], accumulate: bool) -> None:
    """Find the nodes on a path from `root` to `inputs`, and note where gradients are captured."""
    needed: dict[Node, bool] = {}
    task.captured = [] if accumulate else [None] * len(inputs)
    for index, edge in enumerate(inputs):
        node, number = split_edge(edge)
        if accumulate:
            needed[node] = True
        else:
            needed.setdefault(node, False)
            task.captures.setdefault(node, []).append((number, index))
    order, seen, stack = [], {root}, [(root, iter(next_nodes(root)))]
    while stack:  # depth first; a node is appended when all below it were
        node, below = stack[-1]
        for each in below:
            if each not in seen:
                seen.add(each)
                stack.append((each, iter(next_nodes(each))))
                break
        else:
            order.append(node)
            stack.pop()
    for node in order:
        if any(below in needed for below in next_nodes(node)):
            needed[node] = True
    task.needed = needed


def next_nodes(node: Node) -> list[Node]:
    """The nodes that a node sends gradients to."""
    ends = [split_edge(edge)[0] for edge in node._next_edges if edge is not None]
    return [end for end in ends if end is not None]


def run(task: GraphTask, node: Any, grads: Any, dependencies: dict[Node, int]) -> None:
    """Visit each node once, highest sequence number first, after its gradients arrived; `node` first.

    `waiting` holds the gradients of nodes that wait for more. A node that becomes ready while no other is
    goes next at once; else see note [Ready nodes run latest first]. Variables are cleared early where
    `add_gradient` and `accumulate` look at reference counts.
    """
    ready = Ready()
    heap, push, pop = ready.heap, ready.push, ready.pop
    waiting: dict[Node, list] = {}
    needed, keep_graph, create_graph = task.needed, task.keep_graph, task.by_ops
    results: Any
    array: Any
    following: Any = node
    arrived: Any = grads
    del grads
    try:
        while following is not None or heap:
            if following is not None:
                node, grads, following = following, arrived, None
            else:
                _, node, grads = pop()
            arrived = None
            if node._node_hooks is not None or needed is not None or modes.RARE:
                results = visit(task, node, grads)
                if results is None:
                    continue
            elif node.__class__ is AccumulateGrad:
                results = (
                    accumulate_at(node, grads, grads) if is_plain(node.variable) else visit(task, node, grads)
                )
            else:
                results = node.apply(grads, create_graph, None)
            grads = None
            if modes.RARE:
                results = validated(node._next_edges, results, node)
                if modes.state.late is not None:
                    results = late_hooks(node, results, [])
                if not keep_graph:
                    node.release_saved()
                check_nan(node, results)
                modes.give_back(task.modes)  # see note [Modes that are switched in a run]
            i = -1
            for target in node._next_edges:
                i += 1
                if target is None:
                    continue
                gradient = results[i]
                results[i] = None
                number = 0
                if target.__class__ is tuple:
                    gradient = None if gradient is None else fitted_later(gradient, target, node, i)
                    target, number = target
                    if target is None:
                        continue
                elif gradient.__class__ is ndarray:
                    if gradient.shape == target._output_shape and gradient.dtype is target._output_dtype:
                        array, gradient = gradient, new(Tensor)
                        gradient._array = array
                        gradient._version_cell = gradient._edge = gradient._meta = None
                    else:
                        gradient = fitted_array(gradient, target, 0, node, i)
                elif gradient is not None:
                    array = gradient._array
                    if array.shape != target._output_shape or array.dtype is not target._output_dtype:
                        gradient, array = fitted(gradient, target, 0, node, i), None
                left = dependencies[target]
                there = waiting.pop(target, None) if left == 1 else waiting.get(target)
                if there is None:
                    if needed is not None and target not in needed:
                        dependencies[target] = left - 1
                        continue
                    there = [None] if target._output_shape is not None else [None] * len(target._output_pairs)
                    there[number] = gradient
                    if left > 1:
                        waiting[target] = there
                elif there[number] is None:
                    there[number] = gradient
                elif gradient is not None:
                    add_gradient(there, number, gradient, create_graph)
                    results[i] = gradient  # PyTorch's engine holds it, too, until all have been handed on
                if left > 1:
                    dependencies[target] = left - 1
                elif following is None and not heap:
                    following, arrived = target, there
                else:
                    if following is not None:
                        push(following, arrived)
                        following = arrived = None
                    push(target, there)
            gradient = array = there = results = None
            if not keep_graph:
                node.release_saved()  # see note [When saved tensors are freed]
    except BaseException as error:
        if modes.RARE and modes.state.rare.anomaly:
            report_anomaly(node)
        if type(error) is ValueError and MISFIT in str(error):
            raise shapes_refused(error) from None
        raise


def is_plain(leaf: Tensor) -> bool:
    """Whether a leaf has no hooks that run at its node."""
    return leaf._meta.backward_hooks is None and leaf._meta.post_accumulate_hooks is None


def visit(task: GraphTask, node: Node, grads: list) -> list | None:
    """Run a node that has hooks, is a leaf's, or is in a run with chosen inputs; None when it stays out."""
    state = modes.state
    state.node = node
    if state.grad is not task.create_graph:
        modes.set_grad(task.create_graph)
    runs = True
    if task.needed is not None:
        runs = task.needed[node]
        if not runs:
            grads = tensor_hooks(node, grads)
        for number, index in task.captures.get(node, ()):
            task.captured[index] = grads[number]
        if not runs:
            return None
    if node._node_hooks is not None or type(node) is AccumulateGrad:
        grads = tensor_hooks(node, grads)
        if node._node_hooks is not None and node._node_hooks.pre:
            grads = pre_hooks(node, grads)
    has_post = node._node_hooks is not None and bool(node._node_hooks.post)
    results: tuple | list
    if type(node) is AccumulateGrad:
        results = accumulate_at(node, grads) if has_post else accumulate_at(node, grads, grads)
    else:
        by_ops = state.grad or task.by_ops and not node.IS_FUNCTION
        try:
            results = node.apply(grads, by_ops, task.needed)
        except Batched:  # a formula looked at elements: each sample on its own
            results = apply_per_sample(
                node, lambda one, some: wrapped(one.apply(some, by_ops, task.needed)), grads
            )
        results = validated(node._next_edges, results, node)
    if has_post or state.late is not None:
        results = late_hooks(node, results, grads if has_post else [])
    if state.grad is not task.create_graph:
        modes.set_grad(task.create_graph)
    return results


def add_gradient(held: list, number: int, gradient: Tensor, create_graph: bool) -> None:
    """Add a further gradient for one output, in the first one's memory when nobody else can see that."""
    # A base that is known to one array alone is no other tensor's.
    first = held[number]
    array = first._array
    if (
        not create_graph
        and references(first) == 3  # the list, `first`, the argument
        and first._edge is None
        and (array.base is None or array.base.__class__ is ndarray and references(array.base) == 2)
        and references(array) == 3  # the tensor, `array`, the argument
        and gradient._array.dtype is array.dtype
        and (array.flags.forc or is_dense(array.shape, strides_of(array)))
        and not (modes.RARE and modes.state.rare.before_write)  # a dispatch mode in PyTorch
    ):
        if modes.DUALS or array.dtype.kind == "c":
            first.add_(gradient)  # which takes the tangents along, and adds complex numbers times one
            return
        np.add(array, gradient._array, out=array)
        count_write(first)
    else:
        held[number] = first + gradient


# Leaves -----------------------------------------------------------------------------------------------------


def accumulate_at(node: AccumulateGrad, grads: list, own: list | None = None) -> list:
    """Add the gradient to the leaf's `.grad`; `own` is the only list that holds it, when there is one."""
    leaf = node.variable
    gradient = grads[0]
    meta = leaf._meta
    if gradient is not None and meta.requires_grad:
        if leaf.grad_fn is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        wanted = meta.grad_dtype
        if wanted is not SAME_DTYPE and wanted is not None and gradient.dtype is not wanted:
            gradient = gradient.to(wanted)
        grads = None  # type: ignore[assignment]
        if own is not None:
            own[0] = None
        accumulate(leaf, gradient, 2 if own is not None else 3)
    hooks = meta.post_accumulate_hooks
    if hooks:
        post_accumulate_hooks(leaf, hooks)
    return []


def accumulate(leaf: Tensor, gradient: Tensor, own_references: int) -> None:
    """Take the gradient's memory, copy it, or add it to what is there; `own_references` are the caller's."""
    # Note [Whose memory .grad is]
    # A first gradient becomes `.grad` uncopied if nobody else holds the tensor and it lies as the leaf's
    # should. A further one is added in place, unless grad mode is on: then `.grad` becomes a new tensor with
    # a history.
    meta = leaf._meta
    held = meta.grad
    grad_mode = modes.state.grad
    if held is not None:
        if grad_mode:
            meta.grad = held = held + gradient
        elif held._edge is None and held._meta is None and held.__class__ is Tensor and not modes.RARE:
            add_in_place(held, gradient)
        else:
            held.add_(gradient)
        if not obeys_layout(held, leaf):
            warn_layout(held, leaf)
    elif not grad_mode and references(gradient) <= own_references + 1 and obeys_layout(gradient, leaf):
        meta.grad = alias(gradient, version_cell(gradient))
    else:
        meta.grad = clone_like(gradient, leaf)


def warn_layout(grad: Tensor, leaf: Tensor) -> None:
    """Warn that `.grad` lies otherwise in memory than it should."""
    shape, strides = list(leaf._array.shape), list(strides_of(leaf._array))
    text = (
        "grad and param do not obey the gradient layout contract. This is not an error, but may impair "
        "performance.\n"
        f"grad.sizes() = {list(grad._array.shape)}, strides() = {list(strides_of(grad._array))}\n"
        f"param.sizes() = {shape}, strides() = {strides}"
    )
    task = modes.state.task
    if task is None:
        modes.warn_once(text)
    else:
        task.warnings += (text,)


def add_in_place(held: Tensor, gradient: Tensor) -> None:
    """`held += gradient`, for a plain tensor."""
    array = held._array
    may_overlap = not array.flags.c_contiguous and overlaps_itself(array.shape, array.strides)
    if may_overlap or array.dtype is not gradient._array.dtype or array.dtype.kind == "c":
        held.add_(gradient)
    else:
        try:
            np.add(array, gradient._array, out=array)
        except ValueError:
            held.add_(gradient)  # does not fit, and says so
        count_write(held)


def obeys_layout(gradient: Tensor, leaf: Tensor) -> bool:
    """Whether a gradient lies in memory as the leaf's `.grad` should: like a dense leaf, else contiguous."""
    array, like = gradient._array, leaf._array
    if array.strides == like.strides and array.flags.c_contiguous and like.flags.c_contiguous:
        return True
    if is_dense(like.shape, strides_of(like)):
        return all(
            size == 1 and a != 0 or a == b
            for size, a, b in zip(like.shape, strides_of(array), strides_of(like))
        )
    return array.flags.c_contiguous


def clone_like(gradient: Tensor, leaf: Tensor) -> Tensor:
    """A copy of the gradient laid out as the leaf's `.grad` should be."""
    shape, strides, _ = layout_of(leaf._array)
    if is_dense(shape, strides):
        return gradient.new_empty_strided(shape, strides).copy_(gradient)
    return gradient.clone(memory_format=contiguous_format)


# Nodes called outside a run ---------------------------------------------------------------------------------


def call_node(node: Node, grads: list, create_graph: bool, needed: Any) -> list:
    """Run a node's formula for another node, without hooks, and free nothing."""
    results = node.apply(grads, create_graph, needed)
    return validated(node._next_edges, results, node)


def call_by_user(node: Node, grads: list) -> list:
    """Run a node's formula in the current grad mode, without hooks; its results are not fitted."""
    if type(node) is AccumulateGrad:
        return accumulate_at(node, grads) if grads[0] is not None else []
    results = node.apply(grads, modes.grad_enabled(), None)
    return [
        (None if edge is None else wrap(result)) if result.__class__ is ndarray else result
        for edge, result in zip(node._next_edges, results, strict=False)
    ]


CALL_NODE.append(call_by_user)
CALL_FUNCTION.append(call_node)
