"""A campaign: hands out batches and reductions to hosts, and puts what comes back in order."""

import itertools
import queue
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from harness.buckets import Buckets, BucketSignature, Exemplar, signature_of
from harness.finding import Finding
from harness.generate.intents import ACTIONS

from . import work
from .client import Client, HostGone
from .coverage import Pairs
from .journal import Journal, Key, findings_in
from .setup import BATCH, BatchResult, Setup

PER_IDENTITY = 2  # findings of one identity that are reduced; the others are counted with them
PER_FACT = 8  # findings that differ in the same way in the same fact, after whatever statement
MOST_REDUCTIONS = 1000
COVERED = 5000  # programs whose feature groups are told, unless --coverage asks for all

REDUCE, RUN, STOP = 0, 1, 2  # jobs by urgency: what is found shows early


@dataclass(order=True)
class Job:
    """Something for a host to do."""

    urgency: int
    number: int
    at: int = 0
    fields: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        return "reduce" if self.urgency == REDUCE else "batch"


@dataclass
class Bounds:
    """How far a campaign goes."""

    programs: int | None = None
    minutes: float | None = None
    with_groups: bool = False  # of all programs


class Campaign:
    """The state of a running campaign; `run` steps through it and yields whenever something is new."""

    def __init__(self, setup: Setup, bounds: Bounds, clients: list[Client], journal: Journal):
        self.setup, self.bounds, self.clients, self.journal = setup, bounds, clients, journal
        self.pairs = Pairs(sorted({action.group for action in ACTIONS.values() if action.weight} | {"fault"}))
        self.jobs: queue.PriorityQueue[Job] = queue.PriorityQueue()
        self.answers: queue.Queue[tuple[Job, dict[str, Any] | Exception]] = queue.Queue()
        self.verdicts: Counter[str] = journal.verdicts
        self.programs = self.programs_before = journal.programs
        self.waiting: dict[int, BatchResult] = {}  # batches behind one that is not done yet
        self.next_number = 0
        self.reduced: Counter[tuple[str, ...]] = Counter()
        self.findings: dict[Key, tuple[str, Finding]] = {}  # every one, with the program's id
        self.running: set[Key | int] = set()
        self.newest: Finding | None = None
        self.live_buckets: set[BucketSignature] = set()
        self.begun = time.monotonic()
        self.first_batch: float | None = None  # when its first program began
        self.is_interrupted = False
        self.gaps = self.undone()

    # Which programs --------------------------------------------------------------------------------

    def undone(self) -> Iterator[tuple[int, int]]:
        """(first, count) of the batches that the journal does not have, in order."""
        done = sorted((batch.first, batch.count) for batch in self.journal.batches)
        number = 0
        for first, count in done:
            yield from self.cut(number, first)
            number = max(number, first + count)
        yield from self.cut(number, self.bounds.programs)

    @staticmethod
    def cut(start: int, stop: int | None) -> Iterator[tuple[int, int]]:
        for first in itertools.count(start, BATCH) if stop is None else range(start, stop, BATCH):
            yield first, BATCH if stop is None else min(BATCH, stop - first)

    @property
    def is_out_of_time(self) -> bool:
        minutes = self.bounds.minutes
        return minutes is not None and time.monotonic() - self.begun > 60 * minutes

    # Running ---------------------------------------------------------------------------------------

    def run(self) -> Iterator[None]:
        """Everything, until the bounds are reached or Ctrl-C."""
        threads = [
            threading.Thread(target=self.serve, args=(client,), daemon=True) for client in self.clients
        ]
        before = self.note_interrupts()
        try:
            self.begin()
            for thread in threads:
                thread.start()
            while self.running and not self.is_interrupted:
                with suppress(queue.Empty):
                    self.receive(*self.answers.get(timeout=0.1))
                    self.hand_out()
                yield
        finally:
            if before is not None:
                signal.signal(signal.SIGINT, before)
            for client in self.clients:
                self.jobs.put(Job(STOP, 0))
                if self.is_interrupted:
                    client.close()
            for thread in threads:
                if thread.ident is not None:
                    thread.join(timeout=5)
            for client in self.clients:
                client.close()

    def note_interrupts(self) -> Any:
        """Have Ctrl-C noted and heeded between two answers, so that no answer is counted by half.

        Gives the handler that was there before; None outside of the main thread, which Ctrl-C does not reach.
        """
        if threading.current_thread() is not threading.main_thread():
            return None

        def note(number: int, frame: object) -> None:
            self.is_interrupted = True

        return signal.signal(signal.SIGINT, note)

    def begin(self) -> None:
        """Take up what an earlier run found, and hand out the first jobs."""
        for batch in self.journal.batches:
            self.in_order(batch)
        self.hand_out()

    def serve(self, client: Client) -> None:
        """Pass jobs to one host until told to stop; in a thread of its own."""
        while (job := self.jobs.get()).urgency != STOP:
            try:
                self.answers.put((job, client.ask(job.name, **job.fields)))
            except Exception as error:
                self.answers.put((job, error))
                return

    def hand_out(self) -> None:
        """Keep every host busy and one batch waiting."""
        while len(self.running) <= len(self.clients) and not self.is_out_of_time:
            batch = next(self.gaps, None)
            if batch is None:
                return
            first, count = batch
            with_groups = self.bounds.with_groups or first < COVERED
            fields = {"first": first, "count": count, "with_groups": with_groups}
            self.running.add(first)
            self.jobs.put(Job(RUN, first, 0, fields))

    def receive(self, job: Job, answer: dict[str, Any] | Exception) -> None:
        if isinstance(answer, Exception):
            raise HostGone(f"a host fails: {answer!r}") if not isinstance(answer, HostGone) else answer
        if job.urgency == RUN:
            self.running.discard(job.number)
            result = BatchResult(**answer)
            if self.first_batch is None:
                self.first_batch = time.monotonic() - result.seconds
            self.journal.add_batch(result)
            self.verdicts.update(result.verdicts)
            self.programs += result.count
            self.pairs.add(result.groups)
            self.in_order(result)
            return
        key = job.number, job.at
        self.running.discard(key)
        self.journal.add_reduction(key, self.findings[key][0], with_signature(answer))
        if answer["finding"] is not None:
            self.live_buckets.add(exemplar_of(self.journal.reductions[key])[1])

    def in_order(self, result: BatchResult) -> None:
        """Follow coverage and take up findings in the order of the programs, however batches come in."""
        self.waiting[result.first] = result
        while (ready := self.waiting.pop(self.next_number, None)) is not None:
            self.next_number += ready.count
            self.pairs.follow(ready.groups)
            for found in sorted(ready.found, key=lambda found: found["number"]):
                for at, finding in enumerate(findings_in(found)):
                    self.take_up((found["number"], at), found["program"], finding)

    def take_up(self, key: Key, program: str, finding: Finding) -> None:
        """Have a finding reduced unless enough like it were."""
        self.findings[key] = program, finding
        self.newest = finding
        if not self.is_wanted(finding):
            return
        self.reduced[finding.identity] += 1
        self.reduced[finding.loose_identity] += 1
        self.reduced[()] += 1
        if key in self.journal.reductions:
            answer = self.journal.reductions[key]
            if answer["finding"] is not None:
                self.live_buckets.add(exemplar_of(answer)[1])
            return
        fields = {
            "program": work.program_to_json(work.made(self.setup, key[0])),
            "finding": finding.to_json(),
            "thorough": work.is_thorough(key[0]),
        }
        self.running.add(key)
        self.jobs.put(Job(REDUCE, *key, fields))

    def is_wanted(self, finding: Finding) -> bool:
        return (
            self.reduced[finding.identity] < PER_IDENTITY
            and self.reduced[finding.loose_identity] < PER_FACT
            and self.reduced[()] < MOST_REDUCTIONS
        )

    # What came of it -------------------------------------------------------------------------------

    @property
    def rate(self) -> float:
        """Programs per second of this run, counted from the first batch: hosts take seconds to start."""
        if self.first_batch is None:
            return 0.0
        return (self.programs - self.programs_before) / max(time.monotonic() - self.first_batch, 0.001)

    def buckets(self) -> Buckets:
        """Every finding in its bucket; the same whatever order the answers came in."""
        buckets = Buckets()
        for key, data in sorted(self.journal.reductions.items()):
            if data["finding"] is not None:
                buckets.add(exemplar_of(data)[0], self.findings[key][1], exemplar_of(data)[1])
        for key, (_, finding) in sorted(self.findings.items()):
            if key not in self.journal.reductions:
                buckets.add_similar(finding, key[0])
        return buckets

    def unconfirmed(self) -> list[str]:
        """The programs whose finding did not show again when they ran alone."""
        lost = [key for key, data in self.journal.reductions.items() if data["finding"] is None]
        return [f"{self.findings[key][0]}: {self.findings[key][1].one_line()}" for key in sorted(lost)]


def with_signature(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer of a reduction as the record keeps it: what the tensors tell is in its signature."""
    kept = {name: value for name, value in answer.items() if name != "tensors"}
    if answer["finding"] is not None:
        reduced = work.program_from_json(answer["program"].copy())
        seen = work.observation_from_json({"finding": None, "tensors": answer["tensors"], "raising": []})
        finding = Finding.from_json(answer["finding"])
        kept["signature"] = signature_of(reduced, finding, seen.tensors).to_json()
    if "program" in kept:
        kept["reduced"] = kept.pop("program")
    return kept


def exemplar_of(data: dict[str, Any]) -> tuple[Exemplar, BucketSignature]:
    """A reduction as the record keeps it, as an exemplar with its signature."""
    exemplar = Exemplar(
        data["program"],
        data["number"],
        work.program_from_json(data["reduced"]),
        Finding.from_json(data["finding"]),
        data["script"],
        data["trials"],
        data.get("is_confirmed", False),
    )
    return exemplar, BucketSignature.from_json(data["signature"])
