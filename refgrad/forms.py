"""Calls of a form that was seen before are bound at once, without matching.

*Form*: the classes of a call's positional arguments, then the names and the classes of its keyword
arguments. *Settled*: a call whose form alone tells which signature it matches and what becomes of each
value; that holds for tensors where a tensor is asked for, for plain numbers, and for lists of nothing but
integers or nothing but tensors, which are looked at again each time.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from refgrad.binding import HIGHEST, LOWEST, Parameter, Signature, is_index
from refgrad.dtypes import DType
from refgrad.overloads import SELF, Binder, Default, Plan
from refgrad.overriding import PLAIN as ORDINARY
from refgrad.tensor import Tensor

Call = Callable[[tuple, dict], Any]  # positional and keyword arguments to the result

INTEGERS = frozenset(("int[]", "SymInt[]"))
AS_THEY_ARE = {  # the type an argument has -> the classes of values that are handed on unchanged
    "Scalar": (int, float, complex, bool),
    "int": (int,),
    "SymInt": (int,),
    "bool": (bool,),
    "str": (str,),
    "ScalarType": (DType,),
}
PLAIN = frozenset((int, float, complex, bool, str, type(None), DType))


class Given(NamedTuple):
    """What a call gives for one parameter: the value, and the expression that fetches it from `a` or `k`."""

    parameter: Parameter
    value: Any
    source: str  # empty where the parameter takes its default


def form_of(args: tuple, kwargs: dict) -> tuple:
    """The form of a call, to be looked up."""
    classes = tuple([arg.__class__ for arg in args])
    return (*classes, *kwargs, *[value.__class__ for value in kwargs.values()]) if kwargs else classes


def settled_call(
    binder: Binder, calls: Sequence[Callable], slow: Call, args: tuple, kwargs: dict
) -> Call | None:
    """The function for all calls of the form that this call has; None where the form does not settle it.

    `calls` are the functions of the binder's schemas; `slow` binds a call whose lists hold something else.
    """
    if binder.method and not (args and isinstance(args[0], Tensor)):
        return None
    position = 1 if binder.method else 0
    for signature, plan in binder.candidates:
        given = list(given_by(signature, args[position:], kwargs, position))
        if not all(is_settled(one) for one in given):
            return None
        if isinstance(signature.match(args[position:], kwargs), list):
            if plan is None or signature.is_deprecated:
                return None
            return made_call(given, plan, calls[plan.schema], slow)
    return None


def made_call(given: Sequence[Given], plan: Plan, call: Callable, slow: Call) -> Call | None:
    """The function that fetches the values of a schema from a call's arguments and runs its op."""
    if any(given[at].source and given[at].value is not None for _, at in plan.extras):
        return None
    names: dict[str, Any] = {}
    values: list[str | None] = []
    for source in plan.sources:
        if source is SELF:
            values.append("a[0]")
        elif isinstance(source, Default):
            values.append(constant(source.value, names))
        else:
            values.append(converted(given[source], names))
    if None in values:
        return None
    guards = [guard for one in given if (guard := guard_of(one))]
    text = f"call({', '.join(map(str, values))})"
    if guards:
        text = f"{text} if {' and '.join(guards)} else slow(a, k)"
    make = maker(f"lambda call, slow, {', '.join(names)}: lambda a, k: {text}")
    made: Call = make(call, slow, *names.values())
    return made


def given_by(signature: Signature, args: tuple, kwargs: dict, position: int) -> Iterator[Given]:
    """What a call gives for each parameter, as `Signature.match` hands it out; `position` of the first."""
    count = len(args)
    for index, parameter in enumerate(signature.parameters):
        if index >= count:
            name = next((n for n in (parameter.name, *parameter.numpy_names) if n in kwargs), None)
            if name is None:
                yield Given(parameter, parameter.default, "")
            else:
                yield Given(parameter, kwargs[name], f"k[{name!r}]")
        elif index == 0 and signature.spreads and is_index(args[0], signature.types):
            yield Given(parameter, args, f"a[{position}:]" if position else "a")
            count = 0  # the others have their defaults, or are passed by name
        else:
            yield Given(parameter, args[index], f"a[{index + position}]")


def is_settled(given: Given) -> bool:
    """Whether the class of a value is enough to tell if it fits its parameter."""
    value, kind = given.value, given.parameter.type
    if not given.source or kind == "object":
        return True
    if isinstance(value, Tensor):
        return kind == "Tensor"
    if isinstance(value, (tuple, list)):
        # An empty list fits every type of list.
        return are_tensors(value) or are_integers(value) and (kind in INTEGERS or "[]" not in kind)
    return value.__class__ in PLAIN


def are_integers(values: Sequence[Any]) -> bool:
    """Whether a list holds nothing but integers; it may be empty."""
    return all(value.__class__ is int for value in values)


def are_tensors(values: Sequence[Any]) -> bool:
    """Whether a list holds tensors of ordinary classes and nothing else, at least one."""
    kinds = {value.__class__ for value in values}
    return len(kinds) > 0 and kinds <= ORDINARY and all(issubclass(kind, Tensor) for kind in kinds)


def guard_of(given: Given) -> str:
    """The condition under which another call of this form gives a list of that kind, or a number as small."""
    if given.source and given.parameter.type == "Scalar" and given.value.__class__ is int:
        return f"{LOWEST} <= {given.source} <= {HIGHEST}"
    is_list = isinstance(given.value, (tuple, list)) and given.parameter.type != "object"
    if not given.source or not is_list:
        return ""
    return f"{'are_integers' if are_integers(given.value) else 'are_tensors'}({given.source})"


def converted(given: Given, names: dict[str, Any]) -> str | None:
    """The expression of the value that the op gets, or None where it depends on more than the form."""
    parameter, value, source = given
    kind = parameter.type
    if not source:
        return constant(parameter.default, names)
    if value is None and parameter.allows_none:
        return constant(parameter.none, names)
    if kind == "Tensor" and parameter.convert is not None:
        return source if isinstance(value, Tensor) else None
    if kind in ("Tensor", "object") or value.__class__ in AS_THEY_ARE.get(kind, ()):
        return source
    if kind == "float" and isinstance(value, (int, float)):
        return source if value.__class__ is float else f"float({source})"
    if kind in INTEGERS:
        if value.__class__ is int:
            return f"({source},) * {parameter.argument.size or 1}"
        return f"tuple({source})" if isinstance(value, (tuple, list)) and are_integers(value) else None
    if kind == "Tensor[]" and not parameter.argument.size:
        return source
    return None


def constant(value: Any, names: dict[str, Any]) -> str:
    """The expression of a value that is the same in every call."""
    if value is None or value is True or value is False or value == ():
        return repr(value)
    name = f"c{len(names)}"
    names[name] = value
    return name


@cache
def maker(text: str) -> Callable:
    """Compile the text of a function that makes functions: many ops have calls of the same form."""
    code = compile(text, "<refgrad forms>", "eval")  # by which anomaly mode knows whose line it is
    made: Callable = eval(code, {"are_integers": are_integers, "are_tensors": are_tensors})
    return made
