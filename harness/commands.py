"""`refgrad run` and `refgrad new`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click

from harness import cases, known
from harness.cli import fail
from harness.engines import engine as engine_named
from harness.engines.base import Engine, EngineError
from harness.known import Known
from harness.program import Program, ProgramError
from harness.record import Recorder, RecordError
from harness.run import TIME_LIMIT, Result, examine, is_strict
from harness.verdict import Verdict, worst


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--engine", "specs", multiple=True, metavar="SPEC", help="refgrad (default) or module:NAME.")
@click.option("--expected", default="torch", metavar="SPEC", help="What the others must agree with.")
@click.option(
    "--strict", is_flag=True, help="Compare every fact of other engines too: texts, strides, versions."
)
@click.option("--record", "record_file", metavar="FILE", help="Write everything observed as JSON lines.")
@click.option("--limit", default=TIME_LIMIT, help="Seconds that one run may take; 0 for none.")
def run(
    paths: tuple[str, ...],
    specs: tuple[str, ...],
    expected: str,
    strict: bool,
    record_file: str | None,
    limit: float,
) -> None:
    """Run programs on PyTorch and on other engines, and compare every fact after every statement.

    PATH is a folder of cases, a case file, or any torch script; `cases` if none is given. One line a program
    that does not agree, with the first difference. The exit code is 0 when nothing differs, 1 when something
    does, 2 for bad input.
    """
    try:
        programs = cases.load(paths or default_paths())
        entries = known_differences(paths or default_paths())
        ours, engines = engine_named(expected), [engine_named(spec) for spec in specs or ("refgrad",)]
        recorder = recorder_for(record_file, ours, engines, strict)
    except cases.BrokenCases as broken:
        fail(*broken.problems)
    except (ProgramError, EngineError, RecordError) as problem:
        fail(problem)
    with recorder as record:
        tally = Tally()
        for results in examined(programs, ours, engines, strict or None, entries, limit):
            tally.add(results)
            for result in results:
                if result.verdict is not Verdict.AGREES:
                    click.echo(result.one_line())
            if record is not None:
                record.add(results[0].program, results)
    stale = list(stale_entries(entries, ours, engines, strict or None, limit))
    for line in stale:
        click.echo(line)
    for line in tally.lines():
        click.echo(line)
    raise SystemExit(1 if tally.failures or stale else 0)


def recorder_for(
    path: str | None, expected: Engine, engines: Sequence[Engine], strict: bool
) -> AbstractContextManager[Recorder | None]:
    """A record if one is wanted."""
    if path is None:
        return nullcontext()
    return Recorder(path, expected, engines, any(is_strict(expected, engine, strict) for engine in engines))


def default_paths() -> tuple[str, ...]:
    if not Path(cases.FOLDER).is_dir():
        fail(f"there is no folder {cases.FOLDER!r} here; run in the project's folder or give a PATH")
    return (cases.FOLDER,)


def known_differences(paths: Iterable[str]) -> list[Known]:
    """The entries that stand with the folders of cases that paths lie in; for scripts, those of `cases`."""
    roots = dict.fromkeys(cases.root_of(Path(path)) or Path(cases.FOLDER) for path in paths)
    return [entry for root in roots for entry in known.load(root / cases.KNOWN_DIFFERENCES)]


def examined(
    programs: Sequence[Program],
    expected: Engine,
    engines: Sequence[Engine],
    strict: bool | None,
    entries: Sequence[Known],
    limit: float = TIME_LIMIT,
) -> Iterator[list[Result]]:
    for program in programs:
        yield examine(program, expected, engines, strict=strict, known=entries, limit=limit)


def stale_entries(
    entries: Sequence[Known], expected: Engine, engines: Sequence[Engine], strict: bool | None, limit: float
) -> Iterator[str]:
    """A line for every entry whose witness is gone or agrees now."""
    for entry in entries:
        for engine in engines:
            if not entry.applies(engine.name, {expected.name: expected.version, engine.name: engine.version}):
                continue
            try:
                program = cases.load_file(entry.script)
            except ProgramError as problem:
                yield f"STALE       known difference {entry.id}: its witness cannot be used: {problem}"
                continue
            result = examine(program, expected, [engine], strict=strict, limit=limit)[-1]
            if result.verdict is Verdict.AGREES:
                yield (
                    f"STALE       known difference {entry.id}: its witness {entry.witness} agrees now on"
                    f" {engine.name}; remove the entry from {cases.KNOWN_DIFFERENCES}"
                )


class Tally:
    """Counts programs by what they came to."""

    def __init__(self) -> None:
        self.verdicts: Counter[Verdict] = Counter()
        self.by_engine: dict[str, Counter[Verdict]] = {}

    def add(self, results: Sequence[Result]) -> None:
        """Count one program: for each engine, and once by its worst verdict."""
        self.verdicts[worst([result.verdict for result in results])] += 1
        for result in results[1:]:
            own = [results[0].verdict] if results[0].verdict.is_failure else []
            self.by_engine.setdefault(result.engine, Counter())[worst([result.verdict, *own])] += 1

    @property
    def failures(self) -> int:
        return sum(count for verdict, count in self.verdicts.items() if verdict.is_failure)

    def lines(self) -> Iterator[str]:
        """A line per engine if there are several, and the line for all."""
        if len(self.by_engine) > 1:
            for engine, verdicts in self.by_engine.items():
                yield f"{engine}: {summary(verdicts)}"
        yield summary(self.verdicts)


def summary(verdicts: Counter[Verdict]) -> str:
    """The last line of a run; crashed, hung and unstable programs count as differing."""
    differ = sum(count for verdict, count in verdicts.items() if verdict.is_failure)
    return (
        f"{verdicts.total()} programs: {verdicts[Verdict.AGREES]} agree, {differ} differ,"
        f" {verdicts[Verdict.KNOWN]} known, {verdicts[Verdict.UNSUPPORTED]} unsupported"
    )


@click.command()
@click.argument("script", metavar="SCRIPT.py")
@click.option("--topic", help="The folder of the case; guessed from what happens if not given.")
@click.option("--name", help="The name of the case file; that of the script if not given.")
def new(script: str, topic: str | None, name: str | None) -> None:
    """Run a script on PyTorch, show what happens after each statement, and write it as a case file."""
    from harness.new import CaseExists, make_case, story

    try:
        program = cases.load_file(script)
        if not Path(cases.FOLDER).is_dir():
            fail(f"there is no folder {cases.FOLDER!r} here; run in the project's folder")
        trace = engine_named("torch").run(program)
        click.echo(story(program, trace))
        path = make_case(program, trace, topic, name)
    except (ProgramError, CaseExists, EngineError) as problem:
        fail(problem)
    click.echo(f"\nwrote {path}; say in its first line what it shows")
