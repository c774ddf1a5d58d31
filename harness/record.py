"""Records: what a run observed, as JSON lines; written as it goes, read as data, never evaluated.

A header, then per program one program line and one result line per engine (the expected engine first), then a
footer with the counts. A campaign writes these lines only for what it found; a batch line counts all programs
of its range, and a reduction line holds what a finding came down to. `record_schema.json` says what a line
may hold.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import IO, Any

from harness.compare import Difference
from harness.engines.base import Named
from harness.program import Program, Statement
from harness.run import Result
from harness.trace import Trace, decoded, encoded
from harness.verdict import Verdict, worst

FORMAT = 1
KINDS_OF_LINE = ("header", "program", "result", "batch", "reduction", "footer")
SCHEMA = Path(__file__).with_name("record_schema.json")


class RecordError(Exception):
    """A record that cannot be read, with file, line and what to do."""


class Recorder:
    """Writes a record; a context manager, so that a footer ends it when the run is complete."""

    def __init__(
        self, path: str | Path, expected: Named, engines: Sequence[Named], strict: bool, **about: Any
    ):
        try:
            self.file: IO[str] = open(path, "w", encoding="utf-8", newline="\n")  # noqa: SIM115
        except OSError as error:
            raise RecordError(f"{path}: cannot be written ({error.strerror}); choose another file") from None
        self.counts: Counter[str] = Counter()
        self.write(
            line="header",
            format=FORMAT,
            expected={"name": expected.name, "version": expected.version},
            engines=[{"name": engine.name, "version": engine.version} for engine in engines],
            strict=strict,
            about=about,
        )

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: type | None, *rest: object) -> None:
        if kind is None:
            verdicts = dict(sorted(self.counts.items()))
            self.write(line="footer", programs=self.counts.total(), verdicts=verdicts)
        self.file.close()

    def write(self, **data: Any) -> None:
        self.file.write(json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n")
        self.file.flush()  # what kills this process later takes nothing with it

    def add(self, program: Program, results: Sequence[Result], with_traces: bool = True) -> None:
        """One program with its results, the expected engine's first."""
        lines = [program_line(program), *(result_line(result, with_traces) for result in results)]
        self.take(worst([result.verdict for result in results]), lines)

    def take(self, verdict: str, lines: Iterable[dict[str, Any]]) -> None:
        """The lines of one program, and what it counts as."""
        self.counts[verdict] += 1
        for line in lines:
            self.write(**line)


def program_line(program: Program) -> dict[str, Any]:
    statements = []
    for statement, phase in zip(program.statements, program.phases, strict=True):
        data = {"line": statement.line, "text": statement.text, "phase": phase}
        if statement.raises:
            data["raises"] = statement.raises
        statements.append(data)
    return {
        "line": "program",
        "id": program.id,
        "topic": program.topic,
        "title": program.title,
        "text": program.text,
        "exact": program.is_exact,
        "features": list(program.features),
        "rule": program.rule,
        "source": program.source,
        "path": program.path,
        "statements": statements,
    }


def result_line(result: Result, with_traces: bool = True) -> dict[str, Any]:
    data: dict[str, Any] = {
        "line": "result",
        "program": result.program.id,
        "expected": result.expected,
        "engine": result.engine,
        "verdict": str(result.verdict),
    }
    if result.note:
        data["note"] = result.note
    if result.known is not None:
        data["known"] = result.known.id
    if result.difference is not None:
        data["difference"] = {
            item.name: encoded(getattr(result.difference, item.name)) for item in fields(Difference)
        }
    if with_traces and result.trace is not None:
        data["trace"] = result.trace.to_json()
    return data


# Reading -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordedResult:
    """A result as a record holds it."""

    program: str
    expected: str
    engine: str
    verdict: Verdict
    note: str = ""
    known: str = ""
    difference: Difference | None = None
    trace: Trace | None = field(default=None, repr=False)


@dataclass
class Record:
    """A whole record; `footer` is None while a run is not complete."""

    header: dict[str, Any]
    programs: dict[str, Program] = field(default_factory=dict)
    results: list[RecordedResult] = field(default_factory=list)
    batches: list[dict[str, Any]] = field(default_factory=list)
    reductions: list[dict[str, Any]] = field(default_factory=list)
    footer: dict[str, Any] | None = None

    def of(self, program: str) -> list[RecordedResult]:
        """The results of one program, the expected engine's first."""
        return self.by_program.get(program, [])

    @cached_property
    def by_program(self) -> dict[str, list[RecordedResult]]:
        found: dict[str, list[RecordedResult]] = {name: [] for name in self.programs}
        for result in self.results:
            found[result.program].append(result)
        return found


def read(path: str | Path, complete: bool = True) -> Record:
    """Read and check a record; raises RecordError. `complete` False accepts one whose run was cut off."""
    record: Record | None = None
    number = 0
    for number, data in lines(path):
        kind = data["line"]
        if (record is None) != (kind == "header"):
            raise RecordError(f"{path}:{number}: a record begins with one header line; this is a {kind} line")
        if record is None:
            record = Record(data)
        elif record.footer is not None:
            raise RecordError(f"{path}:{number}: there are lines behind the footer; two records in one file?")
        elif kind == "program":
            if data["id"] in record.programs:
                raise RecordError(f"{path}:{number}: the program {data['id']} stands here twice")
            record.programs[data["id"]] = program_from(data)
        elif kind == "result":
            if data["program"] not in record.programs:
                raise RecordError(f"{path}:{number}: {data['program']} has a result but no program line")
            record.results.append(result_from(data))
        elif kind == "batch":
            record.batches.append(data)
        elif kind == "reduction":
            record.reductions.append(data)
        else:
            record.footer = data
    if record is None:
        raise RecordError(f"{path}:1: the file is empty; make a record with `refgrad run --record FILE`")
    if complete and record.footer is None:
        raise RecordError(
            f"{path}:{number}: the record ends without footer: the run was cut off; run again, or"
            " report what there is with --partial"
        )
    return record


def lines(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The checked lines of a record with their numbers."""
    number = 0
    try:
        with open(path, encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                yield number, checked(path, number, text)
    except OSError as error:
        raise RecordError(
            f"{path}: cannot be read ({error.strerror}); give a file that --record wrote"
        ) from None
    except UnicodeDecodeError:
        raise RecordError(f"{path}:{number + 1}: not UTF-8 text; this is no record") from None


def checked(path: str | Path, number: int, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RecordError(
            f"{path}:{number}: not a JSON line ({error}); the record is damaged or cut off"
        ) from None
    kind = data.get("line") if isinstance(data, dict) else None
    if kind not in KINDS_OF_LINE:
        raise RecordError(
            f"{path}:{number}: a line of a record is a {', '.join(KINDS_OF_LINE)}, not {text.strip()[:60]}"
        )
    problem = next(validator(kind).iter_errors(data), None)
    if problem is not None:
        where = "/".join(map(str, problem.absolute_path))
        raise RecordError(f"{path}:{number}: {where or kind}: {problem.message[:200]}; the record is damaged")
    return data


def refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


@cache
def validator(kind: str) -> Any:
    """The check of one kind of line."""
    from jsonschema import Draft202012Validator

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]})


def program_from(data: dict[str, Any]) -> Program:
    return Program(
        id=data["id"],
        statements=tuple(Statement(s["text"], s["line"], s.get("raises")) for s in data["statements"]),
        title=data["title"],
        topic=data["topic"],
        features=tuple(data.get("features", ())),
        rule=data.get("rule", ""),
        source=data.get("source", ""),
        is_exact=data.get("exact", False),
        path=data.get("path"),
        script=data["text"],
    )


def result_from(data: dict[str, Any]) -> RecordedResult:
    difference = data.get("difference")
    trace = data.get("trace")
    return RecordedResult(
        data["program"],
        data["expected"],
        data["engine"],
        Verdict(data["verdict"]),
        data.get("note", ""),
        data.get("known", ""),
        Difference(**{key: decoded(value) for key, value in difference.items()}) if difference else None,
        Trace.from_json(trace) if trace else None,
    )
