"""Judges: what is found in a program by running it on the engines, in this process."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.compare import differences, first_difference
from harness.engines.base import FULL, Engine, OutOfTime
from harness.finding import Finding, Observation, finding_of, profile, tensors_of
from harness.known import Known
from harness.program import Program
from harness.run import (
    TIME_LIMIT,
    Result,
    Runs,
    examine,
    failure,
    is_strict,
    mark_difference,
    unsupported,
    with_known,
)
from harness.trace import Trace
from harness.verdict import Verdict


class InProcess:
    """Examines programs here; a program that kills the process takes everything with it.

    After every statement everything is looked at. Only `thorough` runs each engine unwatched as well, which
    takes twice the time and matters to few findings.
    """

    def __init__(
        self,
        expected: Engine,
        engines: Sequence[Engine],
        strict: bool | None = None,
        thorough: bool = False,
        known: Sequence[Known] = (),
        limit: float = TIME_LIMIT,
        only: str = "",
        with_profile: bool = False,
    ):
        self.expected, self.engines, self.strict = expected, engines, strict
        self.thorough, self.known, self.limit = thorough, known, limit
        self.only = only  # findings of this engine count, "" for any
        self.with_profile = with_profile

    def __call__(self, program: Program) -> Observation:
        results = self.results(program)
        findings = [found for result in results if (found := finding_of(result)) is not None]
        first: Finding | None = next((f for f in findings if self.only in ("", f.engine)), None)
        if first is not None and self.with_profile:
            first = replace(first, profile=self.profile(program, results, first.engine))
        trace = next((result.expected_trace for result in results if result.expected_trace is not None), None)
        return Observation(first, tensors_of(trace), raising(program, trace))

    def profile(self, program: Program, results: Sequence[Result], name: str) -> tuple[str, ...]:
        """Every fact in which the engine of this name differs."""
        for result in results:
            if result.engine == name and result.trace is not None and result.expected_trace is not None:
                strict = bool(self.strict) or {name, self.expected.name} == {"torch", "refgrad"}
                return profile(differences(result.expected_trace, result.trace, program, strict))
        return ()

    def results(self, program: Program) -> list[Result]:
        if self.thorough:
            return examine(
                program,
                self.expected,
                self.engines,
                strict=self.strict,
                thorough=True,
                known=self.known,
                limit=self.limit,
            )
        runs = Runs(self.expected, program, self.limit)
        try:
            trace = runs[FULL]
        except (OutOfTime, Exception) as error:
            return [failure(program, self.expected, self.expected, error)]
        return [self.own(program, trace), *self.others(program, trace)]

    def own(self, program: Program, trace: Trace) -> Result:
        """How the expected engine fits the marks."""
        difference, name = mark_difference(program, trace), self.expected.name
        verdict = Verdict.AGREES if difference is None else Verdict.DIFFERS
        return Result(program, name, name, verdict, difference, expected_trace=trace, trace=trace)

    def others(self, program: Program, trace: Trace) -> Iterator[Result]:
        """How the other engines fit the expected one."""
        for engine in self.engines:
            try:
                theirs = Runs(engine, program, self.limit)[FULL]
            except (OutOfTime, Exception) as error:
                yield failure(program, self.expected, engine, error, trace)
                continue
            difference = first_difference(
                trace, theirs, program, is_strict(self.expected, engine, self.strict)
            )
            lacks = unsupported(trace, theirs, difference)
            verdict = Verdict.AGREES if difference is None else Verdict.DIFFERS
            if lacks:
                verdict, difference = Verdict.UNSUPPORTED, None
            result = Result(
                program, self.expected.name, engine.name, verdict, difference, lacks, None, trace, theirs
            )
            yield with_known(result, self.known, self.expected, engine)


def raising(program: Program, trace: Trace | None) -> frozenset[str]:
    """The texts of the statements that raised."""
    if trace is None:
        return frozenset()
    outcomes = [record[0] for record in trace.records]
    return frozenset(
        statement.text
        for statement, outcome in zip(program.statements, outcomes, strict=False)
        if outcome[0] is not None
    )
