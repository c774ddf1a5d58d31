"""`torch.utils.hooks`: handles of hooks, and the mark of hooks that pickling may drop without a warning."""

from collections.abc import Callable
from typing import Any

from refgrad.handles import RemovableHandle
from refgrad.nn.modules.hooks import BackwardHook

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Callable) -> Callable:
    """Mark a hook as one that pickling drops without a warning."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn about the hooks that pickling a tensor drops."""
    import warnings

    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can "
                "decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )
