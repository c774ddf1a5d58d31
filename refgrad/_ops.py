"""`torch.ops`: the overloads of each op as objects, under PyTorch's names: `torch.ops.aten.add.Tensor`.

*Packet*: all overloads of one name; calling it picks the one that fits. *Overload*: one of them.
"""

from collections.abc import Callable
from typing import Any

from refgrad.namespaces import Overload, front, overloads_of
from refgrad.op import Composite
from refgrad.schema import Schema
from refgrad.tensor import Tensor

RUNNING: list[Callable] = []  # utils/_python_dispatch.py puts the function here that meets a call in a mode


class OpOverload:
    """One overload of one op; calls run it."""

    def __init__(self, packet: "OpOverloadPacket", entry: Overload):
        self._entry = entry
        self._schema: Schema = entry.schema
        self._overloadname = self._schema.overload or "default"
        self._opname = packet.__name__
        self.overloadpacket = packet
        self.namespace = "aten"
        self.__name__ = f"{packet.__name__}.{self._overloadname}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if RUNNING:
            result = RUNNING[0](self, args, kwargs)
            if result is not NotImplemented:
                return result
        return front(self._opname, [self._entry], method=False)(*args, **kwargs)

    def name(self) -> str:
        """The name in PyTorch's registry: `aten::add.Tensor`."""
        return f"aten::{self._schema.full_name}"

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._opname}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """All overloads of one name."""

    def __init__(self, name: str, entries: list[Overload]):
        self.__name__ = name
        self._qualified_op_name = f"aten::{name}"
        self._entries = {entry.schema.overload or "default": entry for entry in entries}
        self._front = front(name, entries, method=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._front(*args, **kwargs)

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("__") or name not in self.__dict__.get("_entries", ()):
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")
        made = self.__dict__[name] = OpOverload(self, self._entries[name])
        return made

    def overloads(self) -> list[str]:
        """The names of the overloads; the one without a name is called default."""
        return list(self._entries)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


METHODS = {name: f"{name}(Tensor self) -> Tensor" for name in ("detach", "detach_")}
"""Ops that are methods of the tensor itself here, with their schemas."""


def of_method(name: str) -> list[Overload]:
    """The overload of an op that is a method of the tensor itself."""
    return [Overload(Composite(METHODS[name], getattr(Tensor, name)), False)] if name in METHODS else []


class _OpNamespace:
    """The packets of one library; this package has those of `aten`."""

    def __init__(self, name: str):
        self.name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        is_known = self.name == "aten" and not name.startswith("__")
        entries = overloads_of(name) or of_method(name) if is_known else []
        if not entries:
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        made = self.__dict__[name] = OpOverloadPacket(name, entries)
        return made

    def __repr__(self) -> str:
        return f"<module 'torch.ops.{self.name}' from 'torch.ops'>"


class _Ops:
    """`torch.ops`."""

    def __getattr__(self, name: str) -> _OpNamespace:
        if name.startswith("__"):
            raise AttributeError(f"module 'torch.ops' has no attribute '{name}'")
        made = self.__dict__[name] = _OpNamespace(name)
        return made

    def __repr__(self) -> str:
        return "<module 'torch.ops' from '_ops.py'>"


for shown_class in (OpOverload, OpOverloadPacket):
    shown_class.__module__ = "torch._ops"
ops = _Ops()
