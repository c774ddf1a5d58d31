"""`refgrad findings`: what was found in PyTorch, as a page: each known difference and crash, shown anew."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness import cases, known
from harness.cli import check_writable, fail, write
from harness.compare import shown
from harness.engines import engine as engine_named
from harness.engines.base import Engine
from harness.known import Crash, Known
from harness.program import ProgramError
from harness.report.html import TEMPLATES
from harness.report.markdown import code, escaped, inline
from harness.run import examine

TIME_LIMIT = 60.0  # seconds for a script that must end its process
# What the kinds of known differences mean for PyTorch.
KINDS = {"bug": "a fault", "by-design": "by design", "unsupported": "not supported", "numeric": "rounding"}


@dataclass(frozen=True)
class Page:
    """What the template shows of one finding."""

    title: str
    kind: str
    reason: str
    documentation: str
    link: str
    script: str
    where: str
    answers: tuple[tuple[str, str], ...]  # engine, what it does


@click.command()
@click.option("--output", metavar="FILE", help="Write here; reports/findings-torch-VERSION.md if not given.")
def findings(output: str | None) -> None:
    """Run what is known to differ on PyTorch and refgrad, and write the page of findings.

    The exit code is 1, and nothing is written, when an entry does not show what it says any more.
    """
    if not Path(cases.FOLDER).is_dir():
        fail(f"there is no folder {cases.FOLDER!r} here; run in the project's folder")
    expected, actual = engine_named("torch"), engine_named("refgrad")
    release = ".".join(expected.version.split(".")[:2])
    target = Path(output or f"reports/findings-torch-{release}.md")
    check_writable(target)
    try:
        found = list(pages(expected, actual))
    except ProgramError as problem:
        fail(problem)
    stale = [page.title for page in found if not page.answers]
    for title in stale:
        click.echo(f"STALE       {title}: it does not show any more; remove its entry or mend it")
    if not stale:
        write(target, render(release, found))
        click.echo(f"wrote {target}: {len(found)} findings")
    raise SystemExit(bool(stale))


def render(release: str, found: Sequence[Page]) -> str:
    """The page as Markdown."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, auto_reload=False
    )
    environment.filters.update(escaped=escaped, inline=inline, code=code)
    return environment.get_template("torch_findings.md").render(release=release, pages=found).rstrip() + "\n"


def pages(expected: Engine, actual: Engine) -> Iterator[Page]:
    """A page for each entry about these engines; one that does not show what it says has no answers.

    Raises:
        ProgramError: the file of known differences or a witness cannot be read.
    """
    path = Path(cases.FOLDER, cases.KNOWN_DIFFERENCES)
    versions = {expected.name: expected.version, actual.name: actual.version}
    for crash in known.load_crashes(path):
        if crash.applies(versions):
            yield crash_page(crash, expected.name)
    for entry in known.load(path):
        if entry.applies(actual.name, versions):
            yield difference_page(entry, expected, actual)


def difference_page(entry: Known, expected: Engine, actual: Engine) -> Page:
    """A known difference, with what both engines do at the first statement in which they differ."""
    program = cases.load_file(entry.script)
    difference = examine(program, expected, [actual])[-1].difference
    where = ""
    answers: tuple[tuple[str, str], ...] = ()
    if difference is not None:
        where = f"{difference.statement}: {difference.what}"
        answers = ((expected.name, shown(difference.expected)), (actual.name, shown(difference.actual)))
    return Page(
        program.title,
        KINDS[entry.kind],
        entry.reason,
        entry.documentation,
        entry.link,
        (program.script or "").rpartition('"""')[2].strip(),
        where,
        answers,
    )


def crash_page(crash: Crash, engine: str) -> Page:
    """A crash, with the signal that ended the process."""
    script = crash.script.strip()
    try:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=TIME_LIMIT)
        number = -done.returncode
    except subprocess.TimeoutExpired:
        number = 0
    answers = ((engine, f"ends the process with {signal.Signals(number).name}"),) if number > 0 else ()
    return Page(
        crash.id.replace("-", " ").capitalize() + ".",
        "a crash",
        crash.reason,
        crash.documentation,
        crash.link,
        script,
        script.splitlines()[-1],
        answers,
    )
