"""Nested containers of values, as transforms take and return them.

*Tree*: tuples, lists and dicts in each other; whatever else stands in them is a *leaf*. *Spec*: the shape
of a tree.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from refgrad.return_types import NamedResults


class Spec:
    """The shape of a tree: kind of container, what belongs to it, and the specs of its children; None for a
    leaf."""

    __slots__ = ("kind", "context", "children")

    def __init__(self, kind: type | None, context: Any, children: Sequence["Spec"]):
        self.kind = kind
        self.context = context
        self.children = list(children)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and (self.kind, self.context, self.children) == (
            other.kind,
            other.context,
            other.children,
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def count(self) -> int:
        """The number of leaves."""
        return 1 if self.kind is None else sum(child.count for child in self.children)

    def text(self, indent: int) -> str:
        """The spec as PyTorch prints it."""
        if self.kind is None:
            return "*"
        inner = indent + 2
        shown = [child.text(inner) for child in self.children]
        joined = (",\n" + " " * inner).join(shown)
        return f"TreeSpec({self.kind.__name__}, {self.context}, [{joined}])"

    def short(self) -> str:
        """The spec in the form of the containers themselves."""
        if self.kind is None:
            return "*"
        shown = [child.short() for child in self.children]
        if self.kind is tuple:
            return f"({', '.join(shown)}{',' if len(shown) == 1 else ''})"
        if self.kind is list:
            return f"[{', '.join(shown)}]"
        if self.kind is dict:
            return "{" + ", ".join(f"{k!r}: {v}" for k, v in zip(self.context, shown, strict=True)) + "}"
        return f"{self.kind.__name__}({', '.join(shown)})"

    def __repr__(self) -> str:
        return self.text(0)


LEAF = Spec(None, None, ())


def parts(tree: Any) -> tuple[Any, list] | None:
    """The context and the children of a container; None for a leaf."""
    kind = type(tree)
    if kind in (tuple, list):
        return None, list(tree)
    if isinstance(tree, NamedResults):
        return None, list(tree)
    if kind in (dict, OrderedDict):
        return list(tree), list(tree.values())
    if isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return kind, list(tree)
    return None


def flatten(tree: Any) -> tuple[list, Spec]:
    """The leaves from left to right, and the spec."""
    found = parts(tree)
    if found is None:
        return [tree], LEAF
    context, children = found
    leaves: list = []
    specs = []
    for child in children:
        below, spec = flatten(child)
        leaves += below
        specs.append(spec)
    return leaves, Spec(type(tree), context, specs)


def unflatten(leaves: Sequence[Any], spec: Spec) -> Any:
    """The tree of this shape with these leaves."""
    if spec.kind is None:
        return leaves[0]
    children = []
    begin = 0
    for child in spec.children:
        children.append(unflatten(leaves[begin : begin + child.count], child))
        begin += child.count
    if spec.kind in (dict, OrderedDict):
        return spec.kind(zip(spec.context, children, strict=True))
    if spec.kind in (tuple, list) or issubclass(spec.kind, NamedResults):
        return spec.kind(children)
    return spec.kind(*children)


def mapped(function: Callable, tree: Any) -> Any:
    """The tree with each leaf replaced by `function(leaf)`."""
    leaves, spec = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], spec)


def broadcast(tree: Any, spec: Spec) -> list | None:
    """One leaf of `tree` per leaf of `spec`, where a leaf may stand for a whole subtree; None if they do
    not fit."""
    if parts(tree) is None:
        return [tree] * spec.count
    context, children = parts(tree)  # type: ignore[misc]
    if type(tree) is not spec.kind or context != spec.context or len(children) != len(spec.children):
        return None
    found: list = []
    for child, below in zip(children, spec.children, strict=True):
        some = broadcast(child, below)
        if some is None:
            return None
        found += some
    return found
