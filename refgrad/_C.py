"""The few names of `torch._C` that debugging users and PyTorch's own tests lean on."""

from typing import Any

from refgrad import modes
from refgrad.autograd.graph import will_execute
from refgrad.graph import Node


def _set_grad_enabled(arg: bool) -> None:
    """Switch grad mode of this thread."""
    modes.set_grad(arg)


def _current_graph_task_id() -> int:
    """The number of the run under way in this thread, -1 outside of one."""
    return -1 if modes.state.task is None else modes.state.task.id


def _current_autograd_node() -> Node | None:
    """The node whose hooks or backward run now."""
    return modes.state.node


def _will_engine_execute_node(node: Node) -> bool:
    """Whether a node takes part in the run under way.

    Raises:
        RuntimeError: no run is under way, or a leaf's node is asked for during `autograd.grad`.
    """
    task: Any = modes.state.task
    if task is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    return will_execute(task, node)
