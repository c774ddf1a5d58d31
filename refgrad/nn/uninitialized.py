"""Parameters and buffers that get their shape later: until then nearly all that asks for it is refused."""

from typing import Any

from refgrad.nn.modules.making import made
from refgrad.nn.parameter import Parameter
from refgrad.tensor import Tensor

NO_SHAPE_YET = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
    "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
    "`forward` to initialize the parameters before accessing their attributes."
)
NOT_SHARED_YET = (
    "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
    "before calling `module.share_memory()`."
)
ALLOWED = frozenset(
    (
        *("__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char"),
        *("short", "int", "long", "cuda", "cpu", "to", "get_device"),
    )
)
"""The methods that run although there is no shape."""


class Uninitialized(Tensor):
    """What such parameters and buffers share."""

    __slots__ = ()
    IS_LAZY = True
    cls_to_become: type = Tensor

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary parameter or buffer of this shape, whose elements are still to be set."""
        own: Any = self
        own.data = made("empty", tuple(shape), own.data.dtype if dtype is None else dtype)
        own.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Not there yet.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(NO_SHAPE_YET)

    def share_memory_(self) -> Any:
        """Refused.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(NOT_SHARED_YET)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (type(self), (self.requires_grad,))

    @classmethod
    def __torch_function__(cls, func: Any, types: tuple, args: tuple = (), kwargs: Any = None) -> Any:
        """Run what needs no shape.

        Raises:
            ValueError: it does.
        """
        name = func.__name__
        if is_property(func) or name in ALLOWED and func is getattr(Tensor, name, None):
            return super().__torch_function__(func, types, args, kwargs)  # type: ignore[misc]
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {shown(func)}. This error happens when you are "
            f"using a `LazyModule` or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. "
            "When using LazyModules Call `forward` with a dummy batch to initialize the parameters before "
            "calling torch functions"
        )


def is_property(function: Any) -> bool:
    """Whether it gets, sets or deletes a property."""
    return type(function).__name__ == "method-wrapper"


def shown(function: Any) -> str:
    """A function as PyTorch shows it."""
    name, full_name = function.__name__, function.__qualname__
    if full_name.startswith("TensorBase."):
        kind = "slot wrapper" if name in ("__getitem__", "__setitem__", "__delitem__") else "method"
        return f"<{kind} '{name}' of 'torch._C.TensorBase' objects>"
    if full_name.startswith("_VariableFunctionsClass."):
        return f"<built-in method {name} of type object at {id(function):#x}>"
    return repr(function)


class UninitializedParameter(Uninitialized, Parameter):  # type: ignore[misc]
    """A parameter that gets its shape later."""

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """A parameter of no shape and this type."""
        return Parameter.__new__(cls, made("empty", (0,), dtype), requires_grad)

    def __deepcopy__(self, memo: dict) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, dtype=self.data.dtype)
        return memo[id(self)]


class UninitializedBuffer(Uninitialized):
    """A buffer that gets its shape later."""

    __slots__ = ()

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        """A buffer of no shape and this type."""
        new: Any = Tensor._make_subclass(cls, made("empty", (0,), dtype), requires_grad)
        new.persistent = persistent
        new._is_buffer = True
        return new


UninitializedParameter.__module__ = UninitializedBuffer.__module__ = "torch.nn.parameter"
