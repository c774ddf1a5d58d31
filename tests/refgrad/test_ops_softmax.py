"""Softmax, its logarithm, and the logarithm of a sum of exponentials."""

import pytest

from tests.refgrad.against_torch import agree
from tests.refgrad.statements import awkward, blocks, twice

TWICE = """
y.logsumexp(0)
y.logsumexp((0, 1), True)
y.logsumexp(-1)
y.softmax(0)
y.softmax(-1)
y.softmax(0, dtype=torch.float64)
y.log_softmax(0)
y.log_softmax(-1)
torch.softmax(y, 1)
torch.special.softmax(y, 1)
y.t().softmax(0)
"""

AWKWARD = """
x.softmax(2)
i.softmax(0)
i.softmax(1)
i.log_softmax(0)
i.log_softmax(1)
i.softmax(0,dtype=torch.float32)
z.softmax(0)
b.softmax(0)
T(3.).softmax(0)
T(inf).softmax(0)
T([inf,1.]).softmax(0)
T([inf,1.]).log_softmax(0)
T([-inf,-inf]).log_softmax(0)
T([-inf,-inf]).logsumexp(0)
T([inf,2.]).logsumexp(0)
T([inf,-inf]).logsumexp(0)
T(3).softmax(0)
E3.softmax(1)
E.softmax(0)
E3.logsumexp(1)
E.logsumexp(0)
i.logsumexp(0)
b.logsumexp(0)
z.logsumexp(0)
x.logsumexp(())
x.logsumexp(2)
torch.nn.functional.softmax(x)
torch.nn.functional.log_softmax(x)
h.softmax(0)
h.softmax(0,dtype=torch.float32)
torch.nn.functional.softmin(x,0)
torch.nn.functional.softmax(x,dim=0,dtype=torch.int64)
torch.softmax(x,0,torch.float64)
torch.softmax(x)
T([inf,2.],requires_grad=True).logsumexp(0).backward()
torch.special.logsumexp(x,0)
torch.special.expit(x)
torch.special.softmax(x,0)
torch.special.log_softmax(x,0,dtype=torch.float64)
"""


@pytest.mark.parametrize("expression", TWICE.strip().splitlines())
def test_derivatives(expression):
    agree(twice(expression))


@pytest.mark.parametrize("expressions", blocks(AWKWARD))
def test_awkward_points(expressions):
    agree(awkward(expressions))
