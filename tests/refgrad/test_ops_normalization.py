"""Normalisation, embedding and padding: values, graphs, saved values, derivatives, errors."""

import pytest

from tests.refgrad.against_torch import agree
from tests.refgrad.gradient_programs import gradients

VECTORS = {
    "w_": "torch.tensor([.5, 2., 1.5], dtype=torch.float64).requires_grad_()",
    "b": "torch.tensor([.25, -1., .5], dtype=torch.float64).requires_grad_()",
}
RUNNING = {
    "m": "torch.tensor([.5, .25, 0.], dtype=torch.float64)",
    "v": "torch.tensor([.5, .25, 2.], dtype=torch.float64)",
}
FOUR = {"w_": "torch.tensor([.5, 2., 1.5, 1.], dtype=torch.float64).requires_grad_()"}


@pytest.mark.parametrize(
    "expression, inputs",
    [
        ("F.layer_norm(a, (3,))", {"a": (2, 3)}),
        ("F.layer_norm(a, (3,), w_, b)", {"a": (2, 3), **VECTORS}),
        ("F.layer_norm(a, (3,), w_)", {"a": (3,), **VECTORS}),
        ("F.layer_norm(a, (2, 3))", {"a": (4, 2, 3)}),
        ("F.layer_norm(a.detach(), (3,), w_, b)", {"a": (2, 3), **VECTORS}),
        ("F.rms_norm(a, (3,), w_)", {"a": (2, 3), **VECTORS}),
        ("F.rms_norm(a, (2, 3), eps=.1)", {"a": (2, 2, 3)}),
        ("F.instance_norm(a)", {"a": (2, 3, 4)}),
        ("F.instance_norm(a, m, v, w_, b)", {"a": (2, 3, 4), **VECTORS, **RUNNING}),
        ("F.instance_norm(a, m, v, w_, b, use_input_stats=False)", {"a": (2, 3, 4), **VECTORS, **RUNNING}),
        ("F.group_norm(a, 2)", {"a": (2, 4, 3)}),
        ("F.group_norm(a, 1)", {"a": (2, 4)}),
        ("F.embedding(torch.tensor([[0, 1, 0], [2, 0, 3]]), a) ** 2", {"a": (4, 3)}),
        ("F.embedding(torch.tensor([[0, 1, 0], [2, 0, 3]]), a, padding_idx=0) ** 2", {"a": (4, 3)}),
        ("F.embedding(torch.tensor([0, 1, 0]), a, scale_grad_by_freq=True) ** 2", {"a": (4, 3)}),
        ("F.embedding(torch.tensor(2), a)", {"a": (4, 3)}),
        ("F.pad(a, (1, 2)) ** 2", {"a": (4, 3)}),
        ("F.pad(a, (-1, 2, 3, 0), value=2) ** 2", {"a": (4, 3)}),
        ("F.pad(a, (1, 2), 'reflect') ** 2", {"a": (4, 3)}),
        ("F.pad(a, (1, 2, 2, 1), 'replicate') ** 2", {"a": (2, 4, 3)}),
        ("F.pad(a, (-1, 1, 0, -1), 'reflect') ** 2", {"a": (2, 4, 4, 3)}),
        ("F.pad(a, (1, 0, 1, 2, 1, 1), 'replicate') ** 2", {"a": (2, 3, 4, 3)}),
        ("F.pad(a, (2, 1, 0, 3), 'circular') ** 2", {"a": (2, 4, 4, 3)}),
    ],
)
def test_first_and_second_derivatives(expression, inputs):
    agree(gradients(expression, **inputs).replace("v.clone()", "(v * 1).detach()"))


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (2, 3, 2, 2)], ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(shape, training):
    inputs = {"a": shape, **VECTORS, **RUNNING}
    for parameters in ("", ", w_", ", w_, b"):
        expression = f"F.batch_norm(a, m, v{parameters}, training={training}, momentum=.25)"
        agree(gradients(expression, **inputs))


@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 4), (2, 4, 3, 2)], ids=str)
def test_group_norm_with_weight(shape):
    agree(gradients("F.group_norm(a, 2, w_, w_ * 2)", second=False, a=shape, **FOUR))


EXPRESSIONS = """
layer_norm(a, 3); layer_norm(a, (2,)); layer_norm(a, ()); layer_norm(a, (2, 2))
layer_norm(a, (3,), torch.ones(2)); layer_norm(a, (3,), None, torch.ones(2))
layer_norm(a, (3,), torch.ones(3).double()); layer_norm(a.long(), (3,))
layer_norm(torch.ones(0, 3), (3,)); layer_norm(torch.ones(3).half(), (3,)); layer_norm(a + 0j, (3,))
batch_norm(a, None, None); batch_norm(a[:1], None, None, training=True)
batch_norm(a, torch.ones(2), torch.ones(3)); batch_norm(a, o, o, torch.ones(2))
batch_norm(a, o, o, torch.ones(3).double()); batch_norm(a[0], o, o); batch_norm(a.long(), o, o)
batch_norm(a.double(), o, o); batch_norm(a, torch.ones(3).requires_grad_(), o)
batch_norm(torch.ones(0, 3), o, o, training=True); batch_norm(a, None, None, training=True, eps=0)
instance_norm(a); instance_norm(torch.ones(2, 3, 4), use_input_stats=False); group_norm(a, 2)
group_norm(a[0], 1); group_norm(torch.ones(2, 4, 3), 2, o); group_norm(torch.ones(2, 4, 3), 0)
group_norm(a.long(), 1); group_norm(torch.ones(2, 4, 3), -1); rms_norm(a, (2,))
rms_norm(a, (3,), torch.ones(3).double()); rms_norm(a.half(), (3,)); one_hot(i); one_hot(i, 1)
one_hot(i.float()); one_hot(torch.tensor([-1])); one_hot(torch.tensor([]).long())
one_hot(torch.tensor([]).long(), 3); one_hot(torch.tensor(2)); one_hot(i, 4); embedding(a, a)
embedding(torch.tensor([5]), a); embedding(torch.tensor([-1]), a); embedding(i, a[0])
embedding(i, a, padding_idx=5); embedding(i, a, max_norm=1.); embedding(i.int(), a); embedding(i, 3)
embedding(torch.zeros(0).long(), a); pad(a, (1,)); pad(a, (1, 2, 3, 4, 5, 6)); pad(a, (-4, 0))
pad(a, (0, 0)); pad(a, (5, 5), "reflect"); pad(a[0], (1, 1), "reflect"); pad(a, (1, 1), "x")
pad(a, (1, 1), "reflect", value=1); pad(a, (4, 0), "circular"); pad(a, (-4, 0), "replicate")
pad(a.long(), (1, 1), value=1.5); pad(a.bool(), (1, 1)); pad(a, [1.5, 2]); pad(torch.ones(2, 0), (1, 1))
pad(torch.ones(2, 0), (1, 1), "reflect")
"""


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().replace("\n", ";").split(";"))
def test_warnings_and_errors(expression):
    setup = "a, i, o = torch.ones(2, 3), torch.tensor([0, 1]), torch.ones(3)\n"
    agree(setup + f"r = torch.nn.functional.{expression.strip()}")
