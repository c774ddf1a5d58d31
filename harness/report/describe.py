"""Traces in words: what is new about each subject after a step, and which of it differs."""

from collections.abc import Callable, Iterable
from typing import Any

from harness.compare import differences, shown
from harness.facts import is_missing
from harness.outcome import Outcome
from harness.program import Program
from harness.trace import ABSENT, Seen, Trace, is_tensor, is_transient, named, update

from .model import Entry, Piece, Step

LONGEST = 160  # characters of a fact that agrees; one that differs is shown at greater length
LONGEST_DIFFERING = 2000
MOST_DIFFERENCES = 200

Marks = set[tuple[str, str]]  # (subject, fact) of what differs at a step


# Facts as people say them -----------------------------------------------------------------------------------


def numbers(data: Any, digits: int | None = 6) -> str:
    """Nested data with as many digits as help."""
    if isinstance(data, (list, tuple)):
        return "[" + ", ".join(numbers(item, digits) for item in data) + "]"
    if isinstance(data, float) and digits:
        return f"{data:.{digits}g}"
    if isinstance(data, complex) and digits:
        return f"{data:.{digits}g}"
    return repr(data)


def say_numbers(value: Any, digits: int | None = 6) -> str:
    dtype, shape, data, *_ = value
    return f"{dtype}{list(shape)} {numbers(data, digits)}"


def say_grad(value: Any, digits: int | None = 6) -> str:
    if value is None:
        return "grad None"
    return f"grad {say_numbers(value, digits)}" + (" requires_grad" if value[3] else "")


def say_grad_details(value: Any) -> str:
    if value is None:
        return "no grad"
    strides, version, node, sharing = value
    text = f"grad strides {tuple(strides)}, version {version}, grad_fn {node}"
    return text + (f", shares memory with {', '.join(sharing)}" if sharing else "")


def say_view(value: Any) -> str:
    return "no view" if value is False else f"view of {value[1] or 'a tensor without a name'}"


def say_graph(value: Any) -> str:
    """The nodes in order, each with the numbers of the nodes that it leads to."""
    if value is None:
        return "graph none"
    described = []
    for number, (name, edges) in enumerate(value):
        targets = ", ".join("-" if edge is None else str(edge[0]) for edge in edges)
        described.append(f"{number} {name}({targets})")
    return "graph " + ", ".join(described)


def names(prefix: str) -> Callable[[Any], str]:
    return lambda value: f"{prefix} {', '.join(value) or 'nothing'}"


SAYINGS: dict[str, Callable[[Any], str]] = {
    "value": say_numbers,
    "requires_grad": lambda value: "requires_grad" if value else "requires_grad False",
    "is_leaf": lambda value: "leaf" if value else "not a leaf",
    "retains_grad": lambda value: "retains grad" if value else "retains no grad",
    "grad": say_grad,
    "grad_details": say_grad_details,
    "is_view": say_view,
    "shares": names("shares memory with"),
    "same_as": names("is the same object as"),
    "grad_fn": lambda value: value or "no grad_fn",
    "output_nr": lambda value: f"output {value}",
    "storage_offset": lambda value: f"offset {value}",
    "is_inference": lambda value: "inference tensor" if value else "no inference tensor",
    "graph": say_graph,
    "saved": lambda value: "saved nothing" if value is None else f"saved tensors {value}",
}


def say(fact: str, value: Any, differs: bool) -> str:
    """One fact as text; what cannot be said in its own way is said plainly."""
    if isinstance(value, tuple) and len(value) == 3 and value[0] == "raises":
        text = f"{fact} raises {value[1]}: {value[2]}"
    elif is_missing(value):
        text = f"no attribute {value[1]}"
    else:
        text = in_words(fact, value, differs)
    limit = LONGEST_DIFFERING if differs else LONGEST
    return text if len(text) <= limit else text[: limit - 1] + "…"


def in_words(fact: str, value: Any, differs: bool) -> str:
    try:
        if differs and fact == "value":
            return say_numbers(value, None)
        if differs and fact == "grad":
            return say_grad(value, None)
        return SAYINGS[fact](value)
    except (KeyError, TypeError, ValueError, IndexError):
        return f"{fact} {shown(value)}"


# What is worth saying ---------------------------------------------------------------------------------------

# What a reader takes for granted about a tensor that is seen for the first time.
ORDINARY: dict[str, Any] = {
    "requires_grad": False,
    "retains_grad": False,
    "grad": None,
    "grad_details": None,
    "is_view": False,
    "shares": (),
    "same_as": (),
    "grad_fn": None,
    "output_nr": 0,
    "version": 0,
    "storage_offset": 0,
    "is_inference": False,
}


def contiguous(shape: Iterable[int]) -> tuple[int, ...]:
    """The strides of a tensor of this shape that lies in memory row by row."""
    strides, step = [], 1
    for size in reversed(list(shape)):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_ordinary(fact: str, value: Any, facts: dict[str, Any]) -> bool:
    """Whether a fact goes without saying where its tensor is first seen."""
    if fact == "is_leaf":
        return not (value is True and facts.get("requires_grad") is True)
    if fact == "strides":
        shape = facts["value"][1] if len(facts.get("value", ())) == 3 else ()
        if isinstance(shape, str):  # the value could not be read
            return False
        return value == contiguous(shape)
    return fact in ORDINARY and value == ORDINARY[fact]


# These are told only where they differ: they are long, and follow from what the program says.
ONLY_DIFFERING = frozenset({"graph", "grad_details"})


def tensor_pieces(subject: str, new: tuple, old: tuple | None, marks: Marks) -> tuple[Piece, ...]:
    """What is new about a tensor, the fact it is known by first."""
    facts = named(new)
    before = named(old) if old is not None and is_tensor(old) else None
    pieces = []
    for fact, value in facts.items():
        differs = (subject, fact) in marks
        if not differs:
            if fact in ONLY_DIFFERING:
                continue
            if fact == "saved" and value in (None, "kept"):
                continue
            if is_ordinary(fact, value, facts) if before is None else before.get(fact, value) == value:
                continue
        pieces.append(Piece(say(fact, value, differs), differs))
    return tuple(pieces)


def subject_entry(subject: str, new: tuple, old: tuple | None, marks: Marks) -> Entry | None:
    name = "" if subject == "_" else subject
    differs = any(marked == subject for marked, _ in marks)
    if is_tensor(new):
        pieces = tensor_pieces(subject, new, old, marks)
        return Entry(name, pieces) if pieces else None
    if new == ABSENT:
        return Entry(name, (Piece("not there" if old in (None, ABSENT) else "gone", differs),))
    if new == old and not differs:
        return None
    if new[0] == "is":
        return Entry(name, (Piece(f"is {new[1]}", differs),)) if differs else None
    text = numbers(new[1], None if differs else 6) if isinstance(new[1], (tuple, float)) else repr(new[1])
    limit = LONGEST_DIFFERING if differs else LONGEST
    return Entry(name, (Piece(text if len(text) <= limit else text[: limit - 1] + "…", differs),))


def outcome_entries(outcome: Outcome, marks: Marks) -> list[Entry]:
    """What a step printed, warned and raised, in the order in which they are read."""
    entries = []
    for line in outcome.printed:
        entries.append(Entry("", (Piece(line, ("printed", "printed") in marks),), "printed"))
    for category, text in outcome.warnings:
        entries.append(
            Entry("", (Piece(f"{category}: {text}", ("warnings", "warnings") in marks),), "warned")
        )
    if outcome.raised is not None:
        raised = outcome.raised
        differs = any(subject == "raises" for subject, _ in marks)
        entries.append(Entry("", (Piece(f"{raised.type}: {raised.message}", differs),), "raised"))
    return entries


def side(trace: Trace, step: int, state: Seen, marks: Marks) -> tuple[Entry, ...]:
    """One engine's column at one step; brings its state up to date."""
    if step >= len(trace):
        return ()
    entries = outcome_entries(trace.outcome(step), marks)
    if not entries and any(subject in ("printed", "raises", "warnings") for subject, _ in marks):
        entries.append(Entry("", (Piece("no error, no output", True),)))
    seen = trace.records[step][1]
    # A subject that differs is told by both, even by the one for which nothing is new.
    also = {subject: state.get(subject, ABSENT) for subject, _ in marks if subject not in seen}
    for subject, new in [*seen.items(), *also.items()]:
        if subject in ("printed", "raises", "warnings"):
            continue
        old = None if is_transient(subject) else state.get(subject)
        entry = subject_entry(subject, new, old, marks)
        if entry is not None:
            entries.append(entry)
    update(state, seen)
    return tuple(entries)


def steps_of(expected: Trace, actual: Trace, program: Program, strict: bool) -> tuple[Step, ...]:
    """Both traces side by side; what differs is marked, up to a number that nobody reads beyond."""
    marks: dict[int, Marks] = {}
    for number, found in enumerate(differences(expected, actual, program, strict)):
        if number >= MOST_DIFFERENCES:
            break
        marks.setdefault(found.step, set()).add((found.subject, found.fact))
    states: tuple[Seen, Seen] = {}, {}
    steps = []
    for number in range(max(len(expected), len(actual))):
        here = marks.get(number, set())
        columns = side(expected, number, states[0], here), side(actual, number, states[1], here)
        if number < len(program.statements):
            statement = program.statements[number]
            steps.append(Step(str(statement.line), statement.text, *columns, bool(here)))
        elif any(columns):
            steps.append(Step("", "at the end", *columns, bool(here)))
    return tuple(steps)
