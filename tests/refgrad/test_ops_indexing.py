"""Subscripts, and reading and writing at index tensors and masks."""

import pytest

from tests.refgrad.against_torch import agree
from tests.refgrad.statements import twice

PLAIN = """
x = torch.arange(6.).reshape(2, 3)
z3 = torch.zeros(2, 3, 4)
i = torch.tensor([0, 1])
I = torch.tensor([[0, 1, 0]])
"""
FOLLOWED = """
leaf = torch.arange(6.).reshape(2, 3).requires_grad_()
x = leaf * 1
z3 = torch.zeros(2, 3, 4, requires_grad=True) * 1
i = torch.tensor([0, 1])
I = torch.tensor([[0, 1, 0]])
"""

SUBSCRIPTS = r"""
x[5]
x[0,5]
x[0,0,0]
x['a']
x[1.5]
x[{}]
x[0,'a']
x[[0,5]]
x[[0,1.5]]
x[torch.tensor(0.5)]
x[torch.tensor([0.5])]
x[torch.tensor([True])]
x[torch.tensor([[True,False,True]])]
x[[[0,1],[1,0]]]
x[[slice(0,1)]]
x[[0,None]]
x[(0,1)]
x[[True,False]]
x[torch.tensor([1,0],dtype=torch.uint8)]
x[torch.tensor(1,dtype=torch.uint8)]
x[torch.tensor(True)]
x[np.array([0,1])]
x[np.array([True,False])]
x[np.int64(1)]
x[np.array(1)]
x[np.bool_(True)]
x[::-1]
x[::0]
x[0:10]
x[5:1]
torch.tensor(1.)[0]
torch.tensor(1.)[:]
torch.tensor(1.)[None]
torch.tensor(1.)[...]
torch.tensor(1.)[True]
torch.tensor(1.)[torch.tensor(True)]
torch.tensor(1.)[()]
x[()]
x[[]]
x[torch.tensor([])]
x[torch.tensor([],dtype=torch.long)]
x[...,...]
x[0,...,0,...]
x[range(2)]
x[torch.tensor([0]),torch.tensor([0,1,2])]
x[torch.tensor([0,1]),torch.tensor([0,1,2])]
x[:, torch.tensor([5])]
x[:, torch.tensor([-4])]
x[torch.tensor([0,1],dtype=torch.int32)]
x[torch.tensor([0,1],dtype=torch.int16)]
x[torch.tensor([0,1],dtype=torch.int8)]
x[torch.tensor([0j])]
x[1:2.5]
x['a':]
x[torch.tensor(1):]
x[torch.tensor([1]):]
x[torch.tensor([0,1]):]
x[torch.tensor(1.):]
x[x]
x[x>100]
x[x>2]
x[[[0,1]]]
x[[[0,1],[0,2]]]
x[[[0],[0,2]]]
x[[torch.tensor(0),torch.tensor(1)]]
x[[torch.tensor([0]),torch.tensor([1])]]
x[['a']]
x[(None,)]
x[True,False]
x[True,True].shape
x[True,[0,1]].shape
x[0,True].shape
x[[True,False],[0]].shape
x[2]
x[-3]
x[:,3]
x[True,5]
x[None,5]
x[...,5]
x[1j]
x[object()]
x[0][0][0]
z3[:,[0,1],None].shape
z3[[0],:,[1]].shape
z3[:,[0],[1]].shape
z3[[0],None,[1]].shape
z3[torch.zeros(2,4,dtype=bool)]
z3[:,torch.zeros(2,4,dtype=bool)]
x[[0,1],[0,1],[0,1]]
x[slice(None,None,-1)]
x[:, ::2].stride()
z3[0,0,0,0]
z3[...,0,0,0,0]
x[b'a']
x[(0,)]
x[((0,1),)]
x[((0,1),(1,2))]
x[[(0,1),(1,2)]]
x[[None]]
x[[...]]
x[[x>0]]
"""

VALUES = """
2.0
torch.tensor(3.0)
torch.tensor(3.0, requires_grad=True)
torch.ones(3, requires_grad=True)
torch.ones(1, 3)
torch.ones(2, 3)
[1.0, 2.0, 3.0]
1j
"""

CALLS = """
x.index_select(0,torch.tensor([5]))
x.index_select(0,torch.tensor([-1]))
x.index_select(0,torch.tensor([0.5]))
x.index_select(0,torch.tensor([[0]]))
x.index_select(0,torch.tensor(1)).shape
x.index_select(2,i)
torch.tensor(1.).index_select(0,torch.tensor([0]))
torch.tensor(1.).index_select(0,torch.tensor([1]))
x.index_select(0,torch.tensor([0],dtype=torch.int32))
x.index_select(0,[0])
x.t().index_select(0,i).stride()
x.index_select(0,torch.tensor([],dtype=torch.long)).shape
x.gather(0,I)
x.gather(0,I.int())
x.gather(0,torch.tensor([0]))
x.gather(0,torch.tensor([[5]]))
x.gather(0,torch.tensor([[-1]]))
x.gather(0,torch.zeros(1,5,dtype=torch.long))
x.gather(2,I)
torch.tensor(1.).gather(0,torch.tensor(0))
torch.tensor(1.).gather(0,torch.tensor([0,0]))
x.gather(0,torch.zeros(0,dtype=torch.long))
x.gather(1,torch.zeros(2,5,dtype=torch.long)).shape
x.scatter(0,I,torch.ones(2,3))
x.scatter(0,I,torch.ones(1,2))
x.scatter(0,I,x.double())
x.scatter(0,torch.tensor([[5]]),1.)
x.scatter(0,torch.tensor([[-1]]),1.)
x.scatter(0,torch.tensor([0]),1.)
x.scatter(0,I,1.,reduce='add')
x.scatter(0,I,2.,reduce='multiply')
x.scatter(0,I,2.,reduce='foo')
x.scatter(0,I.int(),1.)
x.scatter(0,torch.zeros(3,3,dtype=torch.long),1.)
x.scatter(1,torch.zeros(3,1,dtype=torch.long),1.)
x.scatter_add(0,I,torch.ones(1,3))
x.scatter_add(0,I,torch.ones(1,3).double())
x.scatter_reduce(0,I,torch.ones(1,3)*3,'mean')
x.scatter_reduce(0,I,torch.ones(1,3)*3,'amax')
x.scatter_reduce(0,I,torch.ones(1,3)*3,'amin',include_self=False)
x.scatter_reduce(0,I,torch.ones(1,3)*3,'foo')
x.scatter(0,I,1)
x.scatter(0,I,1j)
x.scatter(0,torch.zeros(0,dtype=torch.long),1.)
x.index_add(0,i,torch.ones(2,3))
x.index_add(0,i,torch.ones(3,3))
x.index_add(0,torch.tensor([5]),torch.ones(1,3))
x.index_add(0,i,torch.ones(2,3).double())
x.index_add(0,i,torch.ones(2,4))
x.index_add(0,i,torch.ones(2))
x.index_add(0,torch.tensor([[0]]),torch.ones(1,3))
x.index_add(0,torch.tensor(0),torch.ones(1,3))
x.index_add(0,torch.tensor([0.]),torch.ones(1,3))
x.index_add(0,torch.tensor([-1]),torch.ones(1,3))
x.index_fill(0,i,2.)
x.index_fill(0,torch.tensor([5]),2.)
x.index_fill(0,torch.tensor([-1]),2.)
x.index_fill(0,i,torch.ones(2))
x.index_fill(0,torch.tensor([0.]),1.)
x.index_fill(0,torch.tensor([[0]]),1.)
x.index_copy(0,i,torch.ones(2,3))
x.index_copy(0,i,torch.ones(3,3))
x.index_copy(0,torch.tensor([5]),torch.ones(1,3))
x.index_copy(0,i,torch.ones(2,3).double())
x.index_copy(0,torch.tensor([-1]),torch.ones(1,3))
x.index_copy(0,i,torch.ones(2,4))
x.index_copy(0,i,torch.ones(2))
x.masked_fill(x>0,1.)
x.masked_fill(x,1.)
x.masked_fill(torch.ones(2,3).byte(),1.)
x.masked_fill(torch.ones(4,dtype=torch.bool),1.)
x.masked_fill(x>0,torch.ones(2))
x.masked_fill(torch.ones(5,2,3)>0,2.).shape
x.masked_fill(x>0,1j)
x.int().masked_fill(x>0,1.5)
x.masked_fill_(x,1.)
x.masked_fill_(torch.ones(2,3).byte(),1.)
x.masked_select(x)
x.masked_select(torch.ones(2,3).byte())
x.masked_select(torch.ones(4)>0)
x.masked_scatter(x>0,torch.ones(2))
x.masked_scatter(x,torch.ones(6))
x.masked_scatter(x>0,torch.ones(6).double())
x.masked_scatter(torch.ones(4)>0,torch.ones(6))
x.take(i)
x.take(torch.tensor([6]))
x.take(torch.tensor([-7]))
x.take(torch.tensor([-1]))
x.take(torch.tensor([0.]))
x.take(i.int())
x.put(i,torch.ones(2))
x.put(torch.tensor([6]),torch.ones(1))
x.put(i,torch.ones(3))
x.put(i,torch.ones(2).double())
x.put(torch.tensor([0,0]),torch.ones(2),accumulate=True)
x.put(torch.tensor([0.]),torch.ones(1))
x.take_along_dim(I,0)
x.take_along_dim(I.int(),0)
x.take_along_dim(torch.tensor([0]),0)
x.take_along_dim(torch.tensor([[5]]),0)
x.take_along_dim(torch.tensor([[0]]))
torch.nonzero(x)
torch.nonzero(x,as_tuple=True)
x.nonzero(as_tuple=True)
torch.tensor(1.).nonzero()
torch.tensor(1.).nonzero(as_tuple=True)
torch.nonzero(torch.tensor(0.))
x.argwhere().shape
torch.argwhere(torch.tensor(1.)).shape
torch.ones(2,2).nonzero().stride()
"""

TWICE = """
y[0]
y[:, 1:]
y[torch.tensor([1, 0, 1])]
y[y > 0]
y[torch.tensor([0, 1]), torch.tensor([2, 0])]
y[None, 1, ::2]
y.index_select(1, torch.tensor([2, 0, 2]))
y.gather(1, torch.tensor([[0, 2], [1, 1]]))
y.scatter(1, torch.tensor([[0], [2]]), w)
y.scatter(1, torch.tensor([[0], [2]]), 5.0)
y.scatter_add(1, torch.tensor([[0, 0], [2, 1]]), w)
y.scatter_reduce(1, torch.tensor([[0, 0], [2, 1]]), w, "prod")
y.scatter_reduce(1, torch.tensor([[0, 0], [2, 1]]), w, "mean", include_self=False)
y.scatter_reduce(1, torch.tensor([[0, 0], [2, 1]]), w, "amax")
y.index_add(0, torch.tensor([1, 1]), w, alpha=2)
y.index_copy(0, torch.tensor([1, 0]), w)
y.index_fill(1, torch.tensor([1, 0, 1]), w.sum())
y.index_put((torch.tensor([0]),), w[0])
y.index_put((torch.tensor([0, 0]),), w, accumulate=True)
y.index_reduce(0, torch.tensor([1, 1]), w, "prod")
y.masked_fill(y > 0, 2.0)
y.masked_fill(y > 0, w.sum())
y.masked_select(y > 0)
y.masked_scatter(y > 0, w)
y.take(torch.tensor([0, 5, 5]))
y.put(torch.tensor([0, 4]), w[0, :2])
y.take_along_dim(torch.tensor([[0, 2], [1, 1]]), 1)
"""

INPLACE = """
y[0] = w[0]
y[:, 1] = 3.0
y[...] = w
y[torch.tensor([1, 1])] = w
y[y > 0] = w.sum()
y[0, [0, 2]] = w[0, :2]
y[0] += 1
y.index_put_((torch.tensor([0, 0]),), w, accumulate=True)
y.scatter_(1, torch.tensor([[0], [2]]), w[:, :1])
y.scatter_(1, torch.tensor([[0], [2]]), 2.0)
y.scatter_add_(1, torch.tensor([[0, 0], [2, 1]]), w[:, :2])
y.scatter_reduce_(1, torch.tensor([[0, 0], [2, 1]]), w, "amin")
y.index_add_(0, torch.tensor([1, 1]), w)
y.index_copy_(0, torch.tensor([1, 0]), w)
y.index_fill_(1, torch.tensor([1]), 2.0)
y.masked_fill_(y > 0, w.sum())
y.masked_scatter_(y > 0, w)
y.put_(torch.tensor([0, 4]), w[0, :2])
y.scatter_(1, torch.tensor([[0], [2]]), 2.0, reduce="add")
"""


def lines(table: str) -> list[str]:
    return table.strip().split("\n")


@pytest.mark.parametrize("setting", [PLAIN, FOLLOWED], ids=["plain", "followed"])
@pytest.mark.parametrize("subscript", lines(SUBSCRIPTS))
def test_subscripts(subscript, setting):
    agree(setting + f"r = {subscript}")


@pytest.mark.parametrize("value", lines(VALUES))
def test_assignment(value):
    for subscript in lines(SUBSCRIPTS):
        if subscript.endswith("]"):
            agree(FOLLOWED + f"{subscript} = {value}")


@pytest.mark.parametrize("setting", [PLAIN, FOLLOWED], ids=["plain", "followed"])
@pytest.mark.parametrize("call", lines(CALLS))
def test_calls(call, setting):
    agree(setting + f"r = {call}")


@pytest.mark.parametrize("expression", lines(TWICE))
def test_second_derivatives(expression):
    agree(twice(expression))


@pytest.mark.parametrize("viewed", ["y = x * 1", "b = x * 1; y = b.view(2, 3)"], ids=["base", "view"])
@pytest.mark.parametrize("statement", lines(INPLACE))
def test_writes(statement, viewed):
    agree(
        f"""
x = torch.tensor([[1.0, -2.0, 3.0], [3.0, 0.5, -1.5]], requires_grad=True)
w = torch.tensor([[0.5, 1.0, -1.0], [2.0, 1.5, 3.0]], requires_grad=True)
{viewed}
{statement}
(y * y).sum().backward()
"""
    )


def test_writes_to_expanded_tensors_warn():
    agree(
        """
e = torch.ones(1).expand(3)
e.index_put_((torch.tensor([0]),), torch.ones(1))
e.masked_fill_(e > 0, 2.0)
e.index_fill_(0, torch.tensor([0]), 1.0)
e.scatter_(0, torch.tensor([0]), 1.0)
e.index_add_(0, torch.tensor([0]), torch.ones(1))
"""
    )
