"""Reducing: the fewest and simplest statements in which the same thing is found.

It works on the statements of any program, so generated programs, case files and users' scripts all reduce. A
*trial* is one run of the judge on a candidate; a candidate that keeps the finding's identity becomes the
program to go on with. The passes, each of which may make the next one succeed:

cut          nothing behind the statement that differs
slice        only what that statement can depend on, as far as the text tells
delete       chunks of statements, from the end, halves first
substitute   a fresh leaf of the same dtype, shape and requires_grad for an interior tensor
bypass       a statement left out, its operand used in place of its result
generalize   the plainest op of its sort for any op: what then is left of ops matters
simplify     blocks opened, expressions cut down, arguments left out
shrink       small shapes and plain numbers for the tensors that are made from literals

Everything is deterministic; the number of trials is bounded, and no candidate is tried twice.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from harness.finding import Finding, Judge, Observation, TensorSeen
from harness.program import Compiled, Program, Statement, compiled, marked
from harness.simplify import is_made, leaf_text, plain_data, plainer, proposals, renamed

MOST_TRIALS = 150
MOST_LINES = 25  # of a script; while it has more, so many times as many trials are made
LONGER = 4
SHAPES: tuple[tuple[int, ...], ...] = ((), (2,), (2, 2))
# Statements with one of these words matter to later ones in ways that their names do not tell.
LASTING = (
    *("hook", "requires_grad", "retain", "set_", "seed", "use_", "detect_anomaly", "global"),
    *("warnings", "random"),
)

Texts = tuple[str, ...]


@dataclass(frozen=True)
class Reduction:
    """What a program came down to; `finding` is what is found in it, None if it could not be found again."""

    program: Program
    finding: Finding | None
    trials: int
    before: int  # statements of the original

    @property
    def statements(self) -> int:
        return len(self.program.statements)


class OutOfTrials(Exception):
    """The bound on trials is reached."""


def reduce(
    program: Program, judge: Judge, goal: Finding | None = None, most_trials: int = MOST_TRIALS
) -> Reduction:
    """The smallest program found that keeps the goal, by default what is found in the program now."""
    reducer = Reducer(program, judge, most_trials)
    if not reducer.begin(goal):
        return Reduction(program, None, reducer.trials, len(program.statements))
    with suppress(OutOfTrials):
        reducer.run()
    return Reduction(reducer.program, reducer.seen.finding, reducer.trials, len(program.statements))


class Reducer:
    """The program as it is now, and the trials that were made."""

    def __init__(self, program: Program, judge: Judge, most_trials: int):
        self.program, self.judge, self.most_trials = program, judge, most_trials
        self.trials = 0
        self.tried: set[Texts] = set()
        self.goal: Finding
        self.seen: Observation
        self.keeps_marks = False

    @property
    def texts(self) -> list[str]:
        return [statement.text for statement in self.program.statements]

    @property
    def steps(self) -> Sequence[Compiled]:
        return [compiled(text) for text in self.texts]

    @property
    def last(self) -> int:
        """The statement that differs; behind the last one for what shows at the end only."""
        finding = self.seen.finding
        assert finding is not None
        return min(finding.step, len(self.program.statements))

    def begin(self, goal: Finding | None) -> bool:
        """Run the program as it is; whether the goal is found in it."""
        self.trials += 1
        seen = self.judge(self.program)
        if seen.finding is None or (goal is not None and not seen.finding.is_like(goal)):
            return False
        self.goal, self.seen = seen.finding, seen
        self.keeps_marks = seen.finding.fact == "mark"
        return True

    def run(self) -> None:
        """All passes until none gets further; the dear ones only once nothing else helps."""
        self.cut()
        self.slice()
        while True:
            before = self.texts
            self.delete()
            self.substitute()
            self.bypass()
            self.generalize()
            if self.texts != before:
                continue
            self.simplify()
            if self.texts != before:
                continue
            self.shrink()
            if self.texts == before:
                break
        self.without_lane()

    @property
    def is_short(self) -> bool:
        """Whether the script is one to read at a glance."""
        return is_short(script_of(self.program, self.goal))

    # Trials ----------------------------------------------------------------------------------------

    def holds(self, statements: Sequence[Statement], is_exact: bool | None = None) -> bool:
        """Try a candidate; if the goal is found in it, go on with it."""
        program = self.candidate(statements, self.program.is_exact if is_exact is None else is_exact)
        key = (str(program.is_exact), *map(marked, program.statements))
        if key in self.tried:
            return False
        self.tried.add(key)
        if self.trials >= self.most_trials and (self.is_short or self.trials >= LONGER * self.most_trials):
            raise OutOfTrials
        self.trials += 1
        seen = self.judge(program)
        if seen.finding is None or not seen.finding.is_like(self.goal):
            return False
        if not self.seen.raising.issuperset(seen.raising):  # a new error hides what it is about
            return False
        self.program, self.seen, self.goal = program, seen, seen.finding
        return True

    def candidate(self, statements: Sequence[Statement], is_exact: bool) -> Program:
        """The program of these statements, with their lines counted anew; its imports are those in use."""
        lines, kept = 1, []
        for statement in with_needed_imports(statements):
            mark = statement.raises if self.keeps_marks else None
            kept.append(Statement(statement.text, lines, mark))
            lines += statement.text.count("\n") + 1
        return Program(self.program.id, tuple(kept), is_exact=is_exact, file=self.program.file)

    # Passes ----------------------------------------------------------------------------------------

    def cut(self) -> None:
        """Leave out what comes after the statement that differs."""
        if self.last < len(self.program.statements) - 1:
            self.holds(self.program.statements[: self.last + 1])

    def slice(self) -> None:
        """Keep only what the differing statement depends on, read narrowly, else more widely."""
        for reach in (NARROW, WIDE, WIDEST):
            kept = depended_on(self.steps, self.last, reach)
            if len(kept) < len(self.program.statements) and self.holds(self.chosen(kept)):
                return

    def chosen(self, places: Sequence[int]) -> list[Statement]:
        return [self.program.statements[place] for place in places]

    def delete(self) -> None:
        """Delete chunks, those at the end first; halves, then smaller ones, down to single statements."""
        size = max(len(self.program.statements) // 2, 1)
        while True:
            stop = min(self.last, len(self.program.statements))
            while stop > 0:
                statements = self.program.statements
                start = max(stop - size, 0)
                if any(not is_import(s) for s in statements[start:stop]):
                    rest = [*(s for s in statements[:start]), *statements[stop:]]
                    kept = [s for s in statements[start:stop] if is_import(s)]
                    self.holds([*rest[:start], *kept, *rest[start:]])
                stop = start
            if size == 1:
                return
            size //= 2

    def substitute(self) -> None:
        """Make leaves of interior tensors, the latest first: what made them is then needed no more."""
        place = min(self.last, len(self.program.statements)) - 1
        while place >= 0:
            for texts in self.fresh_leaves(place):
                before = len(self.program.statements)
                if self.put(place, texts, prune=True) or self.put(place, texts):
                    place = min(place, place + len(self.program.statements) - before)
                    break
            place -= 1

    def fresh_leaves(self, place: int) -> Iterator[list[str]]:
        """What can stand for a statement that binds tensors: the same tensors, made from their numbers."""
        step = self.steps[place]
        if step.is_build or not step.binds or is_made(step.text) or place >= len(self.seen.tensors):
            return
        tensors = self.seen.tensors[place]
        later = {name for other in self.steps[place + 1 :] for name in (*other.loads, *other.binds)}
        names = [name for name in step.binds if name in later]
        if names and all(name in tensors for name in names):
            leaves = [f"{name} = {leaf_text(tensors[name])}" for name in names]
            if leaves != [step.text]:
                yield leaves

    def bypass(self) -> None:
        """Leave out `b = f(a)` and say `a` for `b` from there on."""
        place = min(self.last, len(self.program.statements)) - 1
        while place >= 0:
            step = self.steps[place]
            operands = [] if step.is_build or len(step.binds) != 1 else step.loads
            for operand in operands:
                if operand in MODULES or place >= len(self.seen.tensors):
                    continue
                if operand in self.seen.tensors[place] and self.holds(
                    self.without(place, step.binds[0], operand)
                ):
                    break
            place -= 1

    def without(self, place: int, name: str, operand: str) -> list[Statement]:
        statements = list(self.program.statements)
        later = [replace(s, text=renamed(s.text, name, operand)) for s in statements[place + 1 :]]
        return [*statements[:place], *later]

    def generalize(self) -> None:
        """Say `b = a.clone()` for `b = f(a)`, and its like for views and in-place calls."""
        place = min(self.last, len(self.program.statements) - 1)
        while place >= 0:
            step = self.steps[place]
            if not step.is_build and not is_made(step.text) and place < len(self.seen.tensors):
                before = self.seen.tensors[place - 1] if place else {}
                operands = [name for name in (*step.loads, *step.binds) if name in before]
                any(self.put(place, [text]) for text in plainer(step.text, operands))
            place = min(place, len(self.program.statements)) - 1

    def put(self, place: int, texts: Sequence[str], prune: bool = False) -> bool:
        """Try other texts for one statement; with `prune`, without what nothing depends on then."""
        statements = list(self.program.statements)
        mark = statements[place].raises
        statements[place : place + 1] = [Statement(text, 0, mark) for text in texts]
        if prune:
            steps = [compiled(statement.text) for statement in statements]
            kept = depended_on(steps, min(self.last + len(texts) - 1, len(steps)), WIDE)
            if len(kept) == len(statements):
                return False
            statements = [statements[at] for at in kept]
        return self.holds(statements)

    def simplify(self) -> None:
        """Try simpler texts for each statement, the latest first, until none helps."""
        place = len(self.program.statements) - 1
        while place >= 0:
            if not is_import(self.program.statements[place]):
                while any(self.put(place, texts) for texts in proposals(self.texts[place])):
                    if place >= len(self.program.statements):
                        break
            place = min(place, len(self.program.statements)) - 1

    def shrink(self) -> None:
        """Smaller shapes and plainer numbers for what is made from literals: all at once, else one by one."""
        made = [place for place, text in enumerate(self.texts) if is_made(text)]
        for shape in SHAPES:
            if made and self.put_all(self.shaped(made, shape)):
                break
        for place in made:
            for wanted in (*SHAPES, None):
                texts = self.shaped([place], wanted)
                if texts and self.put_all(texts):
                    break

    def shaped(self, made: Sequence[int], shape: tuple[int, ...] | None) -> dict[int, str]:
        """New texts for those of these statements that make larger tensors, or (None) odder numbers."""
        texts = {}
        for place in made:
            name = self.steps[place].binds[0]
            seen = self.seen.tensors[place].get(name) if place < len(self.seen.tensors) else None
            if seen is None:
                continue
            wanted = seen.shape if shape is None else shape
            plain = TensorSeen(seen.dtype, wanted, plain_data(seen.dtype, wanted), seen.requires_grad, True)
            text = f"{name} = {leaf_text(plain)}"
            if len(text) < len(self.texts[place]) or (len(text) == len(self.texts[place]) and shape is None):
                texts[place] = text
        return {place: text for place, text in texts.items() if text != self.texts[place]}

    def put_all(self, texts: dict[int, str]) -> bool:
        statements = [
            replace(statement, text=texts.get(place, statement.text))
            for place, statement in enumerate(self.program.statements)
        ]
        return bool(texts) and self.holds(statements)

    def without_lane(self) -> None:
        """The exact lane must be asked for in a script; most differences show without."""
        if self.program.is_exact:
            self.holds(self.program.statements, is_exact=False)


# Reading dependence from the text ------------------------------------------------------------------


def is_import(statement: Statement) -> bool:
    return statement.text.startswith(("import ", "from "))


def with_needed_imports(statements: Sequence[Statement]) -> list[Statement]:
    """The statements without imports whose names nothing uses; `import torch` begins every program."""
    used = {name for s in statements if not is_import(s) for name in compiled(s.text).loads}
    kept = [
        s for s in statements if not is_import(s) or used.intersection(compiled(s.text).binds) or is_first(s)
    ]
    return kept if any(is_first(s) for s in kept) else [Statement("import torch", 1), *kept]


def is_first(statement: Statement) -> bool:
    return statement.text == "import torch"


MODULES = frozenset(("torch", "F", "nn"))
NARROW, WIDE, WIDEST = range(3)  # how far dependence is followed


def depended_on(steps: Sequence[Compiled], last: int, reach: int) -> list[int]:
    """The statements that the one at `last` can depend on, and itself.

    Narrowly: what binds its names, and what visibly writes to them. Widely also: whatever mentions a needed
    name, and what changes something that lasts. Most widely: whatever is connected by names at all.
    """
    last = min(last, len(steps) - 1)
    if reach == WIDEST:
        return connected(steps, last)
    needed = {*steps[last].loads, *steps[last].binds}
    kept = [last]
    for place in range(last - 1, -1, -1):
        step = steps[place]
        mentions = needed.intersection((*step.loads, *step.binds)) - MODULES
        binds = needed.intersection(step.binds)
        lasts = any(word in step.text for word in LASTING)
        if binds or (mentions and (step.has_effect or lasts or reach)) or (reach and lasts):
            kept.append(place)
            needed.update(step.loads)
            if step.has_effect:
                needed.update(step.binds)
            elif binds and not reach:
                needed.difference_update(name for name in step.binds if name not in step.loads)
    return kept[::-1]


def connected(steps: Sequence[Compiled], last: int) -> list[int]:
    """The statements up to `last` that share names with it, or with one of those, and so on."""
    names = [{*step.loads, *step.binds} - MODULES for step in steps[: last + 1]]
    needed, before = set(names[last]), -1
    while len(needed) > before:
        before = len(needed)
        for mentioned in names:
            if needed & mentioned:
                needed |= mentioned
    lasts = [any(word in step.text for word in LASTING) for step in steps]
    imports = [step.text.startswith(("import ", "from ")) for step in steps]
    return [at for at in range(last + 1) if needed & names[at] or lasts[at] or imports[at] or at == last]


# Scripts -------------------------------------------------------------------------------------------


def script_of(program: Program, finding: Finding, title: str = "") -> str:
    """The program as a script that runs by itself; comments tell what is expected and what is found."""
    head = title or finding.title()
    opening = f'"""{head}\n\nlane: exact\n"""\n' if program.is_exact else f"# {head}\n"
    statements = [marked(statement) for statement in program.statements]
    at = min(finding.step, len(statements) - 1)
    comments = [f"# {line}" for line in finding.lines()]
    where = "" if finding.step < len(statements) else "# At the end:\n"
    before, after = statements[: at + 1], statements[at + 1 :]
    return opening + "\n".join([*before, where + "\n".join(comments), *after]) + "\n"


def is_short(script: str) -> bool:
    return script.count("\n") <= MOST_LINES


def length_note(script: str) -> str:
    """What to say of a script that did not come down to what is read at a glance; nothing of others."""
    lines = script.count("\n")
    return "" if is_short(script) else f"{lines} lines, more than {MOST_LINES}: no shorter one was found"
