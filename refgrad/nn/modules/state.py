"""`state_dict` and `load_state_dict`: the parameters and buffers of a module by name."""

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from refgrad.__future__ import get_swap_module_params_on_conversion
from refgrad.autograd import no_grad
from refgrad.handles import RemovableHandle
from refgrad.nn.modules.hooks import add
from refgrad.nn.parameter import Parameter
from refgrad.swapping import swap_tensors
from refgrad.tensor import Tensor

EXTRA_STATE = "_extra_state"
UNREACHED = (
    "Reached a code path in Module.{}_extra_state() that should never be called. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
)


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` did not find, and what it could not place."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, unexpected_keys={self.unexpected_keys!r})"
        )

    __str__ = __repr__


IncompatibleKeys.__name__ = IncompatibleKeys.__qualname__ = "_IncompatibleKeys"


class Stateful:
    """The part of `Module` that saves and loads its state."""

    _version: int = 1

    def get_extra_state(self) -> Any:
        """Overridden by modules that save more than tensors."""
        raise RuntimeError(UNREACHED.format("get"))

    def set_extra_state(self, state: Any) -> None:
        """Overridden by modules that save more than tensors."""
        raise RuntimeError(UNREACHED.format("set"))

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """The parameters and persistent buffers by name, detached unless `keep_vars`."""
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for "
                "details.",
                FutureWarning,
                stacklevel=2,
            )
            given = [*args, destination, prefix, keep_vars][:1] + list(args[1:])
            destination = destination if destination is not None else given[0]
            prefix = given[1] if len(given) > 1 and prefix == "" else prefix
            keep_vars = given[2] if len(given) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, metadata)
            if getattr(hook, "_from_public_api", False):
                if replaced is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif replaced is not None:
                destination = replaced
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put this module's own state into `destination`."""
        for name, parameter in self._parameters.items():
            if parameter is not None:
                destination[prefix + name] = parameter if keep_vars else parameter.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """Copy (with `assign`: take over) the tensors of a state into what has the same name.

        Raises:
            TypeError: `state_dict` is no mapping.
            RuntimeError: a shape differs, or with `strict` a name is missing or too much.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        load_into(self, OrderedDict(state_dict), "", metadata, assign, (missing, unexpected, errors))
        if strict:
            for title, names in (("Unexpected", unexpected), ("Missing", missing)):
                if names:
                    listed = ", ".join(f'"{name}"' for name in names)
                    errors.insert(0, f"{title} key(s) in state_dict: {listed}. ")
        if errors:
            details = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{details}")
        return IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list,
        unexpected_keys: list,
        error_msgs: list,
    ) -> None:
        """Load this module's own state."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        local = {k: v for k, v in [*self._parameters.items(), *persistent.items()] if v is not None}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, target in local.items():
            if prefix + name in state_dict:
                error = load_one(self, name, target, prefix + name, state_dict[prefix + name], assign)
                if error:
                    error_msgs.append(error)
            elif strict:
                missing_keys.append(prefix + name)
        extra = prefix + EXTRA_STATE
        if type(self).set_extra_state is not Stateful.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            own = [key for key in state_dict if key.startswith(prefix) and key != extra]
            unexpected_keys += [key for key in own if not self._knows(key[len(prefix) :], local)]

    def _knows(self, key: str, local: dict) -> bool:
        """Whether a name in a state belongs to this module or to a child."""
        head, dot, _ = key.partition(".")
        return head in self._modules if dot else head in local

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict` filled its result."""
        hook._from_public_api = True
        return add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        """The old form of the hook, which may return another dictionary for that of the root module.

        Raises:
            RuntimeError: the function was registered with `register_state_dict_post_hook`.
        """
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously "
                "registered via register_state_dict_post_hook"
            )
        return add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict`."""
        return add(self._state_dict_pre_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, …)` before `load_state_dict`."""

        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable, with_module: bool = False
    ) -> RemovableHandle:
        """The old form of the hook, which need not take the module."""
        hook = partial(hook, self) if with_module else hook
        return add(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after `load_state_dict`."""
        return add(self._load_state_dict_post_hooks, hook)


def load_into(module: Any, state: Any, prefix: str, metadata: Any, assign: bool, found: tuple) -> None:
    """Load a state into a module, then into its children."""
    missing, unexpected, errors = found
    local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local_metadata["assign_to_params_buffers"] = assign
    module._load_from_state_dict(state, prefix, local_metadata, True, missing, unexpected, errors)
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            part = {key: value for key, value in state.items() if key.startswith(below)}
            load_into(child, part, below, metadata, assign, found)
    incompatible = IncompatibleKeys(missing, unexpected)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, incompatible) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                "values, if incompatible_keys need to be modified, it should be done inplace."
            )


def load_one(module: Any, name: str, target: Any, key: str, source: Any, assign: bool) -> str:
    """Load one tensor; returns what went wrong, or nothing."""
    if not isinstance(source, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
            f"checkpoint but received {type(source)}"
        )
    if target.dim() == 0 and source.shape == (1,):
        source = source.reshape(())
    if source.shape != target.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {source.shape} from checkpoint, the shape "
            f"in current model is {target.shape}."
        )
    swap = get_swap_module_params_on_conversion()
    try:
        with no_grad():
            if swap:
                swap_loaded(target, source, assign)
            elif not assign:
                target.copy_(source)
            elif not isinstance(target, Parameter):
                setattr(module, name, source)
            elif isinstance(source, Parameter):
                setattr(module, name, source.requires_grad_(target.requires_grad))
            else:
                setattr(module, name, Parameter(source, requires_grad=target.requires_grad))
    except Exception as error:
        action = "swapping" if swap else "copying"
        return (
            f'While {action} the parameter named "{key}", whose dimensions in the model are {target.size()} '
            f"and whose dimensions in the checkpoint are {source.size()}, an exception "
            f"occurred : {error.args}."
        )
    return ""


def swap_loaded(target: Any, source: Any, assign: bool) -> None:
    """Swap a parameter or buffer with what its `module_load` makes of the tensor that is loaded.

    Raises:
        RuntimeError: that is one of the two itself.
    """
    new = target.module_load(source, assign=assign)
    if new is source or new is target:
        raise RuntimeError(
            "module_load returned one of self or other, please .detach() the result if returning one of the "
            "inputs in module_load"
        )
    if isinstance(target, Parameter):
        is_one = isinstance(new, Parameter)
        new = new.requires_grad_(target.requires_grad) if is_one else Parameter(new, target.requires_grad)
    swap_tensors(target, new)
