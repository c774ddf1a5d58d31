"""Known differences: what is allowed to differ, why, and the case that shows it still does.

An entry of `cases/known_differences.toml`:

    [[difference]]
    id = "short-name"
    engine = "refgrad"                  # the engine that differs from the expected one
    versions = "torch 2.13.*"           # optional: engine and pattern of its version, or a list of them
    cases = ["views/a_case"]            # which programs; or, for any program,
    signature = "*/backward/message/*"  # engine/phase/fact/kind of statement/kind of error, `*` fits anything
    mentions = ["jvp", "batch_norm"]    # with a signature: only programs in which all of these words stand
    kind = "bug"                        # bug, by-design, unsupported or numeric
    reason = "what differs and why that is right, in a sentence"
    documentation = "..."               # optional: what PyTorch's documentation says of it, and its page
    link = "https://..."                # optional: the upstream report
    witness = "views/a_case"            # the case that shows it; once it agrees, the entry must go

What ends the process cannot be a case. It stands in a table of its own, which only `refgrad findings` runs:

    [[crash]]
    id = "..."                          # and versions, reason, documentation, link as above, for PyTorch
    script = "..."                      # the program; it must end its process by a signal
"""

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from harness.compare import Difference
from harness.program import Program, ProgramError

KINDS = ("bug", "by-design", "unsupported", "numeric")
REQUIRED = ("id", "engine", "kind", "reason", "witness")
LISTS = ("cases", "versions", "mentions")
FIELDS = frozenset((*REQUIRED, *LISTS, "signature", "documentation", "link"))
CRASH_REQUIRED = ("id", "reason", "script")
CRASH_FIELDS = frozenset((*CRASH_REQUIRED, "versions", "documentation", "link"))
TABLES = ("difference", "crash")


@dataclass(frozen=True)
class Known:
    id: str
    engine: str
    kind: str
    reason: str
    witness: str
    versions: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    signature: str = ""
    mentions: tuple[str, ...] = ()
    documentation: str = ""
    link: str = ""
    folder: str = "cases"  # of the list, where its witness lies

    @property
    def script(self) -> Path:
        """The file of the witness."""
        return Path(self.folder, f"{self.witness}.py")

    def applies(self, engine: str, versions: dict[str, str]) -> bool:
        """Whether the entry is about this engine in these versions (engine name: version)."""
        return fnmatchcase(engine, self.engine) and fits_versions(self.versions, versions)

    def matches(self, program: Program, difference: Difference | None) -> bool:
        """Whether a difference of a program is this one."""
        if self.cases and program.id not in self.cases:
            return False
        if not all(program.mentions(word) for word in self.mentions):
            return False
        if self.signature:
            return difference is not None and fits(str(difference.signature), self.signature)
        return bool(self.cases)


@dataclass(frozen=True)
class Crash:
    """A program that ends the process of PyTorch."""

    id: str
    reason: str
    script: str
    versions: tuple[str, ...] = ()
    documentation: str = ""
    link: str = ""

    def applies(self, versions: dict[str, str]) -> bool:
        """Whether the entry is about these versions."""
        return fits_versions(self.versions, versions)


def fits_versions(wanted: Iterable[str], versions: dict[str, str]) -> bool:
    """Whether versions fit all the patterns that are about their engines."""
    for name, _, pattern in (text.partition(" ") for text in wanted):
        if name in versions and not fnmatchcase(versions[name], pattern.strip() or "*"):
            return False
    return True


def fits(signature: str, pattern: str) -> bool:
    """Part by part; parts that the pattern leaves off at its end fit anything."""
    parts = pattern.split("/")
    return all(fnmatchcase(part, wanted) for part, wanted in zip(signature.split("/"), parts, strict=False))


def load(path: str | Path) -> list[Known]:
    """The differences of a file, none if there is none; raises ProgramError with file, line, what to do."""
    return read(Path(path), "difference", entry)


def load_crashes(path: str | Path) -> list[Crash]:
    """The crashes of a file, none if there is none; raises ProgramError with file, line, what to do."""
    return read(Path(path), "crash", crash)


def read(path: Path, name: str, make: Callable[[dict, str, int], Any]) -> list[Any]:
    """The checked entries of one of the tables."""
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = str(error).rpartition("line ")[2].partition(",")[0]
        raise ProgramError(
            str(path), int(found) if found.isdigit() else 1, f"not valid TOML: {error}"
        ) from None
    header = re.compile(rf"\s*\[\[\s*{name}\s*\]\]\s*(#.*)?")
    lines = [n for n, line in enumerate(text.splitlines(), 1) if header.fullmatch(line)]
    if table.keys() - set(TABLES) or not all(isinstance(found, list) for found in table.values()):
        raise ProgramError(str(path), 1, "only [[difference]] and [[crash]] entries may stand here")
    entries = table.get(name, [])
    if len(lines) != len(entries):
        lines = [1] * len(entries)
    known = [make(data, str(path), line) for data, line in zip(entries, lines, strict=True)]
    ids = [item.id for item in known]
    for number, (name, line) in enumerate(zip(ids, lines, strict=True)):
        if name in ids[:number]:
            raise ProgramError(str(path), line, f"id {name!r} stands here twice; choose another")
    return known


def entry(data: dict, path: str, line: int) -> Known:
    """One checked difference."""
    check_fields(data, REQUIRED, FIELDS, path, line)
    if data["kind"] not in KINDS:
        raise ProgramError(path, line, f"kind is {data['kind']!r}; it must be one of {', '.join(KINDS)}")
    if not data.get("cases") and not data.get("signature"):
        raise ProgramError(path, line, 'the entry needs cases = [...] or signature = "..."')
    if data.get("mentions") and not data.get("signature"):
        raise ProgramError(
            path, line, 'mentions = [...] narrows a signature; the entry needs signature = "..."'
        )
    texts = {key: value for key, value in data.items() if key not in LISTS}
    lists: dict[str, Any] = {key: as_texts(data, key, path, line) for key in LISTS}
    return Known(**texts, **lists, folder=str(Path(path).parent))


def crash(data: dict, path: str, line: int) -> Crash:
    """One checked crash."""
    check_fields(data, CRASH_REQUIRED, CRASH_FIELDS, path, line)
    return Crash(**{**data, "versions": as_texts(data, "versions", path, line)})


def check_fields(data: dict, required: Iterable[str], fields: frozenset[str], path: str, line: int) -> None:
    """Refuse an entry that lacks a field, has an unknown one, or one that is no text."""
    for field in required:
        if not data.get(field, ""):
            raise ProgramError(path, line, f'the entry needs {field} = "..."')
    if unknown := data.keys() - fields:
        raise ProgramError(
            path, line, f"unknown field {min(unknown)!r}; fields are {', '.join(sorted(fields))}"
        )
    for field, value in data.items():
        if field not in LISTS and not isinstance(value, str):
            raise ProgramError(path, line, f"{field} is a text, not {value!r}")


def as_texts(data: dict, field: str, path: str, line: int) -> tuple[str, ...]:
    value = data.get(field, ())
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, (list, tuple)) or not all(isinstance(item, str) for item in values):
        raise ProgramError(path, line, f"{field} is a text or a list of texts, not {value!r}")
    return tuple(values)


def find(
    entries: Iterable[Known],
    program: Program,
    difference: Difference | None,
    engine: str,
    versions: dict[str, str],
) -> Known | None:
    """The first entry that allows what was found."""
    for item in entries:
        if item.applies(engine, versions) and item.matches(program, difference):
            return item
    return None
