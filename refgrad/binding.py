"""Match the arguments of a call with signatures, as PyTorch's argument parser does for its Python functions.

*Signature*: what one public overload accepts, such as `max(Tensor input, int dim, bool keepdim=False)`;
several schemas can share one (`add.Tensor` and `add.out`). *Spread*: integers passed one by one for a
list, as in `x.view(2, 3)`. *Check*: whether a value may be passed for a type; it looks no deeper than
PyTorch does. *Conversion*: makes the value what an op expects; the rest of a list is looked at here, so
its errors come after every check has passed.
"""

import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from refgrad import argument_errors as errors
from refgrad import dtypes
from refgrad.modes import is_warn_always_enabled
from refgrad.schema import Argument, SchemaError, parse_arguments

_MISSING = object()
_NUMBERS = (float, int, complex, np.number, np.bool_)
# Names that NumPy uses for the same arguments.
_NUMPY_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
# The functions that take a Python number in place of any tensor.
NUMBERS_AS_TENSORS = frozenset(
    f"{name}{suffix}"
    for name in ("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide")
    for suffix in ("", "_")
) | {"to"}
NUMBERS_MADE_TENSORS = frozenset({"copy_"})  # before the call
_deprecations_warned: list[str] = []


class Types:
    """The classes that stand behind the type words, filled by the layers that define them."""

    def __init__(self) -> None:
        self.classes: dict[str, tuple[type, ...]] = {
            "Tensor": (),
            "ScalarType": (),
            "Device": (),
            "Layout": (),
            "MemoryFormat": (),
            "Generator": (),
            "Storage": (),
        }
        self.shown: dict[type, str] = {}
        self.dtype_of: dict[type, object] = {}
        self.make_device: Callable[[object], object] | None = None
        self.make_tensor: Callable[[object], object] | None = None  # of a number
        self.tensor: Any = ()

    def register(self, word: str, cls: type, shown: str | None = None) -> None:
        """Let instances of `cls` be passed for `word`; error texts call the class `shown`."""
        self.classes[word] = (*self.classes[word], cls)
        if shown is not None:
            self.shown[cls] = shown
        self.tensor = self.classes["Tensor"]

    def name_of(self, value: object) -> str:
        """The name of the value's class in error texts, with its module if it is an extension's own class."""
        cls = type(value)
        shown = self.shown.get(cls)
        if shown is not None:
            return shown
        if cls.__flags__ & errors.HEAP_TYPE or cls.__module__ == "builtins":
            return cls.__name__
        return f"{cls.__module__}.{cls.__name__}"


TYPES = Types()
_NO_TYPES = Types()
TYPES.register("ScalarType", dtypes.DType, "torch.dtype")
TYPES.dtype_of.update(
    {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128}
)


def register_tensor_type(cls: type) -> None:
    """Let instances of `cls` be passed wherever a signature says `Tensor`."""
    TYPES.register("Tensor", cls)


# ------------------------------------------------------------------------------------------------ checks


def _is_zero_dim(value: Any, types: Types) -> bool:
    return isinstance(value, types.tensor) and value.dim() == 0 and not value.requires_grad


def _is_integral(tensor: Any, with_bool: bool) -> bool:
    dtype = tensor.dtype
    return not (dtype.is_floating_point or dtype.is_complex) and (with_bool or repr(dtype) != "torch.bool")


def is_int(value: Any, types: Types) -> bool:
    """An integer, not a bool; also a 0-dim integer tensor outside the graph."""
    if isinstance(value, (int, np.integer)):
        return not isinstance(value, bool)
    return _is_zero_dim(value, types) and _is_integral(value, with_bool=False)


def is_index(value: Any, types: Types) -> bool:
    """What may stand first in a list of integers: no bool, but what has `__index__`, or an integer tensor."""
    if isinstance(value, int):
        return not isinstance(value, bool)
    if isinstance(value, types.tensor):
        return value.numel() == 1 and _is_integral(value, with_bool=True)
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def is_float(value: Any, types: Types) -> bool:
    """A real number, a NumPy number, or a 0-dim tensor outside the graph."""
    return isinstance(value, (float, int, np.number, np.bool_)) or _is_zero_dim(value, types)


def is_number(value: Any, types: Types) -> bool:
    """A number or a 0-dim tensor outside the graph."""
    return isinstance(value, _NUMBERS) or _is_zero_dim(value, types)


def _is_plain_number(value: Any, types: Types) -> bool:
    return isinstance(value, _NUMBERS)


def _is_dtype(value: Any, types: Types) -> bool:
    if isinstance(value, types.classes["ScalarType"]):
        return True
    return isinstance(value, type) and value in (float, int, bool, complex)


def _is_device(value: Any, types: Types) -> bool:
    return isinstance(value, (str, bytes, *types.classes["Device"])) or is_int(value, _NO_TYPES)


def _instance_of(word: str) -> Callable[[Any, Types], bool]:
    return lambda value, types: isinstance(value, types.classes[word])


def _list_of(first_passes: Callable[[Any, Types], bool]) -> Callable[[Any, Types], bool]:
    """A list of which only the first element is looked at; the others fail when they are converted."""
    return lambda value, types: (
        isinstance(value, (tuple, list)) and (not value or first_passes(value[0], types))
    )


def _all_numbers(value: Any, types: Types) -> bool:
    return isinstance(value, (tuple, list)) and all(is_number(item, types) for item in value)


_CHECKS: dict[str, Callable[[Any, Types], bool]] = {
    "Tensor": lambda value, types: isinstance(value, types.tensor),
    "Scalar": is_number,
    "int": is_int,
    "SymInt": is_index,
    "float": is_float,
    "bool": lambda value, types: isinstance(value, bool),
    "str": lambda value, types: isinstance(value, (str, bytes)),
    "ScalarType": _is_dtype,
    "Device": _is_device,
    "Layout": _instance_of("Layout"),
    "MemoryFormat": _instance_of("MemoryFormat"),
    "Generator": _instance_of("Generator"),
    "Storage": _instance_of("Storage"),
    "object": lambda value, types: True,
    "int[]": _list_of(is_index),
    "SymInt[]": _list_of(is_index),
    "float[]": _list_of(_is_plain_number),
    "Scalar[]": _all_numbers,
    "bool[]": _list_of(lambda value, types: isinstance(value, bool)),
    "Tensor[]": lambda value, types: isinstance(value, (tuple, list)),
}
_CHECKS["Tensor?[]"] = _CHECKS["Tensor[]"]


# ------------------------------------------------------------------------------------------------ conversions


LOWEST, HIGHEST = -(2**63), 2**64 - 1
"""The integers that PyTorch takes as a number."""


def as_number(value: Any, types: Types) -> Any:
    """A plain Python number."""
    is_boxed = isinstance(value, (np.number, np.bool_, *types.tensor))
    number = value.item() if is_boxed else value
    if isinstance(number, int):
        check_width(number)
    return number


def check_width(number: int) -> None:
    """Refuse an integer that 64 bits cannot hold.

    Raises:
        OverflowError: it is too large.
    """
    if number < LOWEST:
        raise OverflowError("can't convert negative int to unsigned")
    if number > HIGHEST:
        raise OverflowError("int too big to convert")


def as_int(value: Any, types: Types) -> int:
    """A plain integer; a tensor of one bool is refused as PyTorch refuses it."""
    if type(value) is int:
        return value
    if isinstance(value, types.tensor):
        if not _is_integral(value, with_bool=False):
            raise RuntimeError(errors.NOT_INTEGRAL)
        return int(value.item())
    return operator.index(value)


def as_float(value: Any, types: Types) -> float:
    """A plain float; a complex tensor is refused as PyTorch refuses it."""
    number = as_number(value, types)
    if isinstance(number, complex) and isinstance(value, types.tensor):
        raise RuntimeError("value cannot be converted to type double without overflow")
    return float(number.real if isinstance(number, complex) else number)


def _as_dtype(value: Any, types: Types) -> Any:
    return types.dtype_of.get(value, value) if isinstance(value, type) else value


def _as_text(value: Any, types: Types) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _as_device(value: Any, types: Types) -> Any:
    if types.make_device is None or isinstance(value, types.classes["Device"]):
        return value
    return types.make_device(value)


_CONVERSIONS: dict[str, Callable[[Any, Types], Any]] = {
    "Scalar": as_number,
    "int": as_int,
    "SymInt": as_int,
    "float": as_float,
    "str": _as_text,
    "ScalarType": _as_dtype,
    "Device": _as_device,
}


class Parameter:
    """One argument of a signature, prepared for matching."""

    __slots__ = (
        "allows_none",
        "argument",
        "check",
        "convert",
        "default",
        "is_optional",
        "keyword_only",
        "name",
        "none",
        "numpy_names",
        "shown_type",
        "type",
    )

    def __init__(self, argument: Argument, numbers_as_tensors: bool, makes_tensors: bool):
        self.argument = argument
        self.name = argument.name
        self.type = argument.type
        self.numpy_names = _NUMPY_NAMES.get(self.name, ())
        self.keyword_only = argument.keyword_only
        self.is_optional = argument.default is not None
        self.allows_none = argument.optional or argument.default == "None"
        # A list that is not optional has no None: PyTorch shows its empty default so, and takes None for it.
        self.none = () if argument.is_list and not argument.optional else None
        self.default = argument.value if self.is_optional and argument.default != "None" else self.none
        self.shown_type = errors.shown_type(argument.type)
        check = _CHECKS.get(self.type)
        if check is None:
            raise SchemaError(
                f"argument {self.name!r} has a type that Python calls cannot pass: {self.type!r}"
            )
        if self.type == "Tensor" and numbers_as_tensors:
            check = _tensor_or_number
        elif argument.size and self.type in ("int[]", "SymInt[]"):
            check = _int_or_list
        self.check = check
        self.convert = _as_tensor if self.type == "Tensor" and makes_tensors else _CONVERSIONS.get(self.type)

    def find(self, kwargs: Mapping[str, Any]) -> Any:
        """The value passed by name, or by the name that NumPy uses."""
        value = kwargs.get(self.name, _MISSING)
        if value is _MISSING:
            for name in self.numpy_names:
                if name in kwargs:
                    return kwargs[name]
        return value


def _as_tensor(value: Any, types: Types) -> Any:
    assert types.make_tensor is not None
    return value if isinstance(value, types.tensor) else types.make_tensor(value)


def _tensor_or_number(value: Any, types: Types) -> bool:
    return isinstance(value, (*types.tensor, *_NUMBERS))


def _int_or_list(value: Any, types: Types) -> bool:
    if isinstance(value, (tuple, list)):
        return not value or is_index(value[0], types)
    if isinstance(value, types.tensor):
        return is_index(value, types)
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


class Signature:
    """What one public overload accepts."""

    def __init__(self, text: str, types: Types = TYPES):
        body, _, mark = text.partition("|")
        self.name, _, inside = body.partition("(")
        if not inside.endswith(")"):
            raise SchemaError(f"not a signature, expected 'name(arguments)': {text!r}")
        self.types = types
        self.is_deprecated = mark == "deprecated"
        self.arguments = parse_arguments(inside[:-1])
        numbers_as_tensors = self.name in NUMBERS_AS_TENSORS
        makes_tensors = self.name in NUMBERS_MADE_TENSORS
        self.parameters = tuple(
            Parameter(argument, numbers_as_tensors or makes_tensors, makes_tensors)
            for argument in self.arguments
        )
        self.required = sum(not parameter.is_optional for parameter in self.parameters)
        self.positional = sum(not parameter.keyword_only for parameter in self.parameters)
        first = self.arguments[0] if self.arguments else None
        self.spreads = (
            self.positional == 1
            and first is not None
            and first.type in ("int[]", "SymInt[]")
            and not first.size
        )
        self.shown = errors.shown_signature(self.arguments)

    @classmethod
    def parse(cls, text: str, types: Types = TYPES) -> "Signature":
        """Read a signature text such as `sum(Tensor input, *, ScalarType? dtype=None)`."""
        return cls(text, types)

    def match(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any] | errors.Mismatch:
        """The values in the order of the parameters, not yet converted, or the first thing that does not fit.

        An argument left out gives its default.
        """
        count = len(args)
        spread = self.spreads and count > 1 and is_index(args[0], self.types)
        if count > self.positional and not spread:
            return errors.TooMany(self.name, self.required, self.positional, count)
        values = []
        position = used = 0
        for index, parameter in enumerate(self.parameters):
            by_name = position >= count
            if by_name:
                value = parameter.find(kwargs)
                if value is _MISSING:
                    if not parameter.is_optional:
                        return errors.Missing(self.name, self.arguments[index:])
                    values.append(parameter.default)
                    continue
                used += 1
            elif parameter.keyword_only:
                return errors.TooMany(self.name, self.required, self.positional, count)
            else:
                value = args if spread else args[position]
                position = count if spread else position + 1
            if value is None and parameter.allows_none:
                values.append(parameter.none)
            elif parameter.check(value, self.types):
                if parameter.type in ("Tensor[]", "Tensor?[]"):
                    self._require_tensors(value, index)
                values.append(value)
            elif not by_name and index == 0 and self.spreads and is_index(value, self.types):
                values.append(args)
            else:
                at = None if by_name else position
                return errors.WrongType(self.name, parameter.argument, at, value, self.types.name_of)
        if used < len(kwargs):
            return errors.Unexpected(self.name, self.arguments, count, kwargs)
        return values

    def convert(self, values: list[Any]) -> list[Any]:
        """Replace each matched value by what an op expects; defaults and None are that already."""
        types = self.types
        for index, parameter in enumerate(self.parameters):
            value = values[index]
            if value is None or value is parameter.default or value is parameter.none:
                continue
            if parameter.convert is not None:
                values[index] = parameter.convert(value, types)
            elif parameter.type in ("int[]", "SymInt[]"):
                values[index] = self._integers(value, parameter)
            elif parameter.type in ("float[]", "Scalar[]"):
                values[index] = self._numbers(value, parameter)
            elif parameter.type == "Tensor[]":
                size = parameter.argument.size
                if size and len(value) != size:
                    raise TypeError(f"expected tuple of {size} elements but got {len(value)}")
        return values

    def _require_tensors(self, value: Sequence[Any], index: int) -> None:
        for position, item in enumerate(value):
            if not isinstance(item, self.types.tensor):
                got = self.types.name_of(item)
                raise TypeError(f"expected Tensor as element {position} in argument {index}, but got {got}")

    def _numbers(self, value: Sequence[Any], parameter: Parameter) -> tuple[Any, ...]:
        for position, item in enumerate(value):
            if not is_number(item, self.types):
                raise TypeError(
                    f"{self.name}(): argument '{parameter.name}' must be {parameter.shown_type}, but found "
                    f"element of type {self.types.name_of(item)} at pos {position + 1}"
                )
        return tuple(as_number(item, self.types) for item in value)

    def _integers(self, value: Any, parameter: Parameter) -> tuple[int, ...]:
        if not isinstance(value, (tuple, list)):
            return (as_int(value, self.types),) * (parameter.argument.size or 1)
        result = []
        for position, item in enumerate(value):
            if type(item) is not int and not (isinstance(item, bool) or is_index(item, self.types)):
                raise TypeError(
                    f"{self.name}(): argument '{parameter.name}' failed to unpack the object at pos "
                    f'{position + 1} with error "type must be {parameter.shown_type},but got '
                    f'{self.types.name_of(item)}"'
                )
            result.append(int(item) if isinstance(item, bool) else as_int(item, self.types))
        return tuple(result)

    def __str__(self) -> str:
        return f"{self.name}{self.shown}"


class Parser:
    """Matches calls of one public function or method with its signatures."""

    def __init__(
        self, public_name: str, signatures: Sequence[str], *, method: bool = False, types: Types = TYPES
    ):
        self.name = public_name
        self.types = types
        parsed = [Signature(text, types) for text in signatures]
        self.order = sorted(range(len(parsed)), key=lambda index: parsed[index].is_deprecated)
        self.signatures = [parsed[index] for index in self.order]
        # PyTorch gives a method without any parameter to CPython to call, which words its errors its own way.
        self.takes_nothing = method and len(parsed) == 1 and not parsed[0].parameters

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, list[Any]]:
        """The index of the first signature that matches, and the values in the order of its parameters.

        Raises:
            TypeError: no signature matches, with PyTorch's text.
        """
        if self.takes_nothing and (args or kwargs):
            raise TypeError(errors.takes_nothing(self.name, len(args), bool(kwargs)))
        mismatch = None
        for index, signature in enumerate(self.signatures):
            values = signature.match(args, kwargs)
            if isinstance(values, list):
                if signature.is_deprecated:
                    self._warn_deprecated(signature)
                return self.order[index], signature.convert(values)
            mismatch = values
        if len(self.signatures) == 1:
            assert mismatch is not None
            raise TypeError(mismatch.text())
        raise TypeError(self._explain(args, kwargs))

    def signature(self, index: int) -> Signature:
        """The signature whose text was given at this index."""
        return self.signatures[self.order.index(index)]

    def _explain(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """The text for several signatures; if the number of arguments fits only one, that one's complaint."""
        count = len(args) + len(kwargs)
        current = [signature for signature in self.signatures if not signature.is_deprecated]
        plausible = [
            signature for signature in current if signature.required <= count <= len(signature.parameters)
        ]
        if len(plausible) == 1:
            mismatch = plausible[0].match(args, kwargs)
            assert isinstance(mismatch, errors.Mismatch)
            return mismatch.text()
        shown = [signature.shown for signature in current]
        return errors.invalid_combination(self.name, args, kwargs, shown, self.types.name_of)

    def _warn_deprecated(self, signature: Signature) -> None:
        """PyTorch warns about the first deprecated call of a process and keeps quiet after it."""
        if _deprecations_warned and not is_warn_always_enabled():
            return
        _deprecations_warned.append(signature.name)
        lines = [f"This overload of {signature.name} is deprecated:", f"\t{signature}"]
        lines.append("Consider using one of the following signatures instead:")
        lines += [f"\t{other}" for other in self.signatures if not other.is_deprecated]
        warnings.warn("\n".join(lines), UserWarning, stacklevel=4)
