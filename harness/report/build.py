"""From a record to what a report shows."""

from collections.abc import Sequence
from dataclasses import replace

from harness.cases import TOPICS
from harness.program import Program
from harness.record import Record, RecordedResult
from harness.trace import Trace
from harness.verdict import Verdict

from .describe import steps_of
from .model import COLUMNS, Counts, ProgramPage, Report, Result, Topic

GENERATED, SCRIPTS = "generated", "scripts"
SENTENCES = TOPICS | {
    GENERATED: "programs of steps drawn at random, each from a seed; a few of those that agree are shown",
    SCRIPTS: "scripts that were given by their path",
}
MOST_SHOWN = 100  # generated programs of one column that have a place on the page
MOST_SAMPLES = 5  # generated programs that agree and are shown all the same


def column_of(verdict: Verdict) -> str:
    """The column a verdict is counted in; crashed, hung and unstable programs count as differing."""
    plain = {Verdict.AGREES: "agree", Verdict.KNOWN: "known", Verdict.UNSUPPORTED: "unsupported"}
    return plain.get(verdict, "differ")


def build(record: Record) -> Report:
    """Everything a page shows of a record; programs in the record's order, topics in their own."""
    header = record.header
    named = [header["expected"], *header["engines"]]
    topics: dict[str, Topic] = {}
    reduced: dict[str, tuple[str, ...]] = {}
    for data in record.reductions:
        if "script" in data:
            reduced[data["program"]] = (*reduced.get(data["program"], ()), data["script"])
    for program in record.programs.values():
        name = program.topic or SCRIPTS
        topic = topics.setdefault(name, Topic(name, SENTENCES.get(name, "")))
        results = record.of(program.id)
        column = worst_column(results)
        topic.counts.add(column)
        if has_place(topic, column, results):
            page = page_of(program, results, header["strict"])
            topic.shown.append(replace(page, smallest=reduced.get(program.id, ())))
    count_batches(record, topics)
    order = [*TOPICS, SCRIPTS, GENERATED]
    return Report(
        expected=header["expected"]["name"],
        engines=tuple(engine["name"] for engine in header["engines"]),
        versions={engine["name"]: engine["version"].partition("+")[0] for engine in named},
        strict=header["strict"],
        topics=sorted(
            topics.values(), key=lambda topic: order.index(topic.name) if topic.name in order else -1
        ),
    )


def count_batches(record: Record, topics: dict[str, Topic]) -> None:
    """Count the programs of a campaign, of which the record holds only what was found."""
    if record.batches:
        topic = topics.setdefault(GENERATED, Topic(GENERATED, SENTENCES[GENERATED]))
        topic.counts = Counts()
        for batch in record.batches:
            for verdict, count in batch["verdicts"].items():
                topic.counts.add(column_of(Verdict(verdict)), count)


def worst_column(results: Sequence[RecordedResult]) -> str:
    """What a program counts as: as its worst result, that of the expected engine included."""
    columns = {column_of(result.verdict) for result in results}
    return next((name for name in ("differ", "known", "unsupported") if name in columns), "agree")


def has_place(topic: Topic, column: str, results: Sequence[RecordedResult]) -> bool:
    """Cases are all shown; of generated programs those that do not agree, up to a number, and samples."""
    if topic.name != GENERATED:
        return True
    shown = sum(page.column == column for page in topic.shown)
    if column == "agree":
        return shown < MOST_SAMPLES and any(result.trace for result in results)
    return shown < MOST_SHOWN


def page_of(program: Program, results: Sequence[RecordedResult], strict: bool) -> ProgramPage:
    notes = (("features", ", ".join(program.features)), ("rule", program.rule), ("source", program.source))
    own, *others = results
    shown = [result_of(program, own, result, strict) for result in others]
    if column_of(own.verdict) != "agree" or not others:
        shown.insert(0, result_of(program, own, own, strict))
    return ProgramPage(
        id=program.id,
        title=program.title or first_lines(program),
        topic=program.topic or SCRIPTS,
        text=program.text,
        notes=tuple((name, text) for name, text in notes if text),
        results=tuple(shown),
    )


def first_lines(program: Program) -> str:
    """A title for a program that has none: its kinds of steps."""
    kinds = dict.fromkeys(step.kind for step in program.steps if not step.is_build)
    return ", ".join(list(kinds)[:8])


def result_of(program: Program, own: RecordedResult, result: RecordedResult, strict: bool) -> Result:
    note = result.note or ("" if result.difference else str(result.verdict).lower())
    pieces = (note, str(result.difference) if result.difference else "")
    short = f"line {result.difference.line}: {result.difference.one_line()}" if result.difference else ""
    agrees = result.verdict is Verdict.AGREES
    return Result(
        expected=result.expected,
        engine=result.engine,
        column=column_of(result.verdict),
        remark="" if agrees else "\n".join(filter(None, pieces)),
        summary="" if agrees else ": ".join(filter(None, (note, short))),
        steps=steps_between(own.trace, result.trace, program, strict) if result is not own else (),
    )


def steps_between(expected: Trace | None, actual: Trace | None, program: Program, strict: bool) -> tuple:
    return steps_of(expected, actual, program, strict) if expected and actual else ()


assert set(COLUMNS) == {column_of(verdict) for verdict in Verdict}
