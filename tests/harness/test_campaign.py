"""Campaigns: isolation, the same findings whatever the jobs, records that survive a kill, clear messages."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.campaign.child import Child, Lost
from harness.campaign.client import Client
from harness.campaign.coverage import Pairs
from harness.campaign.display import report
from harness.campaign.host import Host
from harness.campaign.journal import Journal, begin, resume
from harness.campaign.run import Bounds, Campaign
from harness.campaign.setup import BatchResult, Setup
from harness.campaign.work import groups_of, made, program_to_json
from harness.cli import main
from harness.known import Known
from harness.record import RecordError, read
from harness.verdict import Verdict

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="campaigns fork processes")

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


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("engine_")]:
        del sys.modules[name]


def engine_that(here: Path, relu: str) -> str:
    """The spec of an engine that is PyTorch but for its relu."""
    name = f"engine_{len(list(here.glob('engine_*.py')))}"
    (here / f"{name}.py").write_text(ENGINE.format(relu=relu))
    return f"module:{name}"


class Inline:
    """A client whose host lives in this process; programs still run in children."""

    def __init__(self, setup: Setup):
        self.host = Host(setup)
        self.engines: list[dict[str, str]] = self.host.hello()["engines"]

    def ask(self, job: str, **fields: Any) -> dict[str, Any]:
        return json.loads(json.dumps(getattr(self.host, job)(**fields)))

    def close(self) -> None:
        self.host.end_runner()


def setup_for(spec: str, **options: Any) -> Setup:
    return Setup(engines=(spec,), warm=False, **({"limit": 10.0} | options))


def campaign(setup: Setup, programs: int, journal: Journal | None = None) -> Campaign:
    """A campaign that ran to its end, in this thread: forks and threads of one process do not go together."""
    client: Any = Inline(setup)
    made = Campaign(setup, Bounds(programs, with_groups=True), [client], journal or Journal())
    made.begin()
    while made.running:
        job = made.jobs.get()
        made.receive(job, client.ask(job.name, **job.fields))
        made.hand_out()
    client.close()
    return made


def relu_programs(setup: Setup, programs: int) -> Iterator[int]:
    """The campaign's programs in which the engine's own relu is called."""
    return (number for number in range(programs) if "torch.relu(" in made(setup, number).text)


# Findings ------------------------------------------------------------------------------------------


def test_a_wrong_op_ends_in_a_bucket_with_a_small_script(here: Path) -> None:
    setup = setup_for(engine_that(here, WRONG))
    done = campaign(setup, 150)

    assert done.verdicts.total() == done.programs == 150
    assert 0 < done.verdicts["DIFFERS"] <= len([*relu_programs(setup, 150)])
    first = done.buckets().ranked()[0]
    assert first.exemplar.is_confirmed
    assert "op relu" in first.signature.features
    assert len(first.exemplar.program.statements) <= 4
    assert list(report(done, False))[-1].endswith(f"; {len(done.buckets())} buckets")


def test_the_same_whatever_the_number_of_jobs(here: Path) -> None:
    setup = setup_for(engine_that(here, WRONG))

    two = Campaign(setup, Bounds(130, with_groups=True), [Client(setup), Client(setup)], Journal())
    for _ in two.run():
        pass

    assert list(report(two, True)) == list(report(campaign(setup, 130), True))


@pytest.mark.parametrize(
    ("relu", "verdict", "said"),
    [
        (DIES, "CRASHED", "dies of SIGSEGV"),
        (HANGS, "HUNG", "does not end within 0.5 s"),
        (EATS, "CRASHED", "takes more than 100 MB of memory"),
    ],
)
def test_what_is_lost_costs_its_program_alone(here: Path, relu: str, verdict: str, said: str) -> None:
    setup = setup_for(engine_that(here, relu), limit=0.5, memory=100)
    calling = next(relu_programs(setup, 1000))
    host = Host(setup)

    begun = time.monotonic()
    batch = BatchResult(**host.batch(calling - 2, 5))
    seconds = time.monotonic() - begun
    host.end_runner()

    assert sum(batch.verdicts.values()) == 5
    assert batch.verdicts[verdict] >= 1
    lost = next(found for found in batch.found if found["number"] == calling)
    assert lost["findings"][0]["verdict"] == verdict
    assert seconds < 4 * batch.verdicts[verdict] + 2, "each is named within 3 s, the others take no time"
    answer = host.reduce(program_to_json(made(setup, calling)), lost["findings"][0])
    assert answer["is_confirmed"]
    assert said in answer["script"]
    assert "torch.relu(" in answer["script"]
    assert len(answer["program"]["statements"]) <= 3


def test_a_child_that_ends_its_process_is_lost() -> None:
    with Child(lambda say, told: os._exit(3), 5.0, 1000) as child, pytest.raises(Lost) as lost:
        list(child.lines())

    assert lost.value.note == "ends its process with exit code 3"


# Records -------------------------------------------------------------------------------------------


def test_a_record_keeps_findings_whole_and_the_rest_as_counts(here: Path) -> None:
    setup = setup_for(engine_that(here, WRONG))
    journal = begin("c.jsonl", setup, Inline(setup).engines, False, programs=150)
    done = campaign(setup, 150, journal=journal)
    journal.close()

    record = read("c.jsonl")
    assert [(batch["first"], batch["count"]) for batch in record.batches] == [(0, 100), (100, 50)]
    assert len(record.programs) == done.verdicts["DIFFERS"]
    assert record.footer == {"line": "footer", "programs": 150, "verdicts": dict(done.verdicts)}
    assert {data["program"] for data in record.reductions} <= record.programs.keys()
    summary = CliRunner().invoke(main, ["report", "c.jsonl"]).output
    assert f"|        150 |     {done.verdicts['AGREES']} |" in summary


def test_going_on_gives_what_an_uninterrupted_campaign_gives(here: Path) -> None:
    setup = setup_for(engine_that(here, WRONG))
    engines = Inline(setup).engines
    journal = begin("whole.jsonl", setup, engines, False, programs=150)
    whole = campaign(setup, 150, journal=journal)
    journal.close()
    data = Path("whole.jsonl").read_bytes()

    for cut in (len(data) // 3, len(data) * 2 // 3, len(data) - 20):
        Path("cut.jsonl").write_bytes(data[:cut])
        journal = resume("cut.jsonl", engines)
        again = campaign(setup, 150, journal=journal)
        journal.close()

        assert list(report(again, False)) == list(report(whole, False))
        assert read("cut.jsonl").footer == read("whole.jsonl").footer


def test_a_record_of_other_engines_is_refused(here: Path) -> None:
    setup = setup_for(engine_that(here, WRONG))
    engines = Inline(setup).engines
    begin("c.jsonl", setup, engines, False).close()

    with pytest.raises(RecordError, match="here is torch 9; begin a new record"):
        resume("c.jsonl", [{"name": "torch", "version": "9"}, *engines[1:]])


# Known differences ---------------------------------------------------------------------------------


def test_known_differences_are_counted_and_not_reduced(here: Path) -> None:
    spec = engine_that(here, WRONG)
    known = Known("relu", spec.partition(":")[2], "bug", "relu adds one", "views/x", signature="*/*/*/*/*")
    done = campaign(setup_for(spec, known=(known,)), 100)

    assert done.verdicts["KNOWN"] > 0
    assert done.verdicts["DIFFERS"] == 0
    assert (len(done.findings), len(done.journal.reductions)) == (0, 0)


# Coverage ------------------------------------------------------------------------------------------


def test_pairs() -> None:
    pairs = Pairs(["b", "a", "c"])
    for used in ({"a b": 2}, {"a b c": 1}):
        assert pairs.complete_after is None
        pairs.add(used)
        pairs.follow(used)
    assert pairs.summary() == "3 of 3 pairs of feature groups, all after 3 programs"
    assert pairs.table().splitlines()[2:5] == ["1 a", "2 b        3", "3 c        1    1"]


def test_every_pair_of_groups_meets_within_400_programs() -> None:
    setup = Setup(seed=3)
    pairs = Campaign(setup, Bounds(0), [], Journal()).pairs
    for number in range(400):
        pairs.follow({" ".join(groups_of(setup, number)): 1})

    assert pairs.complete_after is not None


# The command ---------------------------------------------------------------------------------------


def refgrad(*words: str) -> Result:
    result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def started(here: Path, *words: str) -> "subprocess.Popen[str]":
    paths = os.pathsep.join([str(here), *(path for path in sys.path if path)])
    return subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "fuzz", *words],
        cwd=here,
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_batches(record: Path, count: int) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if record.exists() and record.read_text().count('"line": "batch"') >= count:
            return
        time.sleep(0.05)
    raise AssertionError("no batch within 120 s")


def test_kill_and_resume(here: Path) -> None:
    spec = engine_that(here, WRONG)
    options = ("--engine", spec, "--seed", "1", "--programs", "200", "--jobs", "1", "--limit", "10")
    process = started(here, *options, "--record", "c.jsonl")
    wait_for_batches(here / "c.jsonl", 1)
    process.kill()
    process.communicate()

    result = refgrad("fuzz", "--record", "c.jsonl", "--resume", "--jobs", "1")

    assert "200 programs:" in result.stdout
    record = read(here / "c.jsonl")
    numbers = [n for batch in record.batches for n in range(batch["first"], batch["first"] + batch["count"])]
    assert sorted(numbers) == list(range(200))
    assert result.exit_code == 1


def test_ctrl_c_ends_with_the_report(here: Path) -> None:
    process = started(here, "--engine", engine_that(here, WRONG), "--record", "c.jsonl", "--jobs", "1")
    wait_for_batches(here / "c.jsonl", 1)

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    footer = read(here / "c.jsonl").footer
    assert footer is not None
    assert process.returncode == any(Verdict(verdict).is_failure for verdict in footer["verdicts"]), err
    assert "Traceback" not in err
    programs = footer["programs"]
    assert out.splitlines()[-2].startswith(f"{programs} programs: ")
    assert out.splitlines()[-1] == "interrupted; go on with: refgrad fuzz --record c.jsonl --resume"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--resume",), "--resume needs the --record of the campaign to go on with"),
        (("--engine", "foo"), "no engine is called 'foo'"),
        (("--resume", "--record", "none.jsonl"), "none.jsonl: cannot be read (No such file or directory)"),
        (("--resume", "--record", "odd.jsonl"), "odd.jsonl:1: not a JSON line"),
        (("--engine", "module:torch", "--record", "no/c.jsonl"), "no/c.jsonl: cannot be written"),
    ],
)
def test_bad_input_gets_one_line(here: Path, words: tuple[str, ...], said: str) -> None:
    (here / "odd.jsonl").write_text("odd\n")

    result = refgrad("fuzz", *words)

    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert said in line
