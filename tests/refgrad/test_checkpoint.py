"""torch.utils.checkpoint: both forms, nesting, early stop, determinism, random numbers; saved tensors that
may be written."""

import pytest

from tests.refgrad.against_torch import agree

START = """
checkpoint = torch.utils.checkpoint.checkpoint
x = torch.tensor([0.5, 1.0], requires_grad=True)
runs = []
"""
PROGRAMS = {
    "keywords": """
y = checkpoint(lambda t, k=1: t * k, x, k=3, use_reentrant=False)
checkpoint(lambda t, k=1: t * k, x, k=3, use_reentrant=True)
checkpoint(lambda t: t, x, use_reentrant=True, debug=True)
checkpoint(lambda t: t, x, use_reentrant=False, determinism_check="junk")
checkpoint(3, x, use_reentrant=False)
z = checkpoint(lambda t: t.sin(), x)
""",
    "structures": """
f = lambda ts, d: {"a": ts[0] * d["k"], "b": (ts[1], 3, None)}
y = checkpoint(f, [x, x * 2], {"k": x}, use_reentrant=False)
y["a"].sum().backward()
z = checkpoint(lambda t: (t.sin(), t.detach(), 3, None), x, use_reentrant=True)
z[0].sum().backward()
""",
    "modes": """
with torch.no_grad():
    a = checkpoint(torch.sin, x, use_reentrant=True)
    b = checkpoint(torch.sin, x, use_reentrant=False)
y = checkpoint(torch.sin, x.detach(), use_reentrant=False)
""",
    "twice": """
y = checkpoint(lambda t: (runs.append(1), t.sin().exp())[1], x, use_reentrant=False)
y.sum().backward(retain_graph=True)
y.sum().backward()
y.sum().backward()
""",
    "grad": """
y = checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False)
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
(h,) = torch.autograd.grad(g.sum(), x)
z = checkpoint(lambda t: t.sin(), x, use_reentrant=True)
z.sum().backward(inputs=[x])
""",
    "fewer": """
def f(t):
    runs.append(1)
    return t.sin().exp() if len(runs) == 1 else t * 1
checkpoint(f, x, use_reentrant=False).sum().backward()
""",
    "more": """
def f(t):
    runs.append(1)
    a = t.exp()
    return a * 2 if len(runs) == 1 else (a * 2).sin().cos()
y = checkpoint(f, x, use_reentrant=False)
y.sum().backward()
runs.clear()
z = checkpoint(f, x, use_reentrant=False, early_stop=False)
z.sum().backward()
""",
    "dtype": """
def f(t):
    runs.append(1)
    return (t if len(runs) == 1 else t.double()).sin()
checkpoint(f, x, use_reentrant=False).sum().backward()
""",
    "exceptions": """
def f(t):
    runs.append(1)
    if len(runs) == 2: raise ValueError("second run")
    return t.sin()
y = checkpoint(f, x, use_reentrant=False)
y.sum().backward()
y.sum().backward()
""",
    "hooks": """
log = []
pack = lambda t: (log.append("pack"), t)[1]
unpack = lambda t: (log.append("unpack"), t)[1]
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False)
y.sum().backward()
s = checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False).grad_fn._saved_result
""",
    "nested": """
inner = lambda r: lambda t: (runs.append("inner"), t.sin().exp())[1]
def outer(r): return lambda t: (runs.append("outer"), checkpoint(inner(r), t.sin(), use_reentrant=r).sin())[1]
checkpoint(outer(False), x, use_reentrant=False).sum().backward()
checkpoint(outer(True), x, use_reentrant=False).sum().backward()
checkpoint(outer(False), x, use_reentrant=True).sum().backward()
""",
    "groups": """
group = torch.utils.checkpoint.GraphExecGroup
f = lambda t: (runs.append(1), (t.sin().exp(), t.cos().exp()))[1]
a, b = checkpoint(f, x, use_reentrant=False)
with group(): a.sum().backward(retain_graph=True); b.sum().backward()
a, b = checkpoint(f, x, use_reentrant=False)
with group(): a.sum().backward(retain_graph=True); a.sum().backward()
""",
    "sequences": """
sequential = torch.utils.checkpoint.checkpoint_sequential
m = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Sigmoid(), torch.nn.ReLU(), torch.nn.Tanh())
y = sequential(m, 2, x, use_reentrant=False)
y.sum().backward()
z = sequential(m, 3, x, use_reentrant=True)
z.sum().backward()
sequential(m, 9, x, use_reentrant=False)
sequential(m, 0, x, use_reentrant=False)
sequential(m, 2, x, k=1, use_reentrant=False)
sequential([torch.sin, torch.cos], 1, x)
""",
    "written saved tensors": """
allowed = torch.autograd.graph.allow_mutation_on_saved_tensors
with allowed():
    a = x * 1
    y = a * a.sin()
    a[0] = 5.0
    a.fill_(3)
    y.sum().backward()
with allowed() as kept:
    b = x * 1
    z = b * b
    b.detach().add_(1)
    n = (len(kept.cloned), len(kept.original))
    z.sum().backward()
kept = None
z.sum().backward()
with allowed():
    with allowed(): pass
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_does_what_pytorch_does(name):
    agree(START + PROGRAMS[name])


def test_random_numbers_of_the_second_run():
    agree(
        START
        + """
def f(t):
    runs.append(torch.rand(2))
    return (t * runs[-1]).exp()
_ = torch.manual_seed(0)
y = checkpoint(f, x, use_reentrant=False)
a = torch.rand(1)
y.sum().backward()
b = torch.rand(1)
z = checkpoint(f, x, use_reentrant=True, preserve_rng_state=False)
z.sum().backward()
c = torch.rand(1)
_ = None
"""
    )
