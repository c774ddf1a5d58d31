"""`torch.autograd.functional` and `is_grads_batched` against PyTorch: results, graphs and refusals."""

import warnings

import pytest
import torch

from tests.refgrad.against_torch import agree

with warnings.catch_warnings():  # PyTorch's forward mode compiles helpers on first use, and warns of it
    warnings.simplefilter("ignore")
    torch.autograd.functional.jacobian(torch.sin, torch.ones(1), vectorize=True, strategy="forward-mode")

PRELUDE = """
F = type("Names", (), vars(torch.autograd.functional))
x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0])
w = torch.tensor([0.5, 1.5], requires_grad=True)
matrix = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
single = lambda a: a ** 2
several = lambda a, b: (a * b.sum(), b)
scalar = lambda a: (a ** 3).sum()
mixed = lambda a, b: (a ** 2 * b).sum()
linear = lambda a: a.sum()
constant = lambda a: torch.tensor([5.0, 6.0])
two_scalars = lambda a: (a.sum(), a.sum())
"""
PROGRAMS = {
    "jacobian": """
a = F.jacobian(single, x)
b = F.jacobian(single, (x,))
c = F.jacobian(several, (x, y))
d = F.jacobian(lambda a: 5 * a.sum(), x)
e = F.jacobian(lambda a: a, torch.tensor(2.0))
f = F.jacobian(lambda a: a.t() @ a, matrix)
g = F.jacobian(lambda a: a.long(), x)
h = F.jacobian(lambda a: a * w, x)
i = F.jacobian(lambda a: a * w, w)
j = F.jacobian(lambda a: a[:0], x)
""",
    "jacobian with a graph": """
a = F.jacobian(single, x, create_graph=True)
b = F.jacobian(single, w, create_graph=True)
c = F.jacobian(several, (w, y), create_graph=True)
b.sum().backward()
""",
    "jacobian vectorized": """
a = F.jacobian(single, x, vectorize=True)
b = F.jacobian(several, (x, y), vectorize=True)
c = F.jacobian(lambda a: a.t() @ a, matrix, vectorize=True)
d = F.jacobian(constant, x, vectorize=True)
e = F.jacobian(single, w, vectorize=True, create_graph=True).detach()
""",
    "jacobian forward": """
a = F.jacobian(single, x, vectorize=True, strategy="forward-mode")
products = lambda a, b: (a * b.sum(), b * b)
b = F.jacobian(products, (x, y), vectorize=True, strategy="forward-mode")
c = F.jacobian(lambda a: a.t() @ a, matrix, vectorize=True, strategy="forward-mode")
d = F.jacobian(constant, x, vectorize=True, strategy="forward-mode")
z = torch.tensor([1 + 2j, 3 - 1j])
e = F.jacobian(lambda a: a * a, z, vectorize=True, strategy="forward-mode")
""",
    "hessian": """
a = F.hessian(scalar, x)
b = F.hessian(mixed, (x, y))
c = F.hessian(scalar, (x,))
d = F.hessian(linear, x)
e = F.hessian(scalar, w, create_graph=True).detach()
f = F.hessian(scalar, x, vectorize=True)
g = F.hessian(mixed, (x, y), vectorize=True)
h = F.hessian(scalar, x, vectorize=True, outer_jacobian_strategy="forward-mode").detach()
i = F.hessian(lambda a: torch.linalg.norm(a) ** 2, torch.zeros(2))
""",
    "products": """
a = F.vjp(single, x, torch.tensor([1.0, 10.0]))
b = F.jvp(single, x, torch.tensor([1.0, 10.0]))
c = F.vhp(scalar, x, torch.tensor([1.0, 10.0]))
d = F.hvp(scalar, x, torch.tensor([1.0, 10.0]))
e = F.vjp(linear, x)
f = F.jvp(single, torch.tensor(3.0))
g = F.vjp(several, (x, y), (x, y))
h = F.jvp(several, (x, y), (x, y))
i = F.vhp(mixed, (x, y), (x, y))
j = F.hvp(mixed, (x, y), (x, y))
k = F.hvp(linear, x, x)
l = F.jvp(constant, x, x)
""",
    "products with a graph": """
a = F.vjp(single, w, x, create_graph=True)
b = F.jvp(single, w, x, create_graph=True)
c = F.vhp(scalar, w, x, create_graph=True)
d = F.hvp(scalar, w, x, create_graph=True)
e = F.vjp(single, x, w, create_graph=True)
""",
    "products without grad mode": """
torch.set_grad_enabled(False)
a = F.vjp(single, w, x)
b = F.jvp(single, w, x)
c = F.vhp(scalar, w, x)
d = F.hvp(scalar, w, x)
e = F.jacobian(single, w)
f = F.vjp(single, w, x, create_graph=True)
g = torch.set_grad_enabled(True)
""",
    "vectors that do not fit": """
F.vjp(single, x)
F.jvp(single, x)
F.vhp(scalar, x)
F.hvp(scalar, x)
F.vjp(single, x, torch.tensor([1.0]))
F.jvp(single, x, torch.tensor([1.0]))
F.jvp(single, x, (x, x))
F.vjp(several, (x, y), (x,))
F.vjp(several, (x, y), (x, x))
F.jvp(single, x, 3.0)
F.jvp(single, x, [x])
""",
    "types": """
F.jacobian(lambda a: a, 3.0)
F.jacobian(lambda a: a, [x])
F.vjp(lambda a: a, (x, 2))
F.jacobian(lambda a: 3.0, x)
F.jvp(lambda a: [a, a], x, x)
F.jacobian(lambda a: (a, 3), x)
F.jacobian(lambda a: a, torch.tensor([1, 2]))
F.hessian(lambda a: 3.0, x)
F.hessian(single, x)
F.hessian(two_scalars, x)
F.vhp(single, x, x)
F.vhp(two_scalars, x, x)
F.hvp(single, x, x)
F.jacobian(lambda a: 3.0, x, vectorize=True, strategy="forward-mode")
""",
    "strict": """
F.jacobian(constant, x, strict=True)
F.jacobian(lambda a, b: a, (x, x), strict=True)
F.jacobian(lambda a: 2 * a, x, strict=True, create_graph=True)
F.hessian(linear, x, strict=True)
F.hessian(lambda a: constant(a).sum(), x, strict=True)
F.vjp(constant, x, x, strict=True)
F.vjp(lambda a, b: a, (x, x), x, strict=True)
F.vjp(lambda a: 2 * a, x, x, strict=True, create_graph=True)
F.jvp(constant, x, x, strict=True)
F.jvp(lambda a, b: a, (x, x), (x, x), strict=True)
F.jvp(lambda a: 2 * a, w, x, strict=True, create_graph=True)
F.vhp(linear, x, x, strict=True)
F.vhp(lambda a, b: scalar(a), (x, x), (x, x), strict=True)
F.hvp(linear, x, x, strict=True)
F.hvp(single, torch.tensor(1.0), torch.tensor(1.0), strict=True, create_graph=True)
F.vhp(lambda a: (a * a).sum(), x, x, strict=True, create_graph=True)
F.jacobian(single, x, strict=True, vectorize=True)
F.jacobian(single, x, strict=True, vectorize=True, strategy="forward-mode")
a = F.jacobian(single, x, strict=True)
""",
    "strategies": """
F.jacobian(single, x, strategy="forward-mode")
F.jacobian(single, x, strategy="junk")
F.jacobian(single, x, vectorize=True, strategy="forward-mode", create_graph=True)
F.hessian(scalar, x, outer_jacobian_strategy="forward-mode")
F.hessian(scalar, x, outer_jacobian_strategy="junk")
F.hessian(scalar, x, vectorize=True, outer_jacobian_strategy="forward-mode", create_graph=True)
""",
    "the point is not the inputs": """
seen = []
def look(a):
    seen.append((a is w, a.is_leaf, a.requires_grad, a._is_view()))
    return a ** 2
a = F.vjp(look, w, x)
b = F.vjp(look, w, x, create_graph=True)
c = F.jacobian(look, w)
d = F.jacobian(lambda a: a * w * w, w)
""",
    "batched gradients": """
z = w * w
batch = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]])
a = torch.autograd.grad(z, w, batch, is_grads_batched=True, retain_graph=True)
b = torch.autograd.grad([z, z], w, [batch, batch], is_grads_batched=True, retain_graph=True)
c = torch.autograd.grad(z, [w, z], batch, is_grads_batched=True, retain_graph=True)
other = torch.ones(2, requires_grad=True)
torch.autograd.grad(z, other, batch, is_grads_batched=True, retain_graph=True)
d = torch.autograd.grad(z, other, batch, is_grads_batched=True, retain_graph=True, allow_unused=True)
both = [w, other]
e = torch.autograd.grad(z, both, batch, is_grads_batched=True, retain_graph=True, materialize_grads=True)
f = torch.autograd.grad(z, w, batch, is_grads_batched=True)
torch.autograd.grad(z, w, batch, is_grads_batched=True)
""",
    "batched gradients that do not fit": """
z = w * w
edge = torch.autograd.graph.get_gradient_edge(z)
torch.autograd.grad(z, w, is_grads_batched=True, retain_graph=True)
torch.autograd.grad(z.sum(), w, is_grads_batched=True, retain_graph=True)
torch.autograd.grad(z.sum(), w, torch.tensor(1.0), is_grads_batched=True, retain_graph=True)
torch.autograd.grad(z, w, torch.ones(3, 3), is_grads_batched=True, retain_graph=True)
torch.autograd.grad(z, w, torch.ones(2, 2, 2), is_grads_batched=True, retain_graph=True)
torch.autograd.grad(z, w, torch.ones(0, 2), is_grads_batched=True, retain_graph=True)
torch.autograd.grad([z, z], w, [z.new_ones(2, 2), z.new_ones(3, 2)], is_grads_batched=True, retain_graph=True)
torch.autograd.grad(edge, w, torch.ones(3, 3), is_grads_batched=True, retain_graph=True)
torch.autograd.grad(z, w, torch.ones(2, 2, dtype=torch.complex64), is_grads_batched=True, retain_graph=True)
a = torch.autograd.grad(edge, w, torch.ones(2, 2), is_grads_batched=True)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_pytorch(name):
    agree(PRELUDE + PROGRAMS[name])


def test_a_batch_with_a_graph_is_differentiable_again():
    agree(
        PRELUDE
        + """
z = w ** 3
a = torch.autograd.grad(z, w, torch.ones(2, 2), is_grads_batched=True, create_graph=True)[0]
b = torch.autograd.grad(a.sum(), w)[0].clone()  # the graph between is another one here
a = a.detach()
"""
    )
