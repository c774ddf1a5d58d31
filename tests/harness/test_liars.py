"""Every fact has a liar: an engine that is PyTorch but for that one fact must be caught, and by that fact."""

import warnings
from typing import Any

import pytest
import torch

from harness.engines import engine
from harness.engines.base import END
from harness.engines.pytorch import TorchEngine
from harness.facts import FACTS
from harness.outcome import Outcome, Raised
from harness.program import Program
from harness.run import examine
from harness.trace import Trace
from harness.verdict import Verdict
from tests.harness.liars import Liar, node_like, truth

TORCH = engine("torch")
GRAPH = """\
import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x * x
y.retain_grad()
z = y[1:] * 2.0
z.sum().backward()
"""
COPIES = """\
import torch

x = torch.tensor([1.0, 2.0])
y = x.mul_(2.0)
"""


def first(script: str, liar: Any, **options: Any) -> Any:
    """The result of a liar on a script."""
    return examine(Program.parse(script), TORCH, [liar], strict=True, **options)[1]


def wrong(read: Any) -> property:
    return property(read)


is_leaf, requires_grad = truth("is_leaf"), truth("requires_grad")
version, grad, grad_fn = truth("_version"), truth("grad"), truth("grad_fn")
output_nr, retains_grad = truth("output_nr"), truth("retains_grad")


def changed(numbers: Any) -> Any:
    return [changed(numbers[0]), *numbers[1:]] if isinstance(numbers, list) else numbers + 1


def transposed(gradient: Any) -> Any:
    return gradient if gradient is None or gradient.dim() < 2 else gradient.t().contiguous().t()


STORAGE = torch.Tensor.untyped_storage

# fact: (script, lies, the subject that is caught)
LIARS: dict[str, tuple[str, dict[str, Any], str]] = {
    "value": (GRAPH, {"tolist": lambda self: changed(torch._C.TensorBase.tolist(self))}, "x"),
    "requires_grad": (GRAPH, {"requires_grad": wrong(lambda self: self.grad_fn is None)}, "y"),
    "is_leaf": (GRAPH, {"is_leaf": wrong(lambda self: True)}, "y"),
    "retains_grad": (GRAPH, {"retains_grad": wrong(lambda self: False)}, "y"),
    "grad": (
        GRAPH,
        {"grad": wrong(lambda self: torch.zeros(self.shape) if grad(self) is None else grad(self))},
        "x",
    ),
    "grad_details": (GRAPH, {"grad": wrong(lambda self: transposed(grad(self)))}, "x"),
    "is_view": (GRAPH.replace("y[1:] * 2.0", "y[1:]"), {"_is_view": lambda self: False}, "z"),
    "shares": (
        GRAPH.replace("y[1:] * 2.0", "y[1:]"),
        {"untyped_storage": lambda self: STORAGE(self.clone())},
        "y",
    ),
    "same_as": (COPIES, {"mul_": lambda self, other: torch._C.TensorBase.mul_(self, other)[:]}, "x"),
    "grad_fn": (
        GRAPH,
        {"grad_fn": wrong(lambda self: node_like(grad_fn(self), name="MultiplyBackward0"))},
        "y",
    ),
    "output_nr": (GRAPH, {"output_nr": wrong(lambda self: output_nr(self) + 1)}, "x"),
    "version": (COPIES, {"_version": wrong(lambda self: 0)}, "x"),
    "strides": (GRAPH, {"stride": lambda self: (1, 2)[: self.dim()]}, "x"),
    "storage_offset": (GRAPH.replace("y[1:] * 2.0", "y[1:]"), {"storage_offset": lambda self: 0}, "z"),
    "is_inference": (GRAPH, {"is_inference": lambda self: True}, "x"),
    "graph": (GRAPH, {"grad_fn": wrong(lambda self: node_like(grad_fn(self), next_functions=()))}, "y"),
    "saved": (GRAPH, {"grad_fn": wrong(lambda self: grad_fn(self) and Unfreed(grad_fn(self)).node)}, "y"),
}


class Unfreed:
    """Stands for a node that says its saved tensors are kept."""

    def __init__(self, node: Any):
        attributes = (
            {"_raw_saved_self": None, "_saved_self": None} if hasattr(node, "_raw_saved_self") else {}
        )
        self.node = type(type(node).__name__, (), attributes)()
        self.node.next_functions = node.next_functions


def test_an_honest_imitation_agrees() -> None:
    for script in (GRAPH, COPIES):
        assert first(script, Liar()).verdict is Verdict.AGREES


def test_every_fact_has_a_liar() -> None:
    assert LIARS.keys() == FACTS.keys()


@pytest.mark.parametrize("fact", LIARS)
def test_a_lie_about_a_tensor_is_caught_by_its_fact(fact: str) -> None:
    script, lies, subject = LIARS[fact]

    result = first(script, Liar(**lies))

    assert result.verdict is Verdict.DIFFERS
    assert (result.difference.subject, result.difference.fact) == (subject, fact)


@pytest.mark.parametrize("fact", [name for name, fact in FACTS.items() if not fact.is_dear])
def test_the_quick_look_catches_it_too(fact: str) -> None:
    script, lies, subject = LIARS[fact]

    result = first(script, Liar(**lies), thorough=False)

    assert (result.difference.subject, result.difference.fact) == (subject, fact)


# What a step ends in ------------------------------------------------------------------------------

LEAF = """\
import torch

x = torch.tensor([1.0], requires_grad=True)
x.add_(1.0)
"""
REGISTER_HOOK = torch.Tensor.register_hook
HOOKS = """\
import torch

x = torch.tensor([1.0], requires_grad=True)
y = x * 2.0
a = y.register_hook(lambda g: print("first", g.item()))
b = y.register_hook(lambda g: print("second", g.item()))
y.sum().backward()
"""


def silent(self: Any, other: Any) -> Any:
    with torch.no_grad():
        return torch._C.TensorBase.add_(self, other)


def of_another_type(self: Any, other: Any) -> Any:
    raise ValueError("a leaf Variable that requires grad is being used in an in-place operation.")


def in_other_words(self: Any, other: Any) -> Any:
    raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation")


def loud(self: Any, *args: Any) -> Any:
    warnings.warn("slow", UserWarning, stacklevel=1)
    return torch._C.TensorBase.sum(self, *args)


def first_hook_last(self: Any, hook: Any) -> Any:
    hooks = self.__dict__.setdefault("hooks", [])
    hooks.insert(0, hook)
    if len(hooks) == 1:
        return REGISTER_HOOK(self, lambda g: [h(g) for h in hooks] and None)
    return object()


SUM = "import torch\n\nx = torch.ones(2)\ny = x.sum()\n"
# What a step ends in: (script, lies, the subject that is caught)
OUTCOME_LIARS: dict[str, tuple[str, dict[str, Any], str]] = {
    "kind": (LEAF, {"add_": silent}, "raises"),
    "type": (LEAF, {"add_": of_another_type}, "raises"),
    "message": (LEAF, {"add_": in_other_words}, "raises"),
    "printed": (HOOKS, {"register_hook": first_hook_last}, "printed"),
    "warnings": (SUM, {"sum": loud}, "warnings"),
}


def test_every_part_of_an_outcome_has_a_liar() -> None:
    parts = {*Outcome._fields, *Raised._fields} - {"raised"}

    assert OUTCOME_LIARS.keys() == parts - {"phase"}  # which the program tells, not the engine


@pytest.mark.parametrize("part", OUTCOME_LIARS)
def test_a_lie_about_an_outcome_is_caught_by_its_part(part: str) -> None:
    script, lies, subject = OUTCOME_LIARS[part]

    for thorough in (True, False):
        found = first(script, Liar(**lies), thorough=thorough).difference
        assert (found.subject, found.fact) == (subject, part)


def test_an_error_that_does_not_come() -> None:
    found = first(LEAF, Liar(add_=silent)).difference

    assert (found.line, found.actual) == (4, None)
    assert found.expected.startswith("leaf-inplace (RuntimeError: a leaf Variable that requires grad")


def test_an_error_of_another_type() -> None:
    found = first(LEAF, Liar(add_=of_another_type)).difference

    assert (found.expected, found.actual) == ("RuntimeError", "ValueError")


def test_an_error_with_another_text_counts_only_strictly() -> None:
    assert examine(Program.parse(LEAF), TORCH, [Liar(add_=in_other_words)])[1].verdict is Verdict.AGREES


def test_hooks_in_another_order() -> None:
    found = first(HOOKS, Liar(register_hook=first_hook_last)).difference

    assert found.line == 7
    assert found.expected == ["first 1.0", "second 1.0"]
    assert found.actual == ["second 1.0", "first 1.0"]


def test_a_warning_too_many_counts_only_strictly() -> None:
    assert first(SUM, Liar(sum=loud)).difference.actual == [["UserWarning", "slow"]]
    assert examine(Program.parse(SUM), TORCH, [Liar(sum=loud)])[1].verdict is Verdict.AGREES


def test_a_deprecation_inside_the_engine_is_no_warning_of_the_program() -> None:
    script = "import torch\nimport warnings\n\nx = torch.ones(2)\nwarnings.warn('mine', DeprecationWarning)\n"

    def deprecated(*shape: int) -> Any:
        warnings.warn("theirs", DeprecationWarning, stacklevel=1)
        return torch.zeros(*shape) + 1

    trace = Liar(torch_ones=deprecated).run(Program.parse(script))

    assert [trace.outcome(step).warnings for step in (2, 3)] == [(), (("DeprecationWarning", "mine"),)]


def test_a_name_that_is_missing_is_unsupported_not_different() -> None:
    def lacking(self: Any) -> Any:
        raise AttributeError("no exp here", name="exp", obj=self)

    script = "import torch\n\nx = torch.ones(2)\ny = x.exp()\nz = y + 1.0\n"
    result = first(script, Liar(exp=property(lacking)))

    assert (result.verdict, result.note, result.difference) == (Verdict.UNSUPPORTED, "lacks Tensor.exp", None)


def test_a_difference_before_the_missing_name_counts() -> None:
    script = "import torch\n\nx = torch.ones(2)\ny = torch.missing(x)\n"
    result = first(script, Liar(torch_ones=torch.zeros))

    assert result.verdict is Verdict.DIFFERS
    assert result.difference.fact == "value"


def test_an_engine_that_does_something_else_unwatched_is_unstable() -> None:
    class Shy(Liar):
        def run(self, program: Program, look: str = "full") -> Trace:
            return super().run(program, look) if look == END else TorchEngine.run(self, program, look)

    result = first("import torch\n\nx = torch.ones(2)\n", Shy(requires_grad=wrong(lambda self: True)))

    assert result.verdict is Verdict.UNSTABLE
    assert (result.difference.subject, result.difference.fact) == ("x", "requires_grad")
