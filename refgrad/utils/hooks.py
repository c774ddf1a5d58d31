"""`torch.utils.hooks`: handles of hooks, and the mark of hooks that pickling may drop without a warning."""

from collections.abc import Callable

from refgrad.handles import RemovableHandle
from refgrad.methods import warn_if_has_hooks
from refgrad.nn.modules.hooks import BackwardHook

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Callable) -> Callable:
    """Mark a hook as one that pickling drops without a warning."""
    f.__torch_unserializable__ = True
    return f
