"""`torch.utils._pytree`: nested containers of values, under the names that PyTorch's own tests use."""

from collections.abc import Callable
from typing import Any

from refgrad.func import trees
from refgrad.func.trees import Spec as TreeSpec
from refgrad.func.trees import flatten as tree_flatten

__all__ = [
    "TreeSpec",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_unflatten",
]


def tree_leaves(tree: Any) -> list:
    """The leaves from left to right."""
    return tree_flatten(tree)[0]


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> Any:
    """The tree of this shape with these leaves.

    Raises:
        ValueError: there are more leaves than places, or fewer.
    """
    found = list(leaves)
    if len(found) != treespec.count:
        raise ValueError(
            f"treespec.unflatten(leaves): `leaves` has length {len(found)} but the spec refers to a "
            f"pytree that holds {treespec.count} items ({treespec})."
        )
    return trees.unflatten(found, treespec)


def tree_map(func: Callable, tree: Any, *rests: Any) -> Any:
    """The tree with each leaf replaced by `func(leaf, ...)`, which also gets the leaves at that place of the
    other trees."""
    leaves, spec = tree_flatten(tree)
    others = [tree_leaves(rest) for rest in rests]
    return trees.unflatten([func(*each) for each in zip(leaves, *others, strict=True)], spec)


def tree_map_only(kind: Any, func: Callable, tree: Any) -> Any:
    """The tree with each leaf of a class replaced by `func(leaf)`."""
    return trees.mapped(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)
