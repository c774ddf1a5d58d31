"""A campaign: hands out batches and reductions to hosts, and puts what comes back in order."""

import itertools
import queue
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from harness.buckets import Buckets, BucketSignature, Exemplar, signature_of
from harness.finding import Finding
from harness.generate.intents import ACTIONS

from . import work
from .coverage import Pairs
from .crew import REDUCE, RUN, Answers, Crew, Job
from .journal import Journal, Key, findings_in
from .selection import Selection
from .setup import BATCH, BatchResult, Setup

COVERED = 5000  # programs whose feature groups are told, unless --coverage asks for all


@dataclass
class Bounds:
    """How far a campaign goes."""

    programs: int | None = None  # from the first one on
    minutes: float | None = None
    with_groups: bool = False  # of all programs
    first: int = 0

    @property
    def stop(self) -> int | None:
        return None if self.programs is None else self.first + self.programs


class Campaign:
    """The state of a running campaign; `run` steps through it and yields whenever something is new."""

    def __init__(self, setup: Setup, bounds: Bounds, crew: Crew, journal: Journal):
        self.setup, self.bounds, self.crew, self.journal = setup, bounds, crew, journal
        self.pairs = Pairs(sorted({action.group for action in ACTIONS.values() if action.weight} | {"fault"}))
        self.answers: Answers = queue.SimpleQueue()
        self.verdicts: Counter[str] = journal.verdicts
        self.programs = self.programs_before = journal.programs
        self.waiting: dict[int, BatchResult] = {}  # batches behind one that is not done yet
        self.next_number = bounds.first
        self.selection = Selection()
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
        number = self.bounds.first
        for first, count in done:
            yield from self.cut(number, first)
            number = max(number, first + count)
        yield from self.cut(number, self.bounds.stop)

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
        before = self.note_interrupts()
        try:
            self.begin()
            while self.running and not self.is_interrupted:
                with suppress(queue.Empty):
                    self.receive(*self.answers.get(timeout=0.1))
                    self.hand_out()
                yield
        finally:
            if before is not None:
                signal.signal(signal.SIGINT, before)
            self.crew.end(at_once=self.is_interrupted)

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
        self.crew.begin(self.answers)
        for batch in self.journal.batches:
            self.in_order(replace(batch, found=list(batch.found)))  # the journal's own ones grow
        self.hand_out()

    def hand_out(self) -> None:
        """Keep every host busy and one batch waiting."""
        while len(self.running) <= self.crew.size and not self.is_out_of_time:
            batch = next(self.gaps, None)
            if batch is None:
                return
            first, count = batch
            with_groups = self.bounds.with_groups or first < COVERED
            fields = {"first": first, "count": count, "with_groups": with_groups}
            self.running.add(first)
            self.crew.put(Job(RUN, first, 0, fields))

    def receive(self, job: Job, answer: dict[str, Any] | Exception) -> None:
        if isinstance(answer, Exception):
            raise answer
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
        if not self.selection.takes(finding):
            self.journal.reductions.pop(key, None)  # by a machine that knew of fewer findings before it
            return
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
        self.crew.put(Job(REDUCE, *key, fields))

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
        for key, data in self.reductions():
            if data["finding"] is not None:
                buckets.add(exemplar_of(data)[0], self.findings[key][1], exemplar_of(data)[1])
        for key, (_, finding) in sorted(self.findings.items()):
            if key not in self.journal.reductions:
                buckets.add_similar(finding, key[0])
        return buckets

    def unconfirmed(self) -> list[str]:
        """The programs whose finding did not show again when they ran alone."""
        lost = [key for key, data in self.reductions() if data["finding"] is None]
        return [f"{self.findings[key][0]}: {self.findings[key][1].one_line()}" for key in lost]

    def reductions(self) -> list[tuple[Key, dict[str, Any]]]:
        """Those of the findings that were taken up: the ones behind a gap wait until it is filled."""
        return sorted((key, data) for key, data in self.journal.reductions.items() if key in self.findings)


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
