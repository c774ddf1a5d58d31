"""A script becomes a case file: what happened is shown, front matter filled in, raising statements marked."""

import re
from collections.abc import Iterator
from pathlib import Path

from harness import cases
from harness.compare import short
from harness.outcome import IMPORT_ERRORS, Outcome, Raised, fits_mark
from harness.program import MARK, Program, ProgramError, Statement, called_in, marked
from harness.trace import ABSENT, Trace, is_tensor, named

# The topic of a script by the first error it raises, else by the first of these words that stands in it.
TOPIC_OF_KIND = {
    "freed-graph": "backward-twice",
    "version-mismatch": "inplace",
    "leaf-inplace": "leaf",
    "leaf-flag": "leaf",
    "view-inplace": "views",
    "overlap": "views",
    "hook-result": "hooks",
    "function-result": "functions",
    "gradient-mismatch": "grad-api",
    "unused-input": "grad-api",
    "not-scalar": "grad-api",
    "no-grad": "leaf",
    "grad-assignment": "accumulate",
    "saved-tensor": "saved",
    "inference": "modes",
    "deepcopy": "copies",
    "numpy": "copies",
    "shape": "errors",
    "dtype": "errors",
    "index": "errors",
    "argument": "errors",
}
TOPIC_OF_WORD = {
    "Function)": "functions",
    "_hook(": "hooks",
    "nn.": "modules",
    "no_grad": "modes",
    "inference_mode": "modes",
    "autograd.grad(": "grad-api",
    "_saved_": "saved",
    "complex": "complex",
    "deepcopy": "copies",
    ".view(": "views",
    ".detach": "leaf",
    "randn(": "random",
}
# What the backward of a custom Function may do wrong; the nodes of PyTorch's own ops end in a number.
FUNCTION_MISTAKE = re.compile(r"^[Ff]unction \w+Backward returned|Function's jvp returned")
RULE = "torch.autograd"


class CaseExists(Exception):
    """There is a case of that name already."""


def story(program: Program, trace: Trace) -> str:
    """What happened, statement by statement, for people."""
    lines: list[str] = []
    for number, statement in enumerate(program.statements):
        first, *rest = statement.text.splitlines()
        lines.append(f"{statement.line:4}  {first}")
        lines.extend(f"      {line}" for line in rest)
        lines.extend(f"        {line}" for line in events(trace.outcome(number)))
        for subject, record in trace.records[number][1].items():
            lines.append(f"        {subject}: {described(record)}")
    return "\n".join(lines)


def events(outcome: Outcome) -> Iterator[str]:
    for line in outcome.printed:
        yield from (f"prints  {part}" for part in line.splitlines() or [""])
    for category, text in outcome.warnings:
        yield f"warns   {category}: {text.splitlines()[0] if text else ''}"
    if outcome.raised is not None:
        raised = outcome.raised
        first = raised.message.partition("\n")[0]
        yield f"raises  {raised.kind}: {raised.type}: {first}"


def described(record: tuple) -> str:
    """What was seen of a variable in one line."""
    if record == ABSENT:
        return "gone"
    if not is_tensor(record):
        return f"is {record[1]}" if record[0] == "is" else short(record[1])
    facts = named(record)
    parts = [short(facts["value"], 60)]
    if facts["grad_fn"] is not None:
        parts.append(str(facts["grad_fn"]))
    elif facts["requires_grad"]:
        parts.append("leaf that requires grad")
    if facts["grad"] is not None:
        parts.append(f"grad {short(facts['grad'], 60)}")
    return ", ".join(parts)


def target_of(program: Program, topic: str, name: str | None) -> Path:
    """The file of a new case; raises CaseExists."""
    given = (name or Path(program.path or program.id).stem).removesuffix(".py")
    stem = re.sub(r"\W+", "_", given).strip("_").lower()
    path = Path(cases.FOLDER, topic, f"{stem or 'case'}.py")
    if path.exists():
        raise CaseExists(f"{path} is there already; give another --name, or remove it first")
    return path


def check_topic(topic: str | None) -> None:
    """Refuse a topic that does not exist; raises ProgramError."""
    if topic and topic not in cases.TOPICS:
        raise ProgramError(
            "--topic", 0, f"there is no topic {topic!r}; topics are {', '.join(sorted(cases.TOPICS))}"
        )


def make_case(program: Program, trace: Trace, topic: str | None, name: str | None) -> Path:
    """Write the case file and return its path; raises CaseExists, or ProgramError for what makes no case."""
    check_imports(program, trace)
    topic = topic or program.topic or guessed_topic(program, trace)
    path = target_of(program, topic, name)
    text = front_matter(program, trace, topic) + body(program, trace)
    cases.check_front_matter(Program.parse(text, path.stem, str(path)), text, topic)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def check_imports(program: Program, trace: Trace) -> None:
    """Refuse a script whose imports fail: a case runs wherever PyTorch does; raises ProgramError."""
    for step, statement in enumerate(program.statements):
        raised = trace.outcome(step).raised
        if raised is not None and raised.type in IMPORT_ERRORS and statement.raises is None:
            raise ProgramError(
                program.path or program.id,
                statement.line,
                f"{raised.message}; a case imports what is there wherever PyTorch is",
            )


def guessed_topic(program: Program, trace: Trace) -> str:
    messages = [raised.message for raised in errors(program, trace)]
    if any(FUNCTION_MISTAKE.search(message) for message in messages):
        return "functions"
    for kind in raised_kinds(program, trace):
        if kind in TOPIC_OF_KIND:
            return TOPIC_OF_KIND[kind]
    return next((topic for word, topic in TOPIC_OF_WORD.items() if word in program.text), "engine")


def errors(program: Program, trace: Trace) -> list[Raised]:
    """What the statements raised."""
    outcomes = (trace.outcome(step) for step in range(len(program.statements)))
    return [outcome.raised for outcome in outcomes if outcome.raised]


def raised_kinds(program: Program, trace: Trace) -> list[str]:
    return list(dict.fromkeys(raised.kind for raised in errors(program, trace)))


def front_matter(program: Program, trace: Trace, topic: str) -> str:
    """The docstring of the case: a sentence on what happened, topic, what is called, rule, source."""
    kinds = raised_kinds(program, trace)
    called = [name for step in program.steps for name in called_in(step.text) if not name.startswith("__")]
    features = list(dict.fromkeys([*program.features, *kinds, *called]))[:8]
    source = program.source or Path(program.path or program.id).name
    keys = {"topic": topic, "features": ", ".join(features), "rule": program.rule or RULE, "source": source}
    lines = "\n".join(f"{key}: {value}" for key, value in keys.items() if value)
    title = (program.title or sentence(program, trace)).replace("\\", "/").replace('"""', "'''")
    return f'"""{title}\n\n{lines}\n"""\n'


def sentence(program: Program, trace: Trace) -> str:
    """What a reader learns first: the first error, else the gradients at the end."""
    for step, statement in enumerate(program.statements):
        raised = trace.outcome(step).raised
        if raised is not None:
            text = " ".join(statement.text.split())
            return f"`{text[:60]}` raises {raised.kind}."
    grads = [name for name, record in trace.state().items() if is_tensor(record) and named(record)["grad"]]
    if grads:
        return f"The script runs without an error and leaves a grad on {', '.join(grads[:5])}."
    return "The script runs without an error and leaves no grad."


def body(program: Program, trace: Trace) -> str:
    """The script with its comments, each raising statement marked with the kind that PyTorch raises."""
    raised = [trace.outcome(step).raised for step in range(len(program.statements))]
    marks = [
        statement.raises if statement.raises and fits_mark(statement.raises, error) else error and error.kind
        for statement, error in zip(program.statements, raised, strict=True)
    ]
    fresh = [Statement(s.text, s.line, mark) for s, mark in zip(program.statements, marks, strict=True)]
    lines = (program.script or program.text).splitlines()
    spans = [(s.line - 1, s.line - 1 + s.text.count("\n")) for s in fresh]
    alone = all(before[1] < after[0] for before, after in zip(spans, spans[1:], strict=False))
    if not alone:  # several statements on a line: a mark would belong to none of them
        return "\n".join(marked(statement) for statement in fresh) + "\n"
    for old, statement, (first, last) in zip(program.statements, fresh, spans, strict=True):
        if statement.raises == old.raises:
            continue
        for number in {first, last}:
            lines[number] = MARK.sub("", lines[number]).rstrip()
        if statement.raises:
            lines[last] += f"  # raises {statement.raises}"
    return "\n".join(lines[spans[0][0] :]) + "\n"
