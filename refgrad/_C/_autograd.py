"""`torch._C._autograd`: what PyTorch's tests and tools ask of the engine."""

from collections.abc import Sequence
from enum import Enum
from typing import Any

from refgrad import modes, views
from refgrad.autograd.graph import pop_hooks, push_hooks
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


_push_saved_tensors_default_hooks, _pop_saved_tensors_default_hooks = push_hooks, pop_hooks


def _top_saved_tensors_default_hooks(ignore_is_tracing: bool) -> tuple | None:
    """The pair of hooks that tensors go through that are saved now."""
    hooks = modes.state.rare.saved_tensor_hooks
    return hooks[-1] if hooks and _saved_tensors_hooks_is_enabled() else None


def _saved_tensors_hooks_disable(error_message: str) -> None:
    """Refuse further hooks on saved tensors with this message.

    Raises:
        RuntimeError: there are some now.
    """
    modes.set_rare(hooks_disabled=error_message)
    if modes.state.rare.saved_tensor_hooks:
        raise RuntimeError(error_message)


def _saved_tensors_hooks_enable() -> None:
    """Allow hooks on saved tensors again."""
    modes.set_rare(hooks_disabled=None)


def _saved_tensors_hooks_get_disabled_error_message() -> str | None:
    """What a new pair of hooks is refused with, if it is."""
    return modes.state.rare.hooks_disabled


class CreationMeta(Enum):
    """How a view was made, by PyTorch's names and numbers. See note [Creation kinds]."""

    DEFAULT = 0
    IN_CUSTOM_FUNCTION = 1
    MULTI_OUTPUT_NODE = 2
    NO_GRAD_MODE = 3
    INFERENCE_MODE = 4


KINDS = dict(
    zip(
        (views.DEFAULT, views.CUSTOM_FUNCTION, views.MULTI_OUTPUT, views.NO_GRAD, views.INFERENCE_MODE),
        CreationMeta,
        strict=True,
    )
)


def _get_creation_meta(tensor: Tensor) -> CreationMeta:
    """How a view was made.

    Raises:
        RuntimeError: it is no view.
    """
    return KINDS[view_meta(tensor).creation]


def _set_creation_meta(tensor: Tensor, kind: CreationMeta) -> None:
    """Say how a view was made.

    Raises:
        RuntimeError: it is no view.
    """
    view_meta(tensor).creation = next(own for own, theirs in KINDS.items() if theirs is kind)


def view_meta(tensor: Tensor) -> Any:
    """What a view knows of its base.

    Raises:
        RuntimeError: it is no view.
    """
    if not tensor._is_view():
        raise RuntimeError(
            "Expected meta != nullptr to be true, but got false.  (Could this error message be improved?  If "
            "so, please report an enhancement request to PyTorch.)"
        )
    return tensor._meta


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
