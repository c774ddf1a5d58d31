"""The watched twins of what `Tensor` has; see the notes in overriding.py.

*Target*: what `__torch_function__` is given for an operator, a method or a property. It is the watched twin
itself or, for an operator that PyTorch makes of a method, the method. *Native*: what PyTorch writes in C++;
its arguments are handed on as they came. What it writes in Python hands on arguments that have a default by
keyword.
"""

from collections.abc import Callable
from functools import cache, wraps
from types import FunctionType
from typing import Any

import numpy as np

from refgrad import autograd, functional, modes, namespaces, operators, toplevel
from refgrad.autograd import grad_mode
from refgrad.metaclass import TensorMeta, Watched
from refgrad.overriding import (
    HAND_TO_OPERAND,
    NO_SUBCLASSES,
    ON_FIRST_USE,
    ON_LAST_MODE,
    ON_SUBCLASS,
    current_modes,
    disabled,
    hand_on,
    handle_torch_function,
    is_from_inside,
    is_overriding,
    is_watching,
    overriding_in,
)
from refgrad.tensor import Tensor
from refgrad.watchable import parameters_of, split_arguments, watch_all, watchable

SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "** or pow()",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}
METHOD_OF = {  # operators of two operands that PyTorch makes of a method
    "add": "add",
    "radd": "add",
    "iadd": "add_",
    "sub": "sub",
    "isub": "sub_",
    "mul": "mul",
    "rmul": "mul",
    "imul": "mul_",
    "truediv": "div",
    "itruediv": "div_",
    "ifloordiv": "floor_divide_",
    "mod": "remainder",
    "imod": "remainder_",
    "matmul": "matmul",
    "rand": "bitwise_and",
    "ror": "bitwise_or",
    "rxor": "bitwise_xor",
    **{name: name for name in ("ne", "lt", "le", "gt", "ge")},
}
OWN_OPERATORS = frozenset(
    ("and", "or", "xor", "lshift", "rshift", "iand", "ior", "ixor", "ilshift", "irshift")
)
PYTHON_OPERATORS = frozenset(
    (
        *("rsub", "rtruediv", "rdiv", "floordiv", "rfloordiv", "rmod", "pow", "rpow", "ipow", "rlshift"),
        *("rrshift", "rmatmul"),
    )
)
OF_ONE = {
    "__neg__": "neg",
    "__pos__": "positive",
    "__abs__": "abs",
    "nelement": "numel",
    "ndimension": "dim",
}
PYTHON_METHODS = frozenset(
    (
        *("__array__", "__array_wrap__", "__contains__", "__deepcopy__", "__dir__", "__format__", "__len__"),
        *("__reduce_ex__", "__repr__", "__reversed__", "backward", "dim_order", "is_shared", "lu", "norm"),
        *("register_hook", "register_post_accumulate_grad_hook", "share_memory_", "split", "storage"),
        *("unique", "unique_consecutive", "storage_type", "module_load", "resize", "resize_as"),
    )
)
OF_FUNCTIONAL = frozenset(
    (
        *("atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors", "cartesian_prod"),
        *("cdist", "chain_matmul", "einsum", "lu", "meshgrid", "norm", "split", "stft", "tensordot"),
        *("unique", "unique_consecutive", "unravel_index"),
    )
)
"""What PyTorch has in `torch.functional`."""

UNWATCHED = frozenset(
    (
        *("__hash__", "__iter__", "__new__", "__getattr__", "__init__", "__torch_function__", "as_subclass"),
        *("_can_require_grad", "_set_requires_grad", "_view_func", "_view_func_unsafe"),
        *("_rev_view_func_unsafe", "_make_subclass", "_make_wrapper_subclass"),
    )
)
RAW: dict[str, Any] = {}
"""What `Tensor` had in the places where it has the watched twins, once there was a mode."""

OWN: dict[str, Any] = {}
"""What this package gave `Tensor` where there is a twin; users may have put something else there."""


def raw(name: str) -> Any:
    """The operator, method or property that runs when nobody overrides it."""
    return OWN[name] if name in OWN else vars(Tensor)[name]


def install(name: str, function: Any) -> None:
    """Give `Tensor` an operator that is made on first use."""
    if name in RAW:
        RAW[name] = function
    elif name not in OWN or vars(Tensor)[name] is OWN[name]:
        setattr(Tensor, name, function)
    if name in OWN:
        OWN[name] = function


operators.INSTALL[0] = install


def watchers(values: tuple) -> list[Any] | None:
    """The overriding ones of the values that a watched twin got; None if the call is to run straight on."""
    if not is_watching() or is_from_inside():
        return None
    found = overriding_in(values)
    return found if found or current_modes() else None


# Methods ----------------------------------------------------------------------------------------------------


def native_method(name: str) -> Callable:
    """The twin of a method, or of an operator of one operand, that is native in PyTorch."""
    target_name = OF_ONE.get(name, name)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        found = watchers((self, *args, *kwargs.values()))
        if found is None:
            return raw(name)(self, *args, **kwargs)
        is_alone = name in OF_ONE or parameters_of(raw(name)).parameters.keys() == {"self"}
        asked = [self] if is_alone else found  # what has no arguments is not parsed in PyTorch
        target = getattr(Tensor, target_name)
        return hand_on(target, f"torch.Tensor.{target_name}", asked, (self, *args), kwargs)

    return method


def python_method(name: str) -> Callable:
    """The twin of a method that PyTorch writes in Python."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if watchers((self, *args, *kwargs.values())) is None:
            return raw(name)(self, *args, **kwargs)
        given, options = split_arguments(raw(name), (self, *args), kwargs)
        return handle_torch_function(getattr(Tensor, name), (self,), *given, **options)

    return method


# Operators --------------------------------------------------------------------------------------------------


def fits(symbol: str, other: Any) -> bool:
    """Whether an operator takes this operand; for the others Python asks the operand."""
    if isinstance(other, Tensor) or is_overriding(other):
        return True
    return "matmul" not in symbol and isinstance(other, (int, float, complex, np.generic))


HANDERS: dict[str, Callable] = {}
"""By operator, the function that hands it on: it gets both operands and the overriding ones."""


def native_operator(symbol: str, target_name: str) -> Callable:
    """The twin of an operator of two operands that is native in PyTorch."""

    def hand(self: Any, other: Any, found: list[Any]) -> Any:
        target = getattr(Tensor, target_name)
        return hand_on(target, f"torch.Tensor.{target_name}", found, (self, other), {})

    return watched_operator(symbol, hand)


def equality() -> Callable:
    """The twin of `==`, which asks the left operand alone if it is overriding."""

    def hand(self: Any, other: Any, found: list[Any]) -> Any:
        own = overriding_in((self,))
        target_name, asked = ("__eq__", own) if own or current_modes() else ("eq", found)
        return hand_on(getattr(Tensor, target_name), f"torch.Tensor.{target_name}", asked, (self, other), {})

    return watched_operator("eq", hand)


def python_operator(symbol: str) -> Callable:
    """The twin of an operator of two operands that PyTorch writes in Python."""
    public = "__rtruediv__" if symbol == "rdiv" else f"__{symbol}__"

    def hand(self: Any, other: Any, found: list[Any]) -> Any:
        return handle_torch_function(getattr(Tensor, public), (self, other), self, other)

    return watched_operator(symbol, hand)


def watched_operator(symbol: str, hand: Callable) -> Callable:
    """The twin of an operator of two operands, given what hands it on."""
    name = f"__{symbol}__"
    HANDERS[symbol] = hand

    def operator(self: Tensor, other: Any) -> Any:
        found = watchers((self, other))
        if found is None:
            return raw(name)(self, other)
        if isinstance(other, Tensor) and symbol in REFLECTED:
            return of_left(REFLECTED[symbol], other, self, found)
        if not fits(symbol, other):
            return NotImplemented
        try:
            return hand(self, other, found)
        except TypeError:
            return NotImplemented

    return operator


def hand_to_operand(symbol: str, self: Tensor, other: Any) -> Any:
    """An operator whose right operand is overriding and no tensor."""
    try:
        return HANDERS[symbol](self, other, [other])
    except TypeError:
        return NotImplemented


HAND_TO_OPERAND.append(hand_to_operand)
REFLECTED = {f"r{name}": name for name in SYMBOLS}


def of_left(symbol: str, left: Tensor, right: Tensor, found: list[Any]) -> Any:
    """`left` with `right`, which is of a subclass and was asked first.

    Raises:
        TypeError: nobody has a result.
    """
    try:
        result = HANDERS[symbol](left, right, found)
    except TypeError:
        result = NotImplemented
    if result is NotImplemented:
        raise TypeError(
            f"unsupported operand type(s) for {SYMBOLS[symbol]}: "
            f"'{type(left).__name__}' and '{type(right).__name__}'"
        )
    return result


# Properties -------------------------------------------------------------------------------------------------


class Attribute(property):
    """A property of `Tensor`, shown as what it is in PyTorch."""

    def __repr__(self) -> str:
        return f"<attribute '{self.__name__}' of 'torch._C.TensorBase' objects>"


def watched_property(name: str) -> Attribute:
    """The twin of a property."""
    shown = READ_AS.get(name, name)

    def get(self: Tensor) -> Any:
        found = watchers((self,))
        if found is None:
            return raw(name).fget(self)
        target = vars(Watched)[shown].__get__
        return hand_on(target, f"torch.Tensor.{shown}.__get__", [self], (self,), {})

    def put(self: Tensor, value: Any) -> None:
        found = None if name in READ_ONLY else watchers((self,))
        if found is None:
            raw(name).fset(self, value)
        else:
            hand_on(attribute.__set__, f"torch.Tensor.{name}.__set__", [self], (self, value), {})

    def delete(self: Tensor) -> None:
        found = None if name in READ_ONLY else watchers((self,))
        if found is None:
            raw(name).fdel(self)
        else:
            hand_on(attribute.__delete__, f"torch.Tensor.{name}.__delete__", [self], (self,), {})

    attribute = Attribute(get, put, delete)
    attribute.__name__ = name
    return attribute


READ_AS = {"_grad": "grad", "_grad_fn": "grad_fn"}
WRITABLE = (
    *("_backward_hooks", "_grad", "_grad_fn", "_post_accumulate_grad_hooks", "data", "grad", "grad_dtype"),
    *("imag", "real", "requires_grad", "volatile"),
)
READ_ONLY = frozenset(
    name for name, value in vars(Tensor).items() if isinstance(value, property) and name not in WRITABLE
)


# The twins and where they stand -----------------------------------------------------------------------------


def twin(name: str, value: Any) -> Any:
    """The watched twin of what `Tensor` has under a name, or None."""
    symbol = name.strip("_") if name.startswith("__") else ""
    if name in UNWATCHED or name in TWINS:
        return TWINS.get(name)
    if isinstance(value, property):
        return watched_property(name)
    if not isinstance(value, FunctionType) or hasattr(value, "LOOKS_ITSELF"):
        return None
    if symbol in METHOD_OF:
        made = native_operator(symbol, METHOD_OF[symbol])
    elif symbol == "eq":
        made = equality()
    elif symbol in OWN_OPERATORS:
        made = native_operator(symbol, name)
    elif symbol in PYTHON_OPERATORS:
        made = python_operator(symbol)
    elif name in PYTHON_METHODS:
        made = python_method(name)
    else:
        made = native_method(name)
    wraps(value)(made)
    is_python = symbol in PYTHON_OPERATORS or name in PYTHON_METHODS
    made.__name__, made.__qualname__ = name, f"{'Tensor' if is_python else 'TensorBase'}.{name}"
    made.__module__ = "torch._tensor" if is_python else None  # type: ignore[assignment]
    return made


TWINS: dict[str, Any] = {}


def make_twins() -> None:
    """Let subclasses find watched twins, and users who ask `Tensor` for an attribute."""
    for name, value in vars(Tensor).copy().items():
        made = twin(name, value)
        if made is not None:
            TWINS[name], OWN[name] = made, value
            # Python asks a reflected operator first if the classes do not share it.
            setattr(Watched, name, copied(made) if name.strip("_") in REFLECTED else made)
    TWINS["__iter__"], OWN["__iter__"] = iterate, vars(Tensor)["__iter__"]
    setattr(Watched, "__iter__", iterate)  # noqa: B010 - mypy does not know it

    def public_attribute(cls: type, name: str) -> Any:
        found = type.__getattribute__(cls, name)
        return TWINS[name] if name in TWINS and OWN[name] is found else found

    TensorMeta.__getattribute__ = public_attribute  # type: ignore[method-assign,assignment]


def copied(function: Any) -> FunctionType:
    """Another function of the same code."""
    return FunctionType(
        function.__code__, function.__globals__, function.__name__, None, function.__closure__
    )


def iterate(self: Tensor) -> Any:
    """Iteration, which asks for the dimensions and the pieces as a user would."""
    found = watchers((self,))
    if found is None:
        return raw("__iter__")(self)
    if hand_on(Tensor.dim, "torch.Tensor.dim", [self], (self,), {}) == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(hand_on(Tensor.unbind, "torch.Tensor.unbind", found, (self, 0), {}))


def watch(for_modes: bool = False) -> None:
    """Watch what was not watched until there was a subclass, or a mode."""
    watch_all()
    if for_modes and not RAW:
        for name, made in TWINS.items():
            if vars(Tensor)[name] is OWN[name]:
                RAW[name] = OWN[name]
                setattr(Tensor, name, made)
        grad_mode.switch[0] = grad_mode._set_grad_enabled
        namespaces.forget()


def unwatch() -> None:
    """Give `Tensor` back what it had before there was a mode."""
    grad_mode.switch[0] = modes.set_grad
    for name in list(RAW):
        setattr(Tensor, name, RAW.pop(name))


def convert(result: Any, kind: type) -> Any:
    """A result as of a subclass: tensors, those in lists and tuples too."""
    if isinstance(result, Tensor) and not isinstance(result, kind):
        return result.as_subclass(kind)
    if isinstance(result, (tuple, list)):
        return type(result)(convert(one, kind) for one in result)
    return result


def default_rule(
    cls: type, func: Callable, types: tuple, args: tuple = (), kwargs: dict | None = None
) -> Any:
    """`Tensor.__torch_function__`: runs the function, and makes its results tensors of the subclass."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with disabled(NO_SUBCLASSES):
        result = func(*args, **(kwargs or {}))
        if cls is Tensor or func in nowrap_functions():
            return result
        return convert(result, cls)


@cache
def nowrap_functions() -> frozenset:
    """The functions whose results keep their class."""
    return frozenset((Tensor._base.__get__, Tensor.grad.__get__, Tensor._grad.__get__))


default_rule.__name__, default_rule.__qualname__ = "__torch_function__", "Tensor.__torch_function__"
watchable([autograd.backward], "torch.autograd", asked=("tensors",))
watchable([autograd.grad], "torch.autograd", asked=("outputs", "inputs"))
for module in (functional, toplevel):
    watchable([getattr(module, n) for n in sorted(OF_FUNCTIONAL) if hasattr(module, n)], "torch.functional")


def start() -> None:
    """Begin to watch, once `Tensor` has all that it will have."""
    Tensor.__torch_function__ = classmethod(default_rule)
    make_twins()
    ON_FIRST_USE.append(watch)
    ON_LAST_MODE.append(unwatch)
    ON_SUBCLASS.append(namespaces.make_stand_ins)
    if namespaces.has_subclasses(Tensor):
        namespaces.make_stand_ins()
    if any(Watched in kind.__mro__ for kind in Tensor.__subclasses__()):
        watch()
