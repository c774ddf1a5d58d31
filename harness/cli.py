"""The command line: `refgrad COMMAND`; each command imports what it needs when it is called."""

import importlib
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

BAD_INPUT = 2

# Command: where it stands, and the line that `refgrad --help` shows without importing it.
COMMANDS = {
    "run": ("harness.commands:run", "Run programs on PyTorch and other engines, and compare."),
    "new": ("harness.commands:new", "Turn a script into a case file, after showing what it does."),
    "fuzz": ("harness.campaign_commands:fuzz", "Run generated programs in bulk; reduce and group findings."),
    "merge": ("harness.campaign_commands:merge_records", "Make one record of those of several machines."),
    "reduce": ("harness.campaign_commands:reduce_script", "Find the smallest script that still differs."),
    "score": ("harness.score_commands:score", "Plant mutants in refgrad; how many does the finder kill?"),
    "report": ("harness.report.commands:report", "Make the Markdown and HTML reports from a record."),
    "conformance": (
        "harness.report.commands:conformance",
        "Run cases and generated programs; write reports/.",
    ),
    "findings": ("harness.torch_findings:findings", "Write the page of what was found in PyTorch."),
    "semantics": ("harness.semantics:semantics", "Write the page of rules from the cases and their READMEs."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that `--help` is fast."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.command(cls=LazyGroup)
@click.version_option(package_name="refgrad")
def main(**options: Any) -> None:
    """The conformance suite for PyTorch's autograd."""


def cores() -> int:
    """The cores that this process may use: how many jobs run at a time if nobody says."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def fail(*problems: object) -> NoReturn:
    """End with the exit code for bad input and one line per problem, no traceback."""
    for problem in problems:
        click.echo(f"refgrad: {problem}", err=True)
    sys.exit(BAD_INPUT)


def check_writable(*paths: str | Path | None) -> None:
    """End with one line if a file cannot be written, before any work is done for it."""
    for path in paths:
        if path is None:
            continue
        is_new = not os.path.lexists(path)
        try:
            with open(path, "ab"):
                pass
            if is_new:
                os.remove(path)
        except OSError as error:
            fail(unwritable(path, error))


def write(path: str | Path, text: str) -> None:
    """Write a text file; end with one line if that fails."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        fail(unwritable(path, error))


def unwritable(path: str | Path, error: OSError) -> str:
    return f"{path}: cannot be written ({error.strerror}); choose another file"


if __name__ == "__main__":
    main(prog_name="refgrad")
