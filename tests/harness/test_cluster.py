"""Campaigns on a Dask cluster: the same record as here, whatever becomes of the workers."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.campaign.cluster import ClusterCrew
from harness.campaign.journal import begin
from harness.campaign.merge import settle
from harness.campaign.run import Bounds, Campaign
from harness.campaign.setup import Setup
from harness.engines.base import EngineError
from harness.record import read
from tests.harness.campaigns import WRONG, engine_that, recorded, setup_for
from tests.harness.test_campaign import refgrad, wait_for

try:
    import distributed
except ImportError:
    distributed = None

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="campaigns fork processes"),
    pytest.mark.filterwarnings("ignore"),  # Dask's own
]
needs_cluster = pytest.mark.skipif(
    distributed is None, reason="the extra `cluster` (distributed) is not installed"
)


@pytest.fixture
def cluster(here: Path) -> Iterator[Any]:
    """Two workers in processes of their own, on this machine."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as made:
        yield made


def hosts() -> int:
    """How many setups a worker has hosts for."""
    from harness.campaign.cluster import HOSTS

    return len(HOSTS)


def busy(cluster: Any) -> Iterator[Any]:
    """The names of the workers that do something."""
    return (worker.name for worker in list(cluster.scheduler.workers.values()) if worker.processing)


def on(cluster: Any, setup: Setup, programs: int, path: str) -> Campaign:
    crew = ClusterCrew(setup, cluster.scheduler_address)
    crew.start()
    journal = begin(path, setup, crew.engines, False, first=0, programs=programs)
    campaign = Campaign(setup, Bounds(programs), crew, journal)
    for _ in campaign.run():
        pass
    journal.close()
    settle(path)
    return campaign


@needs_cluster
def test_the_same_record_as_here_though_workers_come_and_go(here: Path, cluster: Any) -> None:
    setup = setup_for(engine_that(here, WRONG))
    recorded(setup, "here.jsonl", 250)
    settle("here.jsonl")
    killed: list[int] = []

    def kill_and_add() -> None:
        """Kill a worker that does a job of the campaign, and have another one join."""
        wait_for(lambda: Path("there.jsonl").exists() and any(busy(cluster)))
        killed.append(cluster.workers[next(busy(cluster))].pid)
        os.kill(killed[0], signal.SIGKILL)
        cluster.scale(3)

    chaos = threading.Thread(target=kill_and_add)
    chaos.start()
    on(cluster, setup, 250, "there.jsonl")
    chaos.join()

    assert len(killed) == 1
    assert Path("there.jsonl").read_bytes() == Path("here.jsonl").read_bytes()
    with distributed.Client(cluster) as client:
        assert set(client.run(hosts).values()) == {0}, "a campaign that is over leaves no hosts"


@needs_cluster
def test_the_command(here: Path, cluster: Any) -> None:
    spec = engine_that(here, WRONG)
    options = ("--engine", spec, "--seed", "1", "--programs", "100", "--limit", "10", "--record", "c.jsonl")

    result = refgrad("fuzz", *options, "--scheduler", cluster.scheduler_address)

    assert "100 programs: " in result.stdout
    assert [(batch["first"], batch["count"]) for batch in read("c.jsonl").batches] == [(0, 100)]


@needs_cluster
def test_a_wrong_engine_and_other_versions_are_told(here: Path, cluster: Any) -> None:
    crew = ClusterCrew(Setup(engines=("module:nowhere",)), cluster.scheduler_address)
    with pytest.raises(EngineError, match="nowhere"):
        crew.start()
    crew.close()

    crew = ClusterCrew(Setup(engines=("module:torch",), warm=False), cluster.scheduler_address)
    crew.start()
    crew.engines = [{"name": "torch", "version": "1.0"}]
    with pytest.raises(EngineError, match="a worker has torch .*, the campaign began with torch 1.0"):
        crew.ask("batch", first=0, count=1)
    crew.close()


@needs_cluster
def test_no_scheduler_no_workers(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.campaign.cluster.PATIENCE", 1.0)
    result = refgrad("fuzz", "--scheduler", "tcp://127.0.0.1:9", "--programs", "1")
    assert result.exit_code == 2
    assert result.stderr.startswith("refgrad: no Dask scheduler answers at tcp://127.0.0.1:9 (")

    with distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as empty:
        address = empty.scheduler_address
        result = refgrad("fuzz", "--scheduler", address, "--programs", "1")
    assert result.stderr == (
        f"refgrad: the cluster at {address} has no workers; start some: dask worker {address}\n"
    )


def test_a_missing_extra_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)

    result = refgrad("fuzz", "--scheduler", "tcp://127.0.0.1:9", "--programs", "1")

    assert result.exit_code == 2
    assert result.stderr == "refgrad: a cluster needs an extra: python -m pip install 'refgrad[cluster]'\n"
