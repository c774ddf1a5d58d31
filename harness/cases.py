"""Cases: programs in files, one a file, in a folder per topic; and any torch script given by its path."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from harness.engines.base import Named
from harness.known import Known
from harness.outcome import KIND_NAMES, is_kind
from harness.program import Program, ProgramError
from harness.verdict import Verdict

# The topics a case may have: the names of the folders, and what belongs there.
TOPICS = {
    "engine": "what runs when, how gradients are summed and sent along edges",
    "backward-twice": "a second backward through the same graph, freed or retained",
    "leaf": "what is a leaf, and how a tensor becomes or stops being one",
    "accumulate": "what accumulates in .grad, and whose memory it is",
    "hooks": "hooks on tensors and nodes: their order, arguments, replacements and removal",
    "views": "views: shared memory, bases, replay, forbidden writes",
    "inplace": "in-place operations: version counters, rewritten history, refused writes",
    "functions": "custom autograd.Function: contexts, results, mistakes",
    "modes": "no_grad, enable_grad, inference_mode, anomaly mode",
    "errors": "what is refused, with which error and text",
    "numerics": "gradients at awkward points, promotion, dtypes",
    "random": "the stream of random numbers",
    "seeds": "the fragments that this project began with",
    "complex": "complex numbers and PyTorch's convention for their gradients",
    "copies": "clone, deepcopy, pickle, numpy",
    "modules": "nn.Module, parameters, optimizers, small networks",
    "interface": "names, attributes and settings of the package and its classes, and how they print",
    "saved": "saved tensors: what is saved, when it is checked, when it is freed",
    "checkpoint": "torch.utils.checkpoint: functions that run again in backward",
    "forward-mode": "torch.autograd.forward_ad: dual tensors and their tangents",
    "func": "torch.func and torch.vmap: transforms of functions",
    "grad-api": "torch.autograd.grad and backward in all their arguments",
    "functional": "torch.autograd.functional, gradcheck, torch.testing",
}
KEYS = frozenset({"id", "topic", "features", "rule", "source", "lane"})
FOLDER = "cases"
KNOWN_DIFFERENCES = "known_differences.toml"


class BrokenCases(Exception):
    """Cases that cannot be used: every problem found, each with file, line and what to do."""

    def __init__(self, problems: list[ProgramError]):
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def root_of(path: Path) -> Path | None:
    """The folder of cases that a path lies in: its nearest ancestor (or itself) called `cases`."""
    for folder in (path.absolute(), *path.absolute().parents):
        if folder.name == FOLDER and folder.is_dir():
            return folder
    return None


def load(paths: Iterable[str | Path]) -> list[Program]:
    """The programs of files and folders in a fixed order; raises BrokenCases with all problems at once."""
    problems: list[ProgramError] = []
    programs: list[Program] = []
    for path in files(paths, problems):
        try:
            programs.append(load_file(path))
        except ProgramError as problem:
            problems.append(problem)
    problems.extend(duplicates(programs))
    if problems:
        raise BrokenCases(problems)
    return programs


def files(paths: Iterable[str | Path], problems: list[ProgramError]) -> Iterator[Path]:
    """The Python files that paths name, each once."""
    found: dict[Path, Path] = {}
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*.py") if not is_hidden(p.relative_to(path)))
            if not inside:
                problems.append(ProgramError(str(path), 0, "no program in this folder; cases end in .py"))
            for file in inside:
                found.setdefault(file.absolute(), file)
        elif path.is_file():
            found.setdefault(path.absolute(), path)
        else:
            problems.append(ProgramError(str(path), 0, "there is no such file or folder"))
    return iter(found.values())


def is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "__")) for part in path.parts)


def load_file(path: str | Path) -> Program:
    """One program: a case if the file lies in a folder called `cases`, else any torch script."""
    path = Path(path)
    try:
        script = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise ProgramError(str(path), line, "not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise ProgramError(str(path), 0, f"cannot be read ({error.strerror})") from None
    root = root_of(path)
    if root is None:
        program = Program.parse(script, script_id(path), str(path))
    else:
        relative = path.absolute().relative_to(root).with_suffix("")
        program = Program.parse(script, relative.as_posix(), str(path))
        check_front_matter(program, script, folder=relative.parts[0] if len(relative.parts) > 1 else "")
    if not program.statements:
        raise ProgramError(str(path), 1, "no statement in it; a program begins with `import torch`")
    return program


def script_id(path: Path) -> str:
    """The id of a script outside of any folder of cases: its path as it was given."""
    return path.with_suffix("").as_posix()


def check_front_matter(program: Program, script: str, folder: str) -> None:
    """Raise ProgramError with the line and what to do where front matter is missing or wrong."""
    path = program.path or program.id
    if not program.title and not program.front_matter:
        raise ProgramError(
            path, 1, "no front matter; begin with a docstring: a sentence, an empty line, `topic: ...`"
        )
    if not program.title:
        raise ProgramError(path, 1, "the docstring does not begin with a sentence that says what is shown")
    if "topic" not in program.front_matter:
        raise ProgramError(path, 1, f"no `topic:` line in the docstring; add `topic: {folder or 'engine'}`")
    line = line_of(script, "topic:")
    if program.topic not in TOPICS:
        raise ProgramError(
            path, line, f"there is no topic {program.topic!r}; topics are {', '.join(sorted(TOPICS))}"
        )
    if folder and program.topic != folder:
        raise ProgramError(
            path,
            line,
            f"topic {program.topic!r} in the folder of {folder!r}; move the file or change the line",
        )
    for key in program.front_matter.keys() - KEYS:
        raise ProgramError(
            path, line_of(script, f"{key}:"), f"unknown key {key!r}; keys are {', '.join(sorted(KEYS))}"
        )
    for statement in program.statements:
        if statement.raises is not None and not is_kind(statement.raises):
            raise ProgramError(
                path,
                statement.line,
                f"no error is of the kind {statement.raises!r}; kinds are the names of exceptions and"
                f" {', '.join(sorted(KIND_NAMES))}",
            )
    lane = program.front_matter.get("lane", "tolerance")
    if lane not in ("exact", "tolerance"):
        raise ProgramError(path, line_of(script, "lane:"), f"lane is exact or tolerance, not {lane!r}")


def line_of(script: str, beginning: str) -> int:
    """The line that begins with a text; 1 if none does."""
    for number, line in enumerate(script.splitlines(), 1):
        if line.lstrip().startswith(beginning):
            return number
    return 1


def duplicates(programs: list[Program]) -> Iterator[ProgramError]:
    first: dict[str, Program] = {}
    for program in programs:
        other = first.setdefault(program.id, program)
        if other is not program:
            line = line_of(program.script or "", "id:")
            yield ProgramError(
                str(program.path), line, f"id {program.id!r} is already that of {other.path}; choose another"
            )


def stale_entries(
    entries: Iterable[Known],
    engines: Sequence[Named],
    verdicts: Callable[[Program], Sequence[tuple[str, Verdict]]],
) -> Iterator[str]:
    """A line for every known difference whose witness is gone or agrees now.

    The expected engine comes first, in `engines` and in the verdicts by name that a program comes to.
    """
    expected, *others = engines
    for entry in entries:
        for engine in others:
            if not entry.applies(engine.name, {expected.name: expected.version, engine.name: engine.version}):
                continue
            try:
                program = load_file(entry.script)
            except ProgramError as problem:
                yield f"STALE       known difference {entry.id}: its witness cannot be used: {problem}"
                continue
            if (engine.name, Verdict.AGREES) in verdicts(program)[1:]:
                yield (
                    f"STALE       known difference {entry.id}: its witness {entry.witness} agrees now on"
                    f" {engine.name}; remove the entry from {KNOWN_DIFFERENCES}"
                )
