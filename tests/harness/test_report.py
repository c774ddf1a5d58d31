"""Reports: from a run to the record, and from the record to the pages."""

import dataclasses
import html.parser
import json
import os
import re
import types

import pytest
import torch
from click.testing import CliRunner

from harness.cli import main
from harness.engines import engine
from harness.engines.module import ModuleEngine
from harness.program import Program
from harness.record import Recorder, read
from harness.report import conformance
from harness.report.build import build
from harness.report.describe import contiguous, say, steps_of
from harness.report.html import render_html
from harness.report.markdown import code, counts_table, render_markdown
from harness.run import examine

INPLACE = '''"""A saved tensor is overwritten.

topic: inplace
features: version-counter
"""
import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 2
c = b.sin()
b.mul_(3.0)
c.sum().backward()  # raises version-mismatch
'''


def standing_in(name="liar", without=(), **lies):
    """An engine that is torch with some names replaced."""
    module = types.ModuleType(name)
    names = {k: v for k, v in vars(torch).items() if not k.startswith("__") and k not in without}
    vars(module).update(names | lies, __version__="1.5")
    return ModuleEngine(module)


def doubled_sin(x):
    return torch.sin(x) * 2


def liar():
    return standing_in(sin=doubled_sin)


def record_of(folder, programs, other, strict=None, **options):
    """The record of a run, written and read again."""
    expected = engine("torch")
    path = folder / "run.jsonl"
    with Recorder(path, expected, [other], bool(strict)) as recorder:
        for program in programs:
            recorder.add(program, examine(program, expected, [other], strict=strict, **options))
    return read(path)


def report_of(folder, programs, other=None, **options):
    return build(record_of(folder, programs, other or liar(), **options))


def sine(topic="engine", id="engine/sine"):
    text = f'"""The sine.\n\ntopic: {topic}\n"""\nimport torch\n\na = torch.tensor([1.0])\nb = torch.sin(a)\n'
    return Program.parse(text, id)


class Page(html.parser.HTMLParser):
    """What a page is made of: its tags, all that it links to, and its marked texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.marks, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "action", "srcset")]
        self.open.append(tag)
        if tag in ("meta", "link", "input", "br"):
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "mark":
            self.marks.append(data)


# What is counted --------------------------------------------------------------------------------------------


def test_programs_are_counted_by_topic_and_column(tmp_path):
    programs = [Program.parse(INPLACE, "inplace/saved"), sine(), sine("hooks", "hooks/sine")]
    report = report_of(tmp_path, programs)
    counted = {topic.name: topic.counts.values() for topic in report.topics}
    # programs, agree, differ, known, unsupported
    assert counted == {"engine": [1, 0, 1, 0, 0], "hooks": [1, 0, 1, 0, 0], "inplace": [1, 1, 0, 0, 0]}
    assert report.counts.last_line() == "3 programs: 1 agree, 2 differ, 0 known, 0 unsupported"


def test_a_missing_name_is_counted_apart(tmp_path):
    report = report_of(tmp_path, [sine()], standing_in(without=["sin"]))
    assert report.counts.values() == [1, 0, 0, 0, 1]
    assert "lacks" in report.pages("unsupported")[0].results[0].remark


def test_a_mark_that_pytorch_does_not_keep_is_a_difference_of_pytorch(tmp_path):
    program = Program.parse(INPLACE.replace("version-mismatch", "freed-graph"), "inplace/saved")
    (page,) = report_of(tmp_path, [program], standing_in()).pages("differ")
    assert [result.engine for result in page.results if result.column == "differ"] == ["torch"]
    assert "raises freed-graph" in page.results[0].remark


def test_the_table_has_a_line_per_topic_and_one_for_all(tmp_path):
    lines = counts_table(report_of(tmp_path, [sine(), Program.parse(INPLACE, "inplace/saved")])).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["topic", "programs", "agree", "differ", "known", "unsupported"]
    assert cells[2:] == [
        ["engine", "1", "0", "1", "0", "0"],
        ["inplace", "1", "1", "0", "0", "0"],
        ["all", "2", "1", "1", "0", "0"],
    ]


# What is said -----------------------------------------------------------------------------------------------


def entries(side):
    return [f"{entry.name} {' · '.join(piece.text for piece in entry.pieces)}".strip() for entry in side]


def test_a_step_tells_what_is_new():
    program = Program.parse(INPLACE, "inplace/saved")
    trace = engine("torch").run(program)
    told = [entries(step.expected) for step in steps_of(trace, trace, program, True)]
    assert told[:5] == [
        [],
        ["a float32[2] [1, 2] · requires_grad · leaf"],
        ["b float32[2] [2, 4] · requires_grad · MulBackward0"],
        ["c float32[2] [0.909297, -0.756802] · requires_grad · SinBackward0"],
        ["b float32[2] [6, 12] · version 1", "c saved tensors modified"],
    ]
    assert told[5][0].startswith("RuntimeError: one of the variables needed for gradient computation")


def test_what_differs_is_told_on_both_sides_with_all_its_digits():
    program = sine()
    ours, theirs = engine("torch").run(program), liar().run(program)
    step = steps_of(ours, theirs, program, False)[2]
    assert step.differs
    marked = [
        [p.text for entry in side for p in entry.pieces if p.differs] for side in (step.expected, step.actual)
    ]
    assert marked == [["float32[1] [0.8414709568023682]"], ["float32[1] [1.6829419136047363]"]]


def test_facts_that_could_not_be_read_are_told_as_such():
    assert say("grad_fn", ("raises", "RuntimeError", "no"), False) == "grad_fn raises RuntimeError: no"
    assert say("version", ("missing", "_version"), False) == "no attribute _version"
    assert say("a fact of tomorrow", 3, False) == "a fact of tomorrow 3"


def test_a_tensor_without_a_value_yet_has_a_page(tmp_path):
    program = Program.parse("from torch import nn\nlayer = nn.LazyLinear(2)\nlayer.weight\n", "modules/lazy")
    assert "uninitialized" in render_html(report_of(tmp_path, [program]))


def test_long_facts_are_cut():
    assert len(say("value", ("float32", (1000,), tuple(range(1000))), False)) == 160


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3), (4, 1, 2)])
def test_contiguous_strides_are_pytorchs(shape):
    assert contiguous(shape) == torch.zeros(shape).stride()


# The Markdown summary ---------------------------------------------------------------------------------------


def test_the_summary_is_the_same_for_every_run(tmp_path):
    programs = [Program.parse(INPLACE, "inplace/saved", str(tmp_path / "saved.py")), sine()]
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    first, second = (render_markdown(report_of(tmp_path / folder, programs)) for folder in ("one", "two"))
    assert first == second
    assert str(tmp_path) not in first
    assert "- `engine/sine`: `line 8: b = torch.sin(a): b.value" in first


@pytest.mark.parametrize(
    ("text", "span"), [("a", "`a`"), ("a`b", "`` a`b ``"), ("``", "``` `` ```"), ("`", "`` ` ``")]
)
def test_any_text_fits_into_a_code_span(text, span):
    assert code(text) == span


# The page ---------------------------------------------------------------------------------------------------

HOSTILE = '''"""A title </summary><script>alert(1)</script> {{ 7 * 7 }} <img src=x onerror=alert(2)>

topic: engine
features: "><script>alert(3)</script>
"""
import torch

print("</pre><script>alert(4)</script>")
raise ValueError("<script>alert(5)</script>")  # raises ValueError
b = torch.sin(torch.tensor([1.0]))  # </script>
'''


def test_everything_from_a_record_is_escaped(tmp_path):
    text = render_html(report_of(tmp_path, [Program.parse(HOSTILE, 'engine/"><b>')]))
    page = Page(text)
    assert page.tags.count("script") == 1
    assert not {"img", "b"} & set(page.tags[page.tags.index("main") :]) - {"b"}
    assert "{{ 7 * 7 }}" in text
    assert not re.search(r"<script>alert", text)


def test_the_page_fetches_nothing(tmp_path):
    page = Page(render_html(report_of(tmp_path, [sine(), Program.parse(INPLACE, "inplace/saved")])))
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert page.open == []  # every tag is closed


def test_the_page_marks_what_differs(tmp_path):
    page = Page(render_html(report_of(tmp_path, [sine()])))
    assert page.marks[:2] == ["float32[1] [0.8414709568023682]", "float32[1] [1.6829419136047363]"]


def test_the_page_of_an_agreeing_run_marks_nothing(tmp_path):
    page = Page(render_html(report_of(tmp_path, [Program.parse(INPLACE, "inplace/saved")])))
    assert page.marks == []


# The commands -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in with one case."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "cases/inplace/saved.py", INPLACE)
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def refgrad(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


CONFORMANCE = ("conformance", "--engine", "module:torch", "--jobs", 1)


def test_conformance_writes_three_files_and_counts(folder):
    result = refgrad(*CONFORMANCE, "--generated", 12)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == "13 programs: 13 agree, 0 differ, 0 known, 0 unsupported"
    assert {path.name for path in (folder / "reports").iterdir()} == {
        "latest.jsonl",
        "latest.md",
        "latest.html",
    }
    assert "| generated |         12 |" in (folder / "reports/latest.md").read_text()


@pytest.mark.slow
def test_conformance_in_two_processes_comes_to_the_same(folder):
    for processes in (1, 2):
        options = ("--generated", 25, "--jobs", processes, "--output", f"r{processes}")
        assert refgrad("conformance", "--engine", "module:torch", *options).exit_code == 0
    assert (folder / "r1/latest.jsonl").read_bytes() == (folder / "r2/latest.jsonl").read_bytes()


def test_conformance_fails_on_a_difference(folder):
    write(folder / "cases/inplace/wrong.py", INPLACE.replace("version-mismatch", "freed-graph"))
    result = refgrad(*CONFORMANCE, "--generated", 0)
    assert result.exit_code == 1
    assert "DIFFERS  inplace/wrong: line 12: c.sum().backward()" in result.output


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("cases/inplace/broken.py", "import torch\nx = = 1", "cases/inplace/broken.py:2: not valid Python"),
        (
            "cases/known_differences.toml",
            "[[difference]]\n",
            "cases/known_differences.toml:1: the entry needs id",
        ),
    ],
)
def test_conformance_refuses_bad_input(folder, path, text, message):
    write(folder / path, text)
    result = refgrad(*CONFORMANCE)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_report_makes_both_files_from_a_record(folder):
    refgrad(*CONFORMANCE, "--generated", 3)
    result = refgrad("report", "reports/latest.jsonl", "--html", "a.html", "--markdown", "a.md")
    assert result.exit_code == 0, result.output
    assert (folder / "a.html").read_text() == (folder / "reports/latest.html").read_text()
    assert (folder / "a.md").read_text() == (folder / "reports/latest.md").read_text()
    assert refgrad("report", "reports/latest.jsonl").output == (folder / "a.md").read_text()


def damaged(lines, kind):
    if kind == "cut off":
        return [*lines[:-1], lines[-1][:20]]
    if kind == "no footer":
        return lines[:-1]
    data = json.loads(lines[1])
    return [lines[0], json.dumps(data | {"statements": "__import__('os')"}), *lines[2:]]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("cut off", r"run\.jsonl:\d+: not a JSON line"),
        ("no footer", r"run\.jsonl:\d+: the record ends without"),
        ("wrong type", r"run\.jsonl:2: statements: .* is not of type 'array'"),
    ],
)
def test_report_refuses_a_damaged_record(tmp_path, kind, message):
    record_of(tmp_path, [sine()], standing_in())
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(damaged(path.read_text().splitlines(), kind)) + "\n")
    result = refgrad("report", path)
    assert result.exit_code == 2
    assert re.search(message, result.output)
    assert "Traceback" not in result.output


def test_report_on_a_file_that_is_not_there(tmp_path):
    result = refgrad("report", tmp_path / "nothing.jsonl")
    assert (result.exit_code, result.output.count("\n")) == (2, 1)


@pytest.mark.slow
def test_a_program_that_kills_its_process_is_named_and_the_others_run():
    deadly = Program.from_statements(["import os", "os._exit(9)"], "deadly")
    harmless = Program.from_statements(["import torch", "a = torch.ones(2)"], "harmless")
    jobs = [
        conformance.Job(program) for program in (harmless, deadly, dataclasses.replace(harmless, id="later"))
    ]
    setup = conformance.Setup("torch", ("module:torch",), None, (), 60.0)
    found = list(conformance.outcomes(jobs, setup, processes=2))
    assert [str(outcome.verdict) for outcome in found] == ["AGREES", "CRASHED", "AGREES"]
    assert [outcome.lines[0]["id"] for outcome in found] == ["harmless", "deadly", "later"]
    assert os.getpid()  # and this process lives
