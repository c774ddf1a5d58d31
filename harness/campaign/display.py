"""What is seen while a campaign runs, and what it says at its end."""

import time
from collections.abc import Iterator

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text
from tabulate import tabulate

from harness.buckets import Bucket
from harness.reduce import length_note
from harness.verdict import Verdict, counted, summary

from .run import Campaign

EVERY = 10.0  # seconds between lines where there is no terminal
MOST_SCRIPTS = 10
MOST_BUCKETS = 30
MOST_UNCONFIRMED = 5
WIDEST = 120


def watched(campaign: Campaign, console: Console) -> None:
    """Run a campaign to its end under a live display; without a terminal, with a line now and then."""
    if not console.is_terminal:
        last = time.monotonic()
        for _ in campaign.run():
            if time.monotonic() - last > EVERY:
                last = time.monotonic()
                console.print(progress_line(campaign), highlight=False)
        return
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        for _ in campaign.run():
            live.update(panel(campaign))


def progress_line(campaign: Campaign) -> str:
    return (
        f"{campaign.programs:,} programs, {campaign.rate:,.0f} a second, {failing(campaign):,} differ,"
        f" {len(campaign.live_buckets)} buckets, {campaign.pairs.hit} of {campaign.pairs.total} pairs"
    )


def failing(campaign: Campaign) -> int:
    return sum(count for verdict, count in campaign.verdicts.items() if Verdict(verdict).is_failure)


def panel(campaign: Campaign) -> Group:
    """Rate, verdicts, buckets, pair coverage and the newest finding."""
    table = Table.grid(padding=(0, 2))
    for name, value in rows(campaign):
        table.add_row(Text(name, style="dim"), Text(value))
    newest = campaign.newest
    return Group(table, Text(f"newest: {newest.one_line()}"[:300] if newest else "nothing found yet"))


def rows(campaign: Campaign) -> Iterator[tuple[str, str]]:
    total, seconds = campaign.bounds.programs, time.monotonic() - campaign.begun
    of = f" of {total:,}" if total is not None else ""
    yield "programs", f"{campaign.programs:,}{of}, {campaign.rate:,.0f} a second, {seconds:,.0f} s"
    yield (
        "verdicts",
        ", ".join(f"{v.lower()} {n:,}" for v, n in sorted(campaign.verdicts.items())) or "none yet",
    )
    reducing = sum(1 for item in campaign.running if isinstance(item, tuple))
    yield "buckets", f"{len(campaign.live_buckets)}, {reducing} findings being reduced"
    yield "coverage", campaign.pairs.summary()


# At the end ----------------------------------------------------------------------------------------


def report(campaign: Campaign, with_coverage: bool) -> Iterator[str]:
    """The report of a campaign: its buckets in the order to look at them, scripts of the first, counts."""
    ranked = campaign.buckets().ranked()
    if with_coverage:
        yield campaign.pairs.table() + "\n"
    if ranked:
        yield table_of(ranked[:MOST_BUCKETS]) + "\n"
    for place, bucket in enumerate(ranked[:MOST_SCRIPTS], 1):
        yield script(place, bucket)
    if len(ranked) > MOST_SCRIPTS:
        yield f"… and {counted(len(ranked) - MOST_SCRIPTS, 'more bucket')}, their scripts in the record\n"
    unconfirmed = campaign.unconfirmed()
    for line in unconfirmed[:MOST_UNCONFIRMED]:
        yield cut(f"not found again alone: {line}")
    if len(unconfirmed) > MOST_UNCONFIRMED:
        yield f"… and {len(unconfirmed) - MOST_UNCONFIRMED} more that were not found again alone"
    yield last_line(campaign, len(ranked))


def table_of(ranked: list[Bucket]) -> str:
    """A line per bucket: findings, the first and last program, statements behind `import torch`."""
    rows = []
    for place, bucket in enumerate(ranked, 1):
        statements = len(bucket.exemplar.program.statements) - 1
        seen = f"{bucket.first}–{bucket.last}" if bucket.first < bucket.last else bucket.first
        rows.append((place, bucket.total, seen, statements, cut(bucket.exemplar.finding.one_line())))
    return tabulate(rows, headers=["", "findings", "programs", "statements", "what"], tablefmt="simple")


def cut(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 3] + "..."


def script(place: int, bucket: Bucket) -> str:
    exemplar = bucket.exemplar
    notes = [
        f"{counted(bucket.total, 'finding')}, reduced from {exemplar.source}",
        "" if exemplar.is_confirmed else "it did not differ again in a fresh process",
        length_note(exemplar.script),
    ]
    return f"--- {place}: {'; '.join(filter(None, notes))}\n{exemplar.script}"


def last_line(campaign: Campaign, buckets: int) -> str:
    return f"{summary(campaign.verdicts)}; {counted(buckets, 'bucket')}"
