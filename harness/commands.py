"""`refgrad run` and `refgrad new`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click

from harness import cases, known
from harness.apart import Apart, Outcome, Setup
from harness.cli import fail
from harness.engines import engine as engine_named
from harness.engines.base import EngineError
from harness.known import Known
from harness.program import Program, ProgramError
from harness.record import Recorder, RecordError
from harness.run import TIME_LIMIT, is_strict
from harness.verdict import Verdict, summary, worst


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--engine", "specs", multiple=True, metavar="SPEC", help="refgrad (default) or module:NAME.")
@click.option("--expected", default="torch", metavar="SPEC", help="What the others must agree with.")
@click.option(
    "--strict", is_flag=True, help="Compare every fact of other engines too: texts, strides, versions."
)
@click.option("--record", "record_file", metavar="FILE", help="Write everything observed as JSON lines.")
@click.option(
    "--limit",
    default=TIME_LIMIT,
    show_default=True,
    type=click.FloatRange(0),
    help="Seconds that one run may take; 0 for none.",
)
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
        setup = Setup(expected, specs or ("refgrad",), strict or None, tuple(entries), limit)
        with Apart(setup, with_traces=record_file is not None) as apart:
            tally = run_all(programs, apart, recorder_for(record_file, apart))
            stale = list(cases.stale_entries(entries, apart.names, apart.verdicts))
    except cases.BrokenCases as broken:
        fail(*broken.problems)
    except (ProgramError, EngineError, RecordError) as problem:
        fail(problem)
    for line in [*stale, *tally.lines()]:
        click.echo(line)
    raise SystemExit(1 if tally.failures or stale else 0)


def run_all(
    programs: Sequence[Program], apart: Apart, recorder: AbstractContextManager[Recorder | None]
) -> "Tally":
    """Run every program, tell what does not agree, and record it."""
    tally = Tally()
    with recorder as record:
        for program in programs:
            outcome = apart.outcome(program)
            tally.add(outcome)
            for line in outcome.told:
                click.echo(line)
            if record is not None:
                record.take(outcome.verdict, outcome.lines)
    return tally


def recorder_for(path: str | None, apart: Apart) -> AbstractContextManager[Recorder | None]:
    """A record if one is wanted."""
    if path is None:
        return nullcontext()
    expected, *engines = apart.names
    strict = any(is_strict(expected, engine, apart.setup.strict) for engine in engines)
    return Recorder(path, expected, engines, strict)


def default_paths() -> tuple[str, ...]:
    if not Path(cases.FOLDER).is_dir():
        fail(f"there is no folder {cases.FOLDER!r} here; run in the project's folder or give a PATH")
    return (cases.FOLDER,)


def known_differences(paths: Iterable[str]) -> list[Known]:
    """The entries that stand with the folders of cases that paths lie in; for scripts, those of `cases`."""
    roots = dict.fromkeys(cases.root_of(Path(path)) or Path(cases.FOLDER) for path in paths)
    return [entry for root in roots for entry in known.load(root / cases.KNOWN_DIFFERENCES)]


class Tally:
    """Counts programs by what they came to."""

    def __init__(self) -> None:
        self.verdicts: Counter[Verdict] = Counter()
        self.by_engine: dict[str, Counter[Verdict]] = {}

    def add(self, outcome: Outcome) -> None:
        """Count one program: for each engine that was compared, and once by its worst verdict."""
        self.verdicts[outcome.verdict] += 1
        own, *others = outcome.verdicts
        for engine, verdict in others:
            counts = self.by_engine.setdefault(engine, Counter())
            counts[worst([verdict, own[1]] if own[1].is_failure else [verdict])] += 1

    @property
    def failures(self) -> int:
        return sum(count for verdict, count in self.verdicts.items() if verdict.is_failure)

    def lines(self) -> Iterator[str]:
        """A line per engine if there are several, and the line for all."""
        if len(self.by_engine) > 1:
            for engine, verdicts in self.by_engine.items():
                yield f"{engine}: {summary(verdicts)}"
        yield summary(self.verdicts)


@click.command()
@click.argument("script", metavar="SCRIPT.py")
@click.option("--topic", help="The folder of the case; guessed from what happens if not given.")
@click.option("--name", help="The name of the case file; that of the script if not given.")
@click.option("--show", "shows_only", is_flag=True, help="Only show what happens; needs no folder of cases.")
def new(script: str, topic: str | None, name: str | None, shows_only: bool) -> None:
    """Run a script on PyTorch, show what happens after each statement, and write it as a case file."""
    from harness.new import CaseExists, check_topic, make_case, story, target_of

    try:
        check_topic(topic)
        program = cases.load_file(script)
        if not shows_only and not Path(cases.FOLDER).is_dir():
            fail(f"there is no folder {cases.FOLDER!r} here; run in the project's folder, or give --show")
        if not shows_only and (topic or program.topic):
            target_of(program, topic or program.topic, name)
        trace = engine_named("torch").run(program)
        click.echo(story(program, trace))
        if not shows_only:
            path = make_case(program, trace, topic, name)
            click.echo(f"\nwrote {path}; say in its first line what it shows")
    except (ProgramError, CaseExists, EngineError) as problem:
        fail(problem)
