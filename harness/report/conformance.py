"""The run behind `refgrad conformance`: cases and generated programs, in processes, into one record."""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from harness.engines import engine as engine_named
from harness.generate import prng
from harness.known import Known
from harness.program import Program
from harness.record import Recorder, program_line, result_line
from harness.run import Result, examine_each
from harness.verdict import Verdict, worst

from .build import GENERATED, MOST_SAMPLES

BATCH = 10
ONE_IN = 10  # of the generated programs, so many are looked at thoroughly and run unwatched as well


@dataclass(frozen=True)
class Setup:
    """What every worker needs to know once."""

    expected: str
    engines: tuple[str, ...]
    strict: bool | None
    known: tuple[Known, ...]
    limit: float


@dataclass(frozen=True)
class Job:
    """One program to run; a generated one is made again from its seed."""

    program: Program | None = None
    seed: int = 0

    @property
    def is_generated(self) -> bool:
        return self.program is None

    def make(self) -> Program:
        return prng.program(self.seed) if self.program is None else self.program


@dataclass(frozen=True)
class Outcome:
    """What a worker hands back: the lines of the record, and the verdict that counts."""

    verdict: Verdict
    lines: list[dict[str, Any]]


class Worker:
    """The engines of one process, made once."""

    current: "Worker"

    def __init__(self, setup: Setup):
        self.setup = setup
        self.expected = engine_named(setup.expected)
        self.engines = [engine_named(spec) for spec in setup.engines]

    def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        setup, programs = self.setup, [job.make() for job in jobs]
        thorough = [not job.is_generated or job.seed % ONE_IN == 0 for job in jobs]
        found = examine_each(
            zip(programs, thorough),
            self.expected,
            self.engines,
            strict=setup.strict,
            known=setup.known,
            limit=setup.limit,
        )
        return [outcome_of(*row) for row in zip(jobs, programs, found)]


def outcome_of(job: Job, program: Program, results: list[Result]) -> Outcome:
    """The verdict that counts, and the lines; what agrees is kept whole only of cases and some samples."""
    verdict = worst([result.verdict for result in results])
    keeps = not job.is_generated or verdict is not Verdict.AGREES or job.seed < MOST_SAMPLES
    return Outcome(verdict, [described(job, program), *(result_line(result, keeps) for result in results)])


def described(job: Job, program: Program) -> dict[str, Any]:
    """The program's line; generated ones are a topic of their own."""
    return program_line(program) | ({"topic": GENERATED} if job.is_generated else {})


def start(setup: Setup) -> None:
    Worker.current = Worker(setup)


def run_batch(jobs: Sequence[Job]) -> list[Outcome]:
    return Worker.current.run(jobs)


def crashed(job: Job, setup: Setup) -> Outcome:
    """The outcome of a program that took its process with it; which engine did it is not known."""
    program = job.make()
    lines = [described(job, program)]
    for name in (setup.expected, *setup.engines):
        note = "the process died; run it on each engine alone to see which one it was"
        lines.append(
            {
                "line": "result",
                "program": program.id,
                "expected": setup.expected,
                "engine": name.partition(":")[2] or name,
                "verdict": str(Verdict.CRASHED),
                "note": note,
            }
        )
    return Outcome(Verdict.CRASHED, lines)


def outcomes(jobs: Iterable[Job], setup: Setup, processes: int) -> Iterator[Outcome]:
    """The outcome of every job in order; a job that kills its process costs that process only."""
    jobs = list(jobs)
    if processes <= 1:
        worker = Worker(setup)
        for at in range(0, len(jobs), BATCH):
            yield from worker.run(jobs[at : at + BATCH])
        return
    done = 0
    try:
        for outcome in in_processes(jobs, setup, processes, BATCH):
            done += 1
            yield outcome
    except BrokenProcessPool:
        yield from one_by_one(jobs[done:], setup)


def in_processes(jobs: Sequence[Job], setup: Setup, processes: int, batch: int) -> Iterator[Outcome]:
    # Fresh processes: a forked copy of one in which PyTorch has already run threads may hang.
    with ProcessPoolExecutor(processes, get_context("spawn"), start, (setup,)) as pool:
        batches = [jobs[at : at + batch] for at in range(0, len(jobs), batch)]
        futures: list[Future] = [pool.submit(run_batch, batch) for batch in batches]
        for future in futures:
            yield from future.result()


def one_by_one(jobs: Sequence[Job], setup: Setup) -> Iterator[Outcome]:
    """In one process at a time, so that the first job without an outcome is the one that killed it."""
    while jobs:
        done = 0
        try:
            for outcome in in_processes(jobs, setup, 1, 1):
                done += 1
                yield outcome
            return
        except BrokenProcessPool:
            yield crashed(jobs[done], setup)
            jobs = jobs[done + 1 :]


def record(recorder: Recorder, outcome: Outcome) -> None:
    recorder.counts[outcome.verdict] += 1
    for line in outcome.lines:
        recorder.write(**line)


def default_processes() -> int:
    """As many as there are cores, four at most: each has a PyTorch of its own in memory."""
    affinity = getattr(os, "sched_getaffinity", None)
    return min(len(affinity(0)) if affinity else os.cpu_count() or 1, 4)
