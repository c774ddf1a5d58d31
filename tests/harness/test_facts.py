"""Facts: the fast reading is the slow one, numbers agree as PyTorch's tolerances say."""

import math

import pytest
import torch

from harness.engines import engine
from harness.engines.session import END, FULL, QUICK, Session
from harness.facts import CHEAP_READERS, FACTS, close, close_number, close_tensor, in_one_breath
from harness.program import Program
from harness.trace import named

SCRIPT = """\
import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
c = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
y = x * x
v = y.t()[1:]
y.retain_grad()
xs = [x, {"k": v}, torch.zeros(0)]
net = torch.nn.Linear(2, 1)
with torch.inference_mode():
    i = torch.ones(2)
y.sum().backward()
c.abs().sum().backward()
z = x
n = x.grad
"""


def session_of(script: str, look: str = QUICK) -> Session:
    """A session that has run a script and still holds its variables."""
    program = Program.parse(script)
    session = Session(engine("torch"), program, look, [])
    session.run(program.steps, program.phases)
    return session


def test_reading_in_one_breath_is_reading_each_fact() -> None:
    session = session_of(SCRIPT)
    tensors = list(session.tensors())
    for subject, tensor in tensors:
        session.register(subject, tensor)

    for subject, tensor in tensors:
        if subject == "i":  # has no version
            continue
        slowly = tuple(read(tensor, session, subject) for read in CHEAP_READERS)
        assert in_one_breath(tensor, session, subject)[: len(slowly)] == slowly, subject
    assert len(tensors) == 12


def test_a_fact_that_cannot_be_read_says_why() -> None:
    session = session_of(SCRIPT)

    facts = named(session.snapshot(session.variables["i"], "i"))

    assert facts["version"] == ("raises", "RuntimeError", "Inference tensors do not track version counter.")
    assert facts["value"] == ("float32", (2,), [1.0, 1.0])


def test_sharing_is_seen_from_both_sides_and_in_grads() -> None:
    trace = engine("torch").run(Program.parse(SCRIPT), FULL)
    state = {subject: named(record) for subject, record in trace.state().items()}

    assert state["x"]["same_as"] == ("xs[0]", "z")
    assert state["y"]["shares"] == ("v", "xs[1]['k']")
    assert state["n"]["shares"] == ("x.grad", "xs[0].grad", "z.grad")
    assert state["v"]["is_view"] == (True, "y")
    assert state["net.weight"]["is_leaf"] is True
    assert state["y"]["saved"] == "freed"
    assert state["y"]["graph"] == (
        ("MulBackward0", ((1, 0), (1, 0))),
        ("AccumulateGrad", ()),
    )


@pytest.mark.parametrize("look", [FULL, QUICK, END])
def test_however_a_run_is_watched_it_ends_the_same(look: str) -> None:
    trace = engine("torch").run(Program.parse(SCRIPT), look)

    facts = named(trace.state()["x"])

    assert facts["grad"] == ("float32", (2, 2), [[2.0, 4.0], [6.0, 8.0]], False)
    assert facts["requires_grad"] and facts["is_leaf"] and facts["version"] == 0


def test_a_write_without_a_sign_is_seen_at_the_end() -> None:
    script = "import torch\n\nx = torch.ones(2)\nd = x.data\nfor _ in range(2):\n    d.add_(1.0)\n"

    trace = engine("torch").run(Program.parse(script), QUICK)

    assert named(trace.state()["x"])["value"] == ("float32", (2,), [3.0, 3.0])


def test_a_variable_that_is_deleted_is_gone() -> None:
    trace = engine("torch").run(
        Program.parse("import torch\n\nx = torch.ones(2)\ny = [x]\ndel x\ny = 1\n"), QUICK
    )

    assert trace.state() == {"y": ("value", 1)}


def test_numbers() -> None:
    float32 = (1.3e-6, 1e-5)
    assert close_number(1.0, 1.0 + 1e-6, float32) and not close_number(1.0, 1.0 + 1e-6, None)
    assert not close_number(1.0, 1.0001, float32)
    assert close_number(math.nan, math.nan, None) and not close_number(math.nan, 0.0, float32)
    assert not close_number(0.0, -0.0, float32) and close_number(-0.0, -0.0, None)
    assert not close_number(math.inf, 1e308, float32) and not close_number(math.inf, -math.inf, float32)
    assert not close_number(1, 2, (1.0, 1.0)) and not close_number(True, 1, float32)
    assert close_number(1 + 2j, 1 + 2.000001j, float32) and not close_number(
        1 + 0j, complex(1, -0.0), float32
    )
    assert close([1.0, (2.0, None)], [1.0, [2.0, None]], None) and not close([1.0], [1.0, 1.0], None)


def test_data_agree_within_the_tolerance_of_their_dtype() -> None:
    loose, tight = ("float16", (1,), [1.0]), ("float64", (1,), [1.0])

    assert close_tensor(loose, ("float16", (1,), [1.0005]), False)
    assert not close_tensor(loose, ("float16", (1,), [1.0005]), True)
    assert not close_tensor(tight, ("float64", (1,), [1.0005]), False)
    assert not close_tensor(tight, ("float32", (1,), [1.0]), False)
    assert not close_tensor(None, ("float64", (1,), [0.0]), False)


def test_every_fact_says_what_it_is() -> None:
    assert all(fact.doc for fact in FACTS.values())
    assert torch.__version__
