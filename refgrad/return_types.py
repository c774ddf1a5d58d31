"""The named tuples that ops with several results return, such as `torch.return_types.max`."""

from collections.abc import Iterable
from operator import itemgetter
from typing import Any


class NamedResults(tuple):
    """Results that can be read by name; made of one sequence, and printed one field a line."""

    __slots__ = ()
    n_fields = n_sequence_fields = 0
    n_unnamed_fields = 0
    fields: tuple[str, ...] = ()
    __match_args__: tuple[str, ...] = ()

    def __new__(cls, results: Iterable[Any]) -> "NamedResults":
        made = tuple.__new__(cls, results)
        if len(made) != cls.n_fields:
            name = f"torch.return_types.{cls.__name__}"
            raise TypeError(f"{name}() takes a {cls.n_fields}-sequence ({len(made)}-sequence given)")
        return made

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'torch.return_types.{type(self).__name__}' object has no attribute '{name}'")

    def __repr__(self) -> str:
        lines = (f"{name}={value!r}" for name, value in zip(self.fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n" + ",\n".join(lines) + ")"


def named(name: str, *fields: str) -> type[NamedResults]:
    """The class of the results of one op, kept under the op's name in this module."""
    namespace: dict[str, Any] = {field: property(itemgetter(i)) for i, field in enumerate(fields)}
    namespace.update(
        __slots__=(),
        __module__="torch.return_types",
        __match_args__=fields,
        fields=fields,
        n_fields=len(fields),
        n_sequence_fields=len(fields),
    )
    made = type(name, (NamedResults,), namespace)
    globals()[name] = made
    return made
