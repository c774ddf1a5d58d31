"""Bags of embeddings and the CTC loss: values, gradients, graphs and refusals are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

BAGS = """
torch.manual_seed(6)
bag = torch.nn.functional.embedding_bag
w = torch.randn(5, 3, requires_grad=True)
p = torch.randn(6, requires_grad=True)
i = torch.tensor([1, 2, 4, 4, 3, 2])
o = torch.tensor([0, 2, 2, 5])
"""
CALLS = [
    "i, w, o",
    "i, w, o, mode='sum'",
    "i, w.double(), o, mode='sum'",
    "i, w, o, mode='max'",
    "i, w, o, mode='sum', per_sample_weights=p",
    "i, w.double(), o, mode='sum', per_sample_weights=p.double(), padding_idx=2",
    "i, w, o, padding_idx=-1",
    "i, w, o, mode='max', padding_idx=4",
    "i, w, o, scale_grad_by_freq=True",
    "i.view(2, 3), w",
    "i.view(2, 3), w, mode='sum', per_sample_weights=p.view(2, 3)",
    "i, w, torch.tensor([0, 2, 6]), include_last_offset=True",
    "i[:0], w, o[:1]",
    "i.int(), w, o.int(), mode='max'",
]


@pytest.mark.parametrize("call", CALLS)
def test_bags(call):
    agree(
        BAGS
        + f"""
r = bag({call})
g = torch.autograd.grad(r.sin().sum(), [w, p], allow_unused=True)
"""
    )


REFUSED_BAGS = [
    "i, w, torch.tensor([1, 2])",
    "i, w, torch.tensor([0, 9])",
    "i.float(), w, o",
    "i + 3, w, o",
    "i, w, o, padding_idx=9",
    "i, w.long(), o",
    "i, w",
    "i.view(2, 3), w, o",
    "i, w, o.view(2, 2)",
    "i[0], w, o",
    "i, w[0], o",
    "i, w, o, mode='x'",
    "i, w, o, mode='max', scale_grad_by_freq=True",
    "i, w, o, per_sample_weights=p",
    "i, w, o, mode='sum', per_sample_weights=p[:3]",
]


@pytest.mark.parametrize("call", REFUSED_BAGS)
def test_bags_refused_as_by_torch(call):
    agree(BAGS + f"r = bag({call})")


def test_bags_as_a_module_and_twice():
    agree(
        BAGS
        + """
m = torch.nn.EmbeddingBag(5, 3, padding_idx=1, mode="sum", max_norm=1.0)
n = torch.nn.EmbeddingBag.from_pretrained(w.detach(), mode="max")
r = [m(i, o), n(i, o), torch.embedding_bag(w, i, o, False, 1)]
state = [dict(m.state_dict()), n.weight.requires_grad]
text, m, n = [repr(m), repr(n)], 0, 0
g, = torch.autograd.grad(bag(i, w, o).sin().sum(), w, create_graph=True)
g.sum().backward()
g = 0
"""
    )


CTC = """
torch.manual_seed(7)
loss = torch.nn.functional.ctc_loss
T = torch.tensor
x = torch.randn(6, 2, 4, requires_grad=True)
lines = x.log_softmax(2)
targets = T([[1, 2, 3], [1, 1, 2]])
"""
LOSSES = [
    "lines, targets, T([6, 5]), T([3, 2])",
    "lines, targets, (6, 5), (3, 2), reduction='sum'",
    "lines, T([1, 2, 3, 1, 1]), (6, 5), (3, 2), reduction='none'",
    "lines.double(), targets, T([6, 5]), T([3, 2]), blank=3",
    "lines, targets, T([2, 5]), T([3, 2]), reduction='none'",
    "lines, targets, T([2, 5]), T([3, 2]), reduction='none', zero_infinity=True",
    "lines, targets, T([6, 5]), T([0, 2])",
    "lines[:, 0], T([1, 2]), T(6), T(2), reduction='none'",
    "lines[:, 0], T([1, 2]), T(6), T(2), zero_infinity=True",
    "lines, targets.float(), T([6, 5]), T([3, 2])",
]


@pytest.mark.parametrize("call", LOSSES)
def test_ctc(call):
    """PyTorch leaves what it saves behind the lengths as it finds it: the graph is compared by name."""
    agree(
        CTC
        + f"""
r = loss({call})
name = type(r.grad_fn).__name__, [type(n).__name__ for n, _ in r.grad_fn.next_functions]
g = torch.autograd.grad(r.sum(), x)
r = r.detach()
"""
    )


REFUSED_LOSSES = [
    "lines, targets, T([6]), T([3, 2])",
    "lines, targets, T([6, 5]), T([3])",
    "lines, targets, T([7, 5]), T([3, 2])",
    "lines, targets, T([6, 5]), T([4, 2])",
    "lines, T([1, 2, 3, 1]), T([6, 5]), T([3, 2])",
    "lines, targets, T([6, 5]), T([3, 2]), blank=4",
    "lines.long(), targets, T([6, 5]), T([3, 2])",
    "lines, targets, T([6.0, 5]), T([3, 2])",
    "lines, targets, T([-1, 5]), T([3, 2])",
    "lines, targets, T([6, 5]), T([-1, 2])",
    "lines[:, :0], targets[:0], (), ()",
    "lines, targets, T([6, 5]), T([3, 2]), reduction='x'",
]


@pytest.mark.parametrize("call", REFUSED_LOSSES)
def test_ctc_refused_as_by_torch(call):
    agree(CTC + f"r = loss({call})")


def test_ctc_as_a_module():
    program = (
        "m = torch.nn.CTCLoss(blank=3)\nr = m(lines, targets, (6, 5), (3, 2)).detach()\ntext, m = repr(m), 0"
    )
    agree(CTC + program)
