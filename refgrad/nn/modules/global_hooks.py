"""Registering hooks on all modules at once."""

from collections.abc import Callable

from refgrad.handles import RemovableHandle
from refgrad.nn.modules.hooks import EXCLUSIVE, add, everywhere


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of every module."""
    return add(everywhere.forward_pre, hook)


def register_module_forward_hook(
    hook: Callable, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after the forward of every module."""
    handle = add(everywhere.forward, hook)
    if with_kwargs:
        everywhere.with_kwargs.add(handle.id)
    if always_call:
        everywhere.always_called.add(handle.id)
    return handle


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_output)` before the backward of every module."""
    return add(everywhere.backward_pre, hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` after the backward of every module."""
    if everywhere.backward_is_full is False:
        raise RuntimeError(EXCLUSIVE.replace("on a single Module", "as a global Module hook"))
    everywhere.backward_is_full = True
    return add(everywhere.backward, hook)


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """The deprecated kind of `register_module_full_backward_hook`."""
    if everywhere.backward_is_full is True:
        raise RuntimeError(EXCLUSIVE.replace("on a single Module", "as a global Module hook"))
    everywhere.backward_is_full = False
    return add(everywhere.backward, hook)


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, buffer)` whenever a buffer is registered."""
    return add(everywhere.buffer, hook)


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, submodule)` whenever a module is registered."""
    return add(everywhere.module, hook)


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, parameter)` whenever a parameter is registered."""
    return add(everywhere.parameter, hook)
