"""`refgrad report` and `refgrad conformance`."""

import time
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness import cases
from harness.apart import Apart, Setup
from harness.cli import check_writable, fail, write
from harness.commands import default_paths, known_differences
from harness.engines import engine as engine_named
from harness.engines.base import EngineError
from harness.program import Program, ProgramError
from harness.record import Recorder, RecordError, read
from harness.run import TIME_LIMIT, is_strict

from . import conformance as runs
from .build import build
from .html import render_html
from .markdown import counts_table, render_markdown
from .model import Report

MOST_LINES = 20  # differences told in the terminal; the rest stands in the report


@click.command()
@click.argument("record_file", metavar="RECORD")
@click.option("--html", "html_file", metavar="FILE", help="Write the page here.")
@click.option("--markdown", "markdown_file", metavar="FILE", help="Write the summary here.")
@click.option("--partial", "is_partial", is_flag=True, help="Take a record whose run was cut off.")
def report(record_file: str, html_file: str | None, markdown_file: str | None, is_partial: bool) -> None:
    """Make reports from a record; without --html or --markdown, print the summary."""
    check_writable(html_file, markdown_file)
    try:
        made = build(read(record_file, complete=not is_partial))
    except RecordError as problem:
        fail(problem)
    write_reports(made, html_file, markdown_file)
    if not html_file and not markdown_file:
        click.echo(render_markdown(made), nl=False)


def write_reports(made: Report, html_file: str | Path | None, markdown_file: str | Path | None) -> None:
    for path, render in ((html_file, render_html), (markdown_file, render_markdown)):
        if path is not None:
            write(path, render(made))


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--engine", "specs", multiple=True, metavar="SPEC", help="refgrad or module:NAME; may repeat.")
@click.option("--strict", is_flag=True, help="Compare every fact of other engines too.")
@click.option(
    "--generated", default=500, show_default=True, type=click.IntRange(0), help="Generated programs."
)
@click.option("--output", default="reports", show_default=True, help="The folder for the reports.")
@click.option(
    "--jobs", type=click.IntRange(1), help="Processes at a time; one per core, at most 4, by default."
)
@click.option(
    "--limit",
    default=TIME_LIMIT,
    show_default=True,
    type=click.FloatRange(0),
    help="Seconds that one run may take; 0 for none.",
)
def conformance(
    paths: tuple[str, ...],
    specs: tuple[str, ...],
    strict: bool,
    generated: int,
    output: str,
    jobs: int | None,
    limit: float,
) -> None:
    """Run the cases and generated programs on PyTorch and refgrad, and write a report.

    Writes latest.jsonl, latest.md and latest.html. Exit code 0 when nothing differs, 1 when something does,
    2 for bad input.
    """
    begin = time.perf_counter()
    folder = Path(output)
    try:
        programs = cases.load(paths or default_paths())
        known = tuple(known_differences(paths or default_paths()))
        setup = Setup("torch", specs or ("refgrad",), strict or None, known, limit)
        folder.mkdir(parents=True, exist_ok=True)
        stale = run_all(programs, generated, setup, folder / "latest.jsonl", jobs)
        made = build(read(folder / "latest.jsonl"))
        write_reports(made, folder / "latest.html", folder / "latest.md")
    except cases.BrokenCases as broken:
        fail(*broken.problems)
    except (ProgramError, EngineError, RecordError) as problem:
        fail(problem)
    except OSError as error:
        fail(f"{output}: cannot be written ({error.strerror}); choose another --output")
    click.echo(counts_table(made, "simple") + "\n")
    for line in [*first_lines(made), *stale]:
        click.echo(line)
    click.echo(
        f"wrote {folder}/latest.html, latest.md and latest.jsonl in {time.perf_counter() - begin:.0f} s"
    )
    click.echo(made.counts.last_line())
    raise SystemExit(1 if made.counts.columns["differ"] or stale else 0)


def run_all(
    programs: list[Program], generated: int, setup: Setup, path: Path, at_a_time: int | None
) -> list[str]:
    """Run everything with a progress bar and write the record; the lines of known differences gone stale."""
    expected, engines = engine_named(setup.expected), [engine_named(spec) for spec in setup.engines]
    strict = any(is_strict(expected, engine, setup.strict) for engine in engines)
    jobs = [runs.Job(program) for program in programs] + [runs.Job(seed=seed) for seed in range(generated)]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Recorder(path, expected, engines, strict) as recorder,
        Progress(*columns, console=Console(stderr=True)) as progress,
    ):
        for outcome in progress.track(
            runs.outcomes(jobs, setup, at_a_time or runs.default_jobs()),
            len(jobs),
            description="programs",
        ):
            recorder.take(outcome.verdict, outcome.lines)
    with Apart(setup) as apart:
        return list(cases.stale_entries(setup.known, apart.names, apart.verdicts))


def first_lines(made: Report) -> Iterator[str]:
    """The first differences, a line each."""
    pages = made.pages("differ")
    for page in pages[:MOST_LINES]:
        for result in page.results:
            if result.column == "differ":
                yield f"DIFFERS  {page.id}: {result.summary}"
    if len(pages) > MOST_LINES:
        yield f"… and {made.counts.columns['differ'] - MOST_LINES} more, in the report"
