"""Programs that being watched changes: whose fault it is."""

from dataclasses import replace

from harness.engines import engine
from harness.program import Program
from harness.run import examine
from harness.verdict import Verdict

# Reading `view.grad_fn` after a write makes PyTorch record a new node, whose gradient is then new memory.
SENSITIVE = """import torch
base = torch.tensor([3.0, 0.0], requires_grad=True)
view = base[::2]
with torch.no_grad():
    base.mul_(2.0)
first, second = base
torch.autograd.backward([first, view])
"""


def test_a_generated_program_that_watching_changes_on_all_engines_alike_agrees() -> None:
    program = Program.parse(SENSITIVE)

    results = examine(program, engine("torch"), [engine("refgrad")])

    assert [result.verdict for result in results] == [Verdict.AGREES, Verdict.AGREES]
    assert "alike" in results[0].note


def test_a_case_that_watching_changes_is_unstable() -> None:
    program = replace(Program.parse(SENSITIVE), path="cases/views/sensitive.py")

    results = examine(program, engine("torch"), [engine("refgrad")])

    assert results[0].verdict is Verdict.UNSTABLE
