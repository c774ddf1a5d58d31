"""`refgrad run` and `refgrad new`: lines, exit codes, files."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.record import read

CASE = '"""A sentence.\n\ntopic: {topic}\nfeatures: x\nrule: torch.autograd\n"""\nimport torch\n\n{body}'
GOOD = CASE.format(
    topic="leaf", body="x = torch.ones(2, requires_grad=True)\nx.add_(1.0)  # raises leaf-inplace\n"
)
LIAR = """\
from torch import *
import torch as _torch

Tensor = _torch.Tensor
autograd, nn = _torch.autograd, _torch.nn


def ones(*shape, **options):
    return _torch.zeros(*shape, **options)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one case and an engine that lies about ones."""
    (tmp_path / "cases" / "leaf").mkdir(parents=True)
    (tmp_path / "cases" / "leaf" / "good.py").write_text(GOOD)
    (tmp_path / "lying_torch.py").write_text(LIAR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "lying_torch", raising=False)
    return tmp_path


def refgrad(*words: str) -> Result:
    result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_everything_agrees(here: Path) -> None:
    result = refgrad("run", "--engine", "module:torch", "--record", "r.jsonl")

    assert result.stdout == "1 program: 1 agree, 0 differ, 0 known, 0 unsupported\n"
    assert result.exit_code == 0
    assert [result.engine for result in read("r.jsonl").results] == ["torch", "torch"]


def test_a_difference_is_one_line_and_exit_code_1(here: Path) -> None:
    result = refgrad("run", "--engine", "module:lying_torch")

    line, last = result.stdout.splitlines()
    assert line == (
        "DIFFERS     cases/leaf/good.py:9: x = torch.ones(2, requires_grad=True): x.value: torch has"
        " [1.0, 1.0] (float32, shape [2]), lying_torch has [0.0, 0.0] (float32, shape [2])"
    )
    assert last == "1 program: 0 agree, 1 differ, 0 known, 0 unsupported"
    assert result.exit_code == 1


def test_a_mark_that_pytorch_does_not_follow_is_a_difference(here: Path) -> None:
    (here / "cases" / "leaf" / "good.py").write_text(GOOD.replace("leaf-inplace", "overlap"))

    result = refgrad("run", "--engine", "module:torch")

    assert (
        "good.py:10: x.add_(1.0): mark: the mark has raises overlap, torch has leaf-inplace" in result.stdout
    )
    assert result.exit_code == 1


def test_an_error_without_mark_is_a_difference_in_a_case_but_not_in_a_script(here: Path) -> None:
    text = GOOD.replace("  # raises leaf-inplace", "")
    (here / "cases" / "leaf" / "good.py").write_text(text)
    (here / "script.py").write_text(text.partition('"""\n')[2])

    assert refgrad("run", "--engine", "module:torch").exit_code == 1
    assert refgrad("run", "--engine", "module:torch", "script.py").exit_code == 0


def test_several_engines_have_a_line_each_and_one_for_all(here: Path) -> None:
    result = refgrad("run", "--engine", "module:torch", "--engine", "module:lying_torch")

    assert result.stdout.splitlines()[1:] == [
        "torch: 1 program: 1 agree, 0 differ, 0 known, 0 unsupported",
        "lying_torch: 1 program: 0 agree, 1 differ, 0 known, 0 unsupported",
        "1 program: 0 agree, 1 differ, 0 known, 0 unsupported",
    ]


KNOWN = """
[[difference]]
id = "ones"
engine = "{engine}"
signature = "*/forward/value/ones"
kind = "bug"
reason = "ones are zeros"
witness = "leaf/good"
"""


def test_a_known_difference_is_allowed_and_must_still_differ(here: Path) -> None:
    (here / "cases" / "known_differences.toml").write_text(KNOWN.format(engine="lying_torch"))
    result = refgrad("run", "--engine", "module:lying_torch")
    assert result.stdout.splitlines()[-1] == "1 program: 0 agree, 0 differ, 1 known, 0 unsupported"
    assert result.stdout.startswith("KNOWN       cases/leaf/good.py:9: known as ones (bug): ")
    assert result.exit_code == 0

    (here / "cases" / "known_differences.toml").write_text(KNOWN.format(engine="torch"))
    result = refgrad("run", "--engine", "module:torch")
    assert result.stdout.startswith(
        "STALE       known difference ones: its witness leaf/good agrees now on torch"
    )
    assert result.exit_code == 1


def test_a_program_that_does_not_end_is_hung(here: Path) -> None:
    (here / "script.py").write_text("import torch\nwhile True:\n    pass\n")

    result = refgrad("run", "script.py", "--engine", "module:torch", "--limit", "0.2")

    assert result.stdout.startswith("HUNG        script.py: torch does not end within 0.2 s")
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nothing.py"], "refgrad: nothing.py: there is no such file or folder"),
        (
            ["--engine", "nope"],
            "refgrad: no engine is called 'nope'; there are torch, refgrad and module:NAME",
        ),
        (["--engine", "module:no_such"], "refgrad: engine module:no_such cannot be imported"),
        (
            ["--engine", "module:torch", "--record", "no/such/r.jsonl"],
            "refgrad: no/such/r.jsonl: cannot be written",
        ),
        (["--engine", "module:math"], "refgrad: engine math: it has neither a class Tensor nor"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(here: Path, words: list[str], complaint: str) -> None:
    result = refgrad("run", *words)

    assert result.stderr.startswith(complaint)
    assert result.exit_code == 2


def test_broken_cases_are_all_named(here: Path) -> None:
    (here / "cases" / "leaf" / "a.py").write_text("x = (")
    (here / "cases" / "leaf" / "b.py").write_text("x = 1")

    result = refgrad("run")

    assert [line.split(":")[1].strip() for line in result.stderr.splitlines()] == [
        "cases/leaf/a.py",
        "cases/leaf/b.py",
    ]
    assert result.exit_code == 2


def test_a_program_imports_what_lies_beside_it_afresh_on_each_engine(here: Path) -> None:
    (here / "sub" / "parts").mkdir(parents=True)
    (here / "sub" / "parts" / "__init__.py").write_text("from .inner import twice\n")
    (here / "sub" / "parts" / "inner.py").write_text(
        "import torch\n\ndef twice():\n    return torch.ones(2)\n"
    )
    (here / "sub" / "script.py").write_text(
        "import torch\nfrom parts import twice\nx = twice()\nname = __file__.rpartition('/')[2]\n"
    )

    result = refgrad("run", "sub/script.py", "--engine", "module:torch", "--engine", "module:lying_torch")

    line, *_ = result.stdout.splitlines()
    assert line.startswith("DIFFERS     sub/script.py:3: x = twice(): x.value: torch has [1.0, 1.0]")
    assert "parts" not in sys.modules
    assert str(here / "sub") not in sys.path
    assert refgrad("run", "sub/script.py", "--engine", "module:torch").exit_code == 0


def test_an_import_that_fails_everywhere_is_told(here: Path) -> None:
    (here / "script.py").write_text("import torch\nimport no_such_module\n")

    result = refgrad("run", "script.py", "--engine", "module:torch")

    assert result.stdout == (
        "NOTE        script.py:2: import no_such_module: raises ModuleNotFoundError on torch too\n"
        "1 program: 1 agree, 0 differ, 0 known, 0 unsupported\n"
    )


def test_a_program_that_ends_its_process_costs_itself_only(here: Path) -> None:
    (here / "a.py").write_text("import os\nimport torch\nos._exit(7)\n")
    (here / "b.py").write_text(
        "import ctypes\nimport torch\nx = torch.ones(2)\nx[0] or ctypes.string_at(0)\n"
    )
    (here / "c.py").write_text("import torch\nimport sys\nsys.exit(3)\n")

    result = refgrad(
        *("run", "a.py", "b.py", "c.py", "--engine", "module:torch", "--engine", "module:lying_torch"),
        *("--record", "r.jsonl"),
    )

    assert result.stdout.splitlines() == [
        "CRASHED     a.py: torch ends its process with exit code 7",
        "CRASHED     b.py: lying_torch dies of SIGSEGV",
        "torch: 2 programs: 2 agree, 0 differ, 0 known, 0 unsupported",
        "lying_torch: 2 programs: 1 agree, 1 differ, 0 known, 0 unsupported",
        "3 programs: 1 agree, 2 differ, 0 known, 0 unsupported",
    ]
    assert result.exit_code == 1
    found = [(result.program, result.engine, str(result.verdict)) for result in read("r.jsonl").results]
    assert found[:4] == [
        ("a", "torch", "CRASHED"),
        ("b", "torch", "AGREES"),
        ("b", "torch", "AGREES"),
        ("b", "lying_torch", "CRASHED"),
    ]
    assert refgrad("report", "r.jsonl", "--html", "r.html").exit_code == 0


def test_what_follows_a_compiler_runs_in_another_process(here: Path) -> None:
    compiler = "torch._dynamo.backends.common"
    Path("spends.py").write_text(f"import sys, types\nsys.modules['{compiler}'] = types.ModuleType('none')\n")
    Path("tells.py").write_text(f"import sys\nopen('told', 'a').write(str('{compiler}' in sys.modules))\n")
    result = refgrad("run", "spends.py", "tells.py", "tells.py")
    assert result.exit_code == 0
    assert "True" not in Path("told").read_text() and "False" in Path("told").read_text()


def test_an_engine_that_ends_the_process_on_import_is_named(here: Path) -> None:
    for body, told in (
        ("import sys; sys.exit(3)", "module:engine_x ends the process (SystemExit: 3) on import"),
        ("import os; os._exit(3)", "module:engine_x ends its process with exit code 3 while it is imported"),
        ("def f(:\n", f"module:engine_x is not valid Python: {here}/engine_x.py:1: invalid syntax"),
    ):
        (here / "engine_x.py").write_text(body)

        result = refgrad("run", "--engine", "module:engine_x")

        assert result.stderr == f"refgrad: engine {told}\n"
        assert result.exit_code == 2


# refgrad new ----------------------------------------------------------------------------------------

SCRIPT = """\
# a report
import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w * w).sum()  # forward
loss.backward()
loss.backward()  # again
with torch.no_grad():
    w.view(3)
"""


def test_a_script_becomes_a_case_that_agrees(here: Path) -> None:
    (here / "Bug 7.py").write_text(SCRIPT)

    result = refgrad("new", "Bug 7.py")

    assert (
        "   6  loss.backward()\n        raises  freed-graph: RuntimeError: Trying to backward"
        in result.stdout
    )
    assert result.exit_code == 0
    text = (here / "cases" / "backward-twice" / "bug_7.py").read_text()
    assert text.startswith(
        '"""`loss.backward()` raises freed-graph.\n\ntopic: backward-twice\nfeatures: freed-graph'
    )
    assert "loss = (w * w).sum()  # forward\nloss.backward()\n" in text
    assert "\nloss.backward()  # again  # raises freed-graph\n" in text
    assert text.endswith("\nwith torch.no_grad():\n    w.view(3)  # raises shape\n")
    assert refgrad("run", "--engine", "module:torch").exit_code == 0


def test_a_case_is_not_overwritten(here: Path) -> None:
    (here / "good.py").write_text(SCRIPT)

    result = refgrad("new", "good.py", "--topic", "leaf")

    assert result.stderr.startswith("refgrad: cases/leaf/good.py is there already; give another --name")
    assert result.exit_code == 2
    assert (here / "cases" / "leaf" / "good.py").read_text() == GOOD


def test_statements_on_one_line_are_marked_one_by_one(here: Path) -> None:
    (here / "s.py").write_text("import torch; x = torch.ones(2, requires_grad=True); x.add_(1)\n")

    assert refgrad("new", "s.py").exit_code == 0
    text = (here / "cases" / "leaf" / "s.py").read_text()
    assert text.endswith("\nx.add_(1)  # raises leaf-inplace\n")


def test_an_unknown_topic(here: Path) -> None:
    (here / "s.py").write_text(SCRIPT)

    result = refgrad("new", "s.py", "--topic", "nope")

    assert result.stderr.startswith("refgrad: --topic: there is no topic 'nope'; topics are accumulate,")
    assert result.exit_code == 2


def test_what_cannot_become_a_case_is_refused_before_anything_is_written(here: Path) -> None:
    (here / "s.py").write_text("import torch\nimport no_such_module\n")

    result = refgrad("new", "s.py")

    assert "refgrad: s.py:2: No module named 'no_such_module'; a case imports" in result.stderr
    assert result.exit_code == 2
    assert [path.name for path in (here / "cases").rglob("*.py")] == ["good.py"]


def test_show_writes_nothing_and_needs_no_folder_of_cases(here: Path) -> None:
    (here / "sub").mkdir()
    (here / "sub" / "s.py").write_text(SCRIPT)
    (here / "cases").rename(here / "others")

    result = refgrad("new", "--show", "sub/s.py")

    assert "   6  loss.backward()\n        raises  freed-graph" in result.stdout
    assert result.exit_code == 0
    assert not (here / "cases").exists()


def test_a_mistake_of_a_custom_function_is_a_case_of_functions(here: Path) -> None:
    (here / "s.py").write_text(
        "import torch\n\n\nclass Twice(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x, y):\n        return x * y\n\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad\n\n\n"
        "x = torch.ones(2, requires_grad=True)\nTwice.apply(x, x).sum().backward()\n"
    )

    assert refgrad("new", "s.py").exit_code == 0
    assert (here / "cases" / "functions" / "s.py").is_file()


# Before the work ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("reduce cases/leaf/good.py --output no/such.py", "refgrad: no/such.py: cannot be written"),
        ("score --markdown no/such.md", "refgrad: no/such.md: cannot be written"),
        ("findings --output no/such.md", "refgrad: no/such.md: cannot be written"),
        ("fuzz --scheduler garbage", "refgrad: --scheduler is an address such as tcp://HOST:PORT"),
        ("fuzz --memory -5", "Usage: "),
        ("run --limit -1", "Usage: "),
        ("score --seconds -3", "Usage: "),
        (
            "score --mutant forgets_to_free --markdown lying_torch.py",
            "refgrad: lying_torch.py is there already",
        ),
        ("report no.jsonl", "refgrad: no.jsonl: cannot be read (No such file or directory); give a file"),
    ],
)
def test_bad_options_are_told_before_any_work(here: Path, words: str, complaint: str) -> None:
    result = refgrad(*words.split())

    assert result.stderr.startswith(complaint)
    assert result.exit_code == 2


def test_a_record_that_was_cut_off_is_reported_with_partial(here: Path) -> None:
    refgrad("run", "--engine", "module:torch", "--record", "r.jsonl")
    (here / "r.jsonl").write_text("\n".join((here / "r.jsonl").read_text().splitlines()[:-1]) + "\n")

    assert "--partial" in refgrad("report", "r.jsonl").stderr
    assert "| leaf" in refgrad("report", "r.jsonl", "--partial").stdout


def test_help_imports_no_engine() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from harness.cli import main;"
        "CliRunner().invoke(main, ['--help']); sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    )

    assert (
        subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode
        == 0
    )


@pytest.mark.slow
def test_a_script_that_imports_from_its_folder_is_reduced_there(here: Path) -> None:
    (here / "sub").mkdir()
    (here / "sub" / "helper.py").write_text("import torch\n\n\ndef h(n):\n    return torch.ones(n)\n")
    (here / "sub" / "s.py").write_text("import torch\nfrom helper import h\na = torch.zeros(2)\nx = h(2)\n")

    result = refgrad("reduce", "--engine", "module:lying_torch", "sub/s.py")

    assert result.stdout.startswith("# lying_torch differs from torch: x.value\n")
    assert "from helper import h\nx = h(2)\n" in result.stdout
    assert result.exit_code == 0


@pytest.mark.slow
def test_a_host_that_its_engine_ends_is_told_with_how(here: Path) -> None:
    (here / "engine_x.py").write_text("import os; os._exit(3)")

    result = refgrad("reduce", "--engine", "module:engine_x", "cases/leaf/good.py")

    assert result.stderr.startswith(
        "refgrad: a host ended with exit code 3 while it imported torch, module:engine_x"
    )
