"""`Optimizer`: groups of parameters, what is remembered about each, and the step.

*Group*: a dict with `params` and the options that hold for them. *State*: what an optimizer remembers about
a parameter.
"""

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from refgrad import dtypes, modes
from refgrad.autograd import enable_grad
from refgrad.handles import RemovableHandle, add_hook
from refgrad.nn.modules.hooks import add
from refgrad.nn.modules.module import clear_grad
from refgrad.nn.parameter import typename
from refgrad.storage import version_cell, version_of
from refgrad.tensor import Tensor

DUPLICATES = (
    "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
    "see github.com/pytorch/pytorch/issues/40967 for more information"
)
SETS = (
    "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
    "will change between runs. Please use a list instead."
)

everywhere_before: OrderedDict = OrderedDict()
everywhere_after: OrderedDict = OrderedDict()


class Required:
    """Stands for an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = Required()


def hooked(step: Callable) -> Callable:
    """A `step` with the hooks before and after it."""

    @functools.wraps(step)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        self = args[0]
        for hook in [*everywhere_before.values(), *self._optimizer_step_pre_hooks.values()]:
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                args, kwargs = changed
        result = step(*args, **kwargs)
        for hook in [*self._optimizer_step_post_hooks.values(), *everywhere_after.values()]:
            hook(self, args, kwargs)
        return result

    wrapper.hooked = True
    return wrapper


class Optimizer:
    """Base of all optimizers: subclasses give `defaults` and either `update` or a whole `step`."""

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._make_hooks()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params)
            )
        self.state: defaultdict = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _make_hooks(self) -> None:
        for name in ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre"):
            self.__dict__.setdefault(f"_optimizer_{name}_hooks", OrderedDict())
        self.__dict__.setdefault("_optimizer_load_state_dict_post_hooks", OrderedDict())
        if not getattr(type(self).step, "hooked", False):
            type(self).step = hooked(type(self).step)  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    # Groups -------------------------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group; options that it does not give get their defaults.

        Raises:
            TypeError: it is no dict, or holds something else than tensors.
            ValueError: a parameter is no leaf or is in a group already.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        put_parameters(param_group)
        for parameter in param_group["params"]:
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {typename(parameter)}"
                )
            if not self.defaults.get("differentiable") and not (parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        own = set(param_group["params"])
        if len(own) != len(param_group["params"]):
            warnings.warn(DUPLICATES, stacklevel=3)
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                words = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{words} to the optimizer"
                )
        if any(not own.isdisjoint(group["params"]) for group in self.param_groups):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient of every parameter, or fill it with zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                clear_grad(parameter, set_to_none)

    # Step ---------------------------------------------------------------------------------------------------

    def step(self, closure: Callable | None = None) -> Any:
        """Update parameters that have gradients; `closure` first computes these, and the loss returned."""
        if type(self).update is Optimizer.update:
            raise NotImplementedError
        before = modes.state.grad
        modes.set_grad(self.defaults.get("differentiable", False))
        try:
            loss = None
            if closure is not None:
                with enable_grad():
                    loss = closure()
            for group in self.param_groups:
                if "lr" in self.defaults:
                    group["lr"]  # is read, and missed, even where no parameter has a gradient
                update = self.update_fused if group.get("fused") else self.update
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        update(parameter, parameter.grad, group)
            return loss
        finally:
            modes.set_grad(before)

    def update(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        raise NotImplementedError

    def update_fused(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter as PyTorch's fused kernels do, which count no writes but those of steps."""
        before = version_of(param)
        versions = {name: version_of(value) for name, value in tensors_in(self.state[param])}
        self.update(param, grad, group)
        version_cell(param)[0] = before
        for name, value in tensors_in(self.state[param]):
            if name != "step":
                version_cell(value)[0] = versions.get(name, 0)

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step."""
        return add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return add_hook(self._optimizer_step_post_hooks, hook)

    # State --------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """State and groups, with numbers in place of the parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        start = 0
        groups = []
        for group in self.param_groups:
            for number, parameter in enumerate(group["params"], start):
                numbers.setdefault(id(parameter), number)
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(parameter)] for parameter in group["params"]]
            start += len(packed["params"])
            groups.append(packed)
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict`."""
        return add(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after `state_dict`; it may return another in its place."""
        return add(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before a state is loaded; it may return another in its place."""
        return add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after a state was loaded."""
        return add(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over state and options; parameters are matched by their place.

        Raises:
            ValueError: the groups have other sizes.
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(one["params"]) != len(other["params"]) for one, other in zip(groups, saved, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size "
                "of optimizer's group"
            )
        parameters = {
            number: parameter
            for one, other in zip(groups, saved, strict=True)
            for number, parameter in zip(other["params"], one["params"], strict=True)
        }
        state: defaultdict = defaultdict(dict)
        for number, value in state_dict["state"].items():
            if number in parameters:
                state[parameters[number]] = cast_state(parameters[number], value)
            else:
                state[number] = value
        for one, other in zip(groups, saved, strict=True):
            other["params"] = one["params"]
            if "param_names" in one:
                other.setdefault("param_names", one["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)


Optimizer.step = hooked(Optimizer.step)  # type: ignore[method-assign]


def put_parameters(group: dict[str, Any]) -> None:
    """Bring a group's parameters into a list, and their names, if given, into another.

    Raises:
        TypeError: they come in a set.
        ValueError: only some have names.
    """
    given = group["params"]
    if isinstance(given, set):
        raise TypeError(SETS)
    given = [given] if isinstance(given, Tensor) else list(given)
    names = [entry[0] for entry in given if isinstance(entry, tuple)]
    group["params"] = [entry[1] if isinstance(entry, tuple) else entry for entry in given]
    if names:
        if len(names) != len(given):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        group["param_names"] = names


def cast_state(parameter: Tensor, value: Any, key: Any = None) -> Any:
    """A loaded state in the type of its parameter, except for step counts."""
    if isinstance(value, Tensor):
        if key == "step" or not parameter.is_floating_point():
            return value
        return value.to(parameter.dtype)
    if isinstance(value, dict):
        return {name: cast_state(parameter, item, name) for name, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(cast_state(parameter, item) for item in value)  # type: ignore[call-arg]
    return value


def tensors_in(state: dict[str, Any]) -> list[tuple[str, Tensor]]:
    """The names and values of the tensors that are remembered about a parameter."""
    return [(name, value) for name, value in state.items() if isinstance(value, Tensor)]


# What the optimizers share ----------------------------------------------------------------------------------


def check_learning_rate(lr: Any) -> None:
    """Refuse a learning rate that is negative or no single number.

    Raises:
        ValueError: with PyTorch's text.
    """
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not 0.0 <= lr:  # noqa: SIM300 - of an option that is no number PyTorch's error names this order
        raise ValueError(f"Invalid learning rate: {lr}")


def check_not_negative(**values: Any) -> None:
    """Refuse negative options; the name `x` is shown as "x value".

    Raises:
        ValueError: one is negative.
    """
    for name, value in values.items():
        if not 0.0 <= value:  # noqa: SIM300
            shown = "epsilon" if name == "eps" else name
            raise ValueError(f"Invalid {shown} value: {value}")


def check_fused(fused: Any, foreach: Any, differentiable: bool) -> None:
    """Refuse ways of computing that exclude each other.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_capturable(group: dict[str, Any], counted: str = "params and", xla: bool | None = None) -> None:
    """Refuse to be recorded as a graph of a device: there is none.

    Raises:
        AssertionError: with PyTorch's text.
    """
    if group["capturable"]:
        devices = ["cuda", "xpu", "hpu", "privateuseone"]
        if not group["foreach"] if xla is None else xla:
            devices.append("xla")
        raise AssertionError(
            f"If capturable=True, {counted} state_steps must be on supported devices: {devices}."
        )


def number_or_scalar(value: Any) -> Any:
    """An option as a number, or as a tensor without dimensions."""
    return value.squeeze() if isinstance(value, Tensor) and value.dim() else value


def zeros_for(param: Any, value: Any = 0) -> Any:
    """A tensor like the parameter, filled with one value, outside the graph."""
    made = param.detach().clone()
    made._array[...] = value
    return made


def step_count(value: float = 0) -> Any:
    """A new counter of steps, or another number that is counted on: a tensor without dimensions."""
    import numpy as np

    from refgrad.tensor import wrap

    kind = dtypes.float64 if dtypes.default() is dtypes.float64 else dtypes.float32
    return wrap(np.full((), value, kind.numpy))


def as_real(tensor: Any) -> Any:
    """A complex tensor as pairs of real numbers, any other as it is."""
    if not tensor.is_complex():
        return tensor
    from refgrad.op import calls

    return calls.view_as_real(tensor)
