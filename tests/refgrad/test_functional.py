"""`torch.autograd.functional` and `is_grads_batched` against PyTorch: results, graphs and refusals."""

import pytest
from against_torch import agree

PRELUDE = """
functional = torch.autograd.functional
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
a = functional.jacobian(single, x)
b = functional.jacobian(single, (x,))
c = functional.jacobian(several, (x, y))
d = functional.jacobian(lambda a: 5 * a.sum(), x)
e = functional.jacobian(lambda a: a, torch.tensor(2.0))
f = functional.jacobian(lambda a: a.t() @ a, matrix)
g = functional.jacobian(lambda a: a.long(), x)
h = functional.jacobian(lambda a: a * w, x)
i = functional.jacobian(lambda a: a * w, w)
j = functional.jacobian(lambda a: a[:0], x)
""",
    "jacobian with a graph": """
a = functional.jacobian(single, x, create_graph=True)
b = functional.jacobian(single, w, create_graph=True)
c = functional.jacobian(several, (w, y), create_graph=True)
b.sum().backward()
""",
    "jacobian vectorized": """
a = functional.jacobian(single, x, vectorize=True)
b = functional.jacobian(several, (x, y), vectorize=True)
c = functional.jacobian(lambda a: a.t() @ a, matrix, vectorize=True)
d = functional.jacobian(constant, x, vectorize=True)
e = functional.jacobian(single, w, vectorize=True, create_graph=True).detach()
""",
    "jacobian forward": """
a = functional.jacobian(single, x, vectorize=True, strategy="forward-mode")
b = functional.jacobian(several, (x, y), vectorize=True, strategy="forward-mode")
c = functional.jacobian(lambda a: a.t() @ a, matrix, vectorize=True, strategy="forward-mode")
d = functional.jacobian(constant, x, vectorize=True, strategy="forward-mode")
e = functional.jacobian(lambda a: a * a.conj(), torch.tensor([1 + 2j, 3 - 1j]), vectorize=True, strategy="forward-mode")
""",
    "hessian": """
a = functional.hessian(scalar, x)
b = functional.hessian(mixed, (x, y))
c = functional.hessian(scalar, (x,))
d = functional.hessian(linear, x)
e = functional.hessian(scalar, w, create_graph=True).detach()
f = functional.hessian(scalar, x, vectorize=True)
g = functional.hessian(mixed, (x, y), vectorize=True)
h = functional.hessian(scalar, x, vectorize=True, outer_jacobian_strategy="forward-mode").detach()
i = functional.hessian(lambda a: torch.linalg.norm(a) ** 2, torch.zeros(2))
""",
    "products": """
a = functional.vjp(single, x, torch.tensor([1.0, 10.0]))
b = functional.jvp(single, x, torch.tensor([1.0, 10.0]))
c = functional.vhp(scalar, x, torch.tensor([1.0, 10.0]))
d = functional.hvp(scalar, x, torch.tensor([1.0, 10.0]))
e = functional.vjp(linear, x)
f = functional.jvp(single, torch.tensor(3.0))
g = functional.vjp(several, (x, y), (x, y))
h = functional.jvp(several, (x, y), (x, y))
i = functional.vhp(mixed, (x, y), (x, y))
j = functional.hvp(mixed, (x, y), (x, y))
k = functional.hvp(linear, x, x)
l = functional.jvp(constant, x, x)
""",
    "products with a graph": """
a = functional.vjp(single, w, x, create_graph=True)
b = functional.jvp(single, w, x, create_graph=True)
c = functional.vhp(scalar, w, x, create_graph=True)
d = functional.hvp(scalar, w, x, create_graph=True)
e = functional.vjp(single, x, w, create_graph=True)
""",
    "products without grad mode": """
torch.set_grad_enabled(False)
a = functional.vjp(single, w, x)
b = functional.jvp(single, w, x)
c = functional.vhp(scalar, w, x)
d = functional.hvp(scalar, w, x)
e = functional.jacobian(single, w)
f = functional.vjp(single, w, x, create_graph=True)
g = torch.set_grad_enabled(True)
""",
    "vectors that do not fit": """
functional.vjp(single, x)
functional.jvp(single, x)
functional.vhp(scalar, x)
functional.hvp(scalar, x)
functional.vjp(single, x, torch.tensor([1.0]))
functional.jvp(single, x, torch.tensor([1.0]))
functional.jvp(single, x, (x, x))
functional.vjp(several, (x, y), (x,))
functional.vjp(several, (x, y), (x, x))
functional.jvp(single, x, 3.0)
functional.jvp(single, x, [x])
""",
    "types": """
functional.jacobian(lambda a: a, 3.0)
functional.jacobian(lambda a: a, [x])
functional.vjp(lambda a: a, (x, 2))
functional.jacobian(lambda a: 3.0, x)
functional.jvp(lambda a: [a, a], x, x)
functional.jacobian(lambda a: (a, 3), x)
functional.jacobian(lambda a: a, torch.tensor([1, 2]))
functional.hessian(lambda a: 3.0, x)
functional.hessian(single, x)
functional.hessian(two_scalars, x)
functional.vhp(single, x, x)
functional.vhp(two_scalars, x, x)
functional.hvp(single, x, x)
functional.jacobian(lambda a: 3.0, x, vectorize=True, strategy="forward-mode")
""",
    "strict": """
functional.jacobian(constant, x, strict=True)
functional.jacobian(lambda a, b: a, (x, x), strict=True)
functional.jacobian(lambda a: 2 * a, x, strict=True, create_graph=True)
functional.hessian(linear, x, strict=True)
functional.hessian(lambda a: constant(a).sum(), x, strict=True)
functional.vjp(constant, x, x, strict=True)
functional.vjp(lambda a, b: a, (x, x), x, strict=True)
functional.vjp(lambda a: 2 * a, x, x, strict=True, create_graph=True)
functional.jvp(constant, x, x, strict=True)
functional.jvp(lambda a, b: a, (x, x), (x, x), strict=True)
functional.jvp(lambda a: 2 * a, w, x, strict=True, create_graph=True)
functional.vhp(linear, x, x, strict=True)
functional.vhp(lambda a, b: scalar(a), (x, x), (x, x), strict=True)
functional.hvp(linear, x, x, strict=True)
functional.hvp(single, torch.tensor(1.0), torch.tensor(1.0), strict=True, create_graph=True)
functional.vhp(lambda a: (a * a).sum(), x, x, strict=True, create_graph=True)
functional.jacobian(single, x, strict=True, vectorize=True)
functional.jacobian(single, x, strict=True, vectorize=True, strategy="forward-mode")
a = functional.jacobian(single, x, strict=True)
""",
    "strategies": """
functional.jacobian(single, x, strategy="forward-mode")
functional.jacobian(single, x, strategy="junk")
functional.jacobian(single, x, vectorize=True, strategy="forward-mode", create_graph=True)
functional.hessian(scalar, x, outer_jacobian_strategy="forward-mode")
functional.hessian(scalar, x, outer_jacobian_strategy="junk")
functional.hessian(scalar, x, vectorize=True, outer_jacobian_strategy="forward-mode", create_graph=True)
""",
    "the point is not the inputs": """
seen = []
def look(a):
    seen.append((a is w, a.is_leaf, a.requires_grad, a._is_view()))
    return a ** 2
a = functional.vjp(look, w, x)
b = functional.vjp(look, w, x, create_graph=True)
c = functional.jacobian(look, w)
d = functional.jacobian(lambda a: a * w * w, w)
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
e = torch.autograd.grad(z, [w, other], batch, is_grads_batched=True, retain_graph=True, materialize_grads=True)
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
torch.autograd.grad([z, z], w, [torch.ones(2, 2), torch.ones(3, 2)], is_grads_batched=True, retain_graph=True)
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
b = torch.autograd.grad(a.sum(), w)
a = a.detach()
"""
    )
