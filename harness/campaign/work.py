"""What children do: batches of generated programs, one program alone, reductions."""

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import IO, Any

from harness.engines import engine as engine_named
from harness.engines.base import FULL, QUICK, Engine, OutOfTime
from harness.finding import Finding, Observation, TensorSeen, findings_of, tensors_of
from harness.generate import prng
from harness.generate.intents import ACTIONS
from harness.judge import InProcess, raising
from harness.program import Compiled, Program, Statement
from harness.record import program_line, result_line
from harness.run import BATCH as TOGETHER
from harness.run import Result, Runs, examine
from harness.trace import decoded, encoded
from harness.verdict import Verdict, worst

from .child import Say, Work
from .setup import ONE_IN, Setup

GENERATED = "generated"


class Engines:
    """The engines of a setup, imported once."""

    def __init__(self, setup: Setup):
        self.setup = setup
        self.others = [engine_named(spec) for spec in setup.engines]  # first: a wrong name is told at once
        self.expected = engine_named(setup.expected)

    @property
    def all(self) -> list[Engine]:
        return [self.expected, *self.others]

    def judge(self, thorough: bool = False, only: str = "", with_profile: bool = False) -> InProcess:
        setup = self.setup
        return InProcess(
            self.expected,
            self.others,
            setup.strict,
            thorough,
            setup.known,
            setup.limit,
            only,
            with_profile,
        )

    def examine(
        self, program: Program, thorough: bool, patience: int = 1, prepared: Sequence[Runs] = ()
    ) -> list[Result]:
        return examine(
            program,
            self.expected,
            self.others,
            strict=self.setup.strict,
            thorough=thorough,
            known=self.setup.known,
            limit=patience * self.setup.limit,
            prepared=prepared,
        )


def made(setup: Setup, number: int) -> Program:
    """The program of a campaign with this number."""
    return prng.program(setup.seed_of(number), setup.size)


def is_thorough(number: int) -> bool:
    return number % ONE_IN == 0


# What engines import or prepare only once it is needed: it should not count as the time of some program.
WARM_UP = """
import copy
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = F.relu(a * 2.0).view(1, 2)
b.register_hook(lambda g: print("hook", g))
b.backward(torch.ones_like(b), retain_graph=True)
c = torch.autograd.grad(b, a, torch.ones((1, 2)), create_graph=True)
checkpoint(torch.sin, a, use_reentrant=False).sum().backward()
d = copy.deepcopy(a)
torch.autograd.functional.jacobian(torch.sin, d)
print(a, b, c, d)
""".strip()


def warm_up(engine: Engine) -> Work:
    """A program that has an engine import what it imports late."""

    def work(say: Say, told: IO[str]) -> None:
        # Without a time limit: an import that is stopped half way is broken for good.
        engine.run(Program.parse(WARM_UP, "warm-up"))

    return work


# Batches -------------------------------------------------------------------------------------------


def batches(engines: Engines) -> Work:
    """Batches as they are told, "FIRST STOP GROUPS PATIENCE" a line; patience multiplies the time limit.

    Says "at N" whenever it comes to a program, then for each in order "groups NAMES" if wanted, "found JSON"
    if something is and "done VERDICT", and "end" behind each batch. It ends itself behind a program that ran
    out of time ("hung N" if there is more to be had): what was stopped half way, an import say, may be bad.
    """

    def work(say: Say, told: IO[str]) -> None:
        for line in told:
            first, stop, with_groups, patience = map(int, line.split())
            for start in range(first, stop, TOGETHER):
                numbers = range(start, min(start + TOGETHER, stop))
                rows = runs_of(engines, numbers, patience, say)
                if rows is None or not verdicts_on(engines, numbers, rows, with_groups, patience, say):
                    return
            say("end")

    return work


Rows = Sequence[Sequence[Runs]]  # per program, its runs per engine


def runs_of(engines: Engines, numbers: range, patience: int, say: Say) -> Rows | None:
    """Each engine runs all programs before the next one does, which is faster; None if one did not end."""
    limit = patience * engines.setup.limit
    programs = [made(engines.setup, number) for number in numbers]
    rows = [[Runs(engine, program, limit) for engine in engines.all] for program in programs]
    for column in zip(*rows):
        for number, runs in zip(numbers, column):
            say(f"at {number}")
            look = FULL if is_thorough(number) else QUICK
            runs.run(look)
            if patience == 1 and isinstance(runs.failures.get(look), OutOfTime):
                say(f"hung {number}")
                return None
    return rows


def verdicts_on(
    engines: Engines, numbers: range, rows: Rows, with_groups: int, patience: int, say: Say
) -> bool:
    """Say what became of each program; whether all ended in time."""
    for number, row in zip(numbers, rows):
        say(f"at {number}")
        program = row[0].program
        results = engines.examine(program, is_thorough(number), patience, row)
        verdict = worst([result.verdict for result in results])
        if verdict is Verdict.HUNG and patience == 1:
            say(f"hung {number}")
            return False
        if with_groups:
            say("groups " + " ".join(groups_of(engines.setup, number)))
        if verdict.is_failure:
            say("found " + json.dumps(found(number, program, results)))
        say(f"done {verdict}")
        if verdict is Verdict.HUNG:
            return False
    return True


def found(number: int, program: Program, results: Sequence[Result]) -> dict[str, Any]:
    """A program with its findings, and the lines of the record that hold it whole."""
    lines = [described(program), *(with_facts_by_name(result_line(result)) for result in results)]
    return {
        "number": number,
        "program": program.id,
        "findings": [finding.to_json() for finding in findings_of(results)],
        "lines": lines,
    }


def with_facts_by_name(line: dict[str, Any]) -> dict[str, Any]:
    """The line with the variables of each step by name: engines come to some in the order of a set."""
    for step in line.get("trace", {}).get("steps", ()):
        if "facts" in step:
            step["facts"] = dict(sorted(step["facts"].items()))
    return line


def described(program: Program) -> dict[str, Any]:
    return program_line(program) | {"topic": GENERATED}


def groups_of(setup: Setup, number: int) -> list[str]:
    """The feature groups of which something stands in a program."""
    drawn = prng.draw(Random(setup.seed_of(number)), setup.size)
    return sorted({ACTIONS[name].group for name in prng.written_by(*drawn)})


# One program ---------------------------------------------------------------------------------------


class Announcing(tuple[Compiled, ...]):
    """The steps of a program, each of which is announced when an engine comes to it."""

    say: Say

    def __iter__(self) -> Iterator[Compiled]:
        for number, step in enumerate(super().__iter__()):
            self.say(f"step {number}")
            yield step


def solo(engine: Engine, program: Program, look: str) -> Work:
    """One program on one engine: "step N" before each statement."""

    def work(say: Say, told: IO[str]) -> None:
        steps = Announcing(program.steps)
        steps.say = say
        program.__dict__["steps"] = steps  # where cached_property keeps it
        engine.run(program, look)

    return work


def seen_by(engine: Engine, program: Program) -> Work:
    """The tensors that a program makes, for what comes after it and cannot be looked at."""

    def work(say: Say, told: IO[str]) -> None:
        trace = engine.run(program)
        say(json.dumps(observation_to_json(Observation(None, tensors_of(trace), raising(program, trace)))))

    return work


def observe(engines: Engines, program: Program, thorough: bool, only: str, with_profile: bool) -> Work:
    """What a judge says of a program, as JSON."""

    def work(say: Say, told: IO[str]) -> None:
        say(json.dumps(observation_to_json(engines.judge(thorough, only, with_profile)(program))))

    return work


def verdicts(engines: Engines, program: Program) -> Work:
    """The verdict on a program, looked at thoroughly."""

    def work(say: Say, told: IO[str]) -> None:
        say(str(worst([result.verdict for result in engines.examine(program, thorough=True)])))

    return work


# As JSON -------------------------------------------------------------------------------------------


def observation_to_json(seen: Observation) -> dict[str, Any]:
    return {
        "finding": seen.finding.to_json() if seen.finding else None,
        "tensors": [{name: encoded(tuple(tensor)) for name, tensor in step.items()} for step in seen.tensors],
        "raising": sorted(seen.raising),
    }


def observation_from_json(data: dict[str, Any]) -> Observation:
    return Observation(
        Finding.from_json(data["finding"]) if data["finding"] else None,
        [{name: TensorSeen(*decoded(tensor)) for name, tensor in step.items()} for step in data["tensors"]],
        frozenset(data["raising"]),
    )


def program_to_json(program: Program) -> dict[str, Any]:
    data = {
        "id": program.id,
        "statements": [[s.text, s.line, s.raises] for s in program.statements],
        "exact": program.is_exact,
        "topic": program.topic,
    }
    return data | ({"file": program.file} if program.file else {})


def program_from_json(data: dict[str, Any]) -> Program:
    statements = tuple(Statement(*parts) for parts in data["statements"])
    return Program(
        data["id"], statements, is_exact=data["exact"], topic=data["topic"], file=data.get("file", "")
    )
