"""Joining, splitting, repeating and rearranging; tensors whose memory or shape is exchanged in place."""

import pytest

from tests.refgrad.against_torch import agree
from tests.refgrad.statements import twice

PLAIN = """
G = lambda *s: torch.ones(s, requires_grad=True)
x = torch.arange(6.).reshape(2, 3)
z = torch.arange(24.).reshape(2, 3, 4)
i = torch.tensor([0, 1])
I = torch.tensor([[0, 1, 0]])
y = G(2, 3) * 1
"""
FOLLOWED = """
G = lambda *s: torch.ones(s, requires_grad=True)
leaf = torch.arange(6.).reshape(2, 3).requires_grad_()
x = leaf * 1
z = torch.arange(24.).reshape(2, 3, 4).requires_grad_() * 1
i = torch.tensor([0, 1])
I = torch.tensor([[0, 1, 0]])
y = G(2, 3) * 1
"""

CALLS = r"""
torch.cat([])
torch.stack([])
torch.cat([x,torch.ones(2,4)])
torch.cat([x,torch.ones(3)])
torch.cat([torch.tensor(1.)])
torch.cat([x,x],2)
torch.cat([x,x],-3)
torch.cat([x,torch.ones(0)])
torch.cat([torch.ones(0),torch.ones(0)])
torch.cat([x,1])
torch.cat(x)
torch.cat([x,x.double()]).dtype
torch.cat([x,x.int()]).dtype
torch.cat([x.t(),x.t()]).stride()
torch.cat([x.int(),torch.ones(1,3,dtype=torch.bool)]).dtype
torch.stack([x,torch.ones(2,4)])
torch.stack([x,x],3)
torch.stack([x,x],-4)
torch.stack([x,x.double()]).dtype
torch.stack([torch.tensor(1.),torch.tensor(2.)])
torch.cat((x,x),dim=1).shape
torch.cat([x,x],axis=1).shape
torch.cat([x,torch.ones(0,3)]).shape
torch.cat([x,torch.ones(2,0,3)])
torch.hstack([x[0],x[1]])
torch.hstack([torch.tensor(1.),torch.tensor(2.)])
torch.vstack([x[0],x[1]])
torch.dstack([x[0],x[1]]).shape
torch.column_stack([x[0],x[1]]).shape
torch.hstack([])
torch.row_stack([x[0]])
torch.split(x,2)
torch.split(x,-1)
torch.split(x,0)
torch.split(x,[1,2])
torch.split(x,[1,1],3)
torch.split(x,2,dim=1)
torch.split(torch.tensor(1.),1)
x.split(1,1)
x.split('a')
torch.split(x,1.5)
x.split([1,'a'])
x.split(split_size=1)
torch.split(x,split_size_or_sections=1)
torch.split(tensor=x,split_size_or_sections=1,dim=1)
torch.split(1,1)
x.tensor_split(0)
x.tensor_split(2,1)
x.tensor_split([1,2],1)
x.tensor_split(torch.tensor(2))
x.tensor_split(torch.tensor([1]))
torch.tensor_split(torch.tensor(1.),1)
x.hsplit(2)
x.hsplit(3)
x.vsplit(2)
torch.vsplit(x[0],1)
torch.hsplit(torch.tensor(1.),1)
x.dsplit(1)
x.chunk(0)
x.chunk(5)
torch.chunk(torch.ones(0),3)
x.unsafe_chunk(2)
x.unsafe_split(1)
torch.unsafe_chunk(x,0)
torch.Tensor(G(2)).requires_grad
torch.Tensor(G(2)).grad_fn
torch.Tensor(G(2)*2).grad_fn
torch.Tensor(x).data_ptr()==x.data_ptr()
torch.Tensor(x)._base is x
(G(2,3)*1).scatter_(0,I,2.,reduce='add').sum().backward()
G(2,3).scatter(0,I,2.,reduce='add').grad_fn.name()
G(2,3).scatter(0,I,2.,reduce='add').sum().backward()
G(2,3).scatter(0,I,torch.ones(1,3),reduce='add').sum().backward()
x.flip(0,1).stride()
x.flip()
x.flip(0,0)
x.flip(2)
x.flip([0])
torch.flip(x,[0])
x.t().flip(0).stride()
x.fliplr()
torch.fliplr(x[0])
x.flipud()
torch.flipud(torch.tensor(1.))
x.roll(1)
x.roll(1,0)
x.roll((1,2),(0,1))
x.roll((1,2))
x.roll((1,2),0)
x.roll(1,5)
x.t().roll(1).stride()
x.roll(())
torch.ones(0).roll(1)
x.rot90()
x.rot90(2)
x.rot90(3)
x.rot90(4)
x.rot90(1,[0])
x.rot90(1,[0,0])
x.rot90(1,[0,5])
torch.ones(3).rot90()
x.rot90(-1)
x.rot90().stride()
x.rot90(2).stride()
z.rot90(1,[0,2]).stride()
x.tril()
x.triu(1)
x.tril(-1)
x[0].tril()
x.t().tril().stride()
z.transpose(0,1).triu().stride()
x.diag()
x[0].diag()
x[0].diag(1)
x.diag(1)
z.diag()
torch.diag(torch.tensor(1.))
torch.diag_embed(x)
torch.diag_embed(x,1,0,2).stride()
torch.diag_embed(x,dim1=0,dim2=0)
torch.diagflat(x,1)
x.movedim(0,1).shape
z.movedim((0,1),(1,2)).shape
z.movedim((0,1),(1,)).shape
z.movedim((0,0),(1,2))
z.movedim(0,5)
z.moveaxis(0,2).shape
z.movedim([],[]).shape
x.swapaxes(0,1).shape
x.swapdims(0,3)
z.T
x.T
torch.ones(3).T
torch.tensor(1.).T
z.mT.shape
x[0].mT
x[0].mH
z.H
x.H
x.adjoint().shape
x[0].adjoint()
torch.tensor(1.).adjoint()
torch.tensor(1.).mT
torch.tensor(1.).H
x.unflatten(1,(3,1)).shape
x.unflatten(1,(2,-1))
x.unflatten(1,(-1,3)).shape
x.unflatten(5,(1,))
x.unflatten(1,())
x.unflatten(-1,[3]).shape
x.ravel()
x.t().ravel()
x.view_as(torch.ones(3,2)).shape
x.reshape_as(torch.ones(6)).shape
x.expand_as(torch.ones(2,2,3)).shape
torch.broadcast_to(x,(2,2,3)).shape
torch.broadcast_to(x,(3,))
torch.broadcast_tensors(x,torch.ones(4,1,1))[1].shape
torch.broadcast_tensors(x,torch.ones(4))
torch.broadcast_tensors(x,1)
torch.broadcast_shapes((2,1),(3,))
torch.broadcast_shapes((2,),(3,))
torch.broadcast_shapes(2,(1,))
torch.broadcast_shapes((-1,))
torch.broadcast_shapes()
x.repeat(2,1)
x.repeat(2)
x.repeat(2,-1)
x.repeat(2,3,1).shape
x.repeat(0,1).shape
torch.tensor(1.).repeat(3)
x.repeat((2,2)).shape
x.repeat()
x.t().repeat(1,1).stride()
x.tile(2).shape
x.tile(2,1,1).shape
torch.tile(x,(2,2)).shape
x.tile(()).shape
x.repeat_interleave(2)
x.repeat_interleave(2,0)
x.repeat_interleave(2,dim=1)
x.repeat_interleave(torch.tensor([1,2]),0)
x.repeat_interleave(torch.tensor([1,2,3]),0)
x.repeat_interleave(torch.tensor([-1,2]),0)
x.repeat_interleave(-1)
torch.repeat_interleave(torch.tensor([1,2]))
x.repeat_interleave(torch.tensor([2]),1)
x.repeat_interleave(torch.tensor(2),1)
x.repeat_interleave(torch.tensor([1.,2]),0)
x.repeat_interleave(2,0,output_size=4)
x.repeat_interleave(2,0,output_size=5)
x.repeat_interleave(torch.tensor([1,2]),0,output_size=3)
x.repeat_interleave(torch.tensor([[1,2]]),0)
x.repeat_interleave(2,5)
torch.atleast_1d(torch.tensor(1.)).shape
torch.atleast_2d(torch.tensor(1.)).shape
torch.atleast_3d(x[0]).shape
torch.atleast_1d([torch.tensor(1.),x])
torch.atleast_1d(torch.tensor(1.),x)[1].shape
torch.atleast_1d(1)
torch.meshgrid(x[0],x[1])
torch.meshgrid(x[0],x[1],indexing='xy')
torch.meshgrid([x[0],x[1]],indexing='ij')[0].stride()
torch.meshgrid(x[0],indexing='foo')
torch.meshgrid(torch.tensor(1.),x[0],indexing='ij')[0].shape
torch.meshgrid()
torch.meshgrid(x[0],i,indexing='ij')
torch.cartesian_prod(i,i)
torch.cartesian_prod(i)
torch.combinations(torch.tensor([1,2,3]))
torch.combinations(torch.tensor([1,2,3]),3)
torch.combinations(torch.tensor([1,2,3]),2,True)
torch.combinations(x)
torch.combinations(torch.tensor([1,2]),0)
torch.combinations(torch.tensor([1,2]),-1)
torch.block_diag(x,i)
torch.block_diag()
torch.block_diag(torch.tensor(1),x[0])
torch.trace(x)
x.view(torch.int32).shape
x.view(torch.float64)
x.view(torch.int16).shape
x.view(torch.float16).stride()
x[:,:2].view(torch.float64)
torch.ones(2,4).view(torch.float64).shape
torch.tensor(1.).view(torch.int16)
torch.tensor(1.).view(torch.float64)
torch.tensor(1.).view(torch.int32)
x.t().view(torch.int16)
x.view(torch.bool)
y.view(torch.int32).requires_grad
torch.ones(2,4)[:,1:3].view(torch.float64)
x.view(dtype=torch.int32).shape
x.view(torch.complex64)
x.unsqueeze(5)
x.squeeze(5)
z.squeeze((0,0))
x.narrow(0,0,1)
x.narrow(0,torch.tensor(1),1)
x.narrow(0,5,1)
x.select(0,5)
x.diagonal(5)
x.as_strided((2,),(1,),100)
x.as_strided((2,),(-1,))
x.as_strided((-2,),(1,))
x.as_strided((2,),(1,),-1)
x.expand(3,2,3).shape
x.expand(-1,3).shape
x.expand(4,3)
x.expand(-1,-1,-1)
x.expand(2)
x.unbind(1)
torch.tensor(1.).unbind()
x.permute(1,0).shape
x.permute(0)
x.permute(0,0)
x.permute(0,5)
x.transpose(0,2)
x.t().shape
z.t()
x.view(7)
x.view(-1,-1)
x.view(-2,3)
x.t().view(6)
x.reshape(7)
x.reshape(-1,4)
torch.ones(0).reshape(-1,0)
x.flatten(1,0)
x.flatten(0,5)
x.unfold(0,3,1)
x.unfold(0,1,0)
x.unfold(5,1,1)
x.select_scatter(x[0],0,5)
x.select_scatter(x,0,0)
x.slice_scatter(x,0,0,1)
x.diagonal_scatter(x)
x.diagonal_scatter(torch.ones(2))
x.slice_scatter(torch.ones(1,3),0,0,1).stride()
x.as_strided_scatter(torch.ones(2),(2,),(1,))
torch.select_scatter(x,torch.zeros(3),0,1)
x.fill_diagonal_(9.)
torch.ones(4,2).fill_diagonal_(9.,wrap=True)
torch.ones(3).fill_diagonal_(1.)
torch.ones(2,3,2).fill_diagonal_(1.)
torch.ones(3,3,3).fill_diagonal_(0.)[0]
torch.unravel_index(torch.tensor(5),(2,3))
torch.ones(2,2).is_nonzero()
torch.equal(x,x)
x.untyped_storage().nbytes()
"""

MEMORY = r"""
x=torch.ones(2,3); x.t_(); r=(x.shape,x._version,x._base)
x=torch.ones(2,3); y=x.view(6); y.resize_(2,2); r=(y,y._base is x, y._version)
x=torch.ones(2,3); x.resize_as_(torch.ones(3,2)); r=x.shape
x=torch.ones(2,3); r=x.resize_((3,2)).shape
x=torch.ones(2,3); x.set_(torch.ones(2)); r=x
x=torch.ones(2,3); x.set_(); r=(x.shape,x.dtype)
x=torch.ones(2,3); b=torch.ones(2,dtype=torch.int64); x.set_(b); r=x.dtype
x=torch.ones(2,3); b=torch.arange(6.); x.set_(b,2,(2,),(2,)); r=(x,x.storage_offset())
x=torch.ones(2,3); v=x[0]; v.set_(torch.ones(5)); r=(v._base is x, v.shape, x._version, v._version)
x=torch.ones(2,3); y=x.as_strided_((2,),(1,)); r=(y is x,x.shape)
x=G(2,3)*1; x.as_strided_((2,),(1,)); x.sum().backward()
l=G(2,3); x=l*1; x.t_(); x.sum().backward(); r=l.grad.stride()
l=G(2,3); x=l*1; x.squeeze_(); x.unsqueeze_(0); x.transpose_(0,2); x.sum().backward(); r=l.grad.shape
G(2,3).t_()
G(2,3)[0].unsqueeze_(0)
x=G(2,3)*1; a,b=x.unbind(); a.unsqueeze_(0)
x=torch.ones(2,3); v=x.expand(4,2,3); v.transpose_(0,1); r=v.shape
x=torch.ones(2,3); x.swapaxes_(0,1); r=x.shape
x=torch.ones(2,3); x.swapdims_(0,5)
x=torch.ones(2,3); y=x.detach(); x.t_(); r=(y.shape,y._version)
x=torch.ones(1,3); x.squeeze_(0); r=x.shape
x=torch.ones(1,3); x.squeeze_((0,1)); r=x.shape
x=torch.ones(1,3); x.permute_
x=torch.ones(1,3).unsqueeze_(5)
x=torch.ones(2,3); x.resize_(2,3,memory_format=torch.contiguous_format); r=x.shape
x=torch.ones(3,2).t(); x.resize_(2,3); r=x.stride()
x=torch.ones(3,2).t(); x.resize_as_(torch.ones(3,2).t()); r=x.stride()
x=G(2); x.resize_as_(torch.ones(3))
x=G(2)*1; y=torch.ones(2); y.set_(x); r=(fn(y),y.requires_grad)
l=G(4); x=l*1; v=x[:2]; v.set_(torch.ones(3)); r=(fn(v),fn(x),v._base is x)
"""

TWICE = """
torch.cat([y, w, y], 1)
torch.stack([y, w])
torch.hstack([y, w])
torch.vstack([y, w])
torch.dstack([y, w])
torch.column_stack([y, w])
torch.block_diag(y, w)
y.split(2, 1)
y.tensor_split(2, 1)
torch.unsafe_split(y, 2, 1)
y.repeat(2, 1)
y.tile(2)
y.repeat_interleave(2, 1)
y.repeat_interleave(torch.tensor([1, 2]), 0)
y.flip(1)
y.roll(1)
y.roll((1, 2), (0, 1))
y.rot90()
y.tril()
y.triu(1)
y.diag()
y[0].diag()
torch.diag_embed(y)
y.diagonal()
y.expand(2, 2, 3)
y[:, :1].expand(2, 4)
y.movedim(0, 1)
y.T
y.mT
y.unflatten(1, (3, 1))
y.ravel()
y.t().ravel()
y.t().flatten()
y.as_strided((2, 2), (1, 2))
y.unfold(1, 2, 1)
y.squeeze()
y[:1].squeeze()
y.unsqueeze(0)
y.select_scatter(w[0], 0, 1)
y.slice_scatter(w[:1], 0, 0, 1)
y.diagonal_scatter(w[0, :2])
torch.meshgrid(y[0], w[1], indexing="xy")
torch.cartesian_prod(y[0], w[0])
torch.combinations(y[0])
torch.broadcast_tensors(y, w[:, :1])
torch.atleast_3d(y)
"""


def lines(table: str) -> list[str]:
    return table.strip().split("\n")


@pytest.mark.parametrize("setting", [PLAIN, FOLLOWED], ids=["plain", "followed"])
@pytest.mark.parametrize("call", lines(CALLS))
def test_calls(call, setting):
    agree(setting + f"r = {call}")


@pytest.mark.parametrize("program", lines(MEMORY))
def test_memory(program):
    agree(
        f"""
def G(*s): return torch.ones(s, requires_grad=True)
def fn(t): return type(t.grad_fn).__name__ if t.grad_fn is not None else None
{program}
"""
    )


@pytest.mark.parametrize("expression", lines(TWICE))
def test_second_derivatives(expression):
    agree(twice(expression))
