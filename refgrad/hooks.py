"""Hooks: what users hang on tensors and nodes, called in PyTorch's order, and what they may give back."""

from typing import Any

from refgrad import errors, modes
from refgrad.call import type_text
from refgrad.graph import AccumulateGrad, Node
from refgrad.tensor import Tensor, meta_of
from refgrad.types import contiguous_format


def hook_name(hook: Any) -> str:
    """How error messages name a hook."""
    return getattr(hook, "__name__", "<unknown>")


def check_replacement(before: Tensor | None, after: Any, hook: Any) -> None:
    """Refuse what a hook may not put in a gradient's place.

    Raises:
        TypeError: it is no tensor.
        RuntimeError: it replaces None, or has another type or size.
    """
    if not isinstance(after, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(after).__name__}'")
    if before is None:
        raise RuntimeError(errors.NO_NONE_REPLACEMENT)
    if after.dtype is not before.dtype:
        raise RuntimeError(
            f"hook '{hook_name(hook)}' has changed the type of value (was "
            f"{type_text(before.dtype)} got {type_text(after.dtype)})"
        )
    if after._array.shape != before._array.shape:
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the size of value")


# Note [The order of hooks]
# At each node: the hooks of the tensors it made, tensor by tensor in the order in which each got its first
# one, and each hook with what the one before returned; then the gradients that `retain_grad` keeps; node
# prehooks; the formula, or the sum into `.grad` and the post-accumulate hooks; node posthooks.

# Note [Hooks of a leaf]
# Tensor hooks and post-accumulate hooks hang on the leaf itself. Hooks on its AccumulateGrad die with that
# node, which lives as long as a graph or a variable holds it. `autograd.grad` for a leaf runs its tensor
# hooks alone: the gradient is captured where the node would begin.


def tensor_hooks(node: Node, grads: list) -> list:
    """Run the hooks on the tensors that this node made, then keep the gradients for `retain_grad`."""
    if isinstance(node, AccumulateGrad):  # or that of a tensor inside a transform
        own = node.variable._meta.backward_hooks
        registered = [(0, own)] if own else []
    else:
        registered = node._node_hooks.tensor if node._node_hooks is not None else []
    for number, hooks in list(registered):
        for hook in list(hooks.values()):
            result = hook(grads[number])
            if result is not None:
                check_replacement(grads[number], result, hook)
                grads[number] = result
    if node._node_hooks is not None and node._node_hooks.retained:
        for number, reference in sorted(node._node_hooks.retained.items()):
            tensor = reference()
            if tensor is not None and grads[number] is not None:
                meta = meta_of(tensor)
                if meta.grad is None:
                    meta.grad = grads[number].clone(memory_format=contiguous_format)
                else:
                    meta.grad = meta.grad + grads[number]
    return grads


def post_accumulate_hooks(leaf: Tensor, hooks: dict) -> None:
    """Run the hooks that see a leaf after its grad grew; what one returns goes to the next, then is refused.

    Raises:
        RuntimeError: a hook returned another tensor than it was given.
    """
    seen = leaf
    for hook in list(hooks.values()):
        result = hook(seen)
        if result is not None and result is not seen:
            check_replacement(seen, result, hook)
            seen = result
    if seen is not leaf:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def pre_hooks(node: Node, grads: list) -> list:
    """Run the hooks that see all gradients before the node runs."""
    for hook in list(node._node_hooks.pre.values()):
        result = hook(tuple(grads))
        if result is not None:
            grads = replaced(grads, result, hook)
    return grads


def post_hooks(node: Node, results: list, grads: list) -> list:
    """Run the hooks that see the gradients of inputs and outputs after the node ran."""
    for hook in list(node._node_hooks.post.values()):
        result = hook(tuple(results), tuple(grads))
        if result is not None:
            results = replaced(results, result, hook)
    return results


def late_hooks(node: Node, results: tuple | list, grads: list) -> list:
    """Run a node's hooks, those too that came while it ran: note [Hooks that come while their node runs]."""
    has_post = node._node_hooks is not None and node._node_hooks.post
    results = post_hooks(node, list(results), grads) if has_post else list(results)
    modes.set_late(None)  # what one of them registered runs next time
    return results


def replaced(before: list, after: Any, hook: Any) -> list:
    """The tuple that a node hook returned, checked against what it was given.

    Raises:
        TypeError: it is no tuple of tensors and None.
        RuntimeError: it has another length, or an entry may not replace what stood there.
    """
    if not isinstance(after, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(after).__name__}'")
    if len(after) != len(before):
        raise RuntimeError(
            f"hook '{hook_name(hook)}' has returned an incorrect number of values (got {len(after)}, "
            f"but expected {len(before)})"
        )
    for old, replacement in zip(before, after):
        if replacement is not None:
            check_replacement(old, replacement, hook)
    return list(after)
