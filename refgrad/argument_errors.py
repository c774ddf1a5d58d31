"""The texts of PyTorch's argument errors, to the character.

*Option*: one signature as an error shows it, `(Tensor input, int dim, bool keepdim = False)`. PyTorch
compares the call with the options a second time, as text, to say what does not fit; that comparison is
cruder than the binding (`*` counts as an argument, a default hides the name before it), and the texts
depend on it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refgrad.errors import expected_true
from refgrad.schema import Argument

HEAP_TYPE = 1 << 9  # the flag of classes made at run time, whose name carries no module
NOT_INTEGRAL = expected_true("scalar.isIntegral( false)")
_SHOWN_TYPES = {
    "Scalar": "Number",
    "SymInt": "int",
    "int[]": "tuple of ints",
    "SymInt[]": "tuple of ints",
    "float[]": "tuple of floats",
    "Scalar[]": "tuple of Scalars",
    "Tensor[]": "tuple of Tensors",
    "Tensor?[]": "tuple of Tensors",
    "ScalarType": "torch.dtype",
    "Layout": "torch.layout",
    "MemoryFormat": "torch.memory_format",
    "Device": "torch.device",
    "Generator": "torch.Generator",
    "Storage": "torch.Storage",
}
_CHECKED_AT_FIRST = ("int[]", "SymInt[]", "float[]")
_ACCEPTED_AS = {"int": ("int", "long"), "float": ("float", "int", "long")}


def shown_type(type_: str) -> str:
    """What error texts call a type."""
    return _SHOWN_TYPES.get(type_, type_)


def shown_signature(arguments: Sequence[Argument]) -> str:
    """The option an error shows for these arguments."""
    items: list[str] = []
    for argument in arguments:
        if argument.keyword_only and "*" not in items:
            items.append("*")
        default = "" if argument.default is None else f" = {argument.default}"
        items.append(f"{shown_type(argument.type)} {argument.name}{default}")
    return f"({', '.join(items)})"


# ---------------------------------------------------------------- one signature


class Mismatch:
    """Why one signature does not fit; the text is made only if it is shown."""

    __slots__ = ()

    def text(self) -> str:
        """The error text."""
        raise NotImplementedError


@dataclass(slots=True)
class TooMany(Mismatch):
    """More positional arguments than the signature takes; `least` counts required keyword-only ones too."""

    name: str
    least: int
    most: int
    count: int

    def text(self) -> str:
        """The range may read backwards, as it does in PyTorch."""
        if self.most != self.least:
            numbers = f"from {self.least} to {self.most} positional arguments but {self.count} were"
        else:
            plural, verb = "" if self.most == 1 else "s", "was" if self.count == 1 else "were"
            numbers = f"{self.most} positional argument{plural} but {self.count} {verb}"
        return f"{self.name}() takes {numbers} given"


@dataclass(slots=True)
class Missing(Mismatch):
    """A required argument is absent; `arguments` are this one and all after it."""

    name: str
    arguments: Sequence[Argument]

    def text(self) -> str:
        """Counts all required arguments from the first absent one on; the plural is PyTorch's."""
        absent = [f'"{argument.name}"' for argument in self.arguments if argument.default is None]
        plural = "s" if len(absent) == 1 else ""
        return (
            f"{self.name}() missing {len(absent)} required positional argument{plural}: {', '.join(absent)}"
        )


@dataclass(slots=True)
class WrongType(Mismatch):
    """A value, passed at a position or by name, does not pass the check of its argument."""

    name: str
    argument: Argument
    position: int | None
    value: Any
    type_name: Callable[[object], str]

    def text(self) -> str:
        """Names the element if it is the first one of a list that is wrong."""
        start = f"{self.name}(): argument '{self.argument.name}'"
        must_be = f"must be {shown_type(self.argument.type)}"
        if self.position is None:
            return f"{start} {must_be}, not {self.type_name(self.value)}"
        start += f" (position {self.position})"
        if self.argument.type in _CHECKED_AT_FIRST and isinstance(self.value, (tuple, list)):
            return f"{start} {must_be}, but found element of type {self.type_name(self.value[0])} at pos 0"
        return f"{start} {must_be}, not {self.type_name(self.value)}"


@dataclass(slots=True)
class Unexpected(Mismatch):
    """A keyword that no argument takes, or that names one already filled by position."""

    name: str
    arguments: Sequence[Argument]
    count: int
    kwargs: Mapping[str, Any]

    def text(self) -> str:
        """Speaks of the first keyword that is wrong."""
        names = [argument.name for argument in self.arguments]
        for keyword in self.kwargs:
            if keyword not in names:
                return f"{self.name}() got an unexpected keyword argument '{keyword}'"
            if names.index(keyword) < self.count:
                return f"{self.name}() got multiple values for argument '{keyword}'"
        return "invalid keyword arguments"


def takes_nothing(name: str, count: int, has_keywords: bool) -> str:
    """CPython's text for a method that takes no arguments."""
    if has_keywords:
        return f"TensorBase.{name}() takes no keyword arguments"
    return f"TensorBase.{name}() takes no arguments ({count} given)"


# ---------------------------------------------------------------- several signatures


def invalid_combination(
    name: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    options: Sequence[str],
    type_name: Callable[[object], str],
) -> str:
    """The text that lists what was passed and every option, with what does not fit where the number does."""
    kwargs = {key: kwargs[key] for key in hashed_order(list(kwargs))}
    text = f"{name}() received an invalid combination of arguments - got "
    got = _got(args, kwargs, type_name)
    if len(options) == 1:
        option = _split_option(options[0])
        unknown = _unknown_keywords(option, kwargs)
        if unknown:
            return f"{text}unrecognized keyword arguments: {', '.join(unknown)}"
        if len(option) != len(args) + len(kwargs):
            return f"{text}{got}, but expected {options[0]}"
        return f"{text}{_marked(option, args, kwargs, type_name)}, but expected {options[0]}"
    lines = [f"{text}{got}, but expected one of:\n"]
    for shown in options:
        lines.append(f" * {shown}\n")
        option = _split_option(shown)
        if len(option) != len(args) + len(kwargs):
            continue
        unknown = _unknown_keywords(option, kwargs)
        if unknown:
            reason = f"some of the keywords were incorrect: {', '.join(unknown)}"
        else:
            marked = _marked(option, args, kwargs, type_name)
            reason = f"some of the arguments have invalid types: {marked}"
        lines.append(f"      didn't match because {reason}\n")
    return "".join(lines)


def _split_option(shown: str) -> list[tuple[str, str]]:
    """Pairs (type, name), cut at the last blank; `()` and `*` count as one argument."""
    items = []
    for item in shown[1:-1].split(", "):
        type_, _, name = item.rpartition(" ")
        items.append((type_ or name, name))
    return items


def _unknown_keywords(option: Sequence[tuple[str, str]], kwargs: Mapping[str, Any]) -> list[str]:
    """Only as many of the last arguments are looked at as there are keywords."""
    names = [name for _, name in option[max(0, len(option) - len(kwargs)) :]]
    return [keyword for keyword in kwargs if keyword not in names]


def _got(args: Sequence[Any], kwargs: Mapping[str, Any], type_name: Callable[[object], str]) -> str:
    items = [type_name(value) for value in args]
    items += [f"{key}={type_name(value)}" for key, value in kwargs.items()]
    return _in_parentheses(items, bool(args))


def _marked(
    option: Sequence[tuple[str, str]],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    type_name: Callable[[object], str],
) -> str:
    """The types passed, in the order of the option; `!` around what differs from its type."""
    items = []
    for index, (type_, name) in enumerate(option):
        by_name = index >= len(args)
        value = kwargs[name] if by_name else args[index]
        item = f"{name}=" if by_name else ""
        item += _spelled_out(value, type_name)
        fits = type_name(value) in _ACCEPTED_AS.get(type_, (type_,))
        items.append(item if fits else f"!{item}!")
    return _in_parentheses(items, bool(args))


def _in_parentheses(items: Sequence[str], drops_last_comma: bool) -> str:
    """PyTorch writes a comma after every item and takes back the last one only if something is positional."""
    text = "".join(f"{item}, " for item in items)
    return f"({text[:-2] if drops_last_comma else text})"


def _spelled_out(value: Any, type_name: Callable[[object], str]) -> str:
    if not isinstance(value, (tuple, list)):
        return type_name(value)
    inside = ", ".join(type_name(item) for item in value)
    if isinstance(value, list):
        return f"{type_name(value)} of [{inside}]"
    return f"{type_name(value)} of ({inside}{',' if len(value) == 1 else ''})"


# Note [Keywords are shown in the order of a hash table]
# PyTorch keeps the keywords of a failed call in a std::unordered_map and shows its order. In libstdc++
# a new entry goes to the front of the whole list if its bucket is empty, else to the front of its bucket.


def hashed_order(names: Sequence[str]) -> list[str]:
    """The order in which a `std::unordered_map` of libstdc++ lists keys inserted in the given order."""
    if len(names) < 2:
        return list(names)
    buckets = 13 if len(names) <= 13 else 29
    order: list[str] = []
    home = {name: _hash_bytes(name.encode()) % buckets for name in names}
    for name in names:
        same = [position for position, other in enumerate(order) if home[other] == home[name]]
        order.insert(same[0] if same else 0, name)
    return order


def _hash_bytes(data: bytes) -> int:
    """MurmurHash64A with the seed of `std::hash<std::string>`."""
    mask, multiplier = (1 << 64) - 1, 0xC6A4A7935BD1E995
    value = 0xC70F6907 ^ (len(data) * multiplier & mask)
    whole = len(data) - len(data) % 8
    for start in range(0, whole, 8):
        block = int.from_bytes(data[start : start + 8], "little") * multiplier & mask
        block = (block ^ block >> 47) * multiplier & mask
        value = (value ^ block) * multiplier & mask
    if len(data) > whole:
        value = (value ^ int.from_bytes(data[whole:], "little")) * multiplier & mask
    value = (value ^ value >> 47) * multiplier & mask
    return value ^ value >> 47
