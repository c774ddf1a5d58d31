"""torch.func and torch.vmap: gradients, products, Jacobians, batches, modules, custom Functions, nesting."""

import warnings

import pytest
import torch

from tests.refgrad.against_torch import agree

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyTorch warns when it first loads what forward mode needs
    torch.func.jvp(torch.sin, (torch.ones(1),), (torch.ones(1),))

START = """
x = torch.tensor([1.0, 2.0])
y = torch.tensor([3.0, 4.0])
v = torch.tensor([1.0, 10.0])
m = torch.arange(6.0).reshape(2, 3)
w = torch.tensor([0.5, 2.0], requires_grad=True)
f = lambda a, b: (a * b).sum()
"""
STATEMENTS = """
torch.func.grad(f)(x, y)
torch.func.grad(f, argnums=1)(x, y)
torch.func.grad(f, argnums=(0, -1))(x, y)
torch.func.grad(f, argnums=2)(x, y)
torch.func.grad(f, argnums=(0, 0))(x, y)
torch.func.grad(f, argnums='a')(x, y)
torch.func.grad(f, argnums=())(x, y)
torch.func.grad(lambda a: a ** 2)(x)
torch.func.grad(lambda a: 3.0)(x)
torch.func.grad(lambda a: a)(3.0)
torch.func.grad(lambda a: a.sum())(torch.tensor([1, 2]))
torch.func.grad(lambda d: d['a'] * 2)({'a': torch.tensor(1.0), 'b': torch.tensor(2.0)})
torch.func.grad(lambda a: (a.sum(), {'k': a}), has_aux=True)(x)
torch.func.grad(lambda a: (a.sum(), 3), has_aux=True)(x)
torch.func.grad_and_value(lambda a: (a.sum(), a * 2), has_aux=True)(x)
torch.func.grad(lambda a: torch.tensor(3.0))(x)
torch.func.grad(lambda a: (a ** 2 * w).sum())(x)
torch.func.grad(lambda a: (a ** 2).sum())(w)
torch.func.grad(lambda a: (a.detach() * a).sum())(w)
torch.func.grad(lambda a: torch.func.grad(lambda b: (b ** 2 * a * w).sum())(a).sum())(x)
torch.func.grad(torch.func.grad(lambda a: a ** 4))(torch.tensor(2.0))
torch.func.vjp(lambda a: a ** 2, x)[1](v)
torch.func.vjp(lambda a: a ** 2, x)[1]((v, v))
torch.func.vjp(lambda a: 3, x)
torch.func.vjp(lambda a: (), x)
torch.func.vjp(lambda a: (a * w, {'k': a.sum()}), x)[1]((v, {'k': torch.tensor(2.0)}))
torch.func.vjp(lambda a: a.long(), x)
torch.func.jvp(lambda a: a ** 2, (x,), (v,))
torch.func.jvp(lambda a: (a * y, {'k': a.sum()}), (x,), (v,))
torch.func.jvp(lambda a: a ** 2, x, x)
torch.func.jvp(lambda a: a ** 2, (x,), (x, x))
torch.func.jvp(lambda a: a ** 2, (x,), (torch.ones(1),))
torch.func.jvp(lambda a: 3.0, (x,), (x,))
torch.func.jvp(lambda a: a * 2, (torch.tensor([1, 2]),), (torch.tensor([1, 1]),))
torch.func.jvp(torch.func.grad(lambda a: (a ** 3).sum()), (x,), (v,))
torch.func.jvp(lambda a: torch.func.jvp(lambda b: b ** 3, (a,), (v,))[1], (x,), (v,))
torch.func.jacrev(lambda a: a ** 2)(x)
torch.func.jacrev(lambda a, b: (a * b, {'k': b.sum()}), argnums=(0, 1))(x, y)
torch.func.jacrev(lambda a: a ** 2, chunk_size=0)(x)
torch.func.jacrev(lambda a: a * 1j)(x)
torch.func.jacrev(lambda a: a ** 2, argnums=(0, 5))(x)
torch.func.jacfwd(lambda a: a ** 2)(x)
torch.func.jacfwd(lambda a: (a ** 2, a.sum()), has_aux=True)(x)
torch.func.jacfwd(lambda a: a.long())(x)
torch.func.jacfwd(lambda a: a ** 2, argnums=1)(x)
torch.func.jacfwd(torch.func.jacrev(lambda a: (a ** 3).sum()))(x)
torch.func.hessian(lambda a: (a ** 3).sum())(x)
torch.func.hessian(lambda a, b: (a ** 2 * b).sum(), argnums=(0, 1))(torch.tensor(2.0), torch.tensor(3.0))
torch.vmap(lambda a: a.sum())(m)
torch.vmap(lambda a: a.sum(), in_dims=1)(m)
torch.vmap(lambda a: a * 2, out_dims=1)(m)
torch.vmap(lambda a: a)(m)
torch.vmap(lambda a, b: a + b, in_dims=(0, None))(m, torch.tensor(1.0))
torch.vmap(lambda d: d['a'] + d['b'], in_dims=({'a': 0, 'b': None},))({'a': m, 'b': torch.tensor(1.0)})
torch.vmap(lambda a: {'s': a.sum(), 'v': a}, in_dims=-1)(m)
torch.vmap(lambda a, k=None: a + k)(m, k=torch.ones(2, 3))
torch.vmap(torch.vmap(lambda a: a * 2))(m)
torch.vmap(lambda a: torch.vmap(lambda b: a[0] * b)(y))(m)
torch.vmap(lambda a: torch.nn.functional.softmax(a, 0))(m)
torch.vmap(lambda a: torch.nn.functional.linear(a, torch.ones(2, 3)))(m)
torch.vmap(lambda a: torch.stack([a, a * 2]))(m)
torch.vmap(lambda a: torch.where(a > 1, a, -a))(m)
torch.vmap(lambda a: a.max(0))(m)
torch.vmap(torch.func.grad(lambda a, b: (a * b).sum()), in_dims=(0, None))(m, torch.ones(3))
torch.vmap(torch.func.jacrev(lambda a: a ** 2))(m)
torch.vmap(lambda a: 1 - a / 2 + a[:2].sum() ** 2)(m)
torch.vmap(lambda a: a)(3.0)
torch.vmap(lambda a: a)()
torch.vmap(lambda a: a)(torch.tensor(1.0))
torch.vmap(lambda a, b: a + b)(m, torch.ones(3))
torch.vmap(lambda a: a, in_dims=2)(m)
torch.vmap(lambda a: a, in_dims=None)(m)
torch.vmap(lambda a, b: a, in_dims=(0,))(m, m)
torch.vmap(lambda a: 3.0)(m)
torch.vmap(lambda a: a, out_dims=5)(m)
torch.vmap(lambda a: a, out_dims=(0, 1))(m)
torch.vmap(lambda a: (a, a.sum()), out_dims=(0, None))(m)
torch.vmap(lambda a: torch.tensor(3.0))(m)
torch.vmap(lambda a: a, randomness='junk')(m)
torch.vmap(lambda a: a, chunk_size=0)(m)
torch.vmap(lambda a: a.sum().item())(m)
torch.vmap(lambda a: a if a.sum() > 0 else -a)(m)
torch.vmap(lambda a: a.nonzero())(m)
torch.vmap(lambda a: a[a > 1])(m)
torch.vmap(lambda a: a + torch.rand(3))(m)
torch.vmap(lambda a: torch.zeros(3).add_(a))(m)
torch.vmap(lambda a: torch.zeros(3).copy_(a))(m)
torch.vmap(lambda a: a.add_(1))(m.clone())
""".strip().split("\n")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_does_what_pytorch_does(statement):
    agree(f"{START}r = {statement}\n")


def test_captured_leaves_accumulate():
    agree(
        START
        + """
g = torch.func.grad(lambda a: (a ** 2 * w).sum())(x)
g.sum().backward()
h = torch.func.grad(lambda a: (a ** 3).sum())(w)
h.sum().backward()
with torch.no_grad(): n = torch.func.grad(lambda a: (a ** 2 * w).sum())(x)
"""
    )


def test_what_tensors_look_like_inside():
    agree(
        START
        + """
seen = []
_ = torch.func.grad(lambda a: (seen.append(repr(a)), a.sum())[1])(x)
_ = torch.func.grad(torch.func.grad(lambda a: (seen.append(repr(a)), a ** 2)[1]))(torch.tensor(2.0))
_ = torch.vmap(lambda a: (seen.append((repr(a), a.shape, a.dim())), a)[1])(m)
"""
    )


def test_modules_as_functions():
    agree(
        START
        + """
_ = torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
p = {'weight': torch.ones(1, 2), 'bias': torch.zeros(1)}
a = torch.func.functional_call(net, p, (torch.ones(3, 2),))
b = torch.func.functional_call(net, {'weight': torch.ones(1, 2)}, torch.ones(2))
torch.func.functional_call(net, {'junk': x, 'weight': torch.ones(1, 2)}, torch.ones(2), strict=True)
torch.func.functional_call(net, 3, torch.ones(2))
torch.func.functional_call(net, (p, p), torch.ones(2))
torch.func.functional_call(net, p, torch.ones(2), {'k': 1})
s, t = torch.func.stack_module_state([net, torch.nn.Linear(2, 1)])
torch.func.stack_module_state([])
torch.func.stack_module_state([net, torch.nn.ReLU()])
_ = net = None
"""
    )


def test_linearize():
    import refgrad

    square = lambda t: t**2
    out, move = refgrad.func.linearize(square, refgrad.tensor([1.0, 2.0]))
    assert out.tolist() == [1.0, 4.0]
    assert move(refgrad.tensor([1.0, 10.0])).tolist() == [2.0, 40.0]
