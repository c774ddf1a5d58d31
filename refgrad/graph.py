"""The backward graph: nodes, edges, saved tensors, hooks.

*Edge*: where a gradient goes: a node, which stands for its output 0, or `(node, number)` for a later output;
None where no gradient is required. *NOWHERE*: the edge of a tensor that requires grad in vain. *PENDING*:
stands in a tensor whose edge is found on demand (leaves that require grad, and views, whose node may be
stale). *Saved tensor*: what a node keeps for its formula.
"""

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from refgrad import modes
from refgrad.storage import version_of

NOWHERE = (None, 0)
PENDING = ("pending",)
LEAF_SEQUENCE = 2**64 - 1


def split_edge(edge: Any) -> tuple:
    """An edge as the pair of node, or None, and output number."""
    if edge.__class__ is tuple:
        return edge
    return (edge, 0)


def make_edge(node: "Node", number: int) -> Any:
    """The edge to an output of a node."""
    return (node, number) if number else node


HAND_WRITTEN = frozenset(
    ["CopyBackwards"]
)  # PyTorch generates its nodes but for these, which show their namespace


class Freed:
    """Marks a saved value that was released."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<freed>"


FREED = Freed()


class RemovableHandle:
    """Removes a hook again; works as a context manager too."""

    next_id = 0

    def __init__(self, hooks: dict):
        self.hooks_dict_ref = weakref.ref(hooks) if isinstance(hooks, OrderedDict) else lambda: hooks
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self) -> None:
        """Take the hook out; a second call does nothing."""
        hooks = self.hooks_dict_ref()
        if hooks is not None and self.id in hooks:
            del hooks[self.id]

    def __getstate__(self) -> tuple:
        return self.hooks_dict_ref(), self.id

    def __setstate__(self, state: tuple) -> None:
        hooks = OrderedDict() if state[0] is None else state[0]
        self.hooks_dict_ref = weakref.ref(hooks)
        self.id = state[1]
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __repr__(self) -> str:
        return f"<torch.utils.hooks.RemovableHandle object at {id(self):#x}>"

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def add_hook(hooks: OrderedDict, hook: Callable) -> RemovableHandle:
    """Register a hook in one of the dicts that the engine reads."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class NodeHooks:
    """What users hung on one node; most nodes have none."""

    __slots__ = ("tensor", "retained", "pre", "post", "metadata")

    def __init__(self) -> None:
        self.tensor: list[
            tuple[int, OrderedDict]
        ] = []  # (output number, hooks), in order of first registration
        self.retained: dict[int, weakref.ref] = {}  # output number -> tensor whose grad is kept
        self.pre: OrderedDict = OrderedDict()
        self.post: OrderedDict = OrderedDict()
        self.metadata: dict = {}


class Node:
    """One step of the backward graph.

    `edges` says where each gradient goes. `shape` and `dtype` (NumPy's) are those of the forward's output; of
    a node with several outputs `shape` is None and `others` holds a pair for each.
    """

    __slots__ = ("edges", "shape", "dtype", "others", "sequence_nr", "hooks", "__weakref__")
    SAVED: tuple[str, ...] = ()  # names of saved tensors, in the order in which they are packed
    PLAIN: dict[str, str] = {}  # names of saved plain values -> schema type

    def apply(self, grads: list, create_graph: bool, needed: object) -> tuple | list:
        """The gradients of the inputs, one per edge, as tensors, raw arrays or None."""
        raise NotImplementedError

    def release(self) -> None:
        """Let go of the saved tensors."""
        for name in self.SAVED:
            if getattr(self, "s_" + name) is not None:
                setattr(self, "s_" + name, FREED)

    def name(self) -> str:
        """The name that PyTorch shows."""
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in HAND_WRITTEN else name

    @property
    def next_functions(self) -> tuple:
        """Pairs of the next node, or None, and the number of its output."""
        return tuple([split_edge(edge) for edge in self.edges])

    @property
    def metadata(self) -> dict:
        """A dict for notes on this node."""
        return node_hooks(self).metadata

    @property
    def outputs(self) -> tuple:
        """Pairs of shape and NumPy dtype, one for each output of the forward."""
        return self.others if self.shape is None else ((self.shape, self.dtype),)

    @property
    def _input_metadata(self) -> tuple:
        return tuple([INPUT_METADATA[0](shape, dtype) for shape, dtype in self.outputs])

    def _sequence_nr(self) -> int:
        return self.sequence_nr

    def _set_sequence_nr(self, number: int) -> None:
        self.sequence_nr = number

    def register_hook(self, *hooks: Callable) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the node ran; a returned tuple replaces `grad_inputs`."""
        return add_hook(node_hooks(self).post, self._one_hook("register_hook", hooks))

    def register_prehook(self, *hooks: Callable) -> RemovableHandle:
        """Call `hook(grad_outputs)` before the node runs; a returned tuple replaces `grad_outputs`."""
        return add_hook(node_hooks(self).pre, self._one_hook("register_prehook", hooks))

    def _one_hook(self, method: str, hooks: tuple) -> Callable:
        if len(hooks) != 1:
            name = type(self).__name__
            raise TypeError(f"{name}.{method}() takes exactly one argument ({len(hooks)} given)")
        return hooks[0]

    def __call__(self, *grads: object, **options: object) -> object:
        if options:
            raise TypeError("keyword arguments are not supported")
        count = len(self.outputs)
        if len(grads) != count:
            raise TypeError(f"expected {count} arguments, got {len(grads)} instead")
        for position, grad in enumerate(grads):
            if grad is not None and not hasattr(grad, "grad_fn"):
                raise TypeError(f"argument {position} is not a Variable")
        results = CALL_NODE[0](self, list(grads))
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")


def saved_properties(saved: tuple[str, ...], plain: dict[str, str]) -> dict[str, property]:
    """The properties by which users read what a class of nodes saved: `_saved_x`, and `_raw_saved_x` of
    tensors.
    """
    found = {}
    for name in saved:
        found[f"_saved_{name}"] = property(lambda node, name=name: SHOW_SAVED[0](node, name))
        found[f"_raw_saved_{name}"] = property(lambda node, name=name: raw_saved(node, name))
    for name, kind in plain.items():
        found[f"_saved_{name}"] = property(
            lambda node, n="p_" + name, kind=kind: shown(getattr(node, n), kind)
        )
    return found


# Functions of higher layers that nodes call; the modules that define them put them here.
SHOW_SAVED: list[Callable] = []
CALL_NODE: list[Callable] = []
INPUT_METADATA: list[Callable] = []
EDGE_OF: list[Callable] = []
PLACED: list[Callable] = []


def node_hooks(node: Node) -> NodeHooks:
    """The node's record of hooks, made on first use."""
    if node.hooks is None:
        node.hooks = NodeHooks()
    return node.hooks


def start(node: Node, edges: tuple, *outputs: tuple) -> Node:
    """Fill in what every node has; `outputs` are pairs of shape and dtype."""
    node.edges = edges
    if len(outputs) == 1 and outputs[0] is not None:
        node.shape, node.dtype = outputs[0]
    else:
        node.shape = None
        node.others = outputs
    node.sequence_nr = next(modes.sequence)
    node.hooks = None
    return node


def shown(value: object, kind: str) -> object:
    """A saved plain value as PyTorch's getters show it: 64-bit integers come out unsigned."""
    if isinstance(value, (tuple, list)):
        return tuple(shown(item, kind) for item in value)
    if kind.startswith(("int", "SymInt")) and isinstance(value, int) and value < 0:
        return value + 2**64
    return value


def raw_saved(node: Node, name: str) -> Any:
    """The handle on what a node saved under a name; a tuple of handles for a list of tensors."""
    value = getattr(node, "s_" + name)
    if isinstance(value, tuple):
        return tuple([RawSaved(node, name, index) for index in range(len(value))])
    return RawSaved(node, name)


class RawSaved:
    """Handle on one saved tensor of a node (`_raw_saved_*`), or on one of a saved list."""

    __slots__ = ("node", "name", "index")

    def __init__(self, node: Node, name: str, index: int | None = None):
        self.node = node
        self.name = name
        self.index = index

    def _packed(self) -> Any:
        held = getattr(self.node, "s_" + self.name)
        held = held if self.index is None or held is FREED else held[self.index]
        return held if isinstance(held, Packed) else None

    @property
    def data(self) -> Any:
        """What is kept: the tensor, or what the pack hook made of it."""
        packed = self._packed()
        if packed is not None:
            return packed.packed
        shown_now = SHOW_SAVED[0](self.node, self.name)
        return shown_now if self.index is None else shown_now[self.index]

    @property
    def unpack_hook(self) -> Callable | None:
        """The hook that makes a tensor of it again."""
        packed = self._packed()
        return None if packed is None else packed.unpack_hook

    def register_hooks(self, *hooks: Callable) -> None:
        """Pack the saved tensor now, with the first hook, and unpack it with the second whenever it is needed."""
        if len(hooks) != 2 or not all(map(callable, hooks)):
            given = f"<torch._C._autograd.SavedTensor object at {id(self):#x}>"
            raise argument_mismatch(
                "register_hooks",
                "self: torch._C._autograd.SavedTensor, arg0: collections.abc.Callable, arg1: collections.abc.Callable",
                ", ".join([given, *map(repr, hooks)]),
            )
        pack, unpack = hooks
        held = getattr(self.node, "s_" + self.name)
        value = held if self.index is None or held is FREED else held[self.index]
        if value is FREED:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate "
                "values of the graph are freed when you call .backward() or autograd.grad(). Specify "
                "retain_graph=True if you need to backward through the graph a second time or if you need "
                "to access saved variables after calling backward."
            )
        if value is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if isinstance(value, Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
                "pair of hooks is allowed at a time."
            )
        shown_now = SHOW_SAVED[0](self.node, self.name)
        tensor = shown_now if self.index is None else shown_now[self.index]
        packed: Any = Packed(pack, unpack, tensor, self.node, tensor.detach())
        if self.index is not None:
            packed = (*held[: self.index], packed, *held[self.index + 1 :])
        setattr(self.node, "s_" + self.name, packed)


RawSaved.__name__ = "SavedTensor"
RawSaved.__module__ = "torch._C._autograd"


def argument_mismatch(function: str, signature: str, given: str) -> TypeError:
    """The refusal of arguments by one of the functions that PyTorch binds without a parser of its own."""
    return TypeError(
        f"{function}(): incompatible function arguments. The following argument types are supported:\n"
        f"    1. ({signature}) -> None\n\nInvoked with: {given}"
    )


class Packed:
    """A saved tensor that went through a pair of saved-tensor hooks; its version is not checked.

    What the unpack hook gives back takes the place in the graph that the tensor had: `edge`, or, of a result of the
    saving node itself (`node`), only its number, so that no cycle arises.
    """

    __slots__ = ("packed", "unpack_hook", "edge", "own_output")

    def __init__(self, pack: Callable, unpack: Callable, tensor: Any, node: Any = None, seen: Any = None):
        tensor_seen = tensor if seen is None else seen
        self.edge = EDGE_OF[0](tensor)
        self.own_output = -1
        if self.edge is not None and node is not None and split_edge(self.edge)[0] is node:
            self.own_output, self.edge = split_edge(self.edge)[1], None
        with modes_off():
            before = version_of(tensor_seen)
            self.packed = pack(tensor_seen)
            if version_of(tensor_seen) != before:
                raise RuntimeError(
                    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
                    "pack hook cannot be modified by in-place operations as this can lead to unexpected "
                    "side-effects. Please open an issue if you need to perform in-place operations on the "
                    "input to a pack hook."
                )
        self.unpack_hook = unpack

    def unpack(self, tensor_type: type, node: Any = None) -> Any:
        """The tensor that the unpack hook gives back, for use in `node`."""
        with modes_off():
            result = self.unpack_hook(self.packed)
        if not isinstance(result, tensor_type):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(result).__name__}"
            )
        return PLACED[0](result, self.edge if self.own_output < 0 else make_edge(node, self.own_output))


class modes_off:
    """Grad mode off and no saved-tensor hooks: how pack and unpack hooks run."""

    def __enter__(self) -> None:
        self.grad = modes.state.grad
        modes.set_grad(False)
        self.rare = modes.set_rare(saved_tensor_hooks=()) if modes.RARE else None

    def __exit__(self, *exception: object) -> None:
        modes.set_grad(self.grad)
        if self.rare is not None:
            modes.set_rare(**self.rare)


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds what arrives to `variable.grad`."""

    __slots__ = ("variable",)

    def name(self) -> str:
        """The name that PyTorch shows."""
        return "torch::autograd::AccumulateGrad"


class GraphRoot(Node):
    """The hidden node above several roots."""

    __slots__ = ("gradients",)

    def apply(self, grads: list, create_graph: bool, needed: object) -> tuple | list:
        """Hand each root its gradient."""
        return self.gradients


class DelayedError(Node):
    """A node that may be built but not run."""

    __slots__ = ("message",)

    def apply(self, grads: list, create_graph: bool, needed: object) -> tuple | list:
        """Raise what was put off."""
        raise RuntimeError(self.message)

    def name(self) -> str:
        """The name that PyTorch shows."""
        return "torch::autograd::Error"


DelayedError.__name__ = "Error"


class NotImplementedNode(Node):
    """Stands for an op without a derivative: recorded, and refused when run."""

    __slots__ = ("op_name",)

    def apply(self, grads: list, create_graph: bool, needed: object) -> tuple | list:
        """Raise PyTorch's refusal."""
        raise RuntimeError(f"derivative for {self.op_name} is not implemented")

    def name(self) -> str:
        """The name that PyTorch shows."""
        return "torch::autograd::NotImplemented"


NotImplementedNode.__name__ = "NotImplemented"
for shown_class in (AccumulateGrad, GraphRoot, DelayedError, NotImplementedNode):
    shown_class.__module__ = "builtins"


def short_name(node: Node) -> str:
    """A node's name as error messages give it: without the word `Backward` and a final 0."""
    name = node.name()
    head, word, number = name.rpartition("Backward")
    if not word or number and not number.isdigit():
        return name
    return head if number == "0" else head + number


def version_error(
    type_text: str, shape: tuple, node: Node | None, output_nr: int, now: int, saved: int
) -> RuntimeError:
    """The refusal of a saved tensor that was written since."""
    origin = f", which is output {output_nr} of {short_name(node)}," if node is not None else ""
    if modes.RARE and modes.state.rare.anomaly:
        hint = (
            "Hint: the backtrace further above shows the operation that failed to compute its gradient. The "
            "variable in question was changed in there or anywhere later. Good luck!"
        )
    else:
        hint = (
            "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{type_text} {list(shape)}]{origin} is at version {now}; expected version {saved} instead. {hint}"
    )
