"""Losses: values, graphs, saved values, first and second derivatives, warnings and errors."""

import pytest

from tests.refgrad.against_torch import agree
from tests.refgrad.gradient_programs import gradients

A = {"a": (2, 3)}
PAIR = {"a": (2, 3), "b": (2, 3)}
CHANCES = "torch.tensor([[.25, .5, .125], [.75, .5, .25]], dtype=torch.float64)"
LEARNED = CHANCES + ".requires_grad_()"
WEIGHT = "torch.tensor([.5, 2., 1.5], dtype=torch.float64)"
NUMBERS = "torch.tensor([2, 1])"
IMAGE = "torch.tensor([[0, 1, 2, 1], [2, 2, -100, 1]])"
SIGNS = "torch.tensor([[1, -1, 1], [-1, 1, -1.]], dtype=torch.float64)"

LOSSES = [
    ("F.mse_loss(a, b, {})", PAIR),
    ("F.mse_loss(a, b.detach(), {})", PAIR),
    ("F.l1_loss(a, b, {})", PAIR),
    ("F.smooth_l1_loss(a, b, {})", PAIR),
    ("F.smooth_l1_loss(a, b, {}, beta=.5)", PAIR),
    ("F.smooth_l1_loss(a, b, {}, beta=0)", PAIR),
    ("F.huber_loss(a, b, {}, delta=.5)", PAIR),
    ("F.binary_cross_entropy(a, b, {})", {"a": LEARNED, "b": CHANCES}),
    ("F.binary_cross_entropy_with_logits(a, b, {})", A | {"b": CHANCES}),
    ("F.binary_cross_entropy_with_logits(a, b, {}, weight=w)", A | {"b": CHANCES, "w": WEIGHT}),
    ("F.binary_cross_entropy_with_logits(a, b, {}, pos_weight=w)", A | {"b": CHANCES, "w": WEIGHT}),
    ("F.nll_loss(a, t, {})", A | {"t": NUMBERS}),
    ("F.nll_loss(a, t, w, {}, ignore_index=1)", A | {"t": NUMBERS, "w": WEIGHT}),
    ("F.nll_loss(a, t, {})", {"a": (3,), "t": "torch.tensor(1)"}),
    ("F.nll_loss(a, t, {})", {"a": (2, 3, 4), "t": IMAGE}),
    ("F.nll_loss(a, t[..., None], w, {})", {"a": (2, 3, 4, 1), "t": IMAGE, "w": WEIGHT}),
    ("F.nll_loss(a, t[..., None, None], w, {})", {"a": (2, 3, 4, 1, 1), "t": IMAGE, "w": WEIGHT}),
    ("F.cross_entropy(a, t, {})", A | {"t": NUMBERS}),
    ("F.cross_entropy(a, t, w, {})", A | {"t": NUMBERS, "w": WEIGHT}),
    ("F.cross_entropy(a, t, {}, label_smoothing=.25)", A | {"t": NUMBERS}),
    ("F.cross_entropy(a, t, w, {}, label_smoothing=.25)", {"a": (2, 3, 4), "t": IMAGE, "w": WEIGHT}),
    ("F.cross_entropy(a, t, {})", A | {"t": LEARNED}),
    ("F.cross_entropy(a, t, w, {}, label_smoothing=.25)", A | {"t": LEARNED, "w": WEIGHT}),
    ("F.cross_entropy(a, t, {})", {"a": (3,), "t": "torch.tensor(1)"}),
    ("F.kl_div(a, t, {})", A | {"t": CHANCES}),
    ("F.kl_div(a, b, {}, log_target=True)", PAIR),
    ("F.hinge_embedding_loss(a, t, {})", A | {"t": SIGNS}),
    ("F.poisson_nll_loss(a, b, {})", PAIR),
    ("F.poisson_nll_loss(a, t, {}, log_input=False, full=True)", {"a": LEARNED, "t": CHANCES}),
    ("F.gaussian_nll_loss(a, b, c, {}, full=True)", PAIR | {"c": LEARNED}),
    ("F.margin_ranking_loss(a, b, t, {}, margin=.5)", PAIR | {"t": SIGNS}),
    ("F.soft_margin_loss(a, t, {})", A | {"t": SIGNS}),
    ("F.cosine_embedding_loss(a, b, t, {}, margin=.1)", PAIR | {"t": "torch.tensor([1, -1])"}),
    ("F.triplet_margin_loss(a, b, c, {}, swap=True)", PAIR | {"c": LEARNED}),
    ("F.triplet_margin_with_distance_loss(a, b, c, {})", PAIR | {"c": LEARNED}),
    ("F.multilabel_soft_margin_loss(a, t, {})", A | {"t": CHANCES}),
]
ONCE = [
    ("F.multi_margin_loss(a, t, {})", A | {"t": NUMBERS}),
    ("F.multi_margin_loss(a, t, p=2, weight=w, {})", A | {"t": NUMBERS, "w": WEIGHT}),
    ("F.multilabel_margin_loss(a, t, {})", A | {"t": "torch.tensor([[2, -1, 0], [0, 1, 2]])"}),
    ("F.binary_cross_entropy(a, b, w, {})", {"a": LEARNED, "b": LEARNED, "w": WEIGHT}),
]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    "expression, inputs", LOSSES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_losses_twice_differentiable(expression, inputs, reduction):
    agree(graph_only(gradients(expression.format(f"reduction={reduction!r}"), **inputs), reduction))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    "expression, inputs", ONCE, ids=lambda value: value if isinstance(value, str) else ""
)
def test_losses_once_differentiable(expression, inputs, reduction):
    agree(gradients(expression.format(f"reduction={reduction!r}"), second=False, **inputs))


def graph_only(program: str, reduction: str) -> str:
    """The program without its last gradients where PyTorch averages those in place: their version differs."""
    if reduction == "mean" and "with_logits" in program:
        return program + "\ng = [None if v is None else v.clone() for v in g]"
    return program


@pytest.mark.parametrize(
    "expression, inputs",
    [
        ("F.mse_loss(a, b)", {"a": (2, 3), "b": (3,)}),
        ("F.mse_loss(a, b, weight=c)", PAIR | {"c": LEARNED}),
        ("F.l1_loss(a, b, weight=c, reduction='sum')", PAIR | {"c": LEARNED}),
        ("F.huber_loss(a, b, weight=c)", PAIR | {"c": LEARNED}),
        ("F.kl_div(a, b, reduction='batchmean')", {"a": (2, 3), "b": LEARNED}),
        ("F.cosine_similarity(a, b)", PAIR),
        ("F.cosine_similarity(a, b, dim=0)", PAIR),
        ("F.cosine_similarity(a, a * 0)", A),
        ("F.pairwise_distance(a, b)", PAIR),
        ("F.pairwise_distance(a, b, p=1, keepdim=True)", PAIR),
        ("F.normalize(a)", A),
        ("F.normalize(a, p=1, dim=0)", A),
        ("F.mse_loss(a, b)", {"a": (2, 3), "b": "torch.tensor([[1, 2, 3], [4, 5, 6]])"}),
    ],
)
def test_weights_and_similarity(expression, inputs):
    agree(gradients(expression, second="loss" not in expression, **inputs))


SETUP = """
a, d, i = torch.ones(2, 3), torch.ones(2, 3).double(), torch.tensor([0, 1])
p, e = torch.full((2, 3), .5), torch.zeros(0, 3)
"""
EXPRESSIONS = """
mse_loss(a, torch.ones(3)); mse_loss(a, torch.ones(2)); mse_loss(a, d); mse_loss(a, a.long())
mse_loss(a.long(), a.long()); mse_loss(a, a, reduction="x"); mse_loss(a, 3); mse_loss(a)
mse_loss(a + 0j, a + 0j); mse_loss(a, a, size_average=False); mse_loss(a, a, reduce=False)
mse_loss(a, a, weight=torch.ones(3)); mse_loss(torch.ones(0), torch.ones(0)); l1_loss(a.long(), a.long())
l1_loss(a.bool(), a.bool()); smooth_l1_loss(a, a, beta=-1); huber_loss(a, a, delta=0); huber_loss(a, d)
binary_cross_entropy(a * 2, a); binary_cross_entropy(p, torch.ones(3)); binary_cross_entropy(p, d)
binary_cross_entropy(p, p * 4); binary_cross_entropy(p, a, weight=torch.ones(4))
binary_cross_entropy(p * float("nan"), a)
binary_cross_entropy(torch.tensor([0., 1.]), torch.tensor([1., 0.]))
binary_cross_entropy(p, p, torch.ones(3).requires_grad_())
binary_cross_entropy_with_logits(a, torch.ones(3)); binary_cross_entropy_with_logits(a, d)
binary_cross_entropy_with_logits(a, a.long())
binary_cross_entropy_with_logits(torch.tensor([float("inf"), 200.]), torch.tensor([1., 0.]), reduction="none")
binary_cross_entropy_with_logits(a, a, pos_weight=torch.ones(2)); nll_loss(a, torch.tensor([0, 3]))
nll_loss(a, torch.tensor([0])); nll_loss(a, i.int()); nll_loss(a, i.to(torch.uint8)); nll_loss(a[0], i)
nll_loss(a, i, torch.ones(2)); nll_loss(a, i, torch.ones(3).double())
nll_loss(a, torch.tensor([-100, -100])); nll_loss(a, i, torch.ones(3).requires_grad_())
nll_loss(torch.tensor(1.), i[0]); nll_loss(a.long(), i); nll_loss(e, torch.zeros(0).long())
nll_loss(e, torch.zeros(0).long(), reduction="sum"); nll_loss(a, 3)
nll_loss(torch.ones(2, 3, 4), torch.zeros(2, 3).long())
nll_loss(torch.ones(2, 3, 4, 5), torch.zeros(2, 4).long())
nll_loss(torch.ones(2, 3, 4, 5), torch.zeros(2, 4, 6).long()); cross_entropy(a, torch.tensor([0, 5]))
cross_entropy(a, torch.tensor([0, 1, 2])); cross_entropy(a, a.long()); cross_entropy(a, i.float())
cross_entropy(a, i, label_smoothing=2); cross_entropy(a, a, ignore_index=1)
cross_entropy(a, a, torch.ones(2)); cross_entropy(a.long(), i); cross_entropy(a, 3)
cross_entropy(a, i, reduction="x"); kl_div(a, a)
cross_entropy(a, torch.tensor([-100, -100]), label_smoothing=.1); cosine_similarity(a.long(), a.long())
cosine_similarity(a, a, dim=3); cosine_similarity(a, torch.ones(4)); normalize(a[0]); normalize(3)
margin_ranking_loss(a, a, a[0]); gaussian_nll_loss(a, a, -a); gaussian_nll_loss(a, a, torch.ones(4))
triplet_margin_loss(a, a, a, margin=0); multi_margin_loss(a, i, p=3)
multi_margin_loss(a, torch.tensor([0, 3])); multi_margin_loss(a, i, weight=torch.ones(2))
multilabel_margin_loss(a, torch.tensor([[0, 1, 3], [0, -1, 2]])); cosine_embedding_loss(a, a, a)
cosine_embedding_loss(a, a, torch.tensor(1)); poisson_nll_loss(a, a, reduction="x")
"""


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().replace("\n", ";").split(";"))
def test_warnings_and_errors(expression):
    agree(SETUP + f"r = torch.nn.functional.{expression.strip()}")
