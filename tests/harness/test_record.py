"""Records: what goes in comes out, and whatever is damaged is refused with file and line."""

import json
from pathlib import Path

import pytest

from harness.engines import engine
from harness.engines.pytorch import TorchEngine
from harness.program import Program
from harness.record import Recorder, RecordError, read
from harness.run import examine
from harness.verdict import Verdict
from tests.harness.liars import Liar

SCRIPT = """\
import torch

x = torch.tensor([1.0, float("nan"), -0.0, float("inf")], requires_grad=True)
z = torch.tensor([1 + 2j])
print("x", x.sum())
x.sum().backward()
x.add_(1.0)
d = {"a": [x, 1]}
"""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("record") / "r.jsonl"
    torch, liar = engine("torch"), Liar(storage_offset=lambda self: 1)
    program = Program.parse(SCRIPT, "script")
    with Recorder(path, torch, [liar], strict=True) as recorder:
        recorder.add(program, examine(program, torch, [liar], strict=True))
    return path.read_text()


def reading(tmp_path: Path, text: str) -> str:
    """What reading such a record complains about."""
    path = tmp_path / "r.jsonl"
    path.write_text(text)
    with pytest.raises(RecordError) as caught:
        read(path)
    return str(caught.value).replace(str(path), "r.jsonl")


def test_what_goes_in_comes_out(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.jsonl").write_text(text)

    record = read(tmp_path / "r.jsonl")
    program = record.programs["script"]
    expected, actual = record.of("script")

    assert program.text == SCRIPT
    assert (expected.engine, expected.verdict) == ("torch", Verdict.AGREES)
    assert (actual.engine, actual.verdict, actual.difference.fact) == (
        "liar",
        Verdict.DIFFERS,
        "storage_offset",
    )
    assert json.dumps(expected.trace.to_json()) == json.dumps(TorchEngine().run(program).to_json())
    assert record.footer["verdicts"] == {"DIFFERS": 1}


def test_a_record_is_plain_json(text: str) -> None:
    assert all(json.loads(line, parse_constant=pytest.fail) for line in text.splitlines())


def test_a_cut_record_is_refused_and_read_on_demand(tmp_path: Path, text: str) -> None:
    lines = text.splitlines(keepends=True)

    assert reading(tmp_path, "".join(lines[:-1])).startswith("r.jsonl:4: the record ends without footer")
    assert reading(tmp_path, text[:-10]).startswith("r.jsonl:5: not a JSON line")
    (tmp_path / "part.jsonl").write_text("".join(lines[:-1]))
    assert len(read(tmp_path / "part.jsonl", complete=False).results) == 2


def test_damaged_lines_are_refused(tmp_path: Path, text: str) -> None:
    header, program, *results, footer = text.splitlines(keepends=True)
    whole = "".join

    assert reading(tmp_path, "").startswith("r.jsonl:1: the file is empty")
    assert reading(tmp_path, program).startswith("r.jsonl:1: a record begins with one header line")
    assert reading(tmp_path, "[]\n").startswith("r.jsonl:1: a line of a record is a header, program")
    assert reading(tmp_path, whole([header, *results, footer])).startswith(
        "r.jsonl:2: script has a result but"
    )
    assert reading(tmp_path, whole([header, program, program])).startswith(
        "r.jsonl:3: the program script stands"
    )
    assert reading(tmp_path, whole([header, program, *results, footer, footer])).startswith(
        "r.jsonl:6: there are"
    )
    odd = results[0].replace('"AGREES"', '"MAYBE"')
    assert reading(tmp_path, whole([header, program, odd])).startswith(
        "r.jsonl:3: verdict: 'MAYBE' is not one of"
    )
    nan = results[0].replace("1.0", "NaN", 1)
    assert reading(tmp_path, whole([header, program, nan])).startswith(
        "r.jsonl:3: not a JSON line (NaN is no JSON"
    )


def test_a_file_that_cannot_be_written_or_read(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be written"):
        Recorder(tmp_path, engine("torch"), [], strict=False)
    with pytest.raises(RecordError, match="cannot be read"):
        read(tmp_path / "none.jsonl")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(RecordError, match="not UTF-8"):
        read(tmp_path / "bytes")
