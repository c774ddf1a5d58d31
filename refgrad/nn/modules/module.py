"""`Module`: parameters, buffers and other modules under names, and one `forward`."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from refgrad.nn.modules.conversion import Convertible
from refgrad.nn.modules.global_hooks import (  # noqa: F401
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from refgrad.nn.modules.hooks import Hooked, everywhere
from refgrad.nn.modules.state import Stateful
from refgrad.nn.parameter import Buffer, Parameter, typename
from refgrad.tensor import Tensor


def check_name(kind: str, name: Any, taken: bool) -> None:
    """Refuse a name under which nothing can be registered.

    Raises:
        TypeError: it is no string.
        KeyError: it contains a dot, is empty, or is taken.
    """
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
    if kind == "module" and taken:
        raise KeyError(f"attribute '{name}' already exists")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if taken:
        raise KeyError(f"attribute '{name}' already exists")


class Module(Hooked, Stateful, Convertible):
    """Base of all modules: assign parameters and modules as attributes, and override `forward`."""

    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    call_super_init = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            if kwargs:
                name = next(iter(kwargs))
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument '{name}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but "
                    f"{len(args) + 1} were given"
                )
        own = self.__dict__
        own["training"] = True
        own.update(_parameters={}, _buffers={}, _non_persistent_buffers_set=set())
        own.update(
            _backward_pre_hooks=OrderedDict(), _backward_hooks=OrderedDict(), _is_full_backward_hook=None
        )
        own.update(_forward_hooks=OrderedDict(), _forward_hooks_with_kwargs=OrderedDict())
        own.update(_forward_hooks_always_called=OrderedDict(), _forward_pre_hooks=OrderedDict())
        own.update(_forward_pre_hooks_with_kwargs=OrderedDict(), _state_dict_hooks=OrderedDict())
        own.update(_state_dict_pre_hooks=OrderedDict(), _load_state_dict_pre_hooks=OrderedDict())
        own.update(_load_state_dict_post_hooks=OrderedDict(), _modules={})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *input: Any) -> Any:
        """Overridden by every module."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    # Registering --------------------------------------------------------------------------------------------

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter; it is saved by `state_dict` if persistent.

        Raises:
            KeyError: the name cannot be used.
            TypeError: it is no tensor.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        check_name(
            "buffer", name, isinstance(name, str) and hasattr(self, name) and name not in self._buffers
        )
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor "
                "or None required)"
            )
        for hook in everywhere.buffer.values():
            changed = hook(self, name, tensor)
            tensor = tensor if changed is None else changed
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(
            name
        )

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter.

        Raises:
            KeyError: the name cannot be used.
            TypeError: it is no `Parameter`.
            ValueError: it is no leaf.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        check_name(
            "parameter", name, isinstance(name, str) and hasattr(self, name) and name not in self._parameters
        )
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter "
                "or None required)"
            )
        if param is not None and param.grad_fn:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                f"explicitly. To express '{name}' as a function of another Tensor, compute the value in "
                "the forward() method."
            )
        if param is not None:
            for hook in everywhere.parameter.values():
                changed = hook(self, name, param)
                param = param if changed is None else changed
        self._parameters[name] = param

    def add_module(self, name: str, module: "Module | None") -> None:
        """Add a child.

        Raises:
            KeyError: the name cannot be used.
            TypeError: it is no module.
        """
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        check_name(
            "module", name, isinstance(name, str) and hasattr(self, name) and name not in self._modules
        )
        self._modules[name] = through_module_hooks(self, name, module)

    def register_module(self, name: str, module: "Module | None") -> None:
        """Another name of `add_module`."""
        self.add_module(name, module)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind in own and name in own[kind]:
                return own[kind][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in own:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            forget(self, name, "_buffers", "_modules", "_non_persistent_buffers_set")
            self.register_parameter(name, value)
        elif name in own.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter "
                    "or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            forget(self, name, "_parameters", "_buffers", "_non_persistent_buffers_set")
            own["_modules"][name] = through_module_hooks(self, name, value)
        elif name in own.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module "
                    "or None expected)"
                )
            own["_modules"][name] = through_module_hooks(self, name, value)
        elif name in own.get("_buffers", ()) or isinstance(value, Buffer):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor "
                    "or None expected)"
                )
            kept = (
                value.persistent
                if isinstance(value, Buffer)
                else name not in own["_non_persistent_buffers_set"]
            )
            self.register_buffer(name, value, kept)
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                if kind == "_buffers":
                    self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    # Looking around -----------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, "Module"]]:
        """This module and all below it, with their names, each once unless duplicates are wanted."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(
                    memo, f"{prefix}.{name}" if prefix else name, remove_duplicate
                )

    def modules(self, remove_duplicate: bool = True) -> Iterator["Module"]:
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, "Module"]]:
        """The modules right below this one, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator["Module"]:
        """The modules right below this one."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, get_members_fn: Callable, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """What `get_members_fn` finds in this module and below, each once unless duplicates are wanted."""
        found = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        seen = set()
        for path, module in found:
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield f"{path}.{name}" if path else name, member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their names."""
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, with `recurse`, of those below it."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their names."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and, with `recurse`, of those below it."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> "Module":
        """The module at a dotted path.

        Raises:
            AttributeError: there is none.
        """
        module = self
        for part in target.split(".") if target else ():
            if not hasattr(module, part):
                raise AttributeError(f"{module._get_name()} has no attribute `{part}`")
            module = getattr(module, part)
            if not isinstance(module, Module):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: "Module", strict: bool = False) -> None:
        """Put a module at a dotted path; with `strict` only where one is.

        Raises:
            ValueError: the path is empty, or `module` is no module.
            AttributeError: what is there is no module, or with `strict` there is nothing.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            parent.get_submodule(name)
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path.

        Raises:
            AttributeError: there is none.
        """
        return member_at(self, target, Parameter, "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path.

        Raises:
            AttributeError: there is none.
        """
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return module._buffers[name]

    # Changing -----------------------------------------------------------------------------------------------

    def apply(self, fn: Callable[["Module"], None]) -> "Module":
        """Call `fn` with every module below this one, then with this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> "Module":
        """Set `training` here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> "Module":
        """`train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> "Module":
        """Set the flag of every parameter."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient of every parameter, or fill it with zeros."""
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    # Showing and copying ------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Overridden by modules that show more than their children."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        if len(lines) == 1 and not self._modules:
            return f"{self._get_name()}({extra})"
        lines += [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        inside = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({inside})"

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())

    def __getstate__(self) -> dict:
        return self.__dict__.copy()

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)


for _part in (Hooked, Stateful, Convertible):  # users see one class
    for _name, _function in vars(_part).items():
        if isinstance(_function, FunctionType):
            _function.__qualname__ = f"Module.{_name}"


def forget(module: Module, name: str, *kinds: str) -> None:
    """Take a name out of a module's attributes and of some of its registers."""
    own = module.__dict__
    own.pop(name, None)
    for kind in kinds:
        if name in own[kind]:
            (own[kind].discard if isinstance(own[kind], set) else own[kind].pop)(name)


def through_module_hooks(parent: Module, name: str, module: Module | None) -> Module | None:
    """A child as the hooks on registering leave it."""
    for hook in everywhere.module.values():
        changed = hook(parent, name, module)
        module = module if changed is None else changed
    return module


def member_at(module: Module, target: str, kind: type, words: str) -> Any:
    """The member at a dotted path, which must be of a kind."""
    path, _, name = target.rpartition(".")
    owner = module.get_submodule(path)
    if not hasattr(owner, name):
        raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
    member = getattr(owner, name)
    if not isinstance(member, kind):
        raise AttributeError(f"`{name}` is not {words}")
    return member


def clear_grad(parameter: Tensor, set_to_none: bool) -> None:
    """Forget a gradient, or detach it and fill it with zeros."""
    grad = parameter.grad
    if grad is None:
        return
    if set_to_none:
        parameter.grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def indented(text: str) -> str:
    """The text with all lines but the first moved to the right."""
    return text.replace("\n", "\n  ")
