"""Which public names the ops have: functions of the package, methods and operators of `Tensor`.

*Front*: the function behind a public name; it matches the arguments with the declared overloads, and deals
with `out=`. Fronts are made on first use: `Tensor.__getattr__` and the package's `__getattr__` ask here.
"""

import sys
import weakref
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from refgrad import casting, signatures
from refgrad.forms import INTEGERS, Call, form_of, settled_call
from refgrad.metaclass import TensorMeta
from refgrad.op import BY_NAME, LOAD
from refgrad.outputs import write_out
from refgrad.overloads import Binder
from refgrad.overriding import (
    DISABLED,
    MODES,
    PLAIN,
    current_modes,
    hand_on,
    is_from_inside,
    is_overriding,
    overriding_in,
)
from refgrad.samples import Batched, per_sample
from refgrad.schema import Schema
from refgrad.signatures.shown import is_method
from refgrad.tensor import Tensor, instance, wrap


class Overload(NamedTuple):
    """One entry behind a public name; `twin` says that the name means what the entry does in place."""

    entry: Any
    twin: bool

    @property
    def schema(self) -> Schema:
        """The schema that calls are matched with."""
        return self.entry.schema.inplace() if self.twin else self.entry.schema

    @property
    def call(self) -> Callable:
        """The function that runs."""
        return self.entry.call_inplace if self.twin else self.entry.call


def overloads_of(name: str) -> list[Overload]:
    """What stands behind a public name: its entries, and for `name_` the entries of `name` with a twin."""
    found = [Overload(entry, False) for entry in BY_NAME.get(name, ())]
    if name.endswith("_"):
        found += [Overload(entry, True) for entry in BY_NAME.get(name[:-1], ()) if entry.inplace]
    return found


def make_front(name: str, method: bool) -> Callable | None:
    """The function behind a public name, or None when there is none."""
    LOAD[0]()  # a submodule may be the first that is asked
    overloads = overloads_of(name)
    if method:
        overloads = [o for o in overloads if any(a.name == "self" for a in o.entry.schema.arguments)]
    elif not (signatures.of_function(name) or name in FUNCTIONS_TOO or name.startswith("_foreach_")):
        return None
    return front(name, overloads, method) if overloads else None


FUNCTIONS_TOO = {
    "_conj",
    "_neg_view",
    "_unique",
    "_unique2",
    "diagonal_copy",
    "einsum",
    "narrow_copy",
    "resize_as_",
    "tensordot",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
}
"""Names that are functions although PyTorch's tables of signatures do not list them."""


FORMS: list[weakref.ref] = []
"""What the fronts have learnt; forgotten when calls shall be looked at anew, see overriding.py."""


class Forms(dict[tuple, Call]):
    """What binds the calls of each form of one front."""

    __slots__ = ("__weakref__",)


def forget() -> None:
    """Let each front learn anew what binds its calls."""
    for reference in FORMS:
        forms = reference()
        if forms is not None:
            forms.clear()


def front(name: str, overloads: list[Overload], method: bool) -> Callable:
    """Make the front of a name."""
    binder = Binder(name, [overload.schema for overload in overloads], method=method)
    calls = [overload.call for overload in overloads]
    forms = Forms()
    FORMS.append(weakref.ref(forms))

    def bound(args: tuple, kwargs: dict) -> Any:
        """Match a call with the overloads, and run the one that fits."""
        result = handed_on(binder, function, args, kwargs)
        if result is not RUN_IT:
            return result
        index, values, extras = binder.bind(args, kwargs)
        out = extras.pop("out", None)
        if out is None:
            return calls[index](*values)
        return write_out(name, calls[index], values, casting.uncast(calls[index], values), out)

    def learnt(form: tuple, args: tuple, kwargs: dict) -> Call:
        """What binds a call of a new form, remembered."""
        if MODES:
            return bound
        call = settled_call(binder, calls, bound, args, kwargs) or bound
        if call is not bound and may_override(form):
            call = watched(call)
        forms[form] = call
        return call

    def watched(call: Call) -> Call:
        """A settled call of a form in which a class is overriding."""

        def look(args: tuple, kwargs: dict) -> Any:
            result = handed_on(binder, function, args, kwargs)
            return call(args, kwargs) if result is RUN_IT else result

        return look

    def function(*args: Any, **kwargs: Any) -> Any:
        form = form_of(args, kwargs)
        try:
            return (forms.get(form) or learnt(form, args, kwargs))(args, kwargs)
        except Batched:
            return per_sample(function, args, kwargs)

    name_front(function, name, method)
    return function


def name_front(function: Any, name: str, method: bool) -> None:
    """Give a front the names that PyTorch's function has."""
    function.__name__ = function.__qualname__ = name
    if method:
        function.__qualname__, function.__module__ = f"TensorBase.{name}", None
        return
    space = next((text for start, text in SPACES.items() if name.startswith(start)), "")
    if space or name in OF_NN:
        function.__module__ = f"torch._C._{space.split('.')[1] if space else 'nn'}"
    else:
        function.__qualname__, function.__module__ = f"_VariableFunctionsClass.{name}", "torch"


def may_override(form: tuple) -> bool:
    """Whether a class of a form is not known to be an ordinary one."""
    return any(isinstance(kind, type) and kind not in PLAIN and issubclass(kind, Tensor) for kind in form)


RUN_IT = object()  # instead of a result: nobody overrides the call


def handed_on(binder: Binder, function: Any, args: tuple, kwargs: dict) -> Any:
    """The result of the overriding values or of the mode that a call is handed to, or `RUN_IT`.

    Raises:
        TypeError: no signature takes these arguments, or all that were asked returned NotImplemented.
    """
    given = (*args, *kwargs.values()) if kwargs else args
    found = overriding_in(given)
    if not (found or MODES and current_modes()) or is_from_inside(function.__code__):
        return RUN_IT
    asked = overriding_arguments(binder, args, kwargs)
    if not (asked or MODES and current_modes()):
        return RUN_IT
    return hand_on(function, label(binder), asked, args, kwargs)


def overriding_arguments(binder: Binder, args: tuple, kwargs: dict) -> list[Any]:
    """The overriding ones among the arguments that may be tensors, in the order of the signature that fits.

    Raises:
        TypeError: none fits.
    """
    stand_ins: dict[int, Any] = {}
    are_named = False

    def stand_in(value: Any) -> Any:
        if value.__class__ in (list, tuple):
            return type(value)(map(stand_in, value))
        if isinstance(value, Tensor) or not is_overriding(value):
            return value
        new = wrap(np.zeros((), np.int64))
        if are_named:  # as an error text names it
            new = instance(new, type(type(value).__name__, (Tensor,), {"__torch_function__": DISABLED}))
        stand_ins[id(new)] = (value, new)
        return new

    if binder.parser.takes_nothing:
        return list(args[:1])  # which PyTorch does not parse
    own = list(args[:1]) if binder.method else []
    positional = tuple(map(stand_in, args[len(own) :]))
    by_name = {name: stand_in(value) for name, value in kwargs.items()}
    for signature, _ in binder.candidates:
        values = signature.match(positional, by_name)
        if isinstance(values, list):
            for parameter, value in zip(signature.parameters, values, strict=True):
                if parameter.type in TENSORS or parameter.type in INTEGERS:
                    own += value if isinstance(value, (list, tuple)) else [value]
            return overriding_in(stand_ins.get(id(value), (value,))[0] for value in own)
    are_named = True
    binder.bind(stand_in(args), {name: stand_in(value) for name, value in kwargs.items()})
    raise AssertionError(binder.name)  # for it raises


TENSORS = frozenset(("Tensor", "Tensor[]", "Tensor?[]"))
OF_NN = frozenset(
    (
        *("avg_pool2d", "avg_pool3d", "gelu", "hardtanh_", "leaky_relu_", "linear", "log_sigmoid", "one_hot"),
        *("pad", "scaled_dot_product_attention", "softplus", "softshrink"),
    )
)
"""What PyTorch has in `torch._C._nn`."""
SPACES = {"linalg_": "torch.linalg.", "special_": "torch.special.", "fft_": "torch.fft."}


def label(binder: Binder) -> str:
    """The name of a front in error texts."""
    if binder.method:
        return f"torch.Tensor.{binder.name}"
    if binder.name in OF_NN:
        return f"torch.nn.{binder.name}"
    prefix = next((text for start, text in SPACES.items() if binder.name.startswith(start)), "torch.")
    return prefix + binder.name


def new_method(name: str) -> Callable | None:
    """A method that was not asked for before, made and kept on the class; None when there is none."""
    made = make_front(name, method=True) if not name.startswith("__") and is_method(name) else None
    if made is not None:
        setattr(Tensor, name, made)
    return made


class MethodToMake:
    """Stands for a method of `Tensor` until it is asked for, as `__getattr__` does not for `super()`."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __get__(self, tensor: Tensor | None, kind: type) -> Any:
        made: Any = new_method(self.name)
        return made if tensor is None else made.__get__(tensor)


def make_stand_ins() -> None:
    """Let the methods not asked for yet be found on the class `Tensor`, once there are subclasses."""
    if not HAVE_STAND_INS:
        HAVE_STAND_INS.append(True)
        for name in method_names():
            if name not in vars(Tensor):
                setattr(Tensor, name, MethodToMake(name))


HAVE_STAND_INS: list[bool] = []


def has_subclasses(kind: type) -> bool:
    """Whether a user made a class of this one, or of one of its subclasses."""
    subclasses: list[type] = kind.__subclasses__()
    own = ("refgrad.", "torch.")
    return any(not each.__module__.startswith(own) or has_subclasses(each) for each in subclasses)


def tensor_getattr(self: Tensor, name: str) -> Any:
    """A method that a tensor was not asked for before."""
    made = new_method(name)
    if made is None:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
    return made.__get__(self)


def class_getattr(cls: type, name: str) -> Any:
    """A method that the class was not asked for before."""
    made = new_method(name)
    if made is None and "refgrad.surface" not in sys.modules and not name.startswith("__"):
        import_module("refgrad.surface")  # a module of the package was imported first
        return getattr(cls, name)
    if made is None:
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
    return made


def method_names() -> list[str]:
    """The names of all methods, made or not."""
    twins = [f"{name}_" for name, entries in BY_NAME.items() if any(entry.inplace for entry in entries)]
    return [
        name
        for name in {*BY_NAME, *twins}
        if is_method(name)
        and any(a.name == "self" for o in overloads_of(name) for a in o.entry.schema.arguments)
    ]


Tensor.__getattr__ = tensor_getattr  # type: ignore[method-assign]
Tensor.__dir__ = lambda self: {*object.__dir__(self), *method_names()}  # type: ignore[method-assign]
TensorMeta.__getattr__ = class_getattr
TensorMeta.__dir__ = lambda cls: {*type.__dir__(cls), *method_names()}  # type: ignore[assignment]
