"""The other end of a host: starts it, asks it, starts another if it is gone."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

from harness.engines.base import EngineError

from .setup import Setup

# The host finds modules where this process does, wherever it was started.
START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from harness.campaign.host import main; main()"
)


class HostGone(Exception):
    """The host ended in the middle of a job; says how, if it is known."""


class Client:
    """One host; `ask` may be called from any one thread."""

    def __init__(self, setup: Setup):
        if not hasattr(os, "fork"):
            raise EngineError("campaigns need a system that can fork processes: Linux or macOS")
        self.setup = setup
        self.process: subprocess.Popen[str] | None = None
        self.engines: list[dict[str, str]] = []
        self.is_closed = False

    def start(self) -> None:
        """Start the host and let it import the engines; raises EngineError with what to do."""
        paths = [path or os.getcwd() for path in sys.path]
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, json.dumps(paths)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C at the terminal is for the campaign alone
        )
        try:
            answer = self.send({"job": "hello", "setup": self.setup.to_json()})
        except HostGone:
            raise EngineError(
                f"a host {self.end()} while it imported {', '.join(self.setup.specs)}"
            ) from None
        if "problem" in answer:
            raise EngineError(answer["problem"])
        self.engines = answer["engines"]

    def ask(self, job: str, **fields: Any) -> dict[str, Any]:
        """Have one job done; a host that dies is replaced once."""
        for _ in range(2):
            try:
                if self.process is None:
                    self.start()
                return self.send({"job": job, **fields})
            except HostGone:
                how = self.end()
                self.stop()
                if self.is_closed:
                    raise
        raise HostGone(
            f"a host process died twice in one job, the last time it {how}; is there enough memory?"
        )

    def send(self, job: dict[str, Any]) -> dict[str, Any]:
        process = self.process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):
            raise HostGone from None
        if not line.endswith("\n"):
            raise HostGone
        return json.loads(line)

    def end(self) -> str:
        """How a host that answers no more ended."""
        try:
            assert self.process is not None
            status = self.process.wait(1.0)
        except (AssertionError, subprocess.TimeoutExpired):
            return "did not answer"
        return f"died of {signal.Signals(-status).name}" if status < 0 else f"ended with exit code {status}"

    def stop(self) -> None:
        """End the host; its child ends with it."""
        process, self.process = self.process, None
        if process is not None:
            with suppress(OSError):
                process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    assert pipe is not None
                    pipe.close()

    def close(self) -> None:
        self.is_closed = True
        self.stop()
