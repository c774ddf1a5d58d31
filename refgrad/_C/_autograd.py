"""`torch._C._autograd`: what PyTorch's tests and tools ask of the engine."""

from collections.abc import Sequence

from refgrad import modes
from refgrad.saved import RawSaved as SavedTensor
from refgrad.storage import version_cell
from refgrad.tensor import Tensor

__all__ = ["SavedTensor"]


def _saved_tensors_hooks_is_enabled() -> bool:
    """Whether hooks on saved tensors may be set in this thread."""
    return modes.state.rare.hooks_disabled is None


def _get_current_graph_task_keep_graph() -> bool:
    """Whether the run under way keeps its graph; True outside of one."""
    return True if modes.state.task is None else modes.state.task.keep_graph


def _unsafe_set_version_counter(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Set the number of writes that tensors have seen."""
    for tensor, version in zip(tensors, versions, strict=True):
        version_cell(tensor)[0] = version
