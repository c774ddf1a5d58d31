"""PyTorch's schema text, read into records and written back.

*Schema*: the type of one op overload: `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) ->
Tensor`. *Alias mark*: `(a)` on a type names the memory it shares; `(a!)` says the op writes there; `(a ->
*)` that the elements of the result share it. *Signature text*: what Python calls are matched against,
such as `sum(Tensor input, *, ScalarType? dtype=None)`; it uses the same grammar without overload name and
returns.
"""

import re
from dataclasses import dataclass, replace
from functools import cached_property

# Compiled on first use: to import this module costs little.
_HEAD = r"(?:aten::)?(\w+)(?:\.(\w+))?\("
_ARGUMENT = (
    r"(?P<type>\w+)"
    r"(?:\((?P<alias>[^()]*)\))?"
    r"(?P<element_optional>\?(?=\[))?"
    r"(?P<list>\[(?P<size>\d*)\])?"
    r"(?P<optional>\?)?"
    r"(?: (?P<name>\w+)(?:=(?P<default>.*))?)?"
)
_SYMBOLS = {"None": None, "True": True, "False": False, "Mean": 1, "Sum": 2}
# PyTorch's parser of the signatures of Python functions reads this default, which is no number, as 0.
_SYMBOLS["at::Reduction::Mean"] = 0


class SchemaError(ValueError):
    """A schema text that does not follow PyTorch's grammar."""


@dataclass(frozen=True)
class Argument:
    """One argument or return of a schema; a return has an empty name unless the schema names it."""

    name: str
    type: str  # without alias mark, size and the last "?": "Tensor", "int[]", "Tensor?[]"
    size: int | None = None  # N in "int[N]": a single number stands for N equal ones
    optional: bool = False  # the type ends in "?"
    default: str | None = None  # the text after "=", None without one
    keyword_only: bool = False
    alias: str = ""  # the alias mark without "!"
    writes: bool = False  # the alias mark has "!"

    @property
    def is_list(self) -> bool:
        """Whether the type is a list."""
        return self.type.endswith("[]")

    @property
    def is_tensor(self) -> bool:
        """Whether a single tensor is passed here."""
        return self.type == "Tensor"

    @cached_property
    def value(self) -> object:
        """The default as a Python value; a single number of a sized list is repeated. Symbols stay text."""
        assert self.default is not None, f"{self.name} has no default"
        value = literal(self.default)
        if self.is_list and isinstance(value, int) and not isinstance(value, bool):
            return (value,) * (self.size or 1)
        return float(value) if self.type == "float" and isinstance(value, int) else value

    def __str__(self) -> str:
        base, brackets, _ = self.type.partition("[]")
        mark = f"({self._mark()})" if self.alias else ""
        if base.endswith("?"):
            base, brackets = base[:-1], "?[]"
        if self.size is not None:
            brackets = f"[{self.size}]"
        text = base + mark + brackets + "?" * self.optional
        if self.name:
            text += f" {self.name}"
        return text if self.default is None else f"{text}={self.default}"

    def _mark(self) -> str:
        before, arrow, after = self.alias.partition(" ->")
        return f"{before}{'!' * self.writes}{arrow}{after}"


@dataclass(frozen=True)
class Schema:
    """The name and the types of one op overload; `str()` gives PyTorch's text back."""

    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]
    returns_tuple: bool = False  # the returns are written in parentheses

    @classmethod
    def parse(cls, text: str) -> "Schema":
        """Read a schema text; `aten::` in front is ignored.

        Raises:
            SchemaError: the text does not follow the grammar; the message holds it.
        """
        head = re.match(_HEAD, text)
        end = closing(text, head.end() - 1) if head else -1
        if head is None or end < 0 or not text[end + 1 :].startswith(" -> "):
            raise SchemaError(f"not a schema, expected 'name.overload(arguments) -> returns': {text!r}")
        result = text[end + 5 :]
        in_parentheses = result.startswith("(")
        returns = split_arguments(result[1:-1] if in_parentheses else result)
        return cls(
            head[1],
            head[2] or "",
            parse_arguments(text[head.end() : end]),
            tuple(parse_argument(item) for item in returns),
            in_parentheses,
        )

    @property
    def full_name(self) -> str:
        """The name with its overload, as in `add.Tensor`."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def is_view(self) -> bool:
        """Whether a result shares memory that is not written: an alias mark without `!`."""
        return any(result.alias and not result.writes for result in self.returns)

    @property
    def is_inplace(self) -> bool:
        """Whether the op writes to its first argument and returns it or nothing."""
        return bool(self.arguments) and self.arguments[0].writes and self.arguments[0].name == "self"

    def inplace(self) -> "Schema":
        """The schema of the in-place twin: `name_`, which writes to `self` and returns it.

        Raises:
            SchemaError: the first argument is not a tensor named `self`.
        """
        target = self.arguments[0] if self.arguments else None
        if target is None or not target.is_tensor or target.name != "self":
            raise SchemaError(
                f"{self.full_name} has no in-place twin: its first argument is not 'Tensor self'"
            )
        written = replace(target, alias="a", writes=True)
        result = Argument("", "Tensor", alias="a", writes=True)
        return Schema(f"{self.name}_", self.overload, (written, *self.arguments[1:]), (result,))

    def __str__(self) -> str:
        returns = ", ".join(map(str, self.returns))
        if self.returns_tuple:
            returns = f"({returns})"
        return f"{self.full_name}({format_arguments(self.arguments)}) -> {returns}"


def parse_arguments(text: str) -> tuple[Argument, ...]:
    """Read what stands between the parentheses of a schema or of a signature."""
    arguments = []
    keyword_only = False
    for item in split_arguments(text):
        if item == "*":
            keyword_only = True
        else:
            arguments.append(parse_argument(item, keyword_only))
    return tuple(arguments)


def parse_argument(text: str, keyword_only: bool = False) -> Argument:
    """Read one argument or return.

    Raises:
        SchemaError: the text does not follow the grammar.
    """
    match = re.fullmatch(_ARGUMENT, text)
    if match is None:
        raise SchemaError(
            f"not an argument of a schema, expected 'type name' or 'type name=default': {text!r}"
        )
    alias = match["alias"] or ""
    kind = match["type"]
    if match["list"]:
        kind += "?[]" if match["element_optional"] else "[]"
    return Argument(
        name=match["name"] or "",
        type=kind,
        size=int(match["size"]) if match["size"] else None,
        optional=bool(match["optional"]),
        default=match["default"],
        keyword_only=keyword_only,
        alias=alias.replace("!", ""),
        writes="!" in alias,
    )


def format_arguments(arguments: tuple[Argument, ...]) -> str:
    """The text between the parentheses, with `*` before the first keyword-only argument."""
    items = []
    for argument in arguments:
        if argument.keyword_only and "*" not in items:
            items.append("*")
        items.append(str(argument))
    return ", ".join(items)


def split_arguments(text: str) -> list[str]:
    """Split at the commas that stand outside brackets."""
    items = []
    depth = start = 0
    for position, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            items.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*items, last] if last else items


def closing(text: str, start: int) -> int:
    """The position of the parenthesis that closes the one at `start`, or -1."""
    depth = 0
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position
    return -1


def literal(text: str) -> object:
    """The Python value of a default; a name such as `contiguous_format` stays text."""
    if text in _SYMBOLS:
        return _SYMBOLS[text]
    if text[:1] in "[{":
        return tuple(literal(item) for item in split_arguments(text[1:-1]))
    if text[:1] in "'\"":
        return text[1:-1]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
