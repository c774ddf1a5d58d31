"""From the signatures a call is matched with to the schemas an op declares.

*Extra*: an argument that the signature has and the schema has not, such as `out` or `requires_grad`; the
call path deals with it. A signature of which no schema is declared raises `NotImplementedError` when a
call matches it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from refgrad import signatures
from refgrad.binding import TYPES, Parser, Signature, Types
from refgrad.schema import Argument, Schema, SchemaError, format_arguments

_EXTRAS = ("out", "dtype", "layout", "device", "pin_memory", "requires_grad", "generator", "memory_format")
SELF = object()  # stands among the sources of a schema's values for the tensor whose method is called


@dataclass(frozen=True)
class Plan:
    """How the values of one signature become the values of one schema."""

    schema: int
    sources: tuple[Any, ...]  # per argument of the schema: an index among the values, SELF, or a Default
    extras: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Default:
    """A value that the schema has for an argument the signature does not have."""

    value: Any


class Binder:
    """Binds the calls of one public function or method to the schemas declared under its name."""

    def __init__(
        self, public_name: str, schemas: Sequence[Schema], *, method: bool = False, types: Types = TYPES
    ):
        texts = signatures.of_method(public_name) if method else signatures.of_function(public_name)
        if not texts:
            texts = [signature_of(schema, public_name, method) for schema in schemas]
        self.name = public_name
        self.method = method
        self.parser = Parser(public_name, texts, method=method, types=types)
        parsed = sorted(zip(self.parser.order, self.parser.signatures, strict=True), key=itemgetter(0))
        self.plans = [plan_for(signature, schemas, method) for _, signature in parsed]
        # The signatures in the order in which they are tried, each with its plan.
        self.candidates = [
            (signature, self.plans[index])
            for index, signature in zip(self.parser.order, self.parser.signatures, strict=True)
        ]

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, list[Any], dict[str, Any]]:
        """The schema's index, its values in order, and the extras passed; a method's tensor is `args[0]`.

        Raises:
            TypeError: no signature matches, with PyTorch's text.
            NotImplementedError: a signature matches of which no schema is declared.
        """
        index, values = self.parser.bind(args[1:] if self.method else args, kwargs)
        plan = self.plans[index]
        if plan is None:
            raise NotImplementedError(
                f"{self.name}: no schema is declared for {self.parser.signature(index)}"
            )
        tensor = args[0] if self.method else None
        ordered = [self._value(source, values, tensor) for source in plan.sources]
        extras = {name: values[at] for name, at in plan.extras if values[at] is not None}
        if extras.get("out").__class__ is tuple and not extras["out"]:
            del extras["out"]  # a list of outputs that was left out
        return plan.schema, ordered, extras

    @staticmethod
    def _value(source: Any, values: list[Any], tensor: Any) -> Any:
        if type(source) is int:
            return values[source]
        return tensor if source is SELF else source.value


def plan_for(signature: Signature, schemas: Sequence[Schema], method: bool) -> Plan | None:
    """The plan for the schema that takes most of the signature's arguments: by name, else by position."""
    for by_name in (True, False):
        plans = []
        for index, schema in enumerate(schemas):
            if any(argument.writes and argument.keyword_only for argument in schema.arguments):
                continue  # an out= overload: the call path makes it of the plain one
            sources = _sources(signature.arguments, schema.arguments, method, by_name)
            if sources is not None:
                unused = [at for at in range(len(signature.arguments)) if at not in sources]
                names = tuple((signature.arguments[at].name, at) for at in unused)
                if all(name in _EXTRAS for name, _ in names):
                    plans.append(Plan(index, tuple(sources), names))
        if plans:
            return min(plans, key=lambda plan: len(plan.extras))
    return None


def _sources(
    given: Sequence[Argument], wanted: Sequence[Argument], method: bool, by_name: bool
) -> list[Any] | None:
    """Where each argument of a schema comes from, or None if one has no source."""
    at = {_common_name(argument.name): position for position, argument in enumerate(given)}
    sources: list[Any] = []
    position = 0
    for argument in wanted:
        if method and argument.name == "self":
            sources.append(SELF)
            continue
        source = at.get(_common_name(argument.name)) if by_name else position
        position += 1
        if source is not None and source < len(given) and _same_type(given[source], argument):
            sources.append(source)
        elif source is None and argument.default is not None:
            sources.append(Default(argument.value))
        else:
            return None
    return sources


def _common_name(name: str) -> str:
    return "self" if name == "input" else name


def _same_type(first: Argument, second: Argument) -> bool:
    """SymInt and int are one type here, as are lists of tensors with and without None."""
    return _plain(first.type) == _plain(second.type)


def _plain(type_: str) -> str:
    return type_.replace("SymInt", "int").replace("?[]", "[]")


def signature_of(schema: Schema, public_name: str, method: bool) -> str:
    """The signature text that PyTorch makes of a schema, without `out`.

    Raises:
        SchemaError: a method is asked for and no argument is named `self`.
    """
    arguments = [replace(argument, alias="", writes=False) for argument in schema.arguments]
    if method:
        if all(argument.name != "self" for argument in arguments):
            raise SchemaError(f"{schema.full_name} cannot be a method: no argument is named 'self'")
        arguments = [argument for argument in arguments if argument.name != "self"]
    else:
        arguments = [
            replace(argument, name="input") if argument.name == "self" and argument.is_tensor else argument
            for argument in arguments
        ]
    arguments = [
        replace(argument, type="Tensor[]") if argument.type == "Tensor?[]" else argument
        for argument in arguments
    ]
    return f"{public_name}({format_arguments(tuple(arguments))})"
