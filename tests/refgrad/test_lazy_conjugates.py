"""Conjugate and negative views share memory; every op sees the values that they show."""

import pytest

from tests.refgrad.against_torch import agree

VIEW = """
z = torch.tensor([1 + 2j, 3 - 1j])
c = z.conj()
"""
READS = (
    """
c.imag|c.real|c.clone()|c.t()|c[0]|c.is_conj()|c.imag.is_neg()|c.tolist()|repr(c)|c.numpy()
c.numpy(force=True)|torch.view_as_real(c)|c.resolve_conj()|torch.stack([c, z])|torch.cat([c, z])|c.sum()
c @ z|c.reshape(2, 1)|c.abs()|torch.where(torch.tensor([True, False]), c, z)|c.contiguous()
c.to(torch.complex128)|c.detach().is_conj()|c + c|c.expand(3, 2)|c.flip(0)|c.cumsum(0)|c.prod()|c.mean()
c.view(2, 1).squeeze().is_conj()|torch.equal(c, c.clone())|c.conj().is_conj()
torch.empty(2, dtype=torch.complex64).copy_(c)|c[torch.tensor([1, 0])].is_conj()|c == c|c[0].item()
c.index_select(0, torch.tensor([1]))|c.imag.resolve_neg()|c.conj_physical()|torch.is_conj(c)
torch._neg_view(z.real)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
WRITES = (
    """
z.mul_(2)|c.mul_(1j)|c.add_(1)|c[:1].mul_(2)|c.zero_()|c.fill_(2j)|c.imag.fill_(7)
c.copy_(torch.tensor([1j, 2j]))|c.imag.add_(1)|c.real.neg_()
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("expression", READS)
def test_reading(expression):
    agree(f"{VIEW}out = {expression}")


@pytest.mark.parametrize("expression", WRITES)
def test_writing_reaches_the_shared_memory(expression):
    agree(f"{VIEW}out = {expression}\nshown = (z.tolist(), c.tolist())")


def test_assignment_reaches_the_shared_memory():
    agree(f"{VIEW}c[0] = 5j\nc.real = torch.tensor([9.0, 8.0])\nshown = (z.tolist(), c.tolist())")


def test_a_deep_copy_is_resolved():
    agree(f"import copy\n{VIEW}d = copy.deepcopy(c)\nlazy = d.is_conj()")


@pytest.mark.parametrize(
    "program",
    [
        "x = z * 1\nv = x.conj()\nv.mul_(2j)\nw = x.real\nw.mul_(2)\nx.abs().sum().backward()",
        "y = (z.conj() * z).real.sum()\ny.backward()\nlazy = z.grad.is_conj()",
        "y = z.conj()\ny.backward(torch.tensor([1 + 1j, 2j]))",
        "y = z.conj().imag\ng, = torch.autograd.grad(y.sum(), z, create_graph=True)",
    ],
)
def test_gradients_flow_through(program):
    agree(f"z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)\n{program}")
