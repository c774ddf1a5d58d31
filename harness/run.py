"""One program on several engines: each against what is expected, and against itself unwatched."""

import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from harness.compare import Difference, Finder, first_difference, self_difference, told
from harness.engines.base import END, FULL, QUICK, Engine, Named, OutOfTime
from harness.known import Known, find
from harness.outcome import IMPORT_ERRORS, fits_mark
from harness.program import Program
from harness.trace import Trace
from harness.verdict import Verdict

TIME_LIMIT = 60.0  # seconds for one run of one program
BATCH = 64  # programs that one engine runs before the next one does


@dataclass(frozen=True)
class Result:
    """What one engine came to on a program; for the expected engine, how it fits the program's own marks."""

    program: Program
    expected: str
    engine: str
    verdict: Verdict
    difference: Difference | None = None
    note: str = ""  # what is missing, how it crashed, which known difference
    known: Known | None = None
    expected_trace: Trace | None = field(default=None, repr=False)
    trace: Trace | None = field(default=None, repr=False)

    def one_line(self) -> str:
        """Verdict, file and line, and what was found first."""
        where = self.program.path or self.program.id
        line = self.difference.line if self.difference else 0
        text = self.difference.one_line() if self.difference else ""
        note = f"{self.note}: " if self.note and text else self.note
        return f"{self.verdict:11} {where}{f':{line}' if line else ''}: {note}{text}"


def is_strict(expected: Named, actual: Named, wanted: bool | None = None) -> bool:
    """refgrad and PyTorch are always compared strictly; other engines by semantics unless asked."""
    return bool(wanted) or {expected.name, actual.name} == {"torch", "refgrad"}


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the main thread after that time; elsewhere, and on Windows, there is no limit."""
    if (
        seconds <= 0
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise OutOfTime(f"does not end within {seconds:g} s; --limit gives more")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class Runs:
    """The runs of one engine on one program, made when they are asked for and kept."""

    engine: Engine
    program: Program
    limit: float = TIME_LIMIT
    traces: dict[str, Trace] = field(default_factory=dict)
    failures: dict[str, BaseException] = field(default_factory=dict)

    def __getitem__(self, look: str) -> Trace:
        if look not in self.traces:
            self.run(look)
        if look in self.failures:
            raise self.failures[look]
        return self.traces[look]

    def run(self, look: str) -> None:
        """Run the program and keep the trace, or what kept it from ending."""
        try:
            with time_limit(self.limit):
                self.traces[look] = self.engine.run(self.program, look)
        except (OutOfTime, Exception) as error:
            self.failures[look] = error


def examine(
    program: Program,
    expected: Engine,
    engines: Sequence[Engine],
    *,
    strict: bool | None = None,
    thorough: bool = True,
    known: Sequence[Known] = (),
    limit: float = TIME_LIMIT,
    prepared: Sequence[Runs] = (),
) -> list[Result]:
    """The result of the expected engine first, then one per engine; `prepared` are runs to begin with.

    `thorough` looks at everything after every statement and runs each engine once more unwatched. Otherwise
    only what a statement can have changed is looked at, and a difference found so is confirmed thoroughly.
    """
    runs, *others = prepared or [Runs(engine, program, limit) for engine in (expected, *engines)]
    try:
        trace = runs[FULL if thorough else QUICK]
        results = [own_result(program, runs, thorough)]
    except (OutOfTime, Exception) as error:
        results = [failure(program, expected, expected, error)]
        if not runs.traces:
            return results  # there is nothing that the others could be compared with
        trace = next(iter(runs.traces.values()))
    for engine, theirs in zip(engines, others):
        try:
            result = compare(program, runs, theirs, is_strict(expected, engine, strict), thorough)
        except (OutOfTime, Exception) as error:
            result = failure(program, expected, engine, error, trace)
        results.append(with_known(result, known, expected, engine))
    if results[0].verdict is Verdict.UNSTABLE and not program.path:
        results[0] = excused(results[0], results[1:])
    return results


def excused(own: Result, others: Sequence[Result]) -> Result:
    """The expected engine's result on a generated program that being watched changes.

    PyTorch makes the node of a stale view anew when one looks at it, so some programs cannot be watched and
    left as they are. Where every engine is changed alike (see `compare`), the program has shown no fault. An
    author of a case can do without such statements; there the verdict stays.
    """
    if not others or any(other.verdict is not Verdict.AGREES for other in others):
        return own
    return replace(
        own, verdict=Verdict.AGREES, difference=None, note="being watched changes all engines alike"
    )


def examine_each(
    asked: Iterable[tuple[Program, bool]],
    expected: Engine,
    engines: Sequence[Engine],
    *,
    limit: float = TIME_LIMIT,
    **options: Any,
) -> Iterator[list[Result]]:
    """`examine` for many programs, each with whether thoroughly, in less time.

    Each engine runs a batch before the next one does: its code then stays in the processor's caches, while
    engines that take turns after every program drive each other out.
    """
    asked = iter(asked)
    while batch := tuple(islice(asked, BATCH)):
        rows = [[Runs(engine, program, limit) for engine in (expected, *engines)] for program, _ in batch]
        for column in zip(*rows):
            for runs, (_, thorough) in zip(column, batch):
                runs.run(FULL if thorough else QUICK)
        for (program, thorough), row in zip(batch, rows):
            yield examine(program, expected, engines, thorough=thorough, limit=limit, prepared=row, **options)


def own_result(program: Program, runs: Runs, thorough: bool) -> Result:
    """How the expected engine fits the program's marks, and whether watching changes what it does."""
    trace = runs[FULL if thorough else QUICK]
    difference, verdict = mark_difference(program, trace), Verdict.AGREES
    if difference is not None:
        verdict = Verdict.DIFFERS
    elif thorough:
        difference = self_difference(trace, runs[END], program)
        verdict = Verdict.AGREES if difference is None else Verdict.UNSTABLE
    name = runs.engine.name
    note = "" if verdict is not Verdict.UNSTABLE else "unwatched, it does something else"
    return Result(program, name, name, verdict, difference, note, None, trace, trace)


def compare(program: Program, ours: Runs, theirs: Runs, strict: bool, thorough: bool) -> Result:
    """One engine against the expected one."""
    look = FULL if thorough else QUICK
    expected, actual = ours[look], theirs[look]
    difference = first_difference(expected, actual, program, strict)
    if difference is not None and not thorough:
        expected, actual = ours[FULL], theirs[FULL]
        difference = first_difference(expected, actual, program, strict)
    note, verdict = "", Verdict.AGREES
    lacks = unsupported(expected, actual, difference)
    if lacks:
        return Result(
            program, expected.engine, actual.engine, Verdict.UNSUPPORTED, None, lacks, None, expected, actual
        )
    if difference is not None:
        verdict = Verdict.DIFFERS
    elif thorough:
        changed = self_difference(actual, theirs[END], program)
        difference = first_difference(ours[END], theirs[END], program, strict)
        if changed and (difference or not self_difference(expected, ours[END], program)):
            difference, verdict, note = changed, Verdict.UNSTABLE, "unwatched, it does something else"
        elif difference is not None:
            verdict, note = Verdict.DIFFERS, "unwatched"
    return Result(program, expected.engine, actual.engine, verdict, difference, note, None, expected, actual)


def unsupported(expected: Trace, actual: Trace, difference: Difference | None) -> str:
    """What the engine lacks, if its first difference comes from that; one before it is a real one."""
    if difference is not None and difference.is_unsupported:
        return f"no {difference.what}"
    if actual.missing is None:
        return ""
    step, name = actual.missing
    if difference is None or difference.step < step:
        return ""
    ours, theirs = expected.outcome(step).raised, actual.outcome(step).raised
    if ours is not None and theirs is not None and ours.type == theirs.type:
        return ""
    return f"lacks {name}"


def mark_difference(program: Program, trace: Trace) -> Difference | None:
    """The first statement that does not raise what its mark says; a case marks all that raise."""
    for step, statement in enumerate(program.statements):
        raised = trace.outcome(step).raised
        if statement.raises is None and (raised is None or not program.topic):
            continue
        if statement.raises is None or not fits_mark(statement.raises, raised):
            finder = Finder(trace, trace, program, step, strict=True)
            wanted = f"raises {statement.raises}" if statement.raises else "no error"
            found = finder.difference("raises", "mark", wanted, told(raised) or "no error")
            return Difference(
                **{name: getattr(found, name) for name in found.__slots__} | {"expected_engine": "the mark"}
            )
    return None


def failed_imports(result: Result) -> Iterator[str]:
    """A line for each import of a script that fails on the expected engine: what follows compares little."""
    if result.program.topic or result.trace is None:
        return
    for step, statement in enumerate(result.program.statements):
        raised = result.trace.outcome(step).raised
        if raised is None or statement.raises or raised.type not in IMPORT_ERRORS:
            continue
        where = f"{result.program.path or result.program.id}:{statement.line}"
        first = statement.text.partition("\n")[0]
        yield f"NOTE        {where}: {first}: raises {raised.type} on {result.engine} too"


def failure(
    program: Program, expected: Engine, engine: Engine, error: BaseException, trace: Trace | None = None
) -> Result:
    """The result of a run that did not end by itself."""
    if isinstance(error, OutOfTime):
        return lost(program, expected, engine, Verdict.HUNG, str(error), trace)
    note = f"fails outside of any statement: {type(error).__name__}: {error}"
    return lost(program, expected, engine, Verdict.CRASHED, note, trace)


def lost(
    program: Program, expected: Named, engine: Named, verdict: Verdict, note: str, trace: Trace | None = None
) -> Result:
    """The result of an engine that did not come to the end of the program."""
    return Result(program, expected.name, engine.name, verdict, None, f"{engine.name} {note}", None, trace)


def with_known(result: Result, known: Sequence[Known], expected: Named, engine: Named) -> Result:
    """The result, as KNOWN where an entry allows it."""
    if not known or result.verdict is Verdict.AGREES:
        return result
    versions = {expected.name: expected.version, engine.name: engine.version}
    item = find(known, result.program, result.difference, engine.name, versions)
    if item is None:
        return result
    return Result(
        result.program,
        result.expected,
        result.engine,
        Verdict.KNOWN,
        result.difference,
        f"known as {item.id} ({item.kind})",
        item,
        result.expected_trace,
        result.trace,
    )
