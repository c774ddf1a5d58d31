"""`gradcheck`, `gradgradcheck` and `torch.testing` against PyTorch: verdicts, texts, order of calls."""

import pytest

from tests.refgrad.against_torch import agree

PRELUDE = """
_ = torch.manual_seed(7)
gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck
def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)
def function(forward, backward, **more):
    methods = dict(forward=staticmethod(forward), backward=staticmethod(backward), **more)
    return type("Fn", (torch.autograd.Function,), methods).apply
bad = function(lambda ctx, x: x * 2, lambda ctx, g: g * 3)
calls = [0]
def drifting(ctx, g):
    calls[0] += 1
    return g * 2 + calls[0] * 1e-3
def counted(x):
    calls[0] += 1
    return x * x
"""
PROGRAMS = {
    "what passes": """
a = gradcheck(lambda x: x ** 2, leaf(1.0, 2.0))
b = gradcheck(lambda x: (x ** 2, x.detach()), (leaf(1.0),))
c = gradcheck(lambda x: x.long(), leaf(1.0))
d = gradcheck(lambda x: torch.ones(1, dtype=torch.float64), leaf(1.0))
e = gradcheck(lambda x, n: x * n, [leaf(1.0, 2.0), 3])
f = gradcheck(lambda x: x.t() @ x, torch.arange(6.0, dtype=torch.float64).view(2, 3).requires_grad_())
g = gradcheck(lambda x: x ** 2, leaf(1.0, 2.0), fast_mode=True)
h = gradcheck(lambda x: x.expand(3), leaf(1.0))
i = gradcheck(lambda x: x[:0], leaf(1.0))
j = gradcheck(lambda x: x * 2, leaf(1.0), check_batched_grad=True)
k = gradcheck(lambda x: x.abs(), leaf(0.0))
l = gradcheck(torch.relu, leaf(0.0), raise_exception=False)
m = gradcheck(lambda x: x * 1.0, leaf(1.0), masked=True)
n = torch.rand(2)
""",
    "complex": """
a = gradcheck(lambda x: x.sum() * (1 + 0j), leaf(1.0, 2.0))
b = gradcheck(lambda z: z * z, leaf(1 + 2j, dtype=torch.complex128))
c = gradcheck(lambda z: (z.abs(), z * 2), leaf(1 + 2j, 3j, dtype=torch.complex128))
d = gradcheck(lambda z: z * z, leaf(1 + 2j, dtype=torch.complex128), fast_mode=True)
e = gradgradcheck(lambda z: z * z, leaf(1 + 2j, dtype=torch.complex128))
wrong = function(lambda ctx, z: z * (2 + 1j), lambda ctx, g: g * (2 + 1j))
gradcheck(wrong, leaf(1 + 2j, dtype=torch.complex128))
gradcheck(wrong, leaf(1 + 2j, dtype=torch.complex128), fast_mode=True)
""",
    "inputs": """
gradcheck(lambda x: x ** 2, torch.tensor([1.0, 2.0], requires_grad=True))
gradcheck(lambda x: x ** 2, torch.ones(1, dtype=torch.float64))
gradcheck(lambda x: x ** 2, torch.ones(1, dtype=torch.float64), raise_exception=False)
gradcheck(lambda x: x ** 2, leaf(1.0).expand(3))
gradcheck(lambda x: x ** 2, 3.0)
gradcheck(lambda x: 3.0, leaf(1.0))
gradcheck(lambda x: x.detach(), leaf(1.0))
gradcheck(lambda x: x.detach(), leaf(1.0), fast_mode=True)
gradcheck(lambda x: x.mul_(2), leaf(1.0))
gradcheck(lambda x: x.requires_grad_(False) * 2, leaf(1.0))
""",
    "options": """
gradcheck(lambda x: x * 2, leaf(1.0), check_backward_ad=False)
gradcheck(lambda x: x * 2, leaf(1.0), check_backward_ad=False, check_forward_ad=True, check_batched_grad=True)
gradcheck(lambda x: x * 2, leaf(1.0), check_batched_forward_grad=True)
gradgradcheck(lambda x: x * 2, leaf(1.0), check_rev_over_rev=False)
gradgradcheck(lambda x: x * 2, leaf(1.0), check_rev_over_rev=False, check_fwd_over_rev=True)
a = gradcheck(lambda x: x ** 2, leaf(1.0), eps=1.0, atol=1e-9)
near = function(lambda ctx, x: x * 2, lambda ctx, g: g * (2 + 1e-4))
b = gradcheck(near, leaf(1.0))
c = gradcheck(near, leaf(1.0), rtol=1e-6, atol=1e-6, raise_exception=False)
single = function(lambda ctx, x: x * 2, lambda ctx, g: (g * 2).float())
d = gradcheck(single, leaf(1.0))
""",
    "mismatches": """
gradcheck(bad, leaf(1.0, 2.0))
gradcheck(bad, leaf(1.0, 2.0), fast_mode=True)
a = gradcheck(bad, leaf(1.0, 2.0), raise_exception=False)
gradcheck(lambda a, b: a * b.detach(), (leaf(1.0), leaf(2.0)))
gradcheck(function(lambda ctx, x: (x * 2, x * 3), lambda ctx, a, b: a * 2 + b * 4), leaf(1.0))
gradcheck(function(lambda ctx, x: x * 2, lambda ctx, g: None), leaf(1.0))
gradcheck(function(lambda ctx, x: x * 2, drifting), leaf(1.0))
gradcheck(function(lambda ctx, x: x * 2, drifting), leaf(1.0), nondet_tol=0.1)
gradcheck(function(lambda ctx, x: x * 2, lambda ctx, g: g.sum().expand(3)), leaf(1.0, 2.0))
gradcheck(function(lambda ctx, x: x * 2, lambda ctx, g: g * 2 + 1), leaf(1.0))
gradcheck(function(lambda ctx, x: x * 2, lambda ctx, g: g * 2 if g.any() else g + 1), leaf(1.0))
near = function(lambda ctx, x: x * 2, lambda ctx, g: g * (2 + 1e-4))
gradcheck(near, leaf(1.0, -0.5), rtol=1e-9, atol=2e-4, fast_mode=True)
""",
    "functions that change": """
gradcheck(lambda x: x[x > 1.0], leaf(1.0, 2.0))
gradcheck(lambda x: x.float() if x[0] > 1 else x * 1, leaf(1.0))
gradcheck(lambda x: x * torch.rand(()).double(), leaf(1.0))
a = gradcheck(counted, leaf(1.0, 2.0, 3.0))
b = gradcheck(counted, leaf(1.0, 2.0, 3.0), fast_mode=True)
""",
    "undefined gradients": """
pick = function(lambda ctx, x: (ctx.set_materialize_grads(False), x * 2)[1], lambda ctx, g: g * 2)
gradcheck(pick, leaf(1.0))
def one(ctx, g, h):
    if g is None:
        raise RuntimeError("no gradient")
    return g * 2 + (0 if h is None else h * 3)
both = function(lambda ctx, x: (ctx.set_materialize_grads(False), x * 2, x * 3)[1:], one)
gradcheck(both, leaf(1.0))
a = gradcheck(both, leaf(1.0), raise_exception=False)
gradcheck(both, leaf(1.0), check_undefined_grad=False)
""",
    "second order": """
a = gradgradcheck(lambda x: x ** 3, leaf(1.0, 2.0))
b = gradgradcheck(lambda x: x * 2, leaf(1.0), gen_non_contig_grad_outputs=True)
c = gradgradcheck(lambda x: x ** 3, leaf(1.0), grad_outputs=leaf(1.0))
d = gradgradcheck(lambda x, y: (x * y, x), (leaf(1.0), leaf(2.0)), fast_mode=True)
gradgradcheck(lambda x: x.detach(), leaf(1.0))
torch.manual_seed(5)
def fixed(ctx, x):
    ctx.x = x.detach()
    return x ** 2
gradgradcheck(function(fixed, lambda ctx, g: g * 2 * ctx.x), leaf(1.0))
e = gradgradcheck(function(fixed, lambda ctx, g: g * 2 * ctx.x), leaf(1.0), raise_exception=False)
once = torch.autograd.function.once_differentiable(lambda ctx, g: g * 2)
f = gradcheck(function(lambda ctx, x: x * 2, once), leaf(1.0))
gradgradcheck(function(lambda ctx, x: x * 2, once), leaf(1.0))
""",
    "functions that raise": """
gradcheck(lambda x: {}[0], leaf(1.0))
gradcheck(lambda x: {}[0], leaf(1.0), raise_exception=False)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_pytorch(name):
    agree(PRELUDE + PROGRAMS[name])
