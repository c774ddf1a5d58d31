"""Campaigns: isolation, the same findings whatever the jobs, records that survive a kill, clear messages."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from harness.campaign.child import Child, Lost
from harness.campaign.coverage import Pairs
from harness.campaign.crew import LocalCrew
from harness.campaign.display import panel, report, script, watched
from harness.campaign.host import Host
from harness.campaign.journal import Journal, begin, resume
from harness.campaign.merge import settle
from harness.campaign.run import Bounds, Campaign
from harness.campaign.setup import BatchResult, Setup
from harness.campaign.work import groups_of, made, program_to_json
from harness.campaign_commands import clients_for
from harness.cli import main
from harness.known import Known
from harness.program import Program
from harness.record import RecordError, read
from harness.verdict import Verdict
from tests.harness.campaigns import (
    DIES,
    EATS,
    HANGS,
    WRONG,
    Inline,
    campaign,
    engine_that,
    recorded,
    relu_programs,
    setup_for,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="campaigns fork processes"),
]

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

    two = Campaign(setup, Bounds(130, with_groups=True), LocalCrew(clients_for(setup, 2)), Journal())
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
def test_what_is_lost_costs_its_program_alone(
    here: Path, monkeypatch: pytest.MonkeyPatch, relu: str, verdict: str, said: str
) -> None:
    monkeypatch.setattr("harness.campaign.host.WARM_UP_LIMIT", 0.5)
    monkeypatch.setattr("harness.campaign.host.COLD_LIMIT", 5.0)
    setup = setup_for(engine_that(here, relu), limit=0.5, memory=100, warm=True)
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
    host.end()


def test_what_shows_only_after_something_else_ran_is_not_confirmed(here: Path) -> None:
    """The script is run again in a process that has run nothing, not even what warms a host up."""
    spec = engine_that(here, "return _torch.relu(x) + float(hasattr(relu, 'is_warm'))")
    path = here / f"{spec.partition(':')[2]}.py"
    path.write_text(path.read_text() + "\n\ndef sin(x):\n    relu.is_warm = True\n    return _torch.sin(x)\n")
    program = Program.parse("import torch\na = torch.tensor([1.0])\nb = torch.relu(a)")
    host = Host(setup_for(spec, warm=True))
    finding = host.judge(program_to_json(program))["finding"]

    answer = host.reduce(program_to_json(program), finding)
    host.end()

    assert finding["what"] == "b.value"
    assert answer["script"].endswith("2.0 (float32, shape [])\n")
    assert "is_confirmed" not in answer


def test_a_child_that_ends_its_process_is_lost() -> None:
    with Child(lambda say, told: os._exit(3), 5.0, 1000) as child, pytest.raises(Lost) as lost:
        list(child.lines())

    assert lost.value.note == "ends its process with exit code 3"


# Records -------------------------------------------------------------------------------------------


def test_a_record_keeps_findings_whole_and_the_rest_as_counts(here: Path) -> None:
    setup = setup_for(engine_that(here, WRONG))
    done = recorded(setup, "c.jsonl", 150)
    assert [batch["count"] for batch in read("c.jsonl").batches] == [100, 50]

    settle("c.jsonl")

    record = read("c.jsonl")
    assert [(batch["first"], batch["count"]) for batch in record.batches] == [(0, 150)], (
        "what follows one another is one"
    )
    assert len(record.programs) == done.verdicts["DIFFERS"]
    assert record.footer == {"line": "footer", "programs": 150, "verdicts": dict(done.verdicts)}
    assert {data["program"] for data in record.reductions} <= record.programs.keys()
    summary = CliRunner().invoke(main, ["report", "c.jsonl"]).output
    assert f"|        150 |     {done.verdicts['AGREES']} |" in summary


def test_going_on_gives_what_an_uninterrupted_campaign_gives(here: Path) -> None:
    setup = setup_for(engine_that(here, WRONG))
    engines = Inline(setup).engines
    whole = recorded(setup, "whole.jsonl", 150)
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


# What is seen --------------------------------------------------------------------------------------


def shown(campaign: Campaign, is_terminal: bool) -> str:
    """What the live display writes."""
    file = StringIO()
    watched(campaign, Console(file=file, force_terminal=is_terminal, width=200, legacy_windows=False))
    return file.getvalue()


def test_the_live_display(here: Path) -> None:
    setup = setup_for(engine_that(here, WRONG))
    done = Campaign(setup, Bounds(150), LocalCrew(clients_for(setup, 1)), Journal())

    text = shown(done, is_terminal=True)

    assert "\x1b[" in text, "it is drawn anew in place"
    assert "150 of 150, " in text
    assert f"agrees {done.verdicts['AGREES']}, differs {done.verdicts['DIFFERS']}" in text
    assert "findings being reduced" in text
    assert "pairs of feature groups" in text
    assert f"newest: {done.newest.one_line()[:60]}" in text
    console = Console(file=StringIO(), width=200)
    console.print(panel(done))
    assert f"buckets   {len(done.buckets())}, 0 findings being reduced" in console.file.getvalue()
    assert done.rate > 0
    assert f", {done.rate:,.0f} a second, " in console.file.getvalue()


def test_without_a_terminal_a_line_now_and_then(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.campaign.display.EVERY", 0.0)
    setup = setup_for(engine_that(here, WRONG))
    done = Campaign(setup, Bounds(100), LocalCrew(clients_for(setup, 1)), Journal())

    lines = shown(done, is_terminal=False).splitlines()

    assert lines[0] == f"0 programs, 0 a second, 0 differ, 0 buckets, 0 of {done.pairs.total} pairs"
    assert lines[-1].startswith("100 programs, ")
    assert lines[-1].endswith(f"{len(done.buckets())} buckets, {done.pairs.hit} of {done.pairs.total} pairs")


def test_a_script_that_stays_long_says_so(here: Path) -> None:
    done = campaign(setup_for(engine_that(here, WRONG)), 100)
    bucket = done.buckets().ranked()[0]
    assert script(1, bucket).count("\n") <= 26
    assert "lines" not in script(1, bucket).splitlines()[0]

    bucket.exemplar = replace(bucket.exemplar, script="x = 1\n" * 26)

    assert script(1, bucket).splitlines()[0].endswith("; 26 lines, more than 25: no shorter one was found")


# Coverage ------------------------------------------------------------------------------------------


def test_pairs() -> None:
    pairs = Pairs(["b", "a", "c"])
    for used in ({"a b": 2}, {"a b c": 1}):
        assert pairs.complete_after is None
        pairs.add(used)
        pairs.follow(used)
    assert pairs.summary() == "3 of 3 pairs of feature groups, all after 3 programs"
    assert pairs.table().splitlines()[2:5] == ["1 a", "2 b        3", "3 c        1    1"]


def test_every_pair_of_groups_meets_within_5000_programs() -> None:
    setup = Setup(seed=3)
    pairs = Campaign(setup, Bounds(0), LocalCrew([]), Journal()).pairs
    for number in range(5000):
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


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until, "it did not come about within 120 s"
        time.sleep(0.05)


def wait_for_batches(record: Path, count: int) -> None:
    wait_for(lambda: record.exists() and record.read_text().count('"line":"batch"') >= count)


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


def test_minutes_bound_a_campaign(here: Path) -> None:
    begun = time.monotonic()
    result = refgrad(
        *("fuzz", "--engine", engine_that(here, WRONG), "--seed", "1", "--jobs", "1", "--limit", "10"),
        *("--minutes", "0.05", "--record", "c.jsonl"),
    )

    record = read("c.jsonl")
    assert record.header["about"]["campaign"]["programs"] is None
    (batch,) = record.batches
    assert batch["first"] == 0
    assert batch["count"] >= 100, "what began in time is ended"
    assert f"{batch['count']} programs: " in result.stdout
    assert time.monotonic() - begun < 60


def test_no_program_begins_after_the_minutes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = Campaign(Setup(), Bounds(None, minutes=2.0), LocalCrew(clients_for(Setup(), 3)), Journal())
    done.hand_out()
    assert len(done.running) == 4

    monkeypatch.setattr(time, "monotonic", lambda: done.begun + 121.0)
    done.running.clear()
    done.hand_out()

    assert done.running == set()


def test_ctrl_c_during_the_start_leaves_nothing_behind(here: Path) -> None:
    (here / "engine_slow.py").write_text(
        "import os, time\nopen('started', 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    )
    process = started(here, "--engine", "module:engine_slow", "--jobs", "1", "--record", "c.jsonl")
    wait_for(lambda: (here / "started").exists() and (here / "started").read_text() != "")

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert (process.returncode, out) == (2, "")
    assert err == "refgrad: stopped before the first program\n"
    assert not (here / "c.jsonl").exists()
    host = int((here / "started").read_text())
    wait_for(lambda: not Path(f"/proc/{host}").exists())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--jobs", "2", "--scheduler", "tcp://a:1"), "--jobs is for this machine"),
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
