"""`torch._C._autograd`: what PyTorch's tests and tools ask of the engine."""

from collections.abc import Sequence
from typing import Any

from refgrad import modes
from refgrad.saved import RawSaved as SavedTensor
from refgrad.saved import argument_mismatch
from refgrad.storage import is_inference, version_cell
from refgrad.tensor import Tensor

__all__ = ["SavedTensor"]

NO_COUNTER = (
    "Tried to call torch.autograd._unsafe_set_version() on a tensor that does not have a version counter. "
    "Was it created in inference mode?"
)


def _saved_tensors_hooks_is_enabled() -> bool:
    """Whether hooks on saved tensors may be set in this thread."""
    return modes.state.rare.hooks_disabled is None


def _get_current_graph_task_keep_graph() -> bool:
    """Whether the run under way keeps its graph; True outside of one."""
    return True if modes.state.task is None else modes.state.task.keep_graph


def _unsafe_set_version_counter(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Set the number of writes that tensors have seen.

    Raises:
        TypeError: these are no sequences of tensors and of whole numbers.
        RuntimeError: their lengths differ, a number is negative, or a tensor has no counter.
    """
    if not (holds_only(Tensor, tensors) and holds_only(int, versions)):
        raise argument_mismatch(
            "_unsafe_set_version_counter",
            "arg0: collections.abc.Sequence[torch.Tensor], "
            "arg1: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]",
            f"{tensors!r}, {versions!r}",
        )
    if len(tensors) != len(versions):
        raise RuntimeError(f"tensors_len={len(tensors)}, versions_len={len(versions)}")
    for tensor, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
        if is_inference(tensor):
            raise RuntimeError(NO_COUNTER)
        version_cell(tensor)[0] = version


def holds_only(kind: type, values: Any) -> bool:
    """Whether these are a sequence of nothing but instances of a class."""
    return isinstance(values, Sequence) and all(isinstance(value, kind) for value in values)
