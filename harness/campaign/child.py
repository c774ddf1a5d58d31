"""Children: forks in which programs run, watched from outside."""

import faulthandler
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO

POLL = 0.05  # seconds between looks at the memory of a child
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

Say = Callable[[str], None]
Work = Callable[[Say, IO[str]], None]  # what a child does: it says lines, and may read some


class Lost(Exception):
    """A child that did not come to its end; `fact` is crash, hang or memory, `how` the signal's name."""

    def __init__(self, fact: str, how: str, note: str):
        super().__init__(note)
        self.fact, self.how, self.note = fact, how, note


class Child:
    """A fork that does some work and says lines meanwhile; leaving the context ends it.

    `limit` is the time that may pass without a line, in seconds; `memory` how much it may grow, in megabytes.
    What it prints goes nowhere if it is silent.
    """

    def __init__(self, work: Work, limit: float, memory: int, is_silent: bool = True):
        self.limit, self.memory, self.is_silent = limit, memory, is_silent
        ours, theirs = os.pipe()
        orders, self.orders = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(ours)
            os.close(self.orders)
            self.live(work, theirs, orders)
        os.close(theirs)
        os.close(orders)
        self.pipe, self.rest = ours, b""
        self.start = resident(self.pid)
        self.begun = time.monotonic()
        self.is_ended = False

    def live(self, work: Work, pipe: int, orders: int) -> None:
        """All that happens in the fork; it never returns."""
        status = 1
        try:
            die_with_parent()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            faulthandler.disable()  # the parent tells what became of it
            nothing = os.open(os.devnull, os.O_RDWR)
            for standard in (0, 1, 2) if self.is_silent else (0,):
                os.dup2(nothing, standard)
            with os.fdopen(pipe, "w", encoding="utf-8") as file, os.fdopen(orders) as told:
                work(sayer(file), told)
            status = 0
            if not self.is_silent:
                sys.stdout.flush()
        finally:
            os._exit(status)

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *reason: object) -> None:
        if not self.is_ended:
            self.end()
        os.close(self.pipe)
        os.close(self.orders)

    def tell(self, line: str) -> None:
        """Give it something to read; if it is dead, its lines will say so."""
        with suppress(BrokenPipeError):
            os.write(self.orders, line.encode() + b"\n")

    def grown(self) -> int:
        """The megabytes by which it has grown."""
        return (resident(self.pid) - self.start) >> 20

    def lines(self) -> Iterator[str]:
        """What the child says, until it ends; raises Lost when it is too slow, too large or dies.

        Each line starts the time anew.
        """
        self.begun = self.looked = time.monotonic()
        while True:
            ready, _, _ = select.select([self.pipe], [], [], POLL)
            if ready:
                data = os.read(self.pipe, 1 << 20)
                if not data:
                    break
                *whole, self.rest = (self.rest + data).split(b"\n")
                self.begun = time.monotonic()
                yield from (line.decode() for line in whole)
            if time.monotonic() - self.looked > POLL or not ready:
                self.check()
        status = os.waitpid(self.pid, 0)[1]
        self.is_ended = True
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            raise Lost("crash", name, f"dies of {name}")
        if status:
            raise Lost(
                "crash", "exit", f"ends its process with exit code {os.waitstatus_to_exitcode(status)}"
            )

    def check(self) -> None:
        self.looked = time.monotonic()
        if self.looked - self.begun > self.limit:
            raise Lost("hang", "", f"does not end within {self.limit:g} s")
        if self.grown() > self.memory:
            raise Lost("memory", "", f"takes more than {self.memory} MB of memory")

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.is_ended = True


def sayer(file: IO[str]) -> Say:
    def say(line: str) -> None:
        file.write(line + "\n")
        file.flush()

    return say


def resident(pid: int) -> int:
    """The bytes of memory a process has; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def die_with_parent() -> None:
    """On Linux, have the kernel end this process when the thread that started it is gone, hang or not."""
    if sys.platform == "linux":
        with suppress(Exception):
            import ctypes

            ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))
