"""Traces: what was observed, step by step, as plain data; to JSON and back.

A trace holds one record a step and one for the look at the end. A record is (outcome, what was seen), the
latter a dictionary from subject to one of
    every fact of a tensor, in the order of facts.NAMES
    ("value", data)   a variable that is no tensor
    ("is", name)      a bare expression whose value is that variable
    ABSENT            a variable that is gone
A subject that is not mentioned is as it was.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.facts import NAMES, NOT_READ
from harness.outcome import Outcome, Raised

ABSENT = ("absent",)
WIDTH = len(NAMES)

Seen = dict[str, tuple]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a trace, as people ask for it: how it ended, and the facts that were seen."""

    outcome: Outcome
    facts: dict[str, dict[str, Any]]  # subject: fact: value


@dataclass(slots=True)
class Trace:
    """The run of one program on one engine."""

    engine: str
    version: str
    look: str
    records: list[tuple[tuple, Seen]] = field(repr=False)
    missing: tuple[int, str] | None = None  # (step, name) of what the engine lacks

    def __len__(self) -> int:
        return len(self.records)

    def outcome(self, step: int) -> Outcome:
        raised, warnings, printed = self.records[step][0]
        return Outcome(None if raised is None else Raised(*raised), warnings, printed)

    def step(self, number: int) -> Step:
        seen = self.records[number][1]
        return Step(self.outcome(number), {subject: named(record) for subject, record in seen.items()})

    @property
    def steps(self) -> Iterator[Step]:
        """Every step, and the look at the end as the last."""
        return (self.step(number) for number in range(len(self.records)))

    def state(self, upto: int | None = None) -> Seen:
        """What every live subject was last seen to be, after the step `upto` (None: at the end)."""
        last: Seen = {}
        for _, seen in self.records[: None if upto is None else upto + 1]:
            update(last, seen)
        return last

    def to_json(self) -> dict[str, Any]:
        return {
            "engine": self.engine,
            "version": self.version,
            "look": self.look,
            "missing": list(self.missing) if self.missing else None,
            "steps": [step_to_json(*record) for record in self.records],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Trace":
        missing = data.get("missing")
        return cls(
            data["engine"],
            data["version"],
            data["look"],
            [step_from_json(step) for step in data["steps"]],
            (missing[0], missing[1]) if missing else None,
        )


def update(state: Seen, seen: Seen) -> None:
    """Bring a state up to date; the value of a bare expression lives for one step only."""
    for subject, record in seen.items():
        if record == ABSENT:
            state.pop(subject, None)
        elif not is_transient(subject):
            state[subject] = record


def is_transient(subject: str) -> bool:
    """Whether the subject is (inside) the value of a bare expression."""
    return subject[0] == "_" and (len(subject) == 1 or subject[1] in "[.")


def is_tensor(record: tuple) -> bool:
    return len(record) == WIDTH


def named(record: tuple) -> dict[str, Any]:
    """A record as a dictionary; facts that the look did not read are left out."""
    if is_tensor(record):
        return {name: value for name, value in zip(NAMES, record, strict=True) if value is not NOT_READ}
    if record == ABSENT:
        return {"absent": True}
    return {"is" if record[0] == "is" else "plain": record[1]}


def unnamed(facts: dict[str, Any]) -> tuple:
    """The inverse of `named`."""
    if "absent" in facts:
        return ABSENT
    if "plain" in facts:
        return "value", facts["plain"]
    if "is" in facts:
        return "is", facts["is"]
    return tuple(facts.get(name, NOT_READ) for name in NAMES)


def step_to_json(outcome: tuple, seen: Seen) -> dict[str, Any]:
    raised, warnings, printed = outcome
    step: dict[str, Any] = {}
    if raised is not None:
        step["raised"] = dict(zip(Raised._fields, raised, strict=True))
    if warnings:
        step["warnings"] = [list(warning) for warning in warnings]
    if printed:
        step["printed"] = list(printed)
    if seen:
        step["facts"] = {subject: encoded(named(record)) for subject, record in seen.items()}
    return step


def step_from_json(step: dict[str, Any]) -> tuple[tuple, Seen]:
    raised = step.get("raised")
    outcome = (
        None if raised is None else tuple(raised[name] for name in Raised._fields),
        tuple((category, text) for category, text in step.get("warnings", ())),
        tuple(step.get("printed", ())),
    )
    return outcome, {subject: unnamed(decoded(facts)) for subject, facts in step.get("facts", {}).items()}


def encoded(value: Any) -> Any:
    """Plain data as JSON can hold it; what it cannot becomes {"float": "nan"}, {"complex": [1, 2]}."""
    kind = type(value)
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind in (tuple, list):
        return [encoded(item) for item in value]
    if kind is complex:
        return {"complex": [encoded(value.real), encoded(value.imag)]}
    if kind is dict:
        return {key: encoded(item) for key, item in value.items()}
    return value


def decoded(value: Any) -> Any:
    """The inverse of `encoded`; sequences come back as tuples."""
    if isinstance(value, list):
        return tuple(decoded(item) for item in value)
    if isinstance(value, dict):
        if len(value) == 1 and "float" in value and isinstance(value["float"], str):
            return float(value["float"])
        if len(value) == 1 and "complex" in value and isinstance(value["complex"], list):
            return complex(*(decoded(part) for part in value["complex"]))
        return {key: decoded(item) for key, item in value.items()}
    return value
