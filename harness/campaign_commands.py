"""`refgrad fuzz`, `refgrad merge` and `refgrad reduce`."""

import random
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from harness import cases
from harness.campaign import journal as journals
from harness.campaign.client import Client, HostGone
from harness.campaign.cluster import ClusterCrew
from harness.campaign.crew import Crew, LocalCrew
from harness.campaign.display import report, watched
from harness.campaign.journal import Journal
from harness.campaign.merge import merge, settle
from harness.campaign.run import Bounds, Campaign
from harness.campaign.setup import LIMIT, MEMORY, SIZE, BatchResult, Setup
from harness.campaign.work import program_to_json
from harness.cli import check_writable, cores, fail, unwritable
from harness.commands import known_differences
from harness.engines.base import EngineError, Name
from harness.finding import Finding
from harness.program import Program, ProgramError
from harness.record import RecordError
from harness.reduce import LONGER, MOST_LINES, MOST_TRIALS, is_short, length_note
from harness.verdict import Verdict, counted, summary

# Options that a campaign that is resumed cannot change, and their names in the record.
FIXED = {"specs": "engines"} | {
    name: name for name in ("seed", "expected", "size", "first", "strict", "limit", "memory")
}
ADDRESS = re.compile(r"(\w+://)?[^\s/:]+:\d{1,5}(/\S*)?|inproc://\S+")
PROGRAMS = 10_000  # of a campaign that is given no bound


@click.command()
@click.option("--engine", "specs", multiple=True, metavar="SPEC", help="refgrad (default) or module:NAME.")
@click.option("--expected", default="torch", metavar="SPEC", help="What the others must agree with.")
@click.option("--strict", is_flag=True, help="Compare every fact of other engines too.")
@click.option("--programs", type=click.IntRange(1), help=f"How many; {PROGRAMS} if there is no other bound.")
@click.option("--first", default=0, type=click.IntRange(0), help="The first program: a machine's own share.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), help="Begin no program after that time.")
@click.option("--seed", type=click.IntRange(0), help="Same seed, same programs; one drawn at random if none.")
@click.option("--jobs", type=click.IntRange(1), help="Processes at a time; one per core if not given.")
@click.option("--scheduler", metavar="ADDRESS", help="Run on this Dask cluster: tcp://HOST:PORT.")
@click.option(
    "--size",
    default=SIZE,
    show_default=True,
    type=click.IntRange(1),
    help="Steps of a program: three make about five statements.",
)
@click.option("--limit", default=LIMIT, show_default=True, type=click.FloatRange(0, min_open=True))
@click.option(
    "--memory",
    default=MEMORY,
    show_default=True,
    type=click.IntRange(1),
    help="Megabytes that a program may take.",
)
@click.option("--record", "record_file", metavar="FILE", help="Write findings and counts as JSON lines.")
@click.option("--resume", "is_resumed", is_flag=True, help="Go on with the campaign of the record.")
@click.option("--coverage", is_flag=True, help="Print how often feature groups meet in a program.")
def fuzz(
    record_file: str | None,
    is_resumed: bool,
    jobs: int | None,
    scheduler: str | None,
    coverage: bool,
    **options: Any,
) -> None:
    """Run generated programs on PyTorch and other engines, reduce what differs, and sort it into buckets.

    Ctrl-C ends it with the report. The exit code is 0 when nothing differs, 1 when something does, 2 for bad
    input. Give each of several machines the same --seed and its own --first and --programs; `refgrad merge`
    makes one record of theirs.
    """
    if is_resumed and record_file is None:
        fail("--resume needs the --record of the campaign to go on with")
    if scheduler and not ADDRESS.fullmatch(scheduler):
        fail(f"--scheduler is an address such as tcp://HOST:PORT, not {scheduler!r}")
    if jobs and scheduler:
        fail("--jobs is for this machine; a cluster does as many jobs as its workers have threads")
    crew: Crew | None = None
    try:
        setup, bounds = asked(record_file if is_resumed else None, options, coverage)
        crew = ClusterCrew(setup, scheduler) if scheduler else LocalCrew(clients_for(setup, jobs))
        crew.start()
        journal = opened(record_file, is_resumed, setup, bounds, crew.engines)
        stale = list(stale_lines(setup, crew))
        campaign = Campaign(setup, bounds, crew, journal)
        click.echo(f"seed {setup.seed}: " + ", ".join(f"{e['name']} {e['version']}" for e in crew.engines))
        watched(campaign, Console(stderr=True))
    except (ProgramError, EngineError, RecordError, HostGone) as problem:
        fail(problem)
    except KeyboardInterrupt:
        fail("stopped before the first program")
    finally:
        if crew is not None:
            crew.close()
    journal.close()
    for line in [*stale, *report(campaign, coverage)]:
        click.echo(line)
    if record_file is not None and Path(record_file).is_file():
        in_order(record_file)
    if campaign.is_interrupted and record_file:
        click.echo(f"interrupted; go on with: refgrad fuzz --record {record_file} --resume")
    differs = any(Verdict(verdict).is_failure for verdict in campaign.verdicts)
    raise SystemExit(1 if differs or stale else 0)


def in_order(record_file: str) -> None:
    """Put a complete record in order; without room for a second one, the record stays as it is."""
    try:
        settle(record_file)
    except RecordError as problem:
        fail(problem)


def clients_for(setup: Setup, jobs: int | None) -> list[Client]:
    return [Client(setup) for _ in range(jobs or cores())]


def asked(record_file: str | None, options: dict[str, Any], with_groups: bool) -> tuple[Setup, Bounds]:
    """What to run; that of the record when it is resumed, where only the bounds may be given anew."""
    programs, minutes = options["programs"], options["minutes"]
    entries = tuple(known_differences([cases.FOLDER])) if Path(cases.FOLDER).is_dir() else ()
    if record_file is not None:
        before = {"first": 0} | journals.campaign_of(record_file)
        for name, option in FIXED.items():
            value = list(options[name]) if name == "specs" else options[name]
            if given(name) and value != before[option]:
                raise RecordError(f"{record_file}: its campaign has {option} {before[option]}, not {value}")
        bounds = Bounds(programs or before["programs"], minutes, with_groups, before["first"])
        names = ("expected", "strict", "seed", "size", "limit", "memory")
        engines = tuple(before["engines"])
        return Setup(engines=engines, known=entries, **{name: before[name] for name in names}), bounds
    seed = options["seed"] if options["seed"] is not None else random.randrange(1_000_000)
    setup = Setup(
        options["expected"],
        options["specs"] or ("refgrad",),
        options["strict"] or None,
        entries,
        options["limit"],
        options["memory"],
        seed,
        options["size"],
    )
    if programs is None and minutes is None:
        programs = PROGRAMS
    return setup, Bounds(programs, minutes, with_groups, options["first"])


def given(name: str) -> bool:
    """Whether an option stands on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def opened(
    path: str | None, is_resumed: bool, setup: Setup, bounds: Bounds, engines: Sequence[dict[str, str]]
) -> Journal:
    if is_resumed and path is not None:
        return journals.resume(path, engines)
    names = {engine["name"] for engine in engines}
    strict = bool(setup.strict) or names == {"torch", "refgrad"}
    return journals.begin(path, setup, engines, strict, first=bounds.first, programs=bounds.programs)


def stale_lines(setup: Setup, crew: Crew) -> Iterator[str]:
    """A line for every known difference whose witness is gone or agrees now."""
    engines = [Name(**engine) for engine in crew.engines]

    def verdicts(program: Program) -> list[tuple[str, Verdict]]:
        verdict = Verdict(crew.ask("verdict", program=program_to_json(program))["verdict"])
        return [(engine.name, verdict) for engine in engines]

    return cases.stale_entries(setup.known, engines, verdicts)


# Merging -------------------------------------------------------------------------------------------


@click.command(name="merge")
@click.argument("records", metavar="RECORD...", nargs=-1, required=True)
@click.option("--output", required=True, metavar="FILE", help="Write the merged record here.")
def merge_records(records: tuple[str, ...], output: str) -> None:
    """Make one record of those of several machines, which ran shares of one campaign.

    Programs that stand in two records are counted once. What no record holds is named, and `refgrad fuzz
    --resume` runs it.
    """
    try:
        batches = merge(records, output)
        bounds = journals.campaign_of(output)
    except RecordError as problem:
        fail(problem)
    click.echo(f"{output}: {summary(journals.verdicts_of(batches))}")
    lacking = list(gaps(batches, bounds["first"], bounds["programs"]))
    if lacking:
        click.echo(
            f"no record has {', '.join(lacking)}: run them with refgrad fuzz --record {output} --resume"
        )


def gaps(batches: Sequence[BatchResult], first: int, programs: int | None) -> Iterator[str]:
    """The programs between those that were run."""
    ends = [first + programs] if programs is not None else []
    for start, stop in zip([first, *(b.stop for b in batches)], [*(b.first for b in batches), *ends]):
        if start < stop:
            yield f"{start}–{stop - 1}"


# Reducing one script -------------------------------------------------------------------------------


@click.command(name="reduce")
@click.argument("script", metavar="SCRIPT.py")
@click.option("--engine", "specs", multiple=True, metavar="SPEC", help="refgrad (default) or module:NAME.")
@click.option("--expected", default="torch", metavar="SPEC", help="What the others must agree with.")
@click.option("--strict", is_flag=True, help="Compare every fact of other engines too.")
@click.option(
    "--trials",
    default=MOST_TRIALS,
    show_default=True,
    type=click.IntRange(1),
    help=f"At most; {LONGER} times as many while the script has more than {MOST_LINES} lines.",
)
@click.option("--limit", default=10.0, show_default=True, type=click.FloatRange(0, min_open=True))
@click.option("--output", metavar="FILE", help="Write the smallest script here instead of printing it.")
def reduce_script(
    script: str,
    specs: tuple[str, ...],
    expected: str,
    strict: bool,
    trials: int,
    limit: float,
    output: str | None,
) -> None:
    """Find the smallest script that still shows the first difference of SCRIPT.

    Works for a crash and a hang too. The exit code is 0 when there is a smaller or equal script, 1 when it
    could not be shown again in a fresh process, 2 for bad input or when the script does not differ.
    """
    check_writable(output)
    begin, client = time.perf_counter(), None
    try:
        program = cases.load_file(script)
        client = Client(Setup(expected, specs or ("refgrad",), strict or None, (), limit))
        client.start()
        found = first_finding(client, program_to_json(program))
        if found is None:
            names = " and ".join(specs or ("refgrad",))
            fail(f"{script}: nothing to reduce: {names} does what {expected} does")
        thorough = found.verdict is Verdict.UNSTABLE or bool(found.note)
        answer = client.ask(
            "reduce",
            program=program_to_json(program),
            finding=found.to_json(),
            thorough=thorough,
            most_trials=trials,
        )
    except (ProgramError, EngineError, HostGone) as problem:
        fail(problem)
    finally:
        if client is not None:
            client.close()
    show(script, answer, output, time.perf_counter() - begin)


def first_finding(client: Client, program: dict[str, Any]) -> Finding | None:
    """What is found in a program: watched after every statement, else unwatched as well."""
    for thorough in (False, True):
        data = client.ask("judge", program=program, thorough=thorough)["finding"]
        if data is not None:
            return Finding.from_json(data)
    return None


def show(script: str, answer: dict[str, Any], output: str | None, seconds: float) -> None:
    if answer["finding"] is None:
        fail(f"{script}: the difference does not show again; does the script depend on time or chance?")
    if output is not None:
        try:
            Path(output).write_text(answer["script"], encoding="utf-8")
        except OSError as error:
            click.echo(f"refgrad: {unwritable(output, error)}; here it is", err=True)
            output = None
    if output is None:
        click.echo(answer["script"], nl=False)
    after = len(answer["program"]["statements"])
    what = f"{counted(answer['before'], 'statement')} came down to {after}{f' in {output}' if output else ''}"
    click.echo(f"{what}: {answer['trials']} trials, {seconds:.1f} s", err=True)
    if not is_short(answer["script"]):
        click.echo(length_note(answer["script"]), err=True)
    if not answer.get("is_confirmed"):
        click.echo("refgrad: the script does not show it in a fresh process", err=True)
        raise SystemExit(1)
