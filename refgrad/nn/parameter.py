"""Parameters and buffers: tensors that a `Module` notices when they are assigned to it."""

from collections import OrderedDict
from importlib import import_module
from typing import Any

from refgrad import errors
from refgrad.metaclass import TensorMeta
from refgrad.methods import show
from refgrad.overriding import DISABLED
from refgrad.storage import version_cell
from refgrad.tensor import Tensor, alias, is_wrapper


class ParameterType(TensorMeta):
    """Lets a tensor of a subclass that a parameter was made of count as a `Parameter`."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        is_of_subclass = cls is Parameter and isinstance(instance, Tensor)
        return is_of_subclass and bool(getattr(instance, "_is_param", False))


class Parameter(Tensor, metaclass=ParameterType):
    """A leaf over the memory of `data`, with its version counter, that modules count as a parameter."""

    __slots__ = ()
    __torch_function__ = DISABLED
    IS_PARAMETER = True

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """A parameter over `data`, by default over nothing; of a tensor of a subclass, one of the subclass.

        Raises:
            RuntimeError: it shall require grad and its type is not differentiable.
            TypeError: `requires_grad` is no bool.
        """
        if data is None:
            from refgrad.ops.creation import zeros

            data = zeros((0,))
        if type(data) is not Tensor and type(data) is not Parameter and not is_wrapper(data):
            return of_subclass(data, requires_grad)
        source = data
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "_make_subclass(): argument 'require_grad' (position 3) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        new = alias(source, version_cell(source), cls)
        if requires_grad:
            if not new._can_require_grad():
                raise RuntimeError(errors.NOT_DIFFERENTIABLE_DTYPE)
            new._set_requires_grad(True)
        if is_wrapper(new):  # which has a class of its own
            new._is_param = True
        return new

    def __deepcopy__(self, memo: dict) -> "Parameter":
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + show(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        kind = None if type(self) is Parameter else type(self)
        return (rebuild, (kind, self.data, self.requires_grad, dict(self.__dict__)))


def of_subclass(data: Any, requires_grad: bool) -> Any:
    """A tensor of the class of `data` that counts as a parameter.

    Raises:
        RuntimeError: its `detach` gives a tensor of another class.
    """
    new = data.detach().requires_grad_(requires_grad)
    if type(new) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() "
            f"returns an instance of the same type, but return type {type(new).__name__} was found instead. "
            "To use the type as a Parameter, please correct the detach() semantics defined by its "
            "__torch_dispatch__() implementation."
        )
    new._is_param = True
    return new


def rebuild(kind: type | None, data: Tensor, requires_grad: bool, attributes: dict) -> Parameter:
    """The parameter that `__reduce_ex__` described."""
    parameter = (kind or Parameter)(data, requires_grad)
    parameter.__dict__.update(attributes)
    parameter._backward_hooks = OrderedDict()
    return parameter


rebuild.__name__ = rebuild.__qualname__ = "_rebuild_parameter"
_rebuild_parameter = rebuild
Parameter.__module__ = "torch.nn.parameter"  # shown by `type`


class BufferType(type):
    """Makes `isinstance(tensor, Buffer)` look for the mark that `Buffer` leaves."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.__dict__.get("_is_buffer", False)


class Buffer(metaclass=BufferType):
    """A tensor marked as a buffer: modules count it as state that is not trained."""

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        """An alias of `data` with the mark, by default over nothing."""
        if data is None:
            from refgrad.ops.creation import zeros

            data = zeros((0,))
        new = data.detach().requires_grad_(data.requires_grad)
        new.persistent = persistent
        new._is_buffer = True
        return new


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has yet to get its shape."""
    return getattr(type(param), "IS_LAZY", False)


def __getattr__(name: str) -> Any:
    if name in ("UninitializedBuffer", "UninitializedParameter"):
        return getattr(import_module("refgrad.nn.uninitialized"), name)
    raise AttributeError(f"module 'torch.nn.parameter' has no attribute '{name}'")


def typename(value: Any) -> str:
    """The name of an object's type as modules' error messages show it."""
    if isinstance(value, Tensor):
        return value.dtype.tensor_type
    kind = value if hasattr(value, "__qualname__") else type(value)
    module = getattr(value, "__module__", None) or ""
    module = "torch" + module.removeprefix("refgrad") if module.startswith("refgrad") else module
    prefix = "" if module in ("", "builtins") else f"{module}."
    return f"{prefix}{kind.__qualname__}"
