"""The journal of a campaign: its record, written as it goes, and read again to go on with it.

Every batch and every reduction is written at once, by one write: what a `kill -9` leaves is whole lines and
perhaps a part of one. Reading again drops what lies behind the last whole batch or reduction. When the
campaign ends, the record is put in order (`merge.py`).
"""

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from harness.finding import Finding
from harness.record import FORMAT, RecordError, checked

from .setup import BatchResult, Setup

FOUND = ("number", "program", "findings")  # what a batch line keeps of a program with findings
Key = tuple[int, int]  # the number of a program, and which of its findings


@dataclass
class Journal:
    """What is known of a campaign so far; `file` is None when no record is wanted."""

    file: IO[bytes] | None = None
    batches: list[BatchResult] = field(default_factory=list)  # as spans, in order
    reductions: dict[Key, dict[str, Any]] = field(default_factory=dict)

    # Writing ---------------------------------------------------------------------------------------

    def write(self, *lines: dict[str, Any]) -> None:
        if self.file is not None:
            self.file.write(b"".join(map(as_line, lines)))
            self.file.flush()

    def add_batch(self, result: BatchResult) -> None:
        """The programs with findings whole, the others as counts."""
        whole = [line for found in result.found for line in found["lines"]]
        kept = BatchResult(result.first, result.count, result.verdicts, without_lines(result.found))
        self.write(*whole, batch_line(kept))
        put(self.batches, kept)

    def add_reduction(self, key: Key, program: str, answer: dict[str, Any]) -> None:
        data = {"line": "reduction", "program": program, "number": key[0], "at": key[1], **answer}
        self.reductions[key] = data
        self.write(data)

    def close(self) -> None:
        """End the record with its counts; going on later removes them again."""
        self.write(footer_line(self.batches))
        if self.file is not None:
            self.file.close()

    # Counts ----------------------------------------------------------------------------------------

    @property
    def verdicts(self) -> Counter[str]:
        return verdicts_of(self.batches)

    @property
    def programs(self) -> int:
        return sum(batch.count for batch in self.batches)


# Lines ---------------------------------------------------------------------------------------------


def as_line(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n").encode()


def batch_line(batch: BatchResult) -> dict[str, Any]:
    data: dict[str, Any] = {
        "line": "batch",
        "first": batch.first,
        "count": batch.count,
        "verdicts": batch.verdicts,
    }
    return data | {"found": batch.found} if batch.found else data


def footer_line(batches: Sequence[BatchResult]) -> dict[str, Any]:
    verdicts = dict(sorted(verdicts_of(batches).items()))
    return {"line": "footer", "programs": sum(batch.count for batch in batches), "verdicts": verdicts}


def verdicts_of(batches: Sequence[BatchResult]) -> Counter[str]:
    total = Counter[str]()
    for batch in batches:
        total.update(batch.verdicts)
    return total


def without_lines(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: entry[name] for name in FOUND} for entry in sorted(found, key=lambda one: one["number"])]


def put(batches: list[BatchResult], new: BatchResult) -> None:
    """Put a batch in its place among others, joined with those next to it."""
    at = bisect_left(batches, new.first, key=lambda batch: batch.first)
    if at and batches[at - 1].stop == new.first:
        at -= 1
        join(batches[at], new)
    else:
        batches.insert(at, new)
    if at + 1 < len(batches) and batches[at].stop == batches[at + 1].first:
        join(batches[at], batches.pop(at + 1))


def join(batch: BatchResult, following: BatchResult) -> None:
    batch.count += following.count
    batch.verdicts = dict(sorted((Counter(batch.verdicts) + Counter(following.verdicts)).items()))
    batch.found += following.found


# Beginning and going on ----------------------------------------------------------------------------


def begin(
    path: str | Path | None, setup: Setup, engines: Sequence[dict[str, str]], strict: bool, **about: Any
) -> Journal:
    """A new journal; raises RecordError if the file cannot be written."""
    if path is None:
        return Journal()
    try:
        file = open(path, "wb")  # noqa: SIM115
    except OSError as error:
        raise RecordError(f"{path}: cannot be written ({error.strerror}); choose another file") from None
    journal = Journal(file)
    journal.write(
        {
            "line": "header",
            "format": FORMAT,
            "expected": engines[0],
            "engines": list(engines[1:]),
            "strict": strict,
            "about": {"campaign": options(setup) | about},
        }
    )
    return journal


def options(setup: Setup) -> dict[str, Any]:
    """What makes the programs and their comparison what they are."""
    names = ("expected", "engines", "strict", "seed", "size", "limit", "memory")
    return {name: value for name, value in setup.to_json().items() if name in names}


def campaign_of(path: str | Path) -> dict[str, Any]:
    """The options of the campaign whose record this is; raises RecordError when it is none."""
    try:
        with open(path, "rb") as file:
            first = file.readline()
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror}); leave out --resume to begin") from None
    return campaign_in(path, checked(path, 1, first.decode(errors="replace")))


def campaign_in(path: str | Path, header: dict[str, Any]) -> dict[str, Any]:
    about = header.get("about", {}).get("campaign")
    if header["line"] != "header" or about is None:
        raise RecordError(f"{path}:1: not the record of a campaign; only those of `refgrad fuzz` will do")
    return about


class Line(NamedTuple):
    """A line of a record that is whole: its number, where it begins and ends in the file, what it says."""

    number: int
    start: int
    end: int
    data: dict[str, Any]


def whole_lines(path: str | Path) -> Iterator[Line]:
    """The checked lines of a record, up to one that was cut off in the middle; raises RecordError."""
    end = 0
    try:
        with open(path, "rb") as file:
            for number, raw in enumerate(file, 1):
                if not raw.endswith(b"\n"):
                    return
                start, end = end, end + len(raw)
                yield Line(number, start, end, checked(path, number, raw.decode(errors="replace")))
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror}); is it the right file?") from None


def resume(path: str | Path, engines: Sequence[dict[str, str]]) -> Journal:
    """The journal as it was left; raises RecordError if it is damaged or other engines ran."""
    journal, good = Journal(), 0
    for line in whole_lines(path):
        if line.number == 1:
            same_engines(path, line.data, engines)
        if line.data["line"] in ("header", "batch", "reduction"):
            take(journal, line.data)
            good = line.end
    try:
        journal.file = open(path, "r+b")  # noqa: SIM115
    except OSError as error:
        raise RecordError(f"{path}: cannot be written ({error.strerror}); choose another file") from None
    journal.file.truncate(good)
    journal.file.seek(good)
    return journal


def take(journal: Journal, line: dict[str, Any]) -> None:
    if line["line"] == "batch":
        put(journal.batches, batch_in(line))
    elif line["line"] == "reduction":
        journal.reductions[line["number"], line["at"]] = line


def batch_in(line: dict[str, Any]) -> BatchResult:
    return BatchResult(line["first"], line["count"], line["verdicts"], line.get("found", []))


def same_engines(path: str | Path, header: dict[str, Any], engines: Sequence[dict[str, str]]) -> None:
    for before, now in zip([header["expected"], *header["engines"]], engines, strict=False):
        if before != now:
            raise RecordError(
                f"{path}:1: the record is of {before['name']} {before['version']}, here is {now['name']}"
                f" {now['version']}; begin a new record"
            )


def findings_in(found: dict[str, Any]) -> list[Finding]:
    return [Finding.from_json(data) for data in found["findings"]]
