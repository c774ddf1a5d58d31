"""Reducing: small, the same finding, deterministic, few trials, and a script that runs by itself."""

import ast
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner, Result

from harness.cli import main
from harness.engines.pytorch import TorchEngine
from harness.engines.refgrad import RefgradEngine
from harness.finding import Finding, Observation, TensorSeen, tensors_of
from harness.generate import prng
from harness.judge import InProcess
from harness.mutants import MUTANTS
from harness.mutants.plant import fresh_copy
from harness.program import Program, compiled
from harness.reduce import MOST_TRIALS, NARROW, WIDEST, depended_on, length_note, reduce, script_of
from harness.simplify import count, is_made, leaf_text, plain_data, plainer, proposals, renamed
from harness.verdict import Verdict
from tests.harness.liars import Liar, truth

SCRIPT = """
import torch
import math
a = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
k = torch.arange(3)
b = a * 2
c = b.sin()
hook = c.register_hook(lambda g: print("hook", g.shape))
with torch.no_grad():
    n = a.exp()
    n.add_(1.0)
for i in range(3):
    d = c + i
e = d.mean(0)
f = torch.relu(e)
f.sum().backward()
m = n * 2.0
print(math.pi)
"""


@pytest.fixture(scope="module")
def torch_engine() -> TorchEngine:
    return TorchEngine()


def liar_about_relu() -> Liar:
    return Liar(torch_relu=lambda x: x.clamp(min=0.0) + 1.0)


def judge_of(engine: Liar | RefgradEngine) -> InProcess:
    return InProcess(TorchEngine(), [engine], strict=True)


def test_what_matters_is_left_and_told() -> None:
    reduced = reduce(Program.parse(SCRIPT), judge_of(liar_about_relu()))

    assert reduced.finding is not None
    assert script_of(reduced.program, reduced.finding) == (
        "# liar differs from torch: f.value\n"
        "import torch\n"
        "e = torch.tensor(1.0)\n"
        "f = torch.relu(e)\n"
        "# f.value\n"
        "#   expected  torch  1.0 (float32, shape [])\n"
        "#   actual    liar   2.0 (float32, shape [])\n"
    )


def test_the_same_each_time() -> None:
    first, second = (reduce(Program.parse(SCRIPT), judge_of(liar_about_relu())) for _ in range(2))

    assert (first.program.text, first.trials) == (second.program.text, second.trials)


def test_a_finding_that_comes_first_is_not_traded_for_another() -> None:
    lies = Liar(
        torch_relu=lambda x: x.clamp(min=0.0) + 1.0, is_leaf=property(lambda t: t.grad_fn is not None)
    )
    program = Program.parse("import torch\na = torch.ones(2)\nb = torch.relu(a)\nb.mul_(2.0)")

    reduced = reduce(program, judge_of(lies))

    assert reduced.finding is not None
    assert reduced.finding.fact == "is_leaf"
    assert reduced.program.text == "import torch\na = torch.ones(2)\n"


def test_a_block_is_opened_and_a_mode_kept_only_where_it_matters() -> None:
    enabled = torch.is_grad_enabled
    lies = Liar(exp=lambda t: truth("exp")(t)() if False else t.cos() if not enabled() else t.sinh())
    program = Program.parse(
        "import torch\na = torch.ones(2)\nwith torch.no_grad():\n    c = a + 1\n    b = a.exp()\n"
    )

    reduced = reduce(program, judge_of(lies))

    assert reduced.program.text.splitlines()[1:] == ["a = torch.ones(2)", "b = a.exp()"]


def test_marks_stay_only_where_they_are_what_differs() -> None:
    torch_alone = InProcess(TorchEngine(), [])
    program = Program.from_statements(
        [
            "import torch",
            "a = torch.ones(2)",
            "k = a * 3",
            "k.sum().backward()  # raises no-grad",
            "b = a + 1  # raises shape",
        ]
    )

    reduced = reduce(program, torch_alone)

    assert reduced.finding is not None and reduced.finding.fact == "mark"
    assert reduced.program.text == "import torch\na = torch.ones(2)\nb = a.clone()  # raises shape\n"


def test_nothing_to_reduce() -> None:
    reduced = reduce(Program.parse(SCRIPT), judge_of(Liar()))

    assert (reduced.finding, reduced.trials) == (None, 1)


def test_trials_are_bounded() -> None:
    reduced = reduce(Program.parse(SCRIPT), judge_of(liar_about_relu()), most_trials=5)

    assert reduced.trials == 5
    assert reduced.finding is not None


@pytest.mark.parametrize("needed", [10, 30])
def test_a_script_too_long_to_read_gets_more_trials(needed: int) -> None:
    """The statements that matter stand last, and nothing can be said of them: only trying tells."""
    program = Program.parse("\n".join(f"x{number} = {number}" for number in range(90)))
    goal = Finding(Verdict.DIFFERS, "liar", "forward", "value", "constant")

    def judge(candidate: Program) -> Observation:
        texts = {statement.text for statement in candidate.statements}
        kept = texts.issuperset(f"x{number} = {number}" for number in range(90 - needed, 90))
        return Observation(replace(goal, step=len(candidate.statements)) if kept else None)

    reduced = reduce(program, judge, goal, most_trials=5)

    note = length_note(script_of(reduced.program, goal))
    if needed == 10:
        assert 5 < reduced.trials < 20, "until it is short enough"
        assert note == ""
    else:
        assert reduced.trials == 20
        assert note.endswith("lines, more than 25: no shorter one was found")


def sixty_statements(name: str, torch_engine: TorchEngine, programs: int) -> list[tuple[int, int]]:
    """(statements behind the import, trials) of the first programs in which a planted bug shows."""
    figures: list[tuple[int, int]] = []
    with fresh_copy(MUTANTS[name]) as module:
        judge = InProcess(torch_engine, [RefgradEngine(module)])
        for seed in range(5000, 5100):
            program = prng.program(seed, 60)
            if judge(program).finding is not None:
                reduced = reduce(program, judge)
                figures.append((len(reduced.program.statements) - 1, reduced.trials))
                if len(figures) == programs:
                    break
    return figures


@pytest.mark.slow
def test_sixty_statements_come_down_to_six(torch_engine: TorchEngine) -> None:
    names = ("overwrites_instead_of_adding", "leaves_the_base_alone", "counts_no_writes", "ignores_no_grad")
    figures = [figure for name in names for figure in sixty_statements(name, torch_engine, 2)]

    assert len(figures) == 2 * len(names)
    assert statistics.median(size for size, _ in figures) <= 6
    assert max(trials for _, trials in figures) <= MOST_TRIALS


# The parts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "with torch.no_grad():\n    a = b.t()\n    a.mul_(2)",
        "c = torch.cat([a, b.sin()], dim=0) + a[0]",
        "class F(torch.autograd.Function):\n    def forward(ctx, x):\n        y = x\n        return y",
        "a.backward(torch.ones(2), retain_graph=True)",
        "try:\n    a.add_(1)\nexcept RuntimeError:\n    pass\nfinally:\n    b = 1",
    ],
)
def test_every_proposal_is_simpler_and_is_python(text: str) -> None:
    before = count(ast.parse(text))
    found = list(proposals(text))

    assert found
    assert all(count(ast.parse("\n".join(texts))) < before for texts in found)


def test_literal_data_is_not_taken_apart() -> None:
    assert not any("[1.0]" in texts[0] for texts in proposals("a = torch.tensor([1.0, 2.0]).exp()"))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("b = a.exp()", ["b = a.clone()", "b = a.square()"]),
        ("b = a.t()", ["b = a.clone()", "b = a.square()", "b = a.view_as(a)"]),
        ("a[0] = 1.0", ["a.mul_(2.0)"]),
        ("a += 1", ["a.mul_(2.0)"]),
        ("b = a.clone()", []),
        ("a.mul_(2.0)", []),
        ("a.requires_grad_()", []),
    ],
)
def test_plainer_statements(text: str, plain: list[str]) -> None:
    assert list(plainer(text, ["a"])) == plain


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor([[1.0, -0.0], [float("nan"), float("inf")]], requires_grad=True),
        torch.tensor(3, dtype=torch.int32),
        torch.tensor([True, False]),
        torch.tensor([1 + 2j], dtype=torch.complex128),
    ],
)
def test_a_leaf_text_makes_the_same_tensor(tensor: torch.Tensor, torch_engine: TorchEngine) -> None:
    shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    seen = TensorSeen(dtype, shape, tensor.tolist(), tensor.requires_grad, True)

    trace = torch_engine.run(Program.parse(f"import torch\nx = {leaf_text(seen)}"))

    assert repr(tensors_of(trace)[-1]["x"]) == repr(seen)


def test_plain_data() -> None:
    assert plain_data("float32", (2, 2)) == [[1.0, 2.0], [3.0, 4.0]]
    assert plain_data("int64", ()) == 1


def test_what_is_made_from_literals() -> None:
    assert is_made("x = torch.arange(6.0).reshape(2, 3)") is None  # its layout may matter
    assert is_made("x = torch.tensor([1.0], requires_grad=True)") == "x"
    assert is_made("x = torch.ones(y.shape)") is None


def test_renaming_spares_attributes_texts_and_keywords() -> None:
    assert renamed("b = c.c + f(c=c)", "c", "a") == "b = a.c + f(c=a)"


def test_dependence_follows_writes_and_shared_memory() -> None:
    steps = [
        compiled(text)
        for text in (
            "import torch",
            "a = torch.ones(2)",
            "k = torch.ones(3)",
            "v = a.view(2)",
            "v.add_(1)",
            "b = a * 2",
        )
    ]

    assert depended_on(steps, 5, NARROW) == [0, 1, 5]
    assert depended_on(steps, 5, WIDEST) == [0, 1, 3, 4, 5]


# The command ---------------------------------------------------------------------------------------

LYING = """
import torch as _torch


def __getattr__(name):
    return getattr(_torch, name)


def relu(x):
    return x.clamp(min=0.0) + 1.0
"""
SEGFAULT = """
import torch
x = torch.ones(3, 2, requires_grad=True)
k = torch.ones(3)
b = x * 2
v = b.t()
b.mul_(2.0)
v.register_hook(lambda g: g)
v.sum().backward()
print(k)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lying.py").write_text(LYING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def refgrad(*words: str) -> Result:
    result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.slow
def test_reduce_writes_a_script_that_runs_by_itself(here: Path) -> None:
    (here / "found.py").write_text(SCRIPT)

    result = refgrad("reduce", "found.py", "--engine", "module:lying", "--output", "small.py")

    assert result.exit_code == 0, result.output
    text = (here / "small.py").read_text()
    assert "f = torch.relu(e)" in text and len(text.splitlines()) <= 25
    assert subprocess.run([sys.executable, "small.py"], check=False).returncode == 0
    assert refgrad("run", "small.py", "--engine", "module:lying").exit_code == 1


@pytest.mark.slow
def test_reduce_survives_what_kills_the_process(here: Path) -> None:
    (here / "dies.py").write_text(SEGFAULT)

    result = refgrad("reduce", "dies.py")

    assert result.exit_code == 0, result.output
    assert "torch dies of SIGSEGV" in result.stdout
    assert "register_hook" in result.stdout
    assert len(result.stdout.splitlines()) <= 9


@pytest.mark.parametrize(
    ("script", "options", "said"),
    [
        ("import torch\na = torch.ones(2)\n", (), "fine.py: nothing to reduce: refgrad does what torch does"),
        ("import torch\na = = 2\n", (), "fine.py:2: not valid Python: invalid syntax"),
        ("import torch\n", ("--engine", "foo"), "no engine is called 'foo'"),
        ("", (), "fine.py:1: no statement in it"),
    ],
)
def test_reduce_says_what_is_wrong(here: Path, script: str, options: tuple[str, ...], said: str) -> None:
    (here / "fine.py").write_text(script)

    result = refgrad("reduce", "fine.py", *options)

    assert result.exit_code == 2
    assert said in result.stderr
