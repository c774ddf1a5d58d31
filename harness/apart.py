"""Programs run in a process apart: one that ends it costs that program alone, and names the engine."""

import json
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import IO, Any

from harness.campaign.child import Child, Lost, Say
from harness.engines import engine as engine_named
from harness.engines.base import EngineError, Name
from harness.known import Known
from harness.program import Program
from harness.record import program_line, result_line
from harness.run import Result, Runs, examine, failed_imports, lost, with_known
from harness.verdict import Verdict, worst

# Note [Compilers change the engine]
# Once a program has had something compiled, PyTorch sums gradients in other memory for the rest of the
# process. After a program that loaded a compiler the next one gets another process.
COMPILERS = ("torch._dynamo.backends.common",)
GRACE = 10.0  # seconds beyond the limit, after which a run that heeds no signal is killed
NO_END = float("inf")


@dataclass(frozen=True)
class Setup:
    """The engines, and how to compare."""

    expected: str
    engines: tuple[str, ...]
    strict: bool | None
    known: tuple[Known, ...]
    limit: float

    @property
    def specs(self) -> tuple[str, ...]:
        return (self.expected, *self.engines)


@dataclass(frozen=True)
class Outcome:
    """What a program came to: the verdict on each engine that ran (the expected one first), what there is to
    tell, and its lines of a record."""

    verdicts: list[tuple[str, Verdict]]
    told: list[str]
    lines: list[dict[str, Any]]

    @property
    def verdict(self) -> Verdict:
        """The verdict that counts."""
        return worst([verdict for _, verdict in self.verdicts])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Outcome":
        verdicts = [(name, Verdict(verdict)) for name, verdict in data["verdicts"]]
        return cls(verdicts, data["told"], data["lines"])


def outcome_of(program: Program, results: Sequence[Result], with_traces: bool) -> Outcome:
    told = [result.one_line() for result in results if result.verdict is not Verdict.AGREES]
    told += failed_imports(results[0])
    lines = [program_line(program), *(result_line(result, with_traces) for result in results)]
    return Outcome([(result.engine, result.verdict) for result in results], told, lines)


Fates = dict[int, tuple[Verdict, str]]  # engines by their place, the expected one's is 0: how each was lost


class Engines:
    """The engines of a setup in this process, made when they are first needed."""

    def __init__(self, setup: Setup, begin: Callable[[int], None] = lambda at: None):
        self.setup, self.begin = setup, begin
        made = []
        for at, spec in enumerate(setup.specs):
            begin(at)
            made.append(engine_named(spec))
        self.expected, *self.engines = made

    @property
    def names(self) -> list[Name]:
        return [Name(engine.name, engine.version) for engine in (self.expected, *self.engines)]

    def run(self, program: Program, with_traces: bool, fates: Fates) -> Outcome:
        """Run a program on all engines but those that it is known to end."""
        setup, expected = self.setup, self.expected
        runs = [
            Announced(engine, program, setup.limit, begin=self.begin, at=at)
            for at, engine in enumerate((expected, *self.engines))
            if at not in fates
        ]
        engines = [run.engine for run in runs[1:]]
        results = examine(program, expected, engines, strict=setup.strict, known=setup.known, prepared=runs)
        for at, fate in sorted(fates.items()):
            engine = self.engines[at - 1]
            result = lost(program, expected, engine, *fate)
            results.insert(at, with_known(result, setup.known, expected, engine))
        return outcome_of(program, results, with_traces)


@dataclass
class Announced(Runs):
    """Runs that say which engine is about to run."""

    begin: Callable[[int], None] = print
    at: int = 0

    def run(self, look: str) -> None:
        self.begin(self.at)
        super().run(look)


class Apart:
    """Runs programs in a fork; where processes cannot fork, here."""

    def __init__(self, setup: Setup, with_traces: bool = False):
        self.setup, self.with_traces = setup, with_traces
        self.at = 0  # the place of the engine that runs, or is imported
        self.child: Child | None = None
        self.here: Engines | None = None
        self.names: list[Name] = []

    def __enter__(self) -> "Apart":
        """Start; raises EngineError if an engine cannot be used."""
        if hasattr(os, "fork"):
            self.start()
        else:
            self.here = Engines(self.setup)
            self.names = self.here.names
        return self

    def __exit__(self, *reason: object) -> None:
        if self.child is not None:
            self.child.__exit__()
            self.child = None

    def outcome(self, program: Program) -> Outcome:
        """What the program comes to."""
        if self.here is not None:
            return self.here.run(program, self.with_traces, {})
        text = pickle.dumps(replace(program)).hex()  # a copy, without what it found out about itself
        fates: Fates = {}
        while True:
            if self.child is None:
                self.start()
            assert self.child is not None
            try:
                self.child.tell(json.dumps([text, list(fates.items())]))
                answer = self.answer()
                if answer.pop("is_spent"):
                    self.__exit__()
                return Outcome.from_json(answer)
            except Lost as end:
                self.__exit__()
                fates[self.at] = self.fate(end)
            if 0 in fates:
                expected = self.names[0]
                return outcome_of(program, [lost(program, expected, expected, *fates[0])], False)

    def verdicts(self, program: Program) -> list[tuple[str, Verdict]]:
        """The verdict on each engine that ran, the expected one first."""
        return self.outcome(program).verdicts

    def fate(self, end: Lost) -> tuple[Verdict, str]:
        """How the end of the process counts, and what is told of it."""
        if end.fact == "hang":
            return Verdict.HUNG, f"does not end within {self.setup.limit:g} s; --limit gives more"
        return Verdict.CRASHED, end.note

    # The process apart -----------------------------------------------------------------------------

    def start(self) -> None:
        self.child = Child(self.serve, NO_END, sys.maxsize, is_silent=False)
        self.lines: Iterator[str] = self.child.lines()
        try:
            answer = self.answer()
        except Lost as end:
            raise EngineError(f"engine {self.setup.specs[self.at]} {end.note} while it is imported") from None
        if "problem" in answer:
            raise EngineError(answer["problem"])
        self.names = [Name(**name) for name in answer["names"]]
        self.child.limit = self.setup.limit + GRACE if self.setup.limit else NO_END

    def answer(self) -> dict[str, Any]:
        """The next answer of the child; raises Lost if it ends before."""
        for line in self.lines:
            if not line.isdecimal():
                return json.loads(line)
            self.at = int(line)
        raise Lost("crash", "exit", "ends its process with exit code 0")

    def serve(self, say: Say, told: IO[str]) -> None:
        """The work of the child: it says the place of an engine before it runs, and answers in JSON."""
        try:
            engines = Engines(self.setup, lambda at: say(str(at)))
            say(json.dumps({"names": [asdict(name) for name in engines.names]}))
        except EngineError as problem:
            say(json.dumps({"problem": str(problem)}))
            return
        for line in told:
            text, fates = json.loads(line)
            known = {at: (Verdict(verdict), note) for at, (verdict, note) in fates}
            outcome = engines.run(pickle.loads(bytes.fromhex(text)), self.with_traces, known)
            is_spent = any(name in sys.modules for name in COMPILERS)
            say(json.dumps({**outcome.to_json(), "is_spent": is_spent}, allow_nan=False))
