"""Records of many machines: they merge into that of one, or one line says why not; and records stay small."""

import json
from pathlib import Path

import pytest

from harness.campaign.journal import Journal, batch_line, begin, resume
from harness.campaign.merge import merge, settle
from harness.campaign.selection import PER_FACT, PER_IDENTITY, Selection
from harness.campaign.setup import BATCH, BatchResult, Setup
from harness.finding import Finding
from harness.record import RecordError, read
from harness.verdict import Verdict
from tests.harness.campaigns import WRONG, Inline, campaign, engine_that, recorded, setup_for
from tests.harness.test_campaign import refgrad

pytestmark = pytest.mark.slow

ENGINES = [{"name": "torch", "version": "2.13.0"}, {"name": "refgrad", "version": "0.1.0"}]


def test_the_records_of_shares_merge_into_that_of_one_machine(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.campaign.selection.PER_FACT", 1)
    setup = setup_for(engine_that(here, WRONG))
    whole = recorded(setup, "whole.jsonl", 120)
    for first, programs in ((0, 30), (30, 65), (95, 25)):
        recorded(setup, f"from-{first}.jsonl", programs, first)
    settle("whole.jsonl")
    settle("from-30.jsonl")
    shares = [read(f"from-{first}.jsonl") for first in (0, 30, 95)]
    assert sum(len(share.reductions) for share in shares) > len(whole.journal.reductions) > 0

    paths = ("from-95.jsonl", "from-0.jsonl", "from-30.jsonl", "from-95.jsonl")
    result = refgrad("merge", *paths, "--output", "merged.jsonl")

    assert Path("merged.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    assert result.output == (
        f"merged.jsonl: 120 programs: {whole.verdicts['AGREES']} agree,"
        f" {whole.verdicts['DIFFERS']} differ, 0 known, 0 unsupported\n"
    )
    assert result.exit_code == 0


def test_what_no_record_holds_is_named_and_run_when_it_is_resumed(here: Path) -> None:
    setup = setup_for(engine_that(here, WRONG))
    recorded(setup, "whole.jsonl", 120)
    settle("whole.jsonl")
    recorded(setup, "a.jsonl", 30)
    recorded(setup, "b.jsonl", 25, first=95)

    result = refgrad("merge", "a.jsonl", "b.jsonl", "--output", "merged.jsonl")
    assert "no record has 30–94: run them with refgrad fuzz --record merged.jsonl --resume" in result.output
    journal = resume("merged.jsonl", Inline(setup).engines)
    campaign(setup, 120, journal)
    journal.close()
    settle("merged.jsonl")

    assert Path("merged.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


# Without programs ----------------------------------------------------------------------------------


def found(number: int, fact: str = "grad") -> dict:
    finding = Finding(Verdict.DIFFERS, "refgrad", "backward", fact, "backward", how="numbers")
    return {
        "number": number,
        "program": f"generated-{number}",
        "findings": [finding.to_json()],
        "lines": [],
    }


def a_record(path: str, *batches: BatchResult, seed: int = 1, first: int = 0, programs: int = 1000) -> str:
    journal = begin(path, Setup(seed=seed), ENGINES, True, first=first, programs=programs)
    for batch in batches:
        journal.add_batch(batch)
    journal.close()
    return path


def batch(first: int, count: int, *differing: dict) -> BatchResult:
    verdicts = {"AGREES": count - len(differing), "DIFFERS": len(differing)}
    return BatchResult(first, count, {k: n for k, n in verdicts.items() if n}, list(differing))


def test_duplicates_are_dropped(here: Path) -> None:
    one = a_record("one.jsonl", batch(0, 100, found(7)), batch(100, 100), batch(200, 50), programs=250)
    two = a_record("two.jsonl", batch(100, 100), batch(200, 50), batch(250, 10), first=100, programs=160)

    merge([one, two], "merged.jsonl")

    record = read("merged.jsonl")
    (only,) = record.batches
    assert (only["first"], only["count"], only["verdicts"]) == (0, 260, {"AGREES": 259, "DIFFERS": 1})
    assert [entry["number"] for entry in only["found"]] == [7]
    about = record.header["about"]["campaign"]
    assert (about["first"], about["programs"]) == (0, 260)


def test_a_span_within_another_is_a_duplicate(here: Path) -> None:
    one, two = (
        a_record("one.jsonl", batch(0, 300, found(120))),
        a_record("two.jsonl", batch(100, 100, found(120))),
    )

    assert [(b.first, b.count) for b in merge([two, one], "merged.jsonl")] == [(0, 300)]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            lambda: a_record("two.jsonl", batch(150, 100)),
            "two.jsonl:2: programs 150–249 overlap with 100–199 of one.jsonl:3; leave one of the two records"
            " out, or run its share again (--first, --programs)",
        ),
        (
            lambda: a_record("two.jsonl", batch(100, 100, found(150))),
            "two.jsonl:2: program 150 came to something else than in one.jsonl:3; leave one of the two"
            " records out",
        ),
        (
            lambda: a_record("two.jsonl", batch(0, 100, found(7, "value"))),
            "two.jsonl:2: program 7 came to something else than in one.jsonl:2; leave one of the two"
            " records out",
        ),
        (
            lambda: a_record("two.jsonl", batch(200, 100), seed=2),
            "two.jsonl:1: its campaign has seed 2, that of one.jsonl has 1; only records of one campaign"
            " merge",
        ),
        (
            lambda: "none.jsonl",
            "none.jsonl: cannot be read (No such file or directory); is it the right file?",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_one_line(here: Path, other, said: str) -> None:
    one = a_record("one.jsonl", batch(0, 100, found(7)), batch(100, 100))

    result = refgrad("merge", one, other(), "--output", "merged.jsonl")

    assert (result.exit_code, result.stderr) == (2, f"refgrad: {said}\n")
    assert not Path("merged.jsonl").exists()


def test_other_versions_are_refused(here: Path) -> None:
    one, two = a_record("one.jsonl", batch(0, 100)), Path(a_record("two.jsonl", batch(100, 100)))
    two.write_text(two.read_text().replace("2.13.0", "2.12.0"))

    with pytest.raises(
        RecordError, match=r"two.jsonl:1: its expected is torch 2.12.0, that of one.jsonl is torch"
    ):
        merge([one, two], "merged.jsonl")


def test_a_record_that_was_cut_off_merges_as_far_as_it_goes(here: Path) -> None:
    one, two = (
        a_record("one.jsonl", batch(0, 100)),
        Path(a_record("two.jsonl", batch(100, 100), batch(200, 100))),
    )
    two.write_bytes(two.read_bytes()[:-80])

    assert sum(b.count for b in merge([one, two], "merged.jsonl")) == 200


def test_every_share_selects_what_the_whole_does() -> None:
    """What one machine would reduce, the machine whose share it is has reduced."""
    kinds = [(n * n + n // 3) % 7 for n in range(200)]
    findings = [
        Finding(Verdict.DIFFERS, "refgrad", "backward", f"fact {kind % 2}", f"kind {kind}") for kind in kinds
    ]
    whole = Selection()
    wanted = [number for number, finding in enumerate(findings) if whole.takes(finding)]
    for start, stop in ((0, 60), (60, 61), (61, 200)):
        share = Selection()
        taken = {number for number in range(start, stop) if share.takes(findings[number])}
        assert taken >= {number for number in wanted if start <= number < stop}
    assert len(wanted) <= min(7 * PER_IDENTITY, 2 * PER_FACT)


# Size ----------------------------------------------------------------------------------------------


def test_a_billion_programs_fit_into_a_gigabyte(here: Path) -> None:
    """While it runs, a batch of agreeing programs costs at most a byte a program; then next to none."""
    verdicts = {"AGREES": 60, "KNOWN": 10, "UNSUPPORTED": 30}
    journal = begin("c.jsonl", Setup(), ENGINES, True, first=0, programs=10**9)
    header = Path("c.jsonl").stat().st_size
    for first in range(10**9 - 1000 * BATCH, 10**9, BATCH):
        journal.add_batch(BatchResult(first, BATCH, dict(verdicts)))
    while_it_runs = Path("c.jsonl").stat().st_size - header
    journal.close()

    assert while_it_runs / (1000 * BATCH) <= 1.0
    assert len(journal.batches) == 1, "nor does the memory grow"
    settle("c.jsonl")
    assert Path("c.jsonl").stat().st_size < header + 300
    (line,) = read("c.jsonl").batches
    assert line["verdicts"] == {name: 1000 * count for name, count in verdicts.items()}


def test_batches_join_in_whatever_order_they_come() -> None:
    journal = Journal()
    for first in (300, 0, 200, 500, 100):
        journal.add_batch(batch(first, 100, found(first + 5)))

    assert [(b.first, b.count) for b in journal.batches] == [(0, 400), (500, 100)]
    numbers = [entry["number"] for entry in journal.batches[0].found]
    assert numbers == [5, 105, 205, 305]
    assert json.loads(json.dumps(batch_line(journal.batches[0])))["verdicts"] == {"AGREES": 396, "DIFFERS": 4}
