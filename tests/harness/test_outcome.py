"""Errors get their canonical kind from PyTorch's own messages; texts lose what differs from run to run."""

import pytest

from harness.engines import engine
from harness.outcome import KIND_NAMES, SENTENCES, canonical_kind, clean_message, clean_text, fits_mark
from harness.program import Program

HEAD = ["import torch", "import copy", "x = torch.tensor([1.0, 2.0], requires_grad=True)", "y = x * x"]
FUNCTION = """\
class Odd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return {}"""
RAISES = {
    "version-mismatch": ["z = y.exp()", "z.zero_()", "z.sum().backward()"],
    "freed-graph": ["y.sum().backward()", "y.sum().backward()"],
    "leaf-inplace": ["x.add_(1.0)"],
    "view-inplace": ["a, b = y.unbind()", "a.add_(1.0)"],
    "overlap": ["y.detach()[:1].expand(3).add_(1.0)"],
    "not-scalar": ["y.backward()"],
    "no-grad": ["torch.ones(1).backward()"],
    "unused-input": ["torch.autograd.grad(y.sum(), torch.ones(1, requires_grad=True))"],
    "leaf-flag": ["y.requires_grad = False"],
    "grad-assignment": ["x.grad = torch.ones(3)"],
    "gradient-mismatch": [FUNCTION.format("g, g"), "Odd.apply(x).sum().backward()"],
    "hook-result": ["y.register_hook(lambda g: 1)", "y.sum().backward()"],
    "function-result": [FUNCTION.replace("return x * 2", "ctx.save_for_backward(1)"), "Odd.apply(x)"],
    "not-differentiable": ["torch.heaviside(x, x).sum().backward()"],
    "inference": ["with torch.inference_mode():\n    i = torch.ones(2)", "(x * i).sum().backward()"],
    "deepcopy": ["copy.deepcopy(y)"],
    "numpy": ["y.numpy()"],
    "nan": [
        "with torch.autograd.detect_anomaly():\n    ((x - x) / (x - x)).sum().backward()",
    ],
    "saved-tensor": [
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: t.zero_(), lambda t: t):\n    x * x"
    ],
    "shape": ["x + torch.ones(3)"],
    "dtype": ["torch.ones(2, dtype=torch.int64).add_(0.5)"],
    "index": ["x[5]"],
    "argument": ["x.sum(foo=1)"],
}


@pytest.mark.parametrize("kind", RAISES)
def test_kinds_of_what_pytorch_raises(kind: str) -> None:
    program = Program.from_statements([*HEAD, *RAISES[kind]])
    trace = engine("torch").run(program)

    raised = trace.outcome(len(program.statements) - 1).raised

    assert raised is not None and raised.kind == kind, raised
    assert fits_mark(kind, raised) and fits_mark(raised.type, raised) and not fits_mark("other", raised)


def test_every_kind_is_shown_by_pytorch() -> None:
    assert RAISES.keys() == KIND_NAMES


def test_an_error_without_a_known_text_is_called_by_its_type() -> None:
    trace = engine("torch").run(Program.from_statements(["1 / 0"]))

    assert trace.outcome(0).raised == (
        "ZeroDivisionError",
        "forward",
        "ZeroDivisionError",
        "division by zero",
    )


def test_texts_lose_addresses_and_places_in_sources() -> None:
    assert clean_text("<object at 0x7f12ab>") == "<object at 0x...>"
    assert clean_message("slow (Triggered internally at /b/a.cpp:3.)") == "slow"
    frames = (
        'Traceback:\n  File "run.py", line 3, in f\n    g()\n  File "p.py", line 1, in <module>\n    h()\n'
    )
    assert clean_message(frames, "p.py") == 'Traceback:\n  File "p.py", line 1, in <module>\n    h()'


def test_each_kind_has_a_sentence_that_is_of_it() -> None:
    assert SENTENCES.keys() == KIND_NAMES
    types = {"index": "IndexError", "argument": "TypeError"}
    for kind, sentence in SENTENCES.items():
        assert canonical_kind(types.get(kind, "RuntimeError"), sentence) == kind
