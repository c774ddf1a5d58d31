"""`refgrad score`: the table of mutants, for the terminal and as Markdown."""

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress
from tabulate import tabulate

from harness.cli import fail
from harness.mutants import CLASSES, MUTANTS, TITLES, Mutant
from harness.score import PROGRAMS, Score

ENOUGH = 0.95  # the share of mutants that must be killed
HEAD = """\
# Mutation score: {percent} of {total} mutants killed

A mutant is refgrad with one small wrong change. It is killed by the first generated program on which it
differs from PyTorch; the programs are those of the seeds 0 to {last}. Made by
`refgrad score --markdown FILE`; the same sources and the same PyTorch give the same file.
"""


@click.command()
@click.option("--seconds", default=60.0, show_default=True, help="Stop after that time; 0 for no bound.")
@click.option("--jobs", type=click.IntRange(1), help="Mutants at a time; one per core if not given.")
@click.option("--class", "groups", multiple=True, type=click.Choice(CLASSES), help="Only mutants of a class.")
@click.option("--mutant", "names", multiple=True, metavar="NAME", help="Only this mutant.")
@click.option("--programs", default=PROGRAMS, show_default=True, type=click.IntRange(1))
@click.option("--markdown", metavar="FILE", help="Write the table as Markdown.")
def score(
    seconds: float,
    jobs: int | None,
    groups: tuple[str, ...],
    names: tuple[str, ...],
    programs: int,
    markdown: str | None,
) -> None:
    """Plant small wrong changes in refgrad, one after the other, and see which the generated programs find.

    The exit code is 0 when at least 95 % are killed, 1 when fewer are, 2 for bad input.
    """
    begin = time.monotonic()
    deadline = begin + seconds if seconds else float("inf")
    mutants = chosen(groups, names)
    found, unsound = measured(mutants, programs, jobs or os.cpu_count() or 1, deadline)
    if unsound:
        click.echo(f"left out, because refgrad itself differs: {', '.join(map(str, unsound))}")
    for line in lines(found):
        click.echo(line)
    if unreached := sum(not each.is_complete for each in found):
        click.echo(f"time ran out after {seconds:g} s before {unreached} of them; give more with --seconds")
    elif markdown is not None:
        write(markdown, rendered(found, programs))
    click.echo(f"{headline(found)}, {time.monotonic() - begin:.0f} s")
    raise SystemExit(share(found) < ENOUGH)


def chosen(groups: Sequence[str], names: Sequence[str]) -> list[Mutant]:
    """The mutants that are asked for, all when none is named."""
    for name in names:
        if name not in MUTANTS:
            fail(f"there is no mutant {name!r}; harness/mutants/ has them all")
    wanted = [m for m in MUTANTS.values() if m.group in groups or m.name in names]
    return wanted if groups or names else list(MUTANTS.values())


def measured(
    mutants: Sequence[Mutant], programs: int, jobs: int, deadline: float
) -> tuple[list[Score], list[int]]:
    """The scores in the mutants' order, and the seeds that were left out; a bar shows how far it is."""
    from harness.mutants.plant import MutantError, Sources
    from harness.score import Bench, scores

    try:
        for mutant in mutants:
            Sources(mutant)
    except MutantError as problem:
        fail(problem)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("PyTorch's runs", total=programs)
        bench = Bench(progress.track(range(programs), task_id=task))
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
        table[each.mutant.group].append(each)
    return {group: scores for group, scores in table.items() if scores}


def class_table(found: Sequence[Score], style: str) -> str:
    """Killed mutants by class, and how many programs that took."""
    rows = []
    for group, scores in [*by_class(found).items(), ("all", list(found))]:
        needed = sorted(each.programs for each in scores if each.is_killed)
        middle = needed[len(needed) // 2] if needed else ""
        killed = sum(each.is_killed for each in scores)
        last = max((each.seed for each in scores if each.seed is not None), default="")
        rows.append([TITLES.get(group, group), len(scores), killed, len(scores) - killed, middle, last])
    headers = ["class", "mutants", "killed", "survivors", "programs, median", "highest seed"]
    return tabulate(rows, headers=headers, tablefmt=style)


def lines(found: Sequence[Score]) -> Iterable[str]:
    """What the terminal shows: single mutants when they are few, the classes, the survivors."""
    if len(found) <= 30:
        rows = [
            [each.mutant.name, "" if each.seed is None else each.seed, each.programs, each.fact, each.seconds]
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
                "survives" if each.seed is None else each.seed,
                each.programs,
                each.fact.replace("|", "\\|"),
            ]
            for each in scores
        ]
        headers = ["mutant", "what is wrong", "killed by seed", "programs", "seen in"]
        title = TITLES[group]
        parts += [f"## {title[0].upper()}{title[1:]}", tabulate(rows, headers=headers, tablefmt="github")]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def write(path: str, text: str) -> None:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"{path}: cannot be written ({error.strerror}); choose another file")
    click.echo(f"wrote {path}")
