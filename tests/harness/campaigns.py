"""Campaigns on small engines that are wrong on purpose, run in the process of the tests."""

import json
import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch.fx.experimental.symbolic_shapes  # what the first backward imports: children then need not

from harness.campaign.crew import Answers, Job
from harness.campaign.host import Host
from harness.campaign.journal import Journal, begin
from harness.campaign.run import Bounds, Campaign
from harness.campaign.setup import Setup
from harness.campaign.work import made

assert torch.fx.experimental.symbolic_shapes

ENGINE = """
import os
import signal
import time

import torch as _torch


def __getattr__(name):
    return getattr(_torch, name)


def relu(x):
    {relu}
    return _torch.relu(x)
"""
WRONG = "return x.clamp(min=0.0) + 1.0"
DIES = "os.kill(os.getpid(), signal.SIGSEGV)"
HANGS = "time.sleep(60)"
EATS = "eaten = [bytearray(50_000_000) for _ in range(100)]; time.sleep(60)"


def engine_that(here: Path, relu: str) -> str:
    """The spec of an engine that is PyTorch but for its relu."""
    name = f"engine_{len(list(here.glob('engine_*.py')))}"
    (here / f"{name}.py").write_text(ENGINE.format(relu=relu))
    return f"module:{name}"


class Inline:
    """A crew whose host lives in this process; programs still run in children."""

    size = 1

    def __init__(self, setup: Setup):
        self.host = Host(setup)
        self.engines: list[dict[str, str]] = self.host.hello()["engines"]
        self.jobs: queue.PriorityQueue[Job] = queue.PriorityQueue()

    def start(self) -> None: ...

    def begin(self, answers: Answers) -> None: ...

    def put(self, job: Job) -> None:
        self.jobs.put(job)

    def end(self, at_once: bool) -> None: ...

    def ask(self, job: str, **fields: Any) -> dict[str, Any]:
        return json.loads(json.dumps(getattr(self.host, job)(**fields)))

    def close(self) -> None:
        self.host.end()


def setup_for(spec: str, **options: Any) -> Setup:
    return Setup(engines=(spec,), **({"limit": 10.0, "warm": False} | options))


def campaign(setup: Setup, programs: int, journal: Journal | None = None, first: int = 0) -> Campaign:
    """A campaign that ran to its end, in this thread: forks and threads of one process do not go together."""
    crew = Inline(setup)
    made = Campaign(setup, Bounds(programs, with_groups=True, first=first), crew, journal or Journal())
    made.begin()
    while made.running:
        job = crew.jobs.get()
        made.receive(job, crew.ask(job.name, **job.fields))
        made.hand_out()
    crew.close()
    return made


def relu_programs(setup: Setup, programs: int) -> Iterator[int]:
    """The campaign's programs in which the engine's own relu is called."""
    return (number for number in range(programs) if "torch.relu(" in made(setup, number).text)


def recorded(setup: Setup, path: str, programs: int, first: int = 0) -> Campaign:
    """A campaign whose record is as its last batch left it, with a footer."""
    journal = begin(path, setup, Host(setup).hello()["engines"], False, first=first, programs=programs)
    done = campaign(setup, programs, journal, first)
    journal.close()
    return done
