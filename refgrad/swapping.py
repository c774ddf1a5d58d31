"""`torch.utils.swap_tensors`: two tensors that change places, each object with what the other was."""

import weakref
from copyreg import _slotnames
from typing import Any

from refgrad.graph import node_hooks, split_edge
from refgrad.tensor import Tensor

SLOTS = ("_array", "_version_cell", "_edge", "_meta")
POISONED = (
    "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when you try to "
    "run backward on a tensor that was swapped. For a module m with "
    "`torch.__future__.set_swap_module_params_on_conversion(True)` you should not change the device or dtype "
    "of the module (e.g. `m.cpu()` or `m.half()`) between running forward and backward. To resolve this, "
    "please only change the device/dtype before running forward (or after both forward and backward)."
)


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Swap two tensors: memory, graph, class and attributes.

    Raises:
        RuntimeError: one has weak references, or their classes have other slots.
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if set(weakref.getweakrefs(tensor)) - own_references(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = set(_slotnames(type(t1)))
    if slots != set(_slotnames(type(t2))):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    nodes = [accumulator_of(tensor) for tensor in (t1, t2)]
    for node in nodes:
        if node is not None:
            node.register_prehook(refuse_to_run)
    for name in ("__class__", "__dict__", *SLOTS, *sorted(slots - set(SLOTS))):
        swap_attribute(t1, t2, name)
    for node, tensor in zip(nodes, (t2, t1), strict=True):
        if node is not None:
            node.variable = tensor
    for tensor in (t1, t2):
        keep_retaining(tensor)


def swap_attribute(first: Any, second: Any, name: str) -> None:
    """Swap one attribute, which one of the two may lack."""
    held = {each: getattr(each, name) for each in (first, second) if hasattr(each, name)}
    for each, other in ((first, second), (second, first)):
        if other in held:
            setattr(each, name, held[other])
        elif each in held:
            delattr(each, name)


def own_references(tensor: Tensor) -> set:
    """The weak references by which graphs know a tensor that retains its gradient."""
    if tensor._meta is None or not tensor._meta.retains_grad or tensor.grad_fn is None:
        return set()
    return {node_hooks(tensor.grad_fn).retained.get(tensor.output_nr)}


def accumulator_of(tensor: Tensor) -> Any:
    """The AccumulateGrad of a leaf, if a graph holds it."""
    meta = tensor._meta
    return None if meta is None or meta.accumulator is None else meta.accumulator()


def keep_retaining(tensor: Tensor) -> None:
    """Let the graph fill the gradient of the object that has this place now."""
    if tensor._meta is not None and tensor._meta.retains_grad:
        node, number = split_edge(tensor._edge)
        node_hooks(node).retained[number] = weakref.ref(tensor)


def refuse_to_run(grad_outputs: Any) -> None:
    """The hook of an AccumulateGrad whose tensor was swapped.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(POISONED)
