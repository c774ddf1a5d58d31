"""`torch.nn.utils.parametrize`: parameters that are functions of others.

*Original*: a tensor that a parametrised one is computed from; it takes the place of the parameter.
"""

import contextlib
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from refgrad.autograd import no_grad
from refgrad.nn.modules.container import ModuleDict, ModuleList
from refgrad.nn.modules.module import Module
from refgrad.nn.parameter import Parameter
from refgrad.tensor import Tensor

NO_PICKLES = (
    "Serialization of parametrized modules is only supported through state_dict(). See:\n"
    "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
    "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
)


class Cache:
    """What was computed within `cached()`, by module and name."""

    depth = 0
    values: dict = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrised tensor only once in this block."""
    Cache.depth += 1
    try:
        yield
    finally:
        Cache.depth -= 1
        if not Cache.depth:
            Cache.values = {}


def register(module: Module, name: str, tensor: Any) -> None:
    """Give a module a tensor, as parameter or buffer."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def check_tensor(value: Any) -> None:
    """Refuse what is no tensor.

    Raises:
        ValueError: with PyTorch's text.
    """
    if not isinstance(value, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")


class ParametrizationList(ModuleList):
    """The functions, in order, that make a tensor out of its originals.

    Raises:
        ValueError: there are none, or they change what they may not.
    """

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        kind, shape = original.dtype, original.shape
        new: Any = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        new = module.right_inverse(new)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._take_one(original, new)
        else:
            self._take_several(original, new)
        if not unsafe:
            self._check_result(kind, shape)

    def _take_one(self, original: Any, new: Any) -> None:
        if original.dtype is not new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        with no_grad():
            original.set_(new)
        register(self, "original", original)

    def _take_several(self, original: Any, new: Any) -> None:
        for i, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                    f"element {i} of the sequence with type {type(tensor).__name__}."
                )
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            tensor.requires_grad_(original.requires_grad)
            register(self, f"original{i}", tensor)

    def _check_result(self, kind: Any, shape: Any) -> None:
        """Refuse a result of another type or shape than the tensor had."""
        result = self()
        check_tensor(result)
        for what, old, new in (("dtype", kind, result.dtype), ("shape", shape, result.shape)):
            if old != new:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` "
                    f"flag is enabled.\nunparametrized {what}: {old}\nparametrized {what}: {new}"
                )

    def right_inverse(self, value: Any) -> None:
        """Give the originals values from which this one is computed.

        Raises:
            RuntimeError: a function has no inverse.
            ValueError: an inverse gives something else than the originals are.
        """
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            if self.is_tensor:
                self._set_one(value)
            else:
                self._set_several(value)

    def _set_one(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if value.dtype is not self.original.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                f"{self.original.dtype}"
            )
        self.original.set_(value)

    def _set_several(self, values: Any) -> None:
        if not isinstance(values, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(values).__name__}."
            )
        if len(values) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a "
                f"sequence of length {len(values)}."
            )
        for i, value in enumerate(values):
            original = getattr(self, f"original{i}")
            if original.dtype is not value.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {value.dtype} while `original{i}` has "
                    f"dtype {original.dtype}"
                )
            original.set_(value)

    def forward(self) -> Any:
        if self.is_tensor:
            value = self[0](self.original)
        else:
            value = self[0](*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        for module in list(self)[1:]:
            value = module(value)
        return value


def copy_parametrized(self: Any, memo: dict) -> Any:
    """A deep copy: the class stays the one that was made for this module."""
    if id(self) in memo:
        return memo[id(self)]
    replica = memo[id(self)] = self.__new__(type(self))
    replica.__dict__ = deepcopy(self.__dict__, memo)
    return replica


def refuse_pickling(self: Any) -> Any:
    """Refuse.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(NO_PICKLES)


def give_class(module: Module) -> None:
    """Give a module a class of its own, which can have properties."""
    cls = type(module)
    names: dict[str, Any] = {"__getstate__": refuse_pickling}
    if not hasattr(cls, "__deepcopy__"):
        names["__deepcopy__"] = copy_parametrized
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), names)


def give_property(module: Module, name: str) -> None:
    """Let a name of a module mean what is computed."""

    def read(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not Cache.depth:
            return parametrization()
        key = (id(module), name)
        if key not in Cache.values:
            Cache.values[key] = parametrization()
        return Cache.values[key]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def check_further(module: Module, name: str, parametrization: Any) -> None:
    """Refuse a further function that changes type or shape, or whose inverse does.

    Raises:
        ValueError: with PyTorch's text.
    """
    before = getattr(module, name)
    after = parametrization(before)
    check_tensor(after)
    for what in ("dtype", "shape"):
        old, new = getattr(before, what), getattr(after, what)
        if old != new:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` "
                f"flag is enabled.\nmodule.{name}.{what}: {old}\n"
                f"parametrization(module.{name}).{what}: {new}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what in ("dtype", "shape"):
        old, new = getattr(before, what), getattr(back, what)
        if old != new:
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as "
                f"module.{name}, unless the `unsafe` flag is enabled.\nmodule.{name}.{what}: {old}\n"
                f"returned {what}: {new}"
            )


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let a parameter or buffer of a module be computed by a function; further ones are put behind.

    Raises:
        ValueError: there is no such tensor, or the function changes type or shape.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            check_further(module, tensor_name, parametrization)
        several: Any = module.parametrizations
        several[tensor_name].append(parametrization)
        several[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        found = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            give_class(module)
            module.parametrizations = ModuleDict()
        give_property(module, tensor_name)
        module.parametrizations[tensor_name] = found
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module, or one of its tensors, is computed."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Let a tensor be one of its own again, with the value computed or with the original one.

    Raises:
        ValueError: it is not computed, or there is no single original to go back to.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found: Any = module.parametrizations[tensor_name]
    if found.is_tensor:
        original = found.original
        if leave_parametrized:
            with no_grad():
                original.set_(getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms "
            "of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Parametrize another module alike, with the same values; returns that module."""
    if not is_parametrized(from_module):
        return to_module
    sources: Any = from_module.parametrizations
    for name in sources if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in sources[name]:
            register_parametrization(to_module, name, parametrization)
        target: Any = to_module.parametrizations[name]
        for original in [key for key in sources[name]._parameters if key.startswith("original")]:
            setattr(target, original, getattr(sources[name], original))
    return to_module
