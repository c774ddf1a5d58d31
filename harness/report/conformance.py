"""The run behind `refgrad conformance`: cases and generated programs, in processes, into one record."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

from harness.apart import Apart, Outcome, Setup, outcome_of
from harness.cli import cores
from harness.engines import engine as engine_named
from harness.generate import prng
from harness.program import Program
from harness.run import Result, examine_each
from harness.verdict import Verdict, worst

from .build import GENERATED, MOST_SAMPLES

BATCH = 10
ONE_IN = 10  # of the generated programs, so many are looked at thoroughly and run unwatched as well


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
        return [described(*row) for row in zip(jobs, found)]


def described(job: Job, results: Sequence[Result]) -> Outcome:
    """What agrees is kept whole only of cases and some samples."""
    verdict = worst([result.verdict for result in results])
    keeps = not job.is_generated or verdict is not Verdict.AGREES or job.seed < MOST_SAMPLES
    return generated(job, outcome_of(results[0].program, results, keeps))


def generated(job: Job, outcome: Outcome) -> Outcome:
    """Generated programs are a topic of their own."""
    if job.is_generated:
        outcome.lines[0]["topic"] = GENERATED
    return outcome


def start(setup: Setup) -> None:
    Worker.current = Worker(setup)


def run_batch(jobs: Sequence[Job]) -> list[Outcome]:
    return Worker.current.run(jobs)


def alone(job: Job, setup: Setup) -> Outcome:
    """The outcome of a program that took its process with it: each engine that does so is named."""
    with Apart(setup, with_traces=True) as apart:
        return generated(job, apart.outcome(job.make()))


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
            yield alone(jobs[done], setup)
            jobs = jobs[done + 1 :]


def default_jobs() -> int:
    """As many as there are cores, four at most: each has a PyTorch of its own in memory."""
    return min(cores(), 4)
