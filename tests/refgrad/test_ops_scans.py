"""Scans, differences of neighbours and trapezoids."""

import pytest

from tests.refgrad.against_torch import agree
from tests.refgrad.statements import awkward, blocks, twice

TWICE = """
y.cumsum(0)
y.cumsum(-1, dtype=torch.float64)
y.cumprod(0)
y.cumprod(-1)
y.cummax(0)
y.cummin(-1)
y.logcumsumexp(0)
y.clamp(-2, 2).logcumsumexp(-1)
y.clone().cumsum_(0)
y.clone().cumprod_(1)
torch.diff(y)
torch.diff(y, n=2, dim=0)
torch.diff(y, prepend=y[:, :1])
torch.trapezoid(y)
torch.cumulative_trapezoid(y)
"""

AWKWARD = """
x.cumsum(0,dtype=torch.int64)
x.cumsum(2)
i.cumsum(0,dtype=torch.float32)
b.cumsum(0)
b.cumprod(0)
T(True).cumsum(0)
z.cumsum(0)
z.cumprod(0)
z.cummax(0)
b.cummax(0)
T(3.).cummax(0)
T(3.).cumsum(0)
E.cumsum(0)
E.cummax(0)
E3.cummin(1)
z.logcumsumexp(0)
i.logcumsumexp(0)
T(3.).logcumsumexp(0)
T([-inf,-inf,1.]).logcumsumexp(0)
T([inf,-inf,1.]).logcumsumexp(0)
T([1.,3.,3.,2.]).cummax(0)
T([1.,3.,3.,2.]).cummin(0)
T([1.,nan,3.,nan,2.]).cummax(0)
i.to(torch.uint8).cumsum(0)
i.to(torch.int8).cumsum_(0)
i.to(torch.int8).cumsum(0,dtype=torch.int8)
b.clone().cumsum_(0)
x.detach().clone().cumsum_(0,dtype=torch.float64)
i.clone().cumprod_(0)
i.clone().cumsum_(0, dtype=torch.int32)
i.to(torch.uint8).cumprod_(0)
h.cumsum(0)
h.cumprod(0)
torch.diff(T([1,3,6]))
torch.diff(b)
torch.diff(T(1.))
torch.diff(x,n=0)
torch.diff(x,n=3)
torch.diff(x,n=-1)
torch.diff(x,dim=2)
torch.diff(x,prepend=T([1.]))
torch.diff(x,prepend=T([[1.],[2.]]),append=T([[1.],[2.]]))
torch.trapezoid(x,dx=2.)
torch.trapezoid(x,x)
torch.trapezoid(T(1.))
torch.trapezoid(x,T([1.,2.,3.]))
torch.trapezoid(x,dim=0)
torch.trapezoid(b)
torch.trapezoid(x,dim=3)
torch.trapezoid(T([2.]))
torch.trapz(x)
torch.cumulative_trapezoid(x)
torch.cumulative_trapezoid(x,x)
torch.diff(x,prepend=T([[[1.]]]))
torch.diff(x,prepend=torch.ones(3,1))
torch.diff(b,n=2)
torch.diff(E)
x.diff()
x.trapezoid
"""


@pytest.mark.parametrize("expression", TWICE.strip().splitlines())
def test_derivatives(expression):
    agree(twice(expression))


@pytest.mark.parametrize("expressions", blocks(AWKWARD))
def test_awkward_points(expressions):
    agree(awkward(expressions))
