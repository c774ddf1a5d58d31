"""Handles on hooks: what registering one gives back, to take it out again."""

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any


class RemovableHandle:
    """Removes a hook again; works as a context manager too.

    `extra_dict` are one or several more dicts that say something about the hook, from which it goes too.
    """

    next_id = 0

    def __init__(self, hooks_dict: OrderedDict, *, extra_dict: Any = None):
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extras = [extra_dict] if isinstance(extra_dict, dict) else extra_dict or ()
        self.extra_dict_ref = tuple([weakref.ref(extra) for extra in extras])

    def remove(self) -> None:
        """Take the hook out; a second call does nothing."""
        references: tuple[weakref.ref, ...] = (self.hooks_dict_ref, *self.extra_dict_ref)
        for each in references:
            hooks = each()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple:
        return self.hooks_dict_ref(), self.id, tuple([each() for each in self.extra_dict_ref])

    def __setstate__(self, state: tuple) -> None:
        hooks, self.id, *extras = state
        self.hooks_dict_ref = reference(hooks)
        self.extra_dict_ref = tuple(map(reference, extras[0] or ())) if extras else ()
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __reduce__(self) -> Any:
        return (blank, (None if type(self) is RemovableHandle else type(self),), self.__getstate__())

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


RemovableHandle.__module__ = "torch.utils.hooks"  # shown by `repr`


def blank(kind: type | None) -> RemovableHandle:
    """A handle to be filled, by default of the class above, which cannot be pickled by its name."""
    return object.__new__(kind or RemovableHandle)


def reference(hooks: OrderedDict | None) -> weakref.ref:
    """A reference to hooks; a dead one if they are gone."""
    return weakref.ref(OrderedDict() if hooks is None else hooks)


def add_hook(hooks: OrderedDict, hook: Callable) -> RemovableHandle:
    """Register a hook in one of the dicts that the engine reads."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
