"""The summary that is committed: it holds nothing that varies from run to run."""

import re
from collections.abc import Iterator

from tabulate import tabulate

from .model import ProgramPage, Report

LONGEST = 300


def counts_table(report: Report, style: str = "github") -> str:
    """The table by topic, as tabulate draws it."""
    rows = [[topic.name, *topic.counts.values()] for topic in report.topics]
    rows.append(["all", *report.counts.values()])
    return tabulate(rows, headers=["topic", *report.counts.names()], tablefmt=style)


def render_markdown(report: Report) -> str:
    parts = [f"# {report.headline}", report.sentence, counts_table(report)]
    for column, heading in (
        ("differ", "Differences"),
        ("known", "Known differences"),
        ("unsupported", "Unsupported"),
    ):
        lines = [line for page in report.pages(column) for line in program_lines(page, column)]
        if lines:
            parts.append(f"## {heading}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def program_lines(page: ProgramPage, column: str) -> Iterator[str]:
    for result in page.results:
        if result.column == column:
            name = f" ({result.engine})" if len(page.results) > 1 else ""
            yield f"- {code(page.id)}{name}: {inline(result.summary or column)}"


def code(text: str) -> str:
    """An inline code span that any text fits into."""
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence}{text}{fence}" if "`" not in text else f"{fence} {text} {fence}"


def inline(text: str) -> str:
    """A remark as one line of Markdown that shows its characters as they are."""
    flat = " ".join(text.split())
    return code(flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…")


def escaped(text: str) -> str:
    """A sentence in Markdown that shows its characters as they are; what stands in backticks is code."""
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"[*<\[\]\\]|(?<!\w)_|_(?!\w)", r"\\\g<0>", piece) for piece in pieces[::2]]
    return "`".join(pieces)
