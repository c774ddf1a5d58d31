"""Handles on hooks: what registering one gives back, to take it out again."""

import weakref
from collections import OrderedDict
from collections.abc import Callable


class RemovableHandle:
    """Removes a hook again; works as a context manager too."""

    next_id = 0

    def __init__(self, hooks: dict):
        self.hooks_dict_ref = weakref.ref(hooks) if isinstance(hooks, OrderedDict) else lambda: hooks
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self) -> None:
        """Take the hook out; a second call does nothing."""
        hooks = self.hooks_dict_ref()
        if hooks is not None and self.id in hooks:
            del hooks[self.id]

    def __getstate__(self) -> tuple:
        return self.hooks_dict_ref(), self.id

    def __setstate__(self, state: tuple) -> None:
        hooks = OrderedDict() if state[0] is None else state[0]
        self.hooks_dict_ref = weakref.ref(hooks)
        self.id = state[1]
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __repr__(self) -> str:
        return f"<torch.utils.hooks.RemovableHandle object at {id(self):#x}>"

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def add_hook(hooks: OrderedDict, hook: Callable) -> RemovableHandle:
    """Register a hook in one of the dicts that the engine reads."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
