"""The few names of `torch._C` that debugging users and PyTorch's own tests lean on."""

from typing import Any
from weakref import ref

from refgrad import duals, modes
from refgrad._C import _autograd as _autograd
from refgrad._C import _functions as _functions
from refgrad.autograd.function import FunctionBase as _FunctionBase  # noqa: F401
from refgrad.autograd.grad_mode import _force_original_view_tracking, set_multithreading_enabled
from refgrad.autograd.grad_mode import _set_grad_enabled as _set_grad_enabled
from refgrad.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from refgrad.autograd.grad_mode import is_multithreading_enabled as _is_multithreading_enabled  # noqa: F401
from refgrad.autograd.grad_mode import is_view_replay_enabled as _is_view_replay_enabled  # noqa: F401
from refgrad.autograd.graph import execution_order, will_execute
from refgrad.autograd.variable import _EngineBase as _ImperativeEngine  # noqa: F401
from refgrad.graph import Node
from refgrad.overriding import ALL_DISABLED, NO_SUBCLASSES, current_modes, disabled, pop_mode, push_mode
from refgrad.overriding import DISABLED as _disabled_torch_function_impl  # noqa: F401
from refgrad.tensor import Tensor

has_lapack = True  # NumPy brings it along


def _set_fwd_grad_enabled(enabled: bool) -> None:
    """Switch whether operations of this thread carry tangents along."""
    from refgrad.autograd import forward_ad

    forward_ad.set_forward(enabled)


def _is_fwd_grad_enabled() -> bool:
    """Whether operations of this thread carry tangents along."""
    return duals.is_enabled()


def _enter_dual_level() -> int:
    """Open a level of forward mode."""
    from refgrad.autograd import forward_ad  # noqa: F401 - it knows how to carry tangents

    return duals.open_level()


def _exit_dual_level(level: int) -> None:
    """Close a level of forward mode."""
    duals.close_level(level)


def _current_graph_task_id() -> int:
    """The number of the run under way in this thread, -1 outside of one."""
    return -1 if modes.state.task is None else modes.state.task.id


def _current_autograd_node() -> Node | None:
    """The node whose hooks or backward run now."""
    return modes.state.node


def _will_engine_execute_node(node: Node) -> bool:
    """Whether a node takes part in the run under way.

    Raises:
        RuntimeError: it is no node, no run is under way, or a leaf's node is asked for in `autograd.grad`.
    """
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    task: Any = modes.state.task
    if task is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    return will_execute(task, node)


def _current_graph_task_execution_order() -> list[Node]:
    """The nodes of the run under way, in the order in which they run.

    Raises:
        RuntimeError: no run is under way, or its nodes may run in several threads.
    """
    task: Any = modes.state.task
    if task is None:
        raise RuntimeError(
            "_current_graph_task_execution_order should only be called during the backward pass"
        )
    if modes.state.multithreading:
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed with "
            "multithreading disabled, e.g. by running:\n\n"
            ">>> with torch.autograd.set_multithreading_enabled(False):\n"
            "...     torch.autograd.grad(...)\n"
        )
    return execution_order(task)


def _set_multithreading_enabled(enabled: bool) -> None:
    """Say whether a run may use several threads; here it uses one."""
    set_multithreading_enabled(enabled)


def _set_view_replay_enabled(enabled: bool) -> None:
    """Say whether views made from now on are made again op by op when their base was written."""
    _force_original_view_tracking(enabled)


class DisableTorchFunctionSubclass(disabled):
    """Switches `__torch_function__` of subclasses off in this thread, not that of modes."""

    def __init__(self) -> None:
        super().__init__(NO_SUBCLASSES)


class DisableTorchFunction(disabled):
    """Switches `__torch_function__` off in this thread, that of modes too."""

    def __init__(self) -> None:
        super().__init__(ALL_DISABLED)


def _is_torch_function_enabled() -> bool:
    """Whether calls are handed to the `__torch_function__` of subclasses."""
    return modes.state.overrides == 0


def _is_torch_function_all_disabled() -> bool:
    """Whether calls are handed to nobody."""
    return modes.state.overrides == ALL_DISABLED


def _is_torch_function_mode_enabled() -> bool:
    """Whether a function mode sees the next call."""
    return bool(current_modes())


def _len_torch_function_stack() -> int:
    """How many function modes are entered."""
    return len(modes.state.function_modes)


def _get_function_stack_at(index: int) -> Any:
    """A function mode that is entered; the outermost is the first."""
    return modes.state.function_modes[index]


_push_on_torch_function_stack, _pop_torch_function_stack = push_mode, pop_mode
TensorBase = _TensorBase = Tensor


def __getattr__(name: str) -> type:
    if name == "_LinAlgError":  # stands with the ops, which are loaded when they are needed
        from refgrad.ops.matrices import _LinAlgError

        return _LinAlgError
    raise AttributeError(f"module 'torch._C' has no attribute '{name}'")


class _WeakTensorRef:
    """A reference that does not keep a tensor."""

    __slots__ = ("_reference",)

    def __init__(self, tensor: Tensor):
        self._reference = ref(tensor)

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        return self._reference() is None
