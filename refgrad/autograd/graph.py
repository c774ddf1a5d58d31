"""`torch.autograd.graph`: looking at the graph and hooking into it."""

import weakref
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import ContextDecorator
from math import inf
from typing import Any, NamedTuple

from refgrad import modes
from refgrad.edges import edge_of
from refgrad.engine import count_dependencies, next_nodes
from refgrad.graph import (
    AccumulateGrad,
    GraphRoot,
    make_edge,
    split_edge,
)
from refgrad.graph import Node as AnyNode
from refgrad.handles import RemovableHandle
from refgrad.layout import root_of
from refgrad.saved import argument_mismatch
from refgrad.storage import INFERENCE, count_write, data_ptr, version_cell, version_of
from refgrad.tensor import Tensor

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class Node(ABC):
    """Stands for all classes of nodes in `isinstance` and `issubclass`, though none names it as its base."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        is_function = hasattr(subclass, "_backward_cls")  # a custom Function, whose context is the node
        is_node = getattr(subclass, "MAKES_NODES", False) or issubclass(subclass, AnyNode) and not is_function
        return True if cls is Node and is_node else NotImplemented

    @abstractmethod
    def name(self) -> str:
        """The name in C++."""
        raise NotImplementedError

    @property
    @abstractmethod
    def next_functions(self) -> tuple:
        """Pairs of the next node, or None, and the number of its output."""
        raise NotImplementedError

    @abstractmethod
    def metadata(self) -> dict:
        """A dict for notes."""
        raise NotImplementedError

    @property
    @abstractmethod
    def _input_metadata(self) -> tuple:
        raise NotImplementedError

    @abstractmethod
    def _sequence_nr(self) -> int:
        raise NotImplementedError

    @abstractmethod
    def _register_hook_dict(self, tensor: Tensor) -> None:
        raise NotImplementedError

    @abstractmethod
    def register_hook(self, fn: Callable) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node ran."""
        raise NotImplementedError

    @abstractmethod
    def register_prehook(self, fn: Callable) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs."""
        raise NotImplementedError


Node.__module__ = "torch.autograd.graph"


class GradientEdge(NamedTuple):
    """A place in the graph: input `output_nr` of `node`."""

    node: Any
    output_nr: int
    ownership_token: Any = None

    @property
    def edge(self) -> Any:
        """The edge as the engine has it."""
        return make_edge(self.node, self.output_nr)


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place where the gradient of this tensor goes.

    Raises:
        RuntimeError: the tensor does not require grad.
    """
    edge = edge_of(tensor)
    if edge is None or split_edge(edge)[0] is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return GradientEdge(*split_edge(edge))


def increment_version(tensors: Any) -> None:
    """Count one write to each tensor without writing; inference tensors are passed over.

    Raises:
        RuntimeError: these are neither a tensor nor tensors.
    """
    if not isinstance(tensors, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for tensor in (tensors,) if isinstance(tensors, Tensor) else tensors:
        if not isinstance(tensor, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        if tensor._version_cell is not INFERENCE:
            count_write(tensor)


def push_hooks(*hooks: Callable) -> None:
    """Let tensors saved from now on in this thread go through a pair of hooks.

    Raises:
        TypeError: they are no functions.
        RuntimeError: hooks are disabled.
    """
    rare = modes.state.rare
    if len(hooks) != 2 or not all(map(callable, hooks)):
        raise argument_mismatch(
            "_push_saved_tensors_default_hooks",
            "arg0: collections.abc.Callable, arg1: collections.abc.Callable",
            ", ".join(map(repr, hooks)),
        )
    if rare.hooks_disabled is not None:
        raise RuntimeError(rare.hooks_disabled)
    modes.set_rare(saved_tensor_hooks=(*rare.saved_tensor_hooks, hooks))


def pop_hooks() -> None:
    """Forget the pair of hooks that was pushed last."""
    modes.set_rare(saved_tensor_hooks=modes.state.rare.saved_tensor_hooks[:-1])


class saved_tensors_hooks:
    """Inside the block, saved tensors go through `pack_hook` when saved and `unpack_hook` when needed."""

    def __init__(self, pack_hook: Callable, unpack_hook: Callable):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        push_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception: object) -> None:
        pop_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Keeps saved tensors in main memory; on the CPU they stay where they are, without a version check."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):
        super().__init__(lambda tensor: (tensor.device, tensor), lambda packed: packed[1])


class disable_saved_tensors_hooks(ContextDecorator):
    """Inside the block, entering `saved_tensors_hooks` raises `error_message`."""

    def __init__(self, error_message: str):
        self.error_message = error_message

    def __enter__(self) -> None:
        if modes.state.rare.saved_tensor_hooks:
            raise RuntimeError(self.error_message)
        self.previous = modes.set_rare(hooks_disabled=self.error_message)

    def __exit__(self, *exception: object) -> None:
        modes.set_rare(**self.previous)

    def _recreate_cm(self) -> "disable_saved_tensors_hooks":
        return type(self)(self.error_message)


def _get_tid(tensor: Tensor) -> tuple[int, int, int]:
    """What tells a tensor at a version from others."""
    return id(tensor), *_get_sid(tensor)


def _get_sid(tensor: Tensor) -> tuple[int, int]:
    """What tells memory at a version from other memory."""
    return data_ptr(tensor._array), version_of(tensor)


class MutationContext:
    """What `allow_mutation_on_saved_tensors` knows: the tensors that nodes saved, and copies of those
    written since."""

    def __init__(self) -> None:
        self.original: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # handle -> saved tensor
        self.cloned: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # handle -> its copy
        # These two under the names that PyTorch's tests look at: tensor and version -> handle, memory and
        # version -> tensors and versions.
        self.sid_to_tid: defaultdict = defaultdict(set)
        self.tid_to_weakhandle: weakref.WeakValueDictionary = weakref.WeakValueDictionary()

    def clear(self) -> None:
        """Forget everything: backward is not possible any more."""
        self.original.clear()
        self.cloned.clear()
        self.tid_to_weakhandle.clear()
        self.sid_to_tid.clear()

    def pack(self, tensor: Tensor) -> "_Handle":
        """A handle in place of a saved tensor; the same one while the tensor is not written."""
        key = _get_tid(tensor)
        self.sid_to_tid[_get_sid(tensor)].add(key)
        handle = self.tid_to_weakhandle.get(key)
        if handle is None:
            handle = self.tid_to_weakhandle[key] = _Handle()
            self.original[handle] = tensor
        return handle

    def unpack(self, handle: "_Handle") -> Tensor:
        """The tensor as it was when it was saved."""
        found = self.cloned.get(handle)
        found = self.original.get(handle) if found is None else found
        if found is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the "
                "graph was originally recorded."
            )
        return found

    def before_write(self, target: Tensor) -> None:
        """Copy the saved tensors that share memory with one that is about to be written."""
        root = root_of(target._array)
        for handle, tensor in list(self.original.items()):
            if root_of(tensor._array) is root:
                previous = modes.set_rare(before_write=None, saved_tensor_hooks=())
                try:
                    self.cloned[handle] = tensor.clone()
                finally:
                    modes.set_rare(**previous)
                del self.original[handle]


MutationContext.__name__ = MutationContext.__qualname__ = "_AllowMutationOnSavedContext"


class _Handle:
    """Stands in a node for a tensor that may be written."""

    __slots__ = ("__weakref__",)


class allow_mutation_on_saved_tensors(saved_tensors_hooks, ContextDecorator):
    """Inside the block, writing to a saved tensor copies it first, so that backward finds the old value.

    Raises:
        RuntimeError: entered inside another such block.
    """

    def __init__(self) -> None:
        self.context = MutationContext()
        super().__init__(self.context.pack, self.context.unpack)

    def __enter__(self) -> MutationContext:  # type: ignore[override]
        if modes.state.rare.before_write is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        super().__enter__()
        modes.set_rare(before_write=self.context.before_write)
        return self.context

    def __exit__(self, *exception: object) -> None:
        self.context.clear()
        modes.set_rare(before_write=None)
        super().__exit__(*exception)

    def _recreate_cm(self) -> "allow_mutation_on_saved_tensors":
        return type(self)()


class unsafe_preserve_version_counter:
    """Inside the block, writes to the tensors do not count."""

    def __init__(self, tensors: Any):
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
        self.prev_versions = tuple([version_of(tensor) for tensor in self.tensors])

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        for tensor, version in zip(self.tensors, self.prev_versions, strict=True):
            version_cell(tensor)[0] = version


class _MultiHandle(RemovableHandle):
    """Removes the hooks of one `register_multi_grad_hook`."""

    def __init__(self, handles: Sequence[RemovableHandle]):
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take all of them out."""
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> tuple:
        return self.handles

    def __setstate__(self, state: tuple) -> None:
        self.handles = state

    def __reduce__(self) -> Any:
        return (multi_handle, (self.handles,))


_MultiHandle.__module__ = "torch.autograd.graph"  # shown by `repr`


def multi_handle(handles: Sequence[RemovableHandle]) -> _MultiHandle:
    """One handle for several; pickles name this function."""
    return _MultiHandle(handles)


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> Any:
    """Call `fn` with the gradients of all these tensors once they are there, or with the first one
    (`mode="any"`).

    Raises:
        ValueError: `mode` is neither.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        return _MultiHandle(register_any([tensor for tensor in tensors if tensor.requires_grad], fn))
    nodes = [split_edge(edge_of(tensor))[0] if edge_of(tensor) is not None else None for tensor in tensors]
    if None in nodes:
        raise AssertionError("Expected gradient function to be set")
    return _MultiHandle(register_all(tensors, nodes, fn))


def register_all(tensors: Sequence[Tensor], nodes: list, fn: Callable) -> list[RemovableHandle]:
    """Hooks that fire together with the last of the tensors whose node takes part in the run."""
    counts: dict[int, int] = {}
    expected: dict[int, int] = {}
    gradients: dict[int, list] = {}

    def hook_for(index: int) -> Callable:
        def hook(gradient: Tensor | None) -> None:
            task = modes.state.task
            held = gradients.setdefault(task.id, [None] * len(tensors))
            counts[task.id] = counts.get(task.id, 0) + 1
            if task.id not in expected:
                expected[task.id] = sum(will_execute(task, node) for node in nodes)
            held[index] = gradient
            if counts[task.id] == expected[task.id]:
                del gradients[task.id], counts[task.id], expected[task.id]
                fn(held)

        return hook

    return [tensor.register_hook(hook_for(index)) for index, tensor in enumerate(tensors)]


def register_any(tensors: Sequence[Tensor], fn: Callable) -> list[RemovableHandle]:
    """Hooks of which only the first one to fire in a run calls `fn`."""
    ran: set[int] = set()

    def hook(gradient: Tensor) -> None:
        if modes.state.task.id not in ran:
            ran.add(modes.state.task.id)
            fn(gradient)

    return [tensor.register_hook(hook) for tensor in tensors]


def execution_order(task: Any) -> list[AnyNode]:
    """The nodes of a run in the order in which they run; a node whose gradient is captured comes with it."""
    dependencies = count_dependencies(task.root)
    order, ready = [], [task.root]
    while ready:
        node = max(ready, key=lambda one: one._order if not isinstance(one, AccumulateGrad) else inf)
        ready.remove(node)
        order.append(node)
        for target in next_nodes(node):
            dependencies[target] -= 1
            if not dependencies[target] and (task.needed is None or target in task.needed):
                ready.append(target)
    return [node for node in order if not isinstance(node, GraphRoot)]


def will_execute(task: Any, node: AnyNode) -> bool:
    """Whether a node takes part in the run under way; the root itself does not count."""
    if task.dependencies.get(node) is None or node is task.root:
        return False
    if task.needed is None:
        return True
    if node in task.needed and isinstance(node, AccumulateGrad) and task.captures.get(node):
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running "
            "autograd.grad(). This is currently not supported."
        )
    return node in task.needed
