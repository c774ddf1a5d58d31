"""Parameters and buffers: tensors that a `Module` notices when they are assigned to it."""

from collections import OrderedDict
from typing import Any

from refgrad import errors
from refgrad.methods import show
from refgrad.storage import version_cell
from refgrad.tensor import Tensor, alias


class Parameter(Tensor):
    """A leaf over the memory of `data`, with its version counter, that modules count as a parameter."""

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """A parameter over `data`, by default over nothing.

        Raises:
            RuntimeError: it shall require grad and its type is not differentiable.
            TypeError: `requires_grad` is no bool.
        """
        if data is None:
            from refgrad.ops.creation import zeros

            data = zeros((0,))
        source = data if isinstance(data, Tensor) else data.detach()
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
    """Whether a parameter has yet to get its shape: never here."""
    return False


def typename(value: Any) -> str:
    """The name of an object's type as modules' error messages show it."""
    if isinstance(value, Tensor):
        return value.dtype.tensor_type
    kind = value if hasattr(value, "__qualname__") else type(value)
    module = getattr(value, "__module__", None) or ""
    module = "torch" + module.removeprefix("refgrad") if module.startswith("refgrad") else module
    prefix = "" if module in ("", "builtins") else f"{module}."
    return f"{prefix}{kind.__qualname__}"
