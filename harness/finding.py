"""A finding: what an engine came to on a program that is no agreement, as plain data that groups and travels.

Words:

how       in which way the two values of a fact differ, without the values: "True -> False", "None -> tensor",
          "fewer", "strides"; two bugs that show in one fact often differ in it
identity  what a program keeps while it is reduced: verdict, engine, phase, fact, statement kind, error, how
judge     a function from a program to what is found in it
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from harness.compare import ABSENT, Difference, is_numbers, short
from harness.facts import POSITION, is_missing
from harness.program import Program
from harness.run import Result
from harness.trace import Trace, is_tensor, is_transient, update
from harness.verdict import Verdict

# The ops that stand for any op, any op that saves a tensor, any view, and any in-place op.
PLAIN_KINDS = ("clone", "square", "view_as", "mul_")
COMPOUND = frozenset(("with", "for", "while", "if", "try", "asyncwith", "asyncfor"))
LOST = ("crash", "hang", "memory")  # the facts of a program that did not come to its end
MOST_PROFILED = 100
GRAD_DETAILS = ("strides", "version", "grad_fn", "shares")
NUMBER_OR_NAME = re.compile(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\d+")


class TensorSeen(NamedTuple):
    """What a fresh leaf must have to stand for a tensor."""

    dtype: str
    shape: tuple[int, ...]
    data: Any
    requires_grad: bool
    is_leaf: bool


Tensors = Sequence[dict[str, TensorSeen]]  # per step, the variables that were seen to be tensors then


@dataclass(frozen=True)
class Finding:
    """What was found first; texts for people besides what groups it."""

    verdict: Verdict
    engine: str
    phase: str
    fact: str
    statement_kind: str
    error: str = ""
    how: str = ""
    step: int = 0
    what: str = ""
    expected_engine: str = "torch"
    expected: str = ""
    actual: str = ""
    note: str = ""
    profile: tuple[str, ...] = ()  # every fact that differs, and how; if asked for

    @property
    def identity(self) -> tuple[str, ...]:
        return (*self.loose_identity, self.phase, self.statement_kind)

    @property
    def loose_identity(self) -> tuple[str, ...]:
        return self.verdict, self.engine, self.fact, self.error, self.how

    def is_like(self, other: "Finding | None") -> bool:
        """Whether it is the same as the other one, which was there before.

        What differs inside of a block may turn up as a statement of its own, what differs in a second
        backward may show in a first one, and what differs after some op may differ after the plainest one.
        """
        if other is None or self.loose_identity != other.loose_identity:
            return False
        may_move = other.statement_kind in COMPOUND
        if self.phase != other.phase and other.phase != "double backward" and not may_move:
            return False
        return may_move or self.statement_kind in (other.statement_kind, *PLAIN_KINDS)

    def title(self) -> str:
        if self.fact in LOST:
            return f"{self.engine} {self.note}"
        return f"{self.engine} differs from {self.expected_engine}: {self.what}"

    def lines(self) -> list[str]:
        """What differs, for the comments of a script: the fact, and a line per engine."""
        if self.fact in LOST:
            return [f"here {self.engine} {self.note}"]
        width = max(len(self.expected_engine), len(self.engine))
        note = f" ({self.note})" if self.note else ""
        return [
            f"{self.what}{note}",
            f"  expected  {self.expected_engine:{width}}  {self.expected}",
            f"  actual    {self.engine:{width}}  {self.actual}",
        ]

    def one_line(self) -> str:
        if self.fact in LOST:
            return f"{self.engine} {self.note} in {self.statement_kind}"
        values = f"{self.expected} expected, {self.actual} found"
        return f"{self.engine}: {self.what} in {self.statement_kind}: {values}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Finding":
        return cls(**{**data, "verdict": Verdict(data["verdict"]), "profile": tuple(data["profile"])})


@dataclass(frozen=True)
class Observation:
    """What a judge came to on a program: a finding or none, and what the expected engine did."""

    finding: Finding | None
    tensors: Tensors = field(default=(), repr=False)  # by step
    raising: frozenset[str] = frozenset()  # the statements that raised


Judge = Callable[[Program], Observation]


def finding_of(result: Result) -> Finding | None:
    """The finding of a result, None for agreement, for what is known and for what an engine lacks."""
    if not result.verdict.is_failure:
        return None
    difference = result.difference
    if difference is None:
        fact = "hang" if result.verdict is Verdict.HUNG else "crash"
        return Finding(result.verdict, result.engine, "", fact, "", note=result.note, how=result.note[:60])
    return Finding(
        result.verdict,
        difference.engine,
        difference.phase,
        difference.fact,
        difference.statement_kind,
        difference.error,
        how(difference),
        difference.step,
        difference.what,
        difference.expected_engine,
        short(difference.expected, 160),
        short(difference.actual, 160),
        result.note,
    )


def findings_of(results: Sequence[Result]) -> list[Finding]:
    """The findings of a program, the expected engine's own first."""
    return [finding for result in results if (finding := finding_of(result)) is not None]


def profile(found: Iterable[Difference]) -> tuple[str, ...]:
    """Every fact in which a program differs, and how: bugs that first show alike differ in the rest."""
    return tuple(
        sorted({f"{difference.fact} {how(difference)}" for difference in islice(found, MOST_PROFILED)})
    )


def tensors_of(trace: Trace | None) -> list[dict[str, TensorSeen]]:
    """The variables that are tensors after each step of a trace."""
    steps: list[dict[str, TensorSeen]] = []
    state: dict[str, tuple] = {}
    value, requires_grad, is_leaf = (POSITION[name] for name in ("value", "requires_grad", "is_leaf"))
    for _, seen in trace.records if trace is not None else ():
        update(state, seen)
        steps.append(
            {
                name: TensorSeen._make(
                    (*record[value], record[requires_grad] is True, record[is_leaf] is True)
                )
                for name, record in state.items()
                if is_tensor(record) and is_numbers(record[value]) and not is_transient(name)
            }
        )
    return steps


# How two values differ -----------------------------------------------------------------------------


def how(difference: Difference) -> str:
    """In which way the values differ, said without them."""
    fact, ours, theirs = difference.fact, difference.expected, difference.actual
    if is_reading_error(ours) or is_reading_error(theirs):
        return f"{read(ours)} -> {read(theirs)}"
    if is_missing(ours) or is_missing(theirs):
        return "missing"
    if ABSENT in (ours, theirs):
        return "a variable less" if theirs == ABSENT else "a variable more"
    if fact in HOW:
        return HOW[fact](ours, theirs)
    return plainly(ours, theirs)


def is_reading_error(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 3 and value[0] == "raises"


def read(value: Any) -> str:
    """What came of reading: the kind of error, or the value if it is one of few."""
    return f"reading raises {value[1]}" if is_reading_error(value) else sort(value)


def plainly(ours: Any, theirs: Any) -> str:
    """None, truth values and names stand for themselves; other values only for their type."""
    if isinstance(ours, (bool, type(None))) or isinstance(theirs, (bool, type(None))):
        return f"{sort(ours)} -> {sort(theirs)}"
    if isinstance(ours, int) and isinstance(theirs, int):
        return "lower" if theirs < ours else "higher"
    if is_numbers(ours) and is_numbers(theirs):
        return tensor_part(ours, theirs)
    if type(ours) is not type(theirs):
        return f"{sort(ours)} -> {sort(theirs)}"
    return "other"


def sort(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    return "tensor" if is_numbers(value) else "name" if isinstance(value, str) else "value"


def tensor_part(ours: Sequence, theirs: Sequence) -> str:
    """Which part of (dtype, shape, numbers, requires_grad) differs first."""
    for part, a, b in zip(("dtype", "shape", "numbers", "requires_grad"), ours, theirs, strict=False):
        if a != b:
            return part
    return "numbers"


def raised(ours: Any, theirs: Any) -> str:
    """From which kind of error to which; none is "done"."""
    return " -> ".join(
        str(told).partition(" (")[0] if told is not None else "done" for told in (ours, theirs)
    )


def message(ours: str, theirs: str) -> str:
    """The beginning of the text expected, without numbers and names: one text, one cause."""
    return " ".join(NUMBER_OR_NAME.sub("_", str(ours)).split()[:8])


def lines(ours: Sequence, theirs: Sequence) -> str:
    """Fewer or more lines, the same in another order, or another text."""
    ours, theirs = list(ours), list(theirs)
    if len(ours) != len(theirs):
        return "fewer" if len(theirs) < len(ours) else "more"
    return "order" if sorted(map(str, ours)) == sorted(map(str, theirs)) else "text"


def members(ours: Any, theirs: Any) -> str:
    if isinstance(ours, (tuple, list)) and isinstance(theirs, (tuple, list)) and len(ours) != len(theirs):
        return "fewer" if len(theirs) < len(ours) else "more"
    return plainly(ours, theirs)


def grad_details(ours: Any, theirs: Any) -> str:
    if ours is None or theirs is None:
        return plainly(ours, theirs)
    for part, a, b in zip(GRAD_DETAILS, ours, theirs, strict=False):
        if a != b:
            return f"{part} {members(a, b)}"
    return "other"


def graph(ours: Any, theirs: Any) -> str:
    if not ours or not theirs or len(ours) != len(theirs):
        return members(ours or (), theirs or ())
    return "edges" if [node[0] for node in ours] == [node[0] for node in theirs] else "names"


def node_names(ours: Any, theirs: Any) -> str:
    """Names of nodes that belong to no one op stand for themselves."""
    shown = [name if name in OWN_NODES else "a node" for name in (ours, theirs)]
    return f"{shown[0]} -> {shown[1]}"


OWN_NODES = (None, "CopySlices", "AsStridedBackward0", "AccumulateGrad", "CloneBackward0", "ViewBackward0")
HOW: dict[str, Callable[[Any, Any], str]] = {
    "kind": raised,
    "mark": raised,
    "type": lambda ours, theirs: f"{ours} -> {theirs}",
    "message": message,
    "printed": lines,
    "warnings": lines,
    "shares": members,
    "same_as": members,
    "grad_details": grad_details,
    "graph": graph,
    "grad_fn": node_names,
    "saved": lambda ours, theirs: f"{ours} -> {theirs}",
}
