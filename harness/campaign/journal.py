"""The journal of a campaign: its record, written as it goes, and read again to go on with it.

Every batch and every reduction is written at once, by one write: what a `kill -9` leaves is whole lines and
perhaps a part of one. Reading again drops what lies behind the last whole batch or reduction.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from harness.finding import Finding
from harness.record import FORMAT, RecordError, checked

from .setup import BatchResult, Setup

FOUND = ("number", "program", "findings")  # what a batch line keeps of a program with findings
Key = tuple[int, int]  # the number of a program, and which of its findings


@dataclass
class Journal:
    """What is known of a campaign so far; `file` is None when no record is wanted."""

    file: IO[bytes] | None = None
    batches: list[BatchResult] = field(default_factory=list)
    reductions: dict[Key, dict[str, Any]] = field(default_factory=dict)

    # Writing ---------------------------------------------------------------------------------------

    def write(self, *lines: dict[str, Any]) -> None:
        if self.file is not None:
            texts = [json.dumps(line, ensure_ascii=False, allow_nan=False) for line in lines]
            self.file.write("".join(text + "\n" for text in texts).encode())
            self.file.flush()

    def add_batch(self, result: BatchResult) -> None:
        """The programs with findings whole, the others as counts."""
        whole = [line for found in result.found for line in found["lines"]]
        data: dict[str, Any] = {
            "line": "batch",
            "first": result.first,
            "count": result.count,
            "verdicts": result.verdicts,
        }
        if result.found:
            data["found"] = [{name: found[name] for name in FOUND} for found in result.found]
        self.batches.append(result)
        self.write(*whole, data)

    def add_reduction(self, key: Key, program: str, answer: dict[str, Any]) -> None:
        data = {"line": "reduction", "program": program, "number": key[0], "at": key[1], **answer}
        self.reductions[key] = data
        self.write(data)

    def close(self) -> None:
        """End the record with its counts; going on later removes them again."""
        verdicts = dict(sorted(self.verdicts.items()))
        self.write({"line": "footer", "programs": self.programs, "verdicts": verdicts})
        if self.file is not None:
            self.file.close()

    # Counts ----------------------------------------------------------------------------------------

    @property
    def verdicts(self) -> Counter[str]:
        total = Counter[str]()
        for batch in self.batches:
            total.update(batch.verdicts)
        return total

    @property
    def programs(self) -> int:
        return sum(batch.count for batch in self.batches)


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
    header = checked(path, 1, first.decode(errors="replace"))
    about = header.get("about", {}).get("campaign")
    if header["line"] != "header" or about is None:
        raise RecordError(f"{path}:1: not the record of a campaign; only those of `refgrad fuzz` resume")
    return about


def resume(path: str | Path, engines: Sequence[dict[str, str]]) -> Journal:
    """The journal as it was left; raises RecordError if it is damaged or other engines ran."""
    journal, end, good = Journal(), 0, 0
    with open(path, "rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n"):
                break  # cut off in the middle
            end += len(raw)
            line = checked(path, number, raw.decode(errors="replace"))
            if number == 1:
                same_engines(path, line, engines)
            if line["line"] in ("header", "batch", "reduction"):
                take(journal, line)
                good = end
    try:
        journal.file = open(path, "r+b")  # noqa: SIM115
    except OSError as error:
        raise RecordError(f"{path}: cannot be written ({error.strerror}); choose another file") from None
    journal.file.truncate(good)
    journal.file.seek(good)
    return journal


def take(journal: Journal, line: dict[str, Any]) -> None:
    if line["line"] == "batch":
        found = [entry | {"lines": []} for entry in line.get("found", ())]
        journal.batches.append(BatchResult(line["first"], line["count"], line["verdicts"], found))
    elif line["line"] == "reduction":
        journal.reductions[line["number"], line["at"]] = line


def same_engines(path: str | Path, header: dict[str, Any], engines: Sequence[dict[str, str]]) -> None:
    for before, now in zip([header["expected"], *header["engines"]], engines, strict=False):
        if before != now:
            raise RecordError(
                f"{path}:1: the record is of {before['name']} {before['version']}, here is {now['name']}"
                f" {now['version']}; begin a new record"
            )


def findings_in(found: dict[str, Any]) -> list[Finding]:
    return [Finding.from_json(data) for data in found["findings"]]
