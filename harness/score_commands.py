"""`refgrad score`: the table of mutants, for the terminal and as Markdown."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress
from tabulate import tabulate

from harness import cases
from harness.cli import check_writable, cores, fail, write
from harness.mutants import CLASSES, MUTANTS, TITLES, Mutant
from harness.program import Program
from harness.score import PROGRAMS, Score

ENOUGH = 0.95  # the share of mutants that must be killed
HEAD = """\
# Mutation score: {percent} of {total} mutants killed

A mutant is refgrad with one small wrong change. It is killed by the first generated program on which it
differs from PyTorch; the programs are those of the seeds 0 to {last}. Made by
`refgrad score --markdown FILE`; the same sources and the same PyTorch give the same file.
"""
GENERAL_HEAD = """\
# General mutation: {percent} of {total} mutants killed

Every small change that the operators of Cosmic Ray make in a module of refgrad (a condition negated, `and`
for `or`, a number changed by one, a loop that does not run, ...), planted one after the other. The programs
are the generated ones of the seeds 0 to {last}, and then the cases. Made by
`refgrad score --general MODULE --markdown FILE`.
"""


@click.command()
@click.option(
    "--seconds",
    default=60.0,
    show_default=True,
    type=click.FloatRange(0),
    help="Stop after that time; 0 for no bound.",
)
@click.option("--jobs", type=click.IntRange(1), help="Mutants at a time; one per core if not given.")
@click.option("--class", "groups", multiple=True, type=click.Choice(CLASSES), help="Only mutants of a class.")
@click.option("--mutant", "names", multiple=True, metavar="NAME", help="Only this mutant.")
@click.option(
    "--general",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="Instead, every small change of refgrad.MODULE.",
)
@click.option("--programs", default=PROGRAMS, show_default=True, type=click.IntRange(1))
@click.option("--markdown", metavar="FILE", help="Write the table as Markdown.")
def score(
    seconds: float,
    jobs: int | None,
    groups: tuple[str, ...],
    names: tuple[str, ...],
    modules: tuple[str, ...],
    programs: int,
    markdown: str | None,
) -> None:
    """Plant small wrong changes in refgrad, one after the other, and see which the generated programs find.

    With --general the changes are those that Cosmic Ray's operators make in a module, and the cases count as
    programs too. The exit code is 0 when at least 95 % are killed (with --general: or explained), 1 when
    fewer are, 2 for bad input.
    """
    if markdown is not None and (groups or names) and Path(markdown).exists():
        fail(f"{markdown} is there already, and these are not all mutants; choose another file")
    check_writable(markdown)
    begin = time.monotonic()
    deadline = begin + seconds if seconds else float("inf")
    mutants = general(modules) if modules else chosen(groups, names)
    own = cases.load([cases.FOLDER]) if modules and Path(cases.FOLDER).is_dir() else []
    found, unsound = measured(mutants, programs, jobs or cores(), deadline, own)
    if unsound:
        click.echo(f"left out, because refgrad itself differs: {', '.join(map(str, unsound))}")
    for line in lines(found):
        click.echo(line)
    if unreached := sum(not each.is_complete for each in found):
        click.echo(f"time ran out after {seconds:g} s before {unreached} of them; give more with --seconds")
    elif markdown is not None:
        write(markdown, (general_page if modules else rendered)(found, programs))
        click.echo(f"wrote {markdown}")
    click.echo(f"{headline(found)}, {time.monotonic() - begin:.0f} s")
    explained = sum(each.is_killed or bool(modules and each.mutant.survives) for each in found)
    raise SystemExit(explained < ENOUGH * len(found))


def general(modules: Sequence[str]) -> list[Mutant]:
    """The general mutants of modules."""
    from harness.mutants.general import NoOperators, general_mutants

    try:
        return [mutant for module in modules for mutant in general_mutants(module)]
    except (NoOperators, ModuleNotFoundError) as problem:
        fail(problem)


def chosen(groups: Sequence[str], names: Sequence[str]) -> list[Mutant]:
    """The mutants that are asked for, all when none is named."""
    for name in names:
        if name not in MUTANTS:
            fail(f"there is no mutant {name!r}; harness/mutants/ has them all")
    wanted = [m for m in MUTANTS.values() if m.group in groups or m.name in names]
    return wanted if groups or names else list(MUTANTS.values())


def measured(
    mutants: Sequence[Mutant], programs: int, jobs: int, deadline: float, own: Sequence[Program] = ()
) -> tuple[list[Score], list[str]]:
    """The scores in the mutants' order, and the programs that were left out; a bar shows how far it is."""
    from harness.mutants.plant import MutantError, Sources
    from harness.score import Bench, scores

    try:
        for mutant in mutants:
            Sources(mutant)
    except MutantError as problem:
        fail(problem)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("PyTorch's runs", total=programs)
        bench = Bench(progress.track(range(programs), task_id=task), programs=own)
        progress.update(task, description="mutants", completed=0, total=len(mutants))
        found = {}
        for each in scores(bench, mutants, jobs, deadline):
            found[each.mutant.name] = each
            progress.advance(task)
    return [found[mutant.name] for mutant in mutants], bench.unsound


# Tables ---------------------------------------------------------------------------------------------


def share(found: Sequence[Score]) -> float:
    """The share that was killed."""
    return sum(each.is_killed for each in found) / max(len(found), 1)


def percent(found: Sequence[Score]) -> str:
    """The same for people: never rounded up to all."""
    return f"{int(1000 * share(found)) / 10:g} %"


def headline(found: Sequence[Score]) -> str:
    killed = sum(each.is_killed for each in found)
    return f"{killed} of {len(found)} mutants killed ({percent(found)})"


def by_class(found: Iterable[Score]) -> dict[str, list[Score]]:
    """The scores by class, in the order of the classes."""
    table: dict[str, list[Score]] = {group: [] for group in CLASSES}
    for each in found:
        table.setdefault(each.mutant.group, []).append(each)
    return {group: scores for group, scores in table.items() if scores}


def class_table(found: Sequence[Score], style: str) -> str:
    """Killed mutants by class, and how many programs that took."""
    rows = []
    for group, scores in [*by_class(found).items(), ("all", list(found))]:
        needed = sorted(each.programs for each in scores if each.is_killed)
        middle = needed[len(needed) // 2] if needed else ""
        killed = sum(each.is_killed for each in scores)
        last = max((each.killer for each in scores if isinstance(each.killer, int)), default="")
        rows.append([TITLES.get(group, group), len(scores), killed, len(scores) - killed, middle, last])
    headers = ["class", "mutants", "killed", "survivors", "programs, median", "highest seed"]
    return tabulate(rows, headers=headers, tablefmt=style)


def lines(found: Sequence[Score]) -> Iterable[str]:
    """What the terminal shows: single mutants when they are few, the classes, the survivors."""
    if len(found) <= 30:
        rows = [
            [
                each.mutant.name,
                "" if each.killer is None else each.killer,
                each.programs,
                each.fact,
                each.seconds,
            ]
            for each in found
        ]
        headers = ["mutant", "killed by seed", "programs run", "seen in", "seconds"]
        yield tabulate(rows, headers=headers, tablefmt="simple", floatfmt=".1f")
    else:
        yield class_table(found, "simple")
    for each in found:
        if not each.is_killed and each.is_complete:
            why = each.mutant.survives or "unexplained: a program is missing, or a reason in harness/mutants/"
            yield f"SURVIVES    {each.mutant.name}: {why}"
        elif each.mutant.survives:
            yield f"STALE       {each.mutant.name}: it is killed; take the reason why it survives out"


def rendered(found: Sequence[Score], programs: int) -> str:
    """The whole as Markdown, with nothing in it that varies from run to run."""
    parts = [
        HEAD.format(percent=percent(found), total=len(found), last=programs - 1),
        class_table(found, "github"),
        "*Programs* counts those that call the changed function, up to the one that kills.",
    ]
    survivors = [each for each in found if not each.is_killed]
    if survivors:
        parts.append("## Survivors")
        parts += [
            f"- **{each.mutant.name}** ({TITLES[each.mutant.group]}): {each.mutant.wrong} Survives because: "
            f"{each.mutant.survives or 'not explained yet.'}"
            for each in survivors
        ]
    for group, scores in by_class(found).items():
        rows = [
            [
                f"`{each.mutant.name}`",
                each.mutant.wrong.replace("|", "\\|"),
                "survives" if each.killer is None else each.killer,
                each.programs,
                each.fact.replace("|", "\\|"),
            ]
            for each in scores
        ]
        headers = ["mutant", "what is wrong", "killed by seed", "programs", "seen in"]
        title = TITLES[group]
        parts += [f"## {title[0].upper()}{title[1:]}", tabulate(rows, headers=headers, tablefmt="github")]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def general_page(found: Sequence[Score], programs: int) -> str:
    """The score of general mutants as Markdown: how many fell to what, and each survivor with its reason."""
    rows = []
    for group, scores in [*by_class(found).items(), ("all", list(found))]:
        by_programs = sum(isinstance(each.killer, int) for each in scores)
        killed = sum(each.is_killed for each in scores)
        explained = sum(bool(each.mutant.survives) for each in scores if not each.is_killed)
        rows.append([group, len(scores), by_programs, killed - by_programs, len(scores) - killed, explained])
    headers = ["module", "mutants", "killed by generated programs", "by cases", "survivors", "explained"]
    parts = [
        GENERAL_HEAD.format(percent=percent(found), total=len(found), last=programs - 1),
        tabulate(rows, headers=headers, tablefmt="github"),
    ]
    for group, scores in by_class(found).items():
        survivors = [each.mutant for each in scores if not each.is_killed]
        lines = [f"- {mutant.wrong} {mutant.survives or 'Not explained yet.'}" for mutant in survivors]
        parts += [f"## Survivors in {group}", "\n".join(lines)] if lines else []
    return "\n\n".join(part.strip() for part in parts) + "\n"
