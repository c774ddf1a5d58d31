"""What nodes saved, as users see it: `_saved_*`, and the handles `_raw_saved_*`."""

import weakref
from collections.abc import Callable
from typing import Any

from refgrad import errors
from refgrad.graph import FREED, SHOW_SAVED, Node, Packed, ReadOnly


def saved_properties(saved: tuple[str, ...], plain: dict[str, str]) -> dict[str, property]:
    """The properties that show what a class of nodes saved: `_saved_x`, and `_raw_saved_x` of tensors."""
    found = {}
    for name in saved:
        found[f"_saved_{name}"] = property_of(lambda node, name: SHOW_SAVED[0](node, name), name)
        found[f"_raw_saved_{name}"] = property_of(raw_saved, name)
    for name, kind in plain.items():
        found[f"_saved_{name}"] = property_of(plain_saved, name, kind)
    return found


def property_of(read: Callable, *arguments: object) -> property:
    """The property that shows `read(node, *arguments)`."""
    return ReadOnly(lambda node: read(node, *arguments))


def shown(value: object, kind: str) -> object:
    """A saved plain value as PyTorch's getters show it: 64-bit integers come out unsigned."""
    if isinstance(value, (tuple, list)):
        return tuple(shown(item, kind) for item in value)
    if kind.startswith(("int", "SymInt")) and isinstance(value, int) and value < 0:
        return value + 2**64
    return value


def plain_saved(node: Node, name: str, kind: str) -> object:
    """A saved plain value under its name, as users see it."""
    return shown(getattr(node, "p_" + name), kind)


def raw_saved(node: Node, name: str) -> Any:
    """The handle on what a node saved under a name; a tuple of handles for a list of tensors.

    Raises:
        RuntimeError: the list was freed.
    """
    value = getattr(node, "s_" + name)
    if value is FREED and getattr(node, "v_" + name).__class__ in (tuple, list):
        raise RuntimeError(errors.FREED)
    if isinstance(value, tuple):
        return tuple([RawSaved.of(node, name, index) for index in range(len(value))])
    return RawSaved.of(node, name)


SHOWN_NAME = "torch._C._autograd.SavedTensor"
HANDLES: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class RawSaved:
    """Handle on one saved tensor of a node (`_raw_saved_*`), or on one of a saved list."""

    __slots__ = ("node", "name", "index", "__weakref__")

    def __init__(self, node: Any = None, name: str = "", index: int | None = None):
        if node is None:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self.node = node
        self.name = name
        self.index = index

    @classmethod
    def of(cls, node: Node, name: str, index: int | None = None) -> "RawSaved":
        """The handle; the same one as long as somebody has it."""
        key = (id(node), name, index)
        found = HANDLES.get(key)
        if found is None:
            found = HANDLES[key] = cls(node, name, index)
        return found

    def _held(self) -> Any:
        held = getattr(self.node, "s_" + self.name)
        return held if self.index is None or held is FREED else held[self.index]

    def _shown(self) -> Any:
        found = SHOW_SAVED[0](self.node, self.name)
        return found if self.index is None else found[self.index]

    def _replace(self, packed: "Packed") -> None:
        held: Any = packed
        if self.index is not None:
            before = getattr(self.node, "s_" + self.name)
            held = (*before[: self.index], packed, *before[self.index + 1 :])
        setattr(self.node, "s_" + self.name, held)

    @property
    def data(self) -> Any:
        """What is kept: the tensor (of the node's own results its values), or what the pack hook made."""
        held = self._held()
        if held is FREED:
            return None
        if isinstance(held, Packed):
            return held.packed
        if hasattr(held, "grad_fn"):
            return held  # also one that was written since
        found = self._shown()
        return found.detach() if found is not None and found.grad_fn is self.node else found

    @property
    def unpack_hook(self) -> Callable | None:
        """The hook that makes a tensor of it again."""
        held = self._held()
        return held.unpack_hook if isinstance(held, Packed) else None

    def unpack(self, *unwanted: object) -> Any:
        """The tensor that was saved, checked; the node's own results can only be had from the node.

        Raises:
            RuntimeError: it was freed, written since, or is a result of the node.
        """
        if unwanted:
            given = ", ".join([f"<{SHOWN_NAME} object at {id(self):#x}>", *map(repr, unwanted)])
            raise argument_mismatch("unpack", f"self: {SHOWN_NAME}", given, "torch.Tensor")
        held = self._held()
        if held is FREED:
            raise RuntimeError(errors.FREED)
        found = self._shown()
        if found is not None and found.grad_fn is self.node:
            raise RuntimeError(errors.DETACHED_IN_PLACE)
        return found

    def register_hooks(self, *hooks: Callable) -> None:
        """Pack the saved tensor now, with the first hook, and unpack it with the second when it is needed."""
        if len(hooks) != 2 or not all(map(callable, hooks)):
            given = f"<{SHOWN_NAME} object at {id(self):#x}>"
            raise argument_mismatch(
                "register_hooks",
                f"self: {SHOWN_NAME}, arg0: collections.abc.Callable, arg1: collections.abc.Callable",
                ", ".join([given, *map(repr, hooks)]),
            )
        pack, unpack = hooks
        value = self._held()
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
        tensor = value if hasattr(value, "grad_fn") else self._shown()  # also one that was written since
        self._replace(Packed(pack, unpack, tensor, self.node, tensor.detach()))


RawSaved.__name__ = RawSaved.__qualname__ = "SavedTensor"
RawSaved.__module__ = "torch._C._autograd"


def argument_mismatch(function: str, signature: str, given: str, result: str = "None") -> TypeError:
    """The refusal of arguments by one of the functions that PyTorch binds without a parser of its own."""
    return TypeError(
        f"{function}(): incompatible function arguments. The following argument types are supported:\n"
        f"    1. ({signature}) -> {result}\n\nInvoked with: {given}"
    )
