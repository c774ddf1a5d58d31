"""torch.utils._pytree takes nested containers apart and puts them together again.

topic: interface
features: pytree, private-names
rule: torch.func.vmap
source: probed
"""
import torch

pytree = __import__(torch.__name__ + ".utils._pytree", fromlist=["tree_map"])
tree = {"b": [1, 2.0], "a": (3, None), "c": torch.ones(1)}
leaves, spec = pytree.tree_flatten(tree)
print(leaves, pytree.tree_leaves(tree), spec == pytree.tree_flatten(tree)[1], isinstance(spec, pytree.TreeSpec))
print(pytree.tree_unflatten([leaf for leaf in leaves], spec))
print(pytree.tree_map(lambda leaf: (leaf,), tree))
print(pytree.tree_map_only(int, lambda leaf: leaf + 1, tree))
print(pytree.tree_map_only((int, torch.Tensor), lambda leaf: leaf * 2, tree))
print(pytree.tree_map(lambda a, b: a + b, (1, [2]), (3, [4])))
pytree.tree_unflatten([1, 2], pytree.tree_flatten((1, 2, 3))[1])  # raises ValueError
