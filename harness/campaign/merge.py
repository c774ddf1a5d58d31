"""Records in order: that of a campaign that ended, and those of the machines of one campaign as one.

In order means: the programs with findings by number, their spans, the reductions by number, the footer. So
the record says nothing of which job came back first, and a merged one is that of one machine that ran all.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from harness.record import RecordError

from . import journal as journals
from .journal import Key, as_line, batch_in, batch_line, findings_in, footer_line
from .selection import Selection
from .setup import BatchResult

SHARED = ("first", "programs")  # the options in which the machines of a campaign may differ


class Place(NamedTuple):
    """A piece of a file."""

    path: str | Path
    start: int
    end: int


class Span(NamedTuple):
    """A batch and the line that it comes from."""

    batch: BatchResult
    path: str | Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass
class Part:
    """What one record holds; its long lines stay in the file."""

    path: str | Path
    header: dict[str, Any] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    programs: dict[str, list[Place]] = field(default_factory=dict)  # program and result lines by program
    reductions: dict[Key, Place] = field(default_factory=dict)

    @property
    def campaign(self) -> dict[str, Any]:
        return journals.campaign_in(self.path, self.header)


def merge(paths: Sequence[str | Path], output: str | Path) -> list[BatchResult]:
    """Merge the records of one campaign; gives the spans of programs that the new one holds.

    Raises RecordError, with file, line and what to do, when they are not of one campaign or overlap.
    """
    parts = [read_part(path) for path in paths]
    header = common_header(parts)
    spans = without_duplicates([span for part in parts for span in part.spans])
    batches: list[BatchResult] = []
    for span in spans:
        journals.put(batches, span.batch)
    header["about"] = header["about"] | {"campaign": bounded(parts, batches)}
    write(output, parts, header, batches)
    return batches


def settle(path: str | Path) -> None:
    """Put the record of a campaign that ended in order."""
    merge([path], path)


# Reading -------------------------------------------------------------------------------------------


def read_part(path: str | Path) -> Part:
    """The parts of a record by what they are about; what was cut off is left out."""
    part = Part(path)
    pending: dict[str, list[Place]] = {}
    for line in journals.whole_lines(path):
        data, place = line.data, Place(path, line.start, line.end)
        kind = data["line"]
        if line.number == 1:
            journals.campaign_in(path, data)
            part.header = data
        elif kind in ("program", "result"):
            pending.setdefault(data["id" if kind == "program" else "program"], []).append(place)
        elif kind == "batch":
            part.spans.append(Span(batch_in(data), path, line.number))
            for program, places in pending.items():
                part.programs.setdefault(program, places)
            pending = {}
        elif kind == "reduction":
            part.reductions.setdefault((data["number"], data["at"]), place)
    if not part.header:
        raise RecordError(f"{path}:1: the record is empty; make one with `refgrad fuzz --record FILE`")
    return part


def common_header(parts: Sequence[Part]) -> dict[str, Any]:
    """The header of all; raises RecordError if they differ in more than their shares."""
    first = parts[0]
    for part in parts[1:]:
        for name, theirs in part.campaign.items():
            ours = first.campaign.get(name)
            if name not in SHARED and ours != theirs:
                raise RecordError(
                    f"{part.path}:1: its campaign has {name} {theirs}, that of {first.path} has {ours};"
                    " only records of one campaign merge"
                )
        for name in ("expected", "engines", "strict"):
            if first.header[name] != part.header[name]:
                raise RecordError(
                    f"{part.path}:1: its {name} is {told(part.header[name])}, that of {first.path} is"
                    f" {told(first.header[name])}; run its share again with the same versions"
                )
    return dict(first.header)


def told(value: Any) -> str:
    """An engine or several with versions, or whatever else a header says."""
    engines = [value] if isinstance(value, dict) else value
    if isinstance(engines, list):
        return ", ".join(f"{engine['name']} {engine['version']}" for engine in engines)
    return str(value)


def bounded(parts: Sequence[Part], batches: Sequence[BatchResult]) -> dict[str, Any]:
    """The options of all parts, from the first program of any to the last."""
    campaigns = [part.campaign for part in parts]
    first = min(campaign.get("first", 0) for campaign in campaigns)
    stops = [
        None if campaign["programs"] is None else campaign.get("first", 0) + campaign["programs"]
        for campaign in campaigns
    ]
    reached = max((batch.stop for batch in batches), default=first)
    known = [stop for stop in stops if stop is not None]
    programs = max([reached, *known]) - first if len(known) == len(stops) else None
    return campaigns[0] | {"first": first, "programs": programs}


# Duplicates ----------------------------------------------------------------------------------------


def without_duplicates(spans: Sequence[Span]) -> list[Span]:
    """The spans in order, without those that another one holds; raises RecordError where two overlap."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.batch.first, -span.batch.count)):
        before = kept[-1] if kept else None
        if before is None or before.batch.stop <= span.batch.first:
            kept.append(span)
        elif span.batch.stop <= before.batch.stop:
            refuse_other_findings(before, span)
        else:
            raise RecordError(
                f"{span}: programs {numbers(span.batch)} overlap with {numbers(before.batch)} of {before};"
                " leave one of the two records out, or run its share again (--first, --programs)"
            )
    return kept


def numbers(batch: BatchResult) -> str:
    return f"{batch.first}–{batch.stop - 1}"


def refuse_other_findings(whole: Span, part: Span) -> None:
    """Raise RecordError if one machine found in the programs of a span what another did not."""
    ours = {found["number"]: found["findings"] for found in whole.batch.found}
    theirs = {found["number"]: found["findings"] for found in part.batch.found}
    inside = {number for number in ours if part.batch.first <= number < part.batch.stop}
    differing = [n for n in sorted(inside | theirs.keys()) if ours.get(n) != theirs.get(n)]
    is_same = whole.batch.count != part.batch.count or whole.batch.verdicts == part.batch.verdicts
    if differing or not is_same:
        which = f"program {differing[0]}" if differing else f"programs {numbers(part.batch)}"
        raise RecordError(
            f"{part}: {which} came to something else than in {whole}; leave one of the two records out"
        )


# Writing -------------------------------------------------------------------------------------------


def write(
    output: str | Path, parts: Sequence[Part], header: dict[str, Any], batches: Sequence[BatchResult]
) -> None:
    """Write a record at once: whoever looks sees what was there before, or all of it."""
    new = Path(f"{output}.new")
    try:
        with ExitStack() as stack:
            files = {part.path: stack.enter_context(open(part.path, "rb")) for part in parts}
            stack.callback(new.unlink, missing_ok=True)
            with open(new, "wb") as file:
                for line in in_order(parts, header, batches):
                    file.write(copied(files, line) if isinstance(line, Place) else as_line(line))
            os.replace(new, output)
    except OSError as error:
        raise RecordError(f"{output}: cannot be written ({error.strerror}); choose another file") from None


def in_order(
    parts: Sequence[Part], header: dict[str, Any], batches: Sequence[BatchResult]
) -> Iterator[dict[str, Any] | Place]:
    """The lines of a record: new ones as data, those that are copied as their places."""
    yield header
    for batch in batches:
        for found in batch.found:
            program = found["program"]
            yield from next((part.programs[program] for part in parts if program in part.programs), ())
        yield batch_line(batch)
    selection = Selection()
    for batch in batches:
        for found in batch.found:
            for at, finding in enumerate(findings_in(found)):
                key = found["number"], at
                if selection.takes(finding):
                    yield from [part.reductions[key] for part in parts if key in part.reductions][:1]
    yield footer_line(batches)


def copied(files: Mapping[str | Path, IO[bytes]], place: Place) -> bytes:
    file = files[place.path]
    file.seek(place.start)
    return file.read(place.end - place.start)
