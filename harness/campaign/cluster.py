"""A crew on a Dask cluster: its workers do the jobs, each in hosts of its own, and may come and go."""

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from harness.engines.base import EngineError

from .client import Client, HostGone
from .crew import Answers, Job
from .setup import Setup

PATIENCE = 30.0  # seconds for the scheduler to answer and for a first worker to be there
PER_THREAD = 2  # jobs handed out per thread of the workers: one that runs, one that waits
LOOK_EVERY = 1.0  # seconds between looks at how many workers there are
MOST_DEATHS = 20  # of workers with one job, which runs in processes of its own: it is hardly to blame
LOGGERS = ("distributed", "distributed.client", "distributed.core", "distributed.comm")
UNUSED = 600.0  # seconds after which a worker ends a host that no campaign has ended


class ClusterCrew:
    """The workers of a scheduler; a job whose worker dies is handed to another one."""

    def __init__(self, setup: Setup, address: str):
        self.setup, self.address = json.dumps(setup.to_json()), address
        self.engines: list[dict[str, str]] = []
        self.client: Any = None
        self.futures: dict[Any, Job] = {}  # what is not held here is given up by Dask
        self.deaths: dict[tuple[int, int, int], int] = {}
        self.counted, self.looked = 0, float("-inf")
        self.is_over = False

    def start(self) -> None:
        distributed = imported()
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters comes as an exception
        try:
            self.client = distributed.Client(self.address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise EngineError(
                f"no Dask scheduler answers at {self.address} ({type(error).__name__}); is the address right,"
                " does `dask scheduler` run?"
            ) from None
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise EngineError(
                f"the cluster at {self.address} has no workers; start some: dask worker {self.address}"
            ) from None
        self.engines = self.ask("hello")["engines"]

    @property
    def size(self) -> int:
        now = time.monotonic()
        if now - self.looked > LOOK_EVERY:
            self.looked = now
            with suppress(OSError, TimeoutError):
                self.counted = sum(self.client.nthreads().values())
        return PER_THREAD * self.counted

    def ask(self, job: str, **fields: Any) -> dict[str, Any]:
        future = self.submit(job, fields)
        try:
            return future.result()
        except Exception as error:
            raise self.problem(error) from None

    def submit(self, job: str, fields: dict[str, Any], priority: int = 0) -> Any:
        return self.client.submit(done, self.setup, self.engines, job, fields, pure=False, priority=priority)

    def begin(self, answers: Answers) -> None:
        self.answers = answers

    def put(self, job: Job) -> None:
        future = self.submit(job.name, job.fields, priority=-job.urgency)
        self.futures[future] = job
        future.add_done_callback(self.receive)

    def receive(self, future: Any) -> None:
        """Pass on what a job came to, or hand it out again; in a thread of Dask's."""
        job = self.futures.pop(future, None)
        if job is None or self.is_over:
            return
        try:
            self.answers.put((job, future.result()))
        except Exception as error:
            key = job.urgency, job.number, job.at
            self.deaths[key] = self.deaths.get(key, 0) + 1
            if type(error).__name__ == "KilledWorker" and self.deaths[key] < MOST_DEATHS:
                self.put(job)
            else:
                self.answers.put((job, self.problem(error)))

    def problem(self, error: Exception) -> Exception:
        """What went wrong, with what to do."""
        if isinstance(error, EngineError | HostGone):
            return error
        if type(error).__name__ in ("CancelledError", "FutureCancelledError"):
            return HostGone(f"the cluster at {self.address} is gone; with --record, --resume goes on")
        said = str(error).partition("\n")[0] or type(error).__name__
        return EngineError(
            f"the cluster at {self.address} cannot do the job ({said}); have the same versions of refgrad,"
            " of Dask and of the engines on its scheduler and all workers"
        )

    def end(self, at_once: bool) -> None:
        self.is_over = True
        if at_once:
            with suppress(Exception):
                self.client.cancel(list(self.futures))
        self.close()

    def close(self) -> None:
        client, self.client = self.client, None
        if client is not None:
            with suppress(Exception):  # a worker that is gone has no hosts left
                client.run(release, self.setup, on_error="ignore")
            client.close()


def imported() -> Any:
    try:
        import distributed
    except ImportError:
        raise EngineError("a cluster needs an extra: python -m pip install 'refgrad[cluster]'") from None
    return distributed


# On a worker ---------------------------------------------------------------------------------------


class Hosts:
    """The hosts of a worker for one setup: as many as it does jobs at a time."""

    def __init__(self) -> None:
        self.all: set[Client] = set()
        self.idle: list[Client] = []
        self.used = time.monotonic()

    def close(self) -> None:
        for client in list(self.all):
            client.close()


HOSTS: dict[str, Hosts] = {}  # by setup
LOCK = threading.Lock()


def done(setup: str, engines: list[dict[str, str]], job: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Have a host of this worker do a job; raises EngineError if the engines are not those expected."""
    with host_for(setup) as client:
        if client.process is None:
            client.start()
        for wanted, here in zip(engines, client.engines, strict=False):
            if wanted != here:
                raise EngineError(
                    f"a worker has {here['name']} {here['version']}, the campaign began with"
                    f" {wanted['name']} {wanted['version']}; have the same versions on all workers"
                )
        return {"engines": client.engines} if job == "hello" else client.ask(job, **fields)


@contextmanager
def host_for(setup: str) -> Iterator[Client]:
    """A host that nobody else has meanwhile; one with which something went wrong is ended."""
    with LOCK:
        close_unused()
        hosts = HOSTS.setdefault(setup, Hosts())
        client = hosts.idle.pop() if hosts.idle else Client(Setup.from_json(json.loads(setup)))
        hosts.all.add(client)
    try:
        yield client
    except BaseException:
        client.close()
        hosts.all.discard(client)
        raise
    with LOCK:
        hosts.idle.append(client)
        hosts.used = time.monotonic()


def release(setup: str) -> None:
    """End the hosts of a campaign that is over."""
    with LOCK:
        hosts = HOSTS.pop(setup, None)
    if hosts is not None:
        hosts.close()


def close_unused() -> None:
    """End the hosts of campaigns that were killed."""
    for setup, hosts in list(HOSTS.items()):
        if len(hosts.idle) == len(hosts.all) and time.monotonic() - hosts.used > UNUSED:
            HOSTS.pop(setup).close()
