"""How good the finder is: which mutants of refgrad its generated programs kill, and after how many.

PyTorch runs the programs once; so does refgrad as it is, and programs in which it differs already are left
out. Then each mutant gets a fork of the process, which has all of that in memory, and runs the programs in
order until one differs; those that do not call the changed function are passed over. Functions are changed in
the fork where that suffices, else refgrad is loaded anew.
"""

import gc
import os
import select
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from types import CodeType, FrameType
from typing import IO

from harness.campaign.child import POLL, Child, Lost, Say
from harness.compare import Difference, first_difference
from harness.engines import engine as engine_named
from harness.engines.base import END, FULL, QUICK, Engine, OutOfTime
from harness.engines.refgrad import RefgradEngine
from harness.generate import prng
from harness.mutants import Mutant
from harness.mutants.plant import (
    Functions,
    Place,
    Sources,
    another_copy,
    compiled,
    fresh_copy,
    in_place,
    is_read_once,
    own_modules,
    place_of,
)
from harness.program import Program
from harness.run import Runs

PROGRAMS = 600
ONE_IN = 10  # programs that are looked at thoroughly and run unwatched as well
LIMIT = 10.0  # seconds for one program on one mutant
MEMORY = 1000  # megabytes by which a mutant may grow


@dataclass(frozen=True)
class Score:
    """What became of one mutant."""

    mutant: Mutant
    killer: int | str | None = None  # the seed of the program that killed it, or the case
    fact: str = ""  # what showed it: a fact, what a step ended in, or how the process died
    programs: int = 0  # that it ran, the last one included
    is_complete: bool = True  # False when time ran out first
    seconds: float = 0.0

    @property
    def is_killed(self) -> bool:
        return self.killer is not None


# One program ----------------------------------------------------------------------------------------


def looks_at(seed: int) -> tuple[str, ...]:
    """How a program is looked at."""
    return (FULL, END) if seed % ONE_IN == 0 else (QUICK,)


def prepared(expected: Engine, program: Program, looks: Iterable[str]) -> Runs:
    """PyTorch's runs of a program, made at once."""
    runs = Runs(expected, program)
    for look in looks:
        runs.run(look)
    return runs


def difference(runs: Runs, engine: Engine) -> Difference | None:
    """The first difference of an engine from the runs that were made."""
    theirs = Runs(engine, runs.program, LIMIT)
    for look, trace in runs.traces.items():
        found = first_difference(trace, theirs[look], runs.program, True)
        if found is not None:
            return found
    return None


def killed_by(runs: Runs, engine: Engine) -> str:
    """What shows that an engine is wrong, or nothing."""
    try:
        found = difference(runs, engine)
    except (OutOfTime, Exception) as error:
        return f"the run ends in {type(error).__name__}"
    if found is None:
        return ""
    return found.subject if found.subject in ("printed", "warnings") else found.fact


def kills(program: Program, mutant: Mutant, expected: Engine) -> bool:
    """Whether a program kills a mutant in a fresh copy of refgrad."""
    runs = Runs(expected, program)
    for look in (FULL, END):
        runs.run(look)
    with fresh_copy(mutant) as module:
        return bool(killed_by(runs, RefgradEngine(module)))


class Visited:
    """Notes which functions are called in a `with` block, by their places."""

    def __init__(self) -> None:
        self.codes: dict[int, CodeType] = {}  # held, so that no other code gets the same id
        self.seen: set[int] = set()

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            key = id(frame.f_code)
            if key not in self.codes:
                self.codes[key] = frame.f_code
            self.seen.add(key)

    def __enter__(self) -> "Visited":
        self.seen.clear()
        sys.setprofile(self.note)
        return self

    def __exit__(self, *reason: object) -> None:
        sys.setprofile(None)

    def places(self) -> set[Place]:
        """The functions called in the last block."""
        return {place_of(self.codes[key]) for key in self.seen}


# Many mutants ---------------------------------------------------------------------------------------


class Bench:
    """Everything that the forks share: PyTorch's runs of sound programs, and refgrad, warm and cold.

    The programs are those of the seeds, and then the given ones, which are named by their ids.
    """

    def __init__(
        self, seeds: Iterable[int], expected: Engine | None = None, programs: Iterable[Program] = ()
    ):
        self.expected = expected or engine_named("torch")
        with another_copy() as module:
            self.cold, self.cold_functions, self.cold_modules = (
                RefgradEngine(module),
                Functions(),
                own_modules(),
            )
        self.right = RefgradEngine()
        self.runs: dict[str, Runs] = {}  # by seed or id
        self.reached: dict[str, set[Place]] = {}  # the functions that refgrad calls
        self.unsound: list[str] = []
        visited = Visited()
        generated = ((str(seed), prng.program(seed), looks_at(seed)) for seed in seeds)
        for key, program, looks in chain(generated, ((each.id, each, (FULL, END)) for each in programs)):
            runs = prepared(self.expected, program, looks)
            with visited:
                fact = killed_by(runs, self.right)
            if fact and killed_by(runs, self.right):  # not because it was watched
                self.unsound.append(key)
                continue
            self.runs[key], self.reached[key] = runs, visited.places()
        self.functions = Functions()
        gc.collect()
        gc.freeze()  # what is there stays there: the forks need not touch its pages

    def work(self, mutant: Mutant) -> Callable[[Say, IO[str]], None]:
        """What the fork for a mutant does: says "at KEY" before each program, and "killed FACT"."""

        def run(engine: Engine, keys: Iterable[str], say: Say) -> None:
            for key in keys:
                say(f"at {key}")
                fact = killed_by(self.runs[key], engine)
                if fact:
                    say(f"killed {fact}")
                    return

        def work(say: Say, told: IO[str]) -> None:
            sources = Sources(mutant)
            pairs = self.functions.pairs(sources)
            read_once = is_read_once(mutant, pairs)
            cold = self.cold_functions.pairs(sources) if read_once else []
            if not pairs or read_once and len(cold) < len(pairs):
                with fresh_copy(mutant) as module:
                    run(RefgradEngine(module), self.runs, say)
            elif read_once:
                self.cold_functions.swap(cold)
                with in_place(self.cold_modules):
                    run(self.cold, self.runs, say)
            else:
                self.functions.swap(pairs)
                places = {place_of(before) for before, _ in pairs}
                run(self.right, [key for key, own in self.reached.items() if own & places], say)

        return work


class Trial(Child):
    """The fork of one mutant, and what is known of it."""

    def __init__(self, bench: Bench, mutant: Mutant):
        super().__init__(bench.work(mutant), 2 * LIMIT, MEMORY)
        self.mutant = mutant
        self.first = time.monotonic()
        self.key = ""  # of the program that it runs
        self.programs = 0
        self.fact = ""

    def read(self) -> bool:
        """Take in what it said; whether it has ended."""
        data = os.read(self.pipe, 1 << 16)
        if not data:
            if os.waitpid(self.pid, 0)[1] and not self.fact:
                self.fact = "the process dies"
            self.is_ended = True
            return True
        *whole, self.rest = (self.rest + data).split(b"\n")
        self.begun = time.monotonic()
        for line in whole:
            word, _, rest = line.decode().partition(" ")
            if word == "at":
                self.key, self.programs = rest, self.programs + 1
            else:
                self.fact = rest
        return False

    def is_lost(self) -> bool:
        """Whether it takes too long over a program, or too much memory; then it is ended."""
        try:
            self.check()
        except Lost as lost:
            self.fact = lost.note
            self.end()
            return True
        return False

    def score(self, is_complete: bool = True) -> Score:
        killer = (int(self.key) if self.key.isdigit() else self.key) if self.fact else None
        seconds = time.monotonic() - self.first
        return Score(self.mutant, killer, self.fact, self.programs, is_complete or bool(self.fact), seconds)


def scores(bench: Bench, mutants: Sequence[Mutant], jobs: int, deadline: float) -> Iterator[Score]:
    """The score of each mutant, as they come; those that the time does not reach come last."""
    waiting = list(mutants)[::-1]
    running: dict[int, Trial] = {}
    for mutant in mutants:
        sources = Sources(mutant)
        compiled(sources.before, sources.path)  # once, before the forks
    try:
        while (waiting or running) and time.monotonic() < deadline:
            while waiting and len(running) < jobs:
                trial = Trial(bench, waiting.pop())
                running[trial.pipe] = trial
            ready, _, _ = select.select(list(running), [], [], POLL)
            for pipe, trial in list(running.items()):
                if trial.read() if pipe in ready else trial.is_lost():
                    del running[pipe]
                    trial.__exit__()
                    yield trial.score()
    finally:
        for trial in running.values():
            with suppress(ChildProcessError):
                trial.__exit__()
    for trial in running.values():
        yield trial.score(is_complete=False)
    for mutant in reversed(waiting):
        yield Score(mutant, is_complete=False)
