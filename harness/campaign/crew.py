"""Crews: those who do the jobs of a campaign, however many they are and wherever they run."""

import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .client import Client, HostGone

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


Answers = queue.SimpleQueue[tuple[Job, dict[str, Any] | Exception]]


class Crew(Protocol):
    """Does jobs, several at a time, in any order."""

    engines: list[dict[str, str]]  # names and versions, the expected one first; known once it has started

    @property
    def size(self) -> int:
        """How many jobs it does at a time; may change."""

    def start(self) -> None:
        """Have somebody ready; raises EngineError with what to do."""

    def ask(self, job: str, **fields: Any) -> dict[str, Any]:
        """Have one job done and wait for it; before `begin`."""

    def begin(self, answers: Answers) -> None:
        """Take jobs from now on and put what they come to into `answers`."""

    def put(self, job: Job) -> None:
        """Have a job done."""

    def end(self, at_once: bool) -> None:
        """Take no more jobs; those that run are given up if it is to end at once."""

    def close(self) -> None:
        """Leave nothing running; may be called twice."""


class LocalCrew:
    """The hosts of this machine, each served by a thread."""

    def __init__(self, clients: Sequence[Client]):
        self.clients = clients
        self.jobs: queue.PriorityQueue[Job] = queue.PriorityQueue()
        self.threads: list[threading.Thread] = []
        self.engines: list[dict[str, str]] = []

    @property
    def size(self) -> int:
        return len(self.clients)

    def start(self) -> None:
        self.clients[0].start()
        self.engines = self.clients[0].engines

    def ask(self, job: str, **fields: Any) -> dict[str, Any]:
        return self.clients[0].ask(job, **fields)

    def begin(self, answers: Answers) -> None:
        for client in self.clients:
            thread = threading.Thread(target=self.serve, args=(client, answers), daemon=True)
            self.threads.append(thread)
            thread.start()

    def serve(self, client: Client, answers: Answers) -> None:
        """Pass jobs to one host until told to stop; in a thread of its own."""
        while (job := self.jobs.get()).urgency != STOP:
            try:
                answers.put((job, client.ask(job.name, **job.fields)))
            except Exception as error:
                answers.put((job, failure(error)))
                return

    def put(self, job: Job) -> None:
        self.jobs.put(job)

    def end(self, at_once: bool) -> None:
        for client in self.clients:
            self.jobs.put(Job(STOP, 0))
            if at_once:
                client.close()
        for thread in self.threads:
            thread.join(timeout=5)
        self.close()

    def close(self) -> None:
        for client in self.clients:
            client.close()


def failure(error: Exception) -> Exception:
    """What a job that failed tells: a program that is wrong is told from a host that is gone."""
    return error if isinstance(error, HostGone) else HostGone(f"a host fails: {error!r}")
