"""Comparing two traces: which facts differ, at which step, in which order; the first difference counts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any, NamedTuple

from harness.facts import FACTS, LOOSEST, NOT_READ, close, exact_form, is_missing
from harness.outcome import Outcome
from harness.program import Program, Statement
from harness.trace import ABSENT, Seen, Trace, is_tensor, is_transient, update

NUMBER = re.compile(r"(?<![\w.])([-+]?(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?)", re.IGNORECASE)
RULES = tuple(FACTS.values())
NEGLIGIBLE = 1e-7  # printed numbers that differ by less agree: what rounding leaves of zero


class Signature(NamedTuple):
    """What groups differences that have one cause."""

    engine: str
    phase: str
    fact: str
    statement: str
    error: str

    def __str__(self) -> str:
        return "/".join(self)


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact, at one step, of one subject, in which an engine differs from what is expected."""

    step: int
    subject: str
    fact: str
    expected: Any
    actual: Any
    statement: str = ""
    line: int = 0
    phase: str = "forward"
    statement_kind: str = ""
    error: str = ""  # the canonical kind of what either engine raised at this step
    expected_engine: str = "torch"
    engine: str = "refgrad"
    is_unsupported: bool = False  # the engine has no such fact

    @property
    def signature(self) -> Signature:
        return Signature(self.engine, self.phase, self.fact, self.statement_kind, self.error)

    @property
    def where(self) -> str:
        """The line and the text of the statement."""
        return f"line {self.line}: {self.statement}" if self.line else self.statement

    @property
    def what(self) -> str:
        """The subject and its fact, as people say it."""
        if self.subject in ("raises", "printed", "warnings"):
            return {"kind": "the error", "type": "the type of the error", "message": "the message"}.get(
                self.fact,
                {"printed": "what it prints", "warnings": "its warnings"}.get(self.subject, self.fact),
            )
        return f"{self.subject}.{self.fact}"

    def __str__(self) -> str:
        width = max(len(self.expected_engine), len(self.engine))
        return (
            f"{self.where}\n  {self.what}\n"
            f"    {self.expected_engine:{width}}  {shown(self.expected)}\n"
            f"    {self.engine:{width}}  {shown(self.actual)}"
        )

    def one_line(self) -> str:
        text = " ".join(self.statement.split())
        ours, theirs = shortened(shown(self.expected), shown(self.actual))
        return f"{text}: {self.what}: {self.expected_engine} has {ours}, {self.engine} has {theirs}"


def shown(value: Any) -> str:
    """A value of a fact for people: tensors as dtype, shape and numbers."""
    if value == ABSENT:
        return "nothing"
    if isinstance(value, (tuple, list)) and value and value[0] == "raises" and len(value) == 3:
        return f"reading it raises {value[1]}: {value[2]}"
    if is_missing(value):
        return f"no attribute {value[1]}"
    if is_numbers(value):
        dtype, shape, numbers, *rest = value
        return f"{numbers} ({dtype}, shape {list(shape)}{', requires_grad' if rest and rest[0] else ''})"
    if isinstance(value, str) and "\n" not in value:
        return value
    return repr(value)


def is_numbers(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) in (3, 4)
        and isinstance(value[0], str)
        and isinstance(value[1], (tuple, list))
    )


def short(value: Any, limit: int = 100) -> str:
    text = shown(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def shortened(ours: str, theirs: str, limit: int = 100) -> tuple[str, str]:
    """Two long texts cut to where they differ."""
    alike = len(commonprefix([ours, theirs]))
    start = max(0, alike - limit // 2) if max(len(ours), len(theirs)) > limit else 0
    head = "..." if start else ""
    return short(head + ours[start:], limit), short(head + theirs[start:], limit)


# Comparing -----------------------------------------------------------------------------------------


def differences(
    expected: Trace, actual: Trace, program: Program, strict: bool = True
) -> Iterator[Difference]:
    """Every difference in order; nothing when the traces agree."""
    states: tuple[Seen, Seen] = {}, {}
    for step in range(max(len(expected), len(actual))):
        ours, theirs = record_at(expected, step), record_at(actual, step)
        if exact_form(ours) == exact_form(theirs) and all(
            exact_form(states[0].get(s)) == exact_form(states[1].get(s)) for s in ours[1]
        ):
            update(states[0], ours[1])
            update(states[1], theirs[1])
            continue
        found = Finder(expected, actual, program, step, strict)
        yield from found.outcomes()
        yield from found.subjects(states, ours[1], theirs[1])
        yield from found.warnings()


def first_difference(
    expected: Trace, actual: Trace, program: Program, strict: bool = True
) -> Difference | None:
    """The difference that counts, or None; equal traces are told apart by their bytes alone."""
    if exact_form(expected.records) == exact_form(actual.records):
        return None
    return next(differences(expected, actual, program, strict), None)


def self_difference(observed: Trace, unobserved: Trace, program: Program) -> Difference | None:
    """Where a watched run and one that was looked at only at its end differ: outcomes, then the end."""
    last = len(program.statements)
    for step in range(last):
        found = Finder(observed, unobserved, program, step, strict=True)
        yield_ = next(found.outcomes(), None) or next(found.warnings(), None)
        if yield_ is not None:
            return yield_
    states = observed.state(), unobserved.state()
    found = Finder(observed, unobserved, program, last, strict=True)
    return next(found.subjects(({}, {}), *states), None)


def record_at(trace: Trace, step: int) -> tuple[tuple, Seen]:
    return trace.records[step] if step < len(trace.records) else ((None, (), ()), {})


class Finder:
    """Finds what differs at one step."""

    def __init__(self, expected: Trace, actual: Trace, program: Program, step: int, strict: bool):
        self.expected, self.actual = expected, actual
        self.program, self.step, self.strict = program, step, strict
        self.outcome_e, self.outcome_a = outcome_at(expected, step), outcome_at(actual, step)

    def difference(self, subject: str, fact: str, expected: Any, actual: Any) -> Difference:
        at_end = self.step >= len(self.program.statements)
        statement = Statement("at the end", 0) if at_end else self.program.statements[self.step]
        raised = self.outcome_e.raised or self.outcome_a.raised
        return Difference(
            self.step,
            subject,
            fact,
            expected,
            actual,
            statement.text,
            statement.line,
            "end" if at_end else self.program.phases[self.step],
            "end" if at_end else self.program.steps[self.step].kind,
            raised.kind if raised else "",
            self.expected.engine,
            self.actual.engine,
            is_missing(actual) and not is_missing(expected),
        )

    def outcomes(self) -> Iterator[Difference]:
        """Differences in what was raised and printed."""
        ours, theirs = self.outcome_e.raised, self.outcome_a.raised
        if (ours is None) != (theirs is None) or (ours and theirs and ours.kind != theirs.kind):
            yield self.difference("raises", "kind", told(ours), told(theirs))
        elif ours and theirs and self.strict:
            if ours.type != theirs.type:
                yield self.difference("raises", "type", ours.type, theirs.type)
            if not close_text(ours.message, theirs.message, self.program.is_exact):
                yield self.difference("raises", "message", ours.message, theirs.message)
        ours_lines, their_lines = self.outcome_e.printed, self.outcome_a.printed
        if ours_lines != their_lines and not self.close_lines(ours_lines, their_lines):
            yield self.difference("printed", "printed", list(ours_lines), list(their_lines))

    def close_lines(self, expected: tuple[str, ...], actual: tuple[str, ...]) -> bool:
        return close_text("\n".join(expected), "\n".join(actual), self.program.is_exact)

    def warnings(self) -> Iterator[Difference]:
        ours, theirs = self.outcome_e.warnings, self.outcome_a.warnings
        if self.strict and ours != theirs:
            yield self.difference("warnings", "warnings", [list(w) for w in ours], [list(w) for w in theirs])

    def subjects(self, states: tuple[Seen, Seen], ours: Seen, theirs: Seen) -> Iterator[Difference]:
        """Differences in the subjects that either run has looked at."""
        update(states[0], ours)
        update(states[1], theirs)
        for subject in dict.fromkeys([*ours, *theirs]):
            a, b = (
                seen.get(subject, ABSENT) if is_transient(subject) else state.get(subject, ABSENT)
                for seen, state in ((ours, states[0]), (theirs, states[1]))
            )
            if a is not b:
                yield from self.records(subject, a, b)

    def records(self, subject: str, ours: tuple, theirs: tuple) -> Iterator[Difference]:
        if is_tensor(ours) and is_tensor(theirs):
            yield from self.tensors(subject, ours, theirs)
        elif ours[0] == theirs[0] == "value":
            if not close(ours[1], theirs[1], None if self.program.is_exact else LOOSEST):
                yield self.difference(subject, "value", ours[1], theirs[1])
        elif ours != theirs and (self.strict or not is_transient(subject)):
            yield self.difference(subject, "value", summary(ours), summary(theirs))

    def tensors(self, subject: str, ours: tuple, theirs: tuple) -> Iterator[Difference]:
        for rule, expected, actual in zip(RULES, ours, theirs, strict=True):
            if expected is NOT_READ or actual is NOT_READ or (rule.is_strict and not self.strict):
                continue
            if not rule.agrees(expected, actual, self.program.is_exact):
                yield self.difference(subject, rule.name, expected, actual)


def outcome_at(trace: Trace, step: int) -> Outcome:
    return trace.outcome(step) if step < len(trace) else Outcome(None)


def told(raised: Any) -> str | None:
    """What was raised, as a value of the fact: kind, type and message."""
    return None if raised is None else f"{raised.kind} ({raised.type}: {raised.message})"


def summary(record: tuple) -> Any:
    """A record of another sort than its counterpart, shortened to what it is."""
    if is_tensor(record):
        return record[0]
    return record if record == ABSENT else record[1]


def close_text(expected: str, actual: str, is_exact: bool) -> bool:
    """Whether texts agree; outside the exact lane, a decimal number may differ in its last printed digit."""
    if expected == actual:
        return True
    if is_exact:
        return False
    ours, theirs = NUMBER.split(expected), NUMBER.split(actual)
    if len(ours) != len(theirs):
        return False
    words = all(a.split() == b.split() for a, b in zip(ours[::2], theirs[::2], strict=True))
    return words and all(map(close_printed, ours[1::2], theirs[1::2]))


def close_printed(expected: str, actual: str) -> bool:
    """Whether two printed numbers agree; `3.`, a whole number, has no last digit to differ in."""
    if expected == actual:
        return True
    if "." not in expected or "." not in actual:
        return False
    mantissa, _, exponent = expected.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - decimals) if decimals else 0.0
    a, b = float(expected), float(actual)
    return abs(a - b) <= max(1.5 * unit, LOOSEST[0] * abs(a), NEGLIGIBLE)
