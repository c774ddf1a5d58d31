"""torch.autograd.forward_ad: levels, backward inside them, custom Functions, gradcheck."""

import gc
import weakref

import pytest

import refgrad
from refgrad.autograd import forward_ad
from tests.refgrad.against_torch import agree
from tests.refgrad.test_forward_ad import in_level, lines

LEVELS = """
T = torch.tensor
fw = torch.autograd.forward_ad
none = fw.unpack_dual(T(1.0))
early = fw.make_dual(T(1.0), T(1.0))
early = fw._current_level
early = fw.exit_dual_level()
early = torch._C._exit_dual_level(level=0)
number = fw.enter_dual_level()
nested = fw.enter_dual_level()
a = fw.make_dual(T([1.0, 2.0]), T([3.0, 4.0]))
shown = [repr(a), str(a.sum()), repr(a * 1j), str(fw.unpack_dual(a)), repr(a.view(2, 1))]
wrong = fw.make_dual(a, T([1.0, 1.0]))
wrong = fw.make_dual(T([1.0, 2.0]), a)
wrong = fw.make_dual(T([1.0, 2.0]), T(1.0))
wrong = fw.make_dual(T(1), T(1.0))
wrong = fw.make_dual(T(1.0), T(1))
wrong = fw.make_dual(1.0, T(1))
wrong = fw.make_dual(T(1.0), T(1.0), level=1)
wrong = fw.make_dual(T(1.0), T(1.0), 0)
wrong = fw.make_dual(T(1.0), T(1.0), level=-1)
wrong = fw.unpack_dual(3)
wrong = fw.unpack_dual(a, level=1)
outside = fw.unpack_dual(a, level=-1)[1]
wrong = fw.exit_dual_level(level=3)
double = fw.make_dual(T(1.0), T(2.0, dtype=torch.float64))
mixed = fw.unpack_dual(double * 2)
enabled = fw._is_fwd_grad_enabled(), torch._C._is_fwd_grad_enabled()
switch = fw._set_fwd_grad_enabled(False)
off = fw.unpack_dual(a), fw.unpack_dual(a * 2), fw._is_fwd_grad_enabled(), repr(a)
switch.__exit__(None, None, None)
on = fw.unpack_dual(a * 2)
wrong = fw._set_fwd_grad_enabled(3)
wrong = torch._C._set_fwd_grad_enabled(3)
with torch.no_grad(): quiet = fw.unpack_dual(a * 3)
with torch.inference_mode(): inference = fw.unpack_dual(a * 3), fw._is_fwd_grad_enabled()
b = a * 3
done = fw.exit_dual_level()
gone = fw.unpack_dual(a), repr(b)
again = fw.enter_dual_level()
still = fw.unpack_dual(a)[1], fw.unpack_dual(b)[1], a[0] * 2
done = fw.exit_dual_level(level=0)
decorated = fw.dual_level()(lambda v: fw.unpack_dual(fw.make_dual(v, v) * v).tangent)(T([1.0, 2.0]))
wrong = fw.dual_level(3)
with fw.dual_level() as inside: level_now = fw._current_level
after = fw._current_level
switch = fw = None
"""


def test_levels():
    agree(LEVELS)


def test_layouts_of_tangents():
    agree(
        in_level("""
base = torch.rand(4)
v = base[1:3]
t1 = fw.unpack_dual(fw.make_dual(v, torch.ones(2))).tangent
t2 = torch.ones(4)[1:3]
same = fw.unpack_dual(fw.make_dual(v, t2)).tangent is t2
t3 = fw.unpack_dual(fw.make_dual(x.t(), torch.ones(3, 2))).tangent
t4 = fw.unpack_dual(fw.make_dual(x, torch.ones(1).expand(2, 3))).tangent
c = torch.ones(2, dtype=torch.complex64).conj()
t5 = fw.unpack_dual(fw.make_dual(c, torch.ones(2, dtype=torch.complex64))).tangent
conj = t5.is_conj()
z = fw.make_dual(T([1 + 2j, 3j]), T([1j, 2.0]))
found = [fw.unpack_dual(each) for each in (z.conj(), z.imag, z.real, z.abs(), z * z, torch.view_as_real(z))]
i = z.imag
i.mul_(3)
whole = fw.unpack_dual(z)
torch.view_as_real(z).add_(1)
whole2 = fw.unpack_dual(z)
r = torch.view_as_complex(torch.ones(2, 2))
r.mul_(z)
made = fw.unpack_dual(r)
""").replace("torch.rand(4)", "torch.ones(4)")
    )


BACKWARD = lines("""
(p * p).sum().backward(); g = x.grad
(p ** 3).sum().backward(create_graph=True); g = x.grad
(p * q).sum().backward(); (p * q).sum().backward(); g = x.grad
g, = torch.autograd.grad((p ** 3).sum(), x, create_graph=True); h = fw.unpack_dual(g)[1].sum().backward()
g = torch.autograd.grad(p.sum(), p, grad_outputs=fw.make_dual(T(2.0), T(3.0)))[0]
fw.unpack_dual(p.sin() * q).tangent.sum().backward(); g = x.grad
p.register_hook(lambda v: v * 2); g, = torch.autograd.grad((p * p).sum(), x)
r = p.exp(); r.register_hook(lambda v: v * v); g, = torch.autograd.grad(r.sum(), x)
r = p.exp() * p.tanh() * p.sqrt().sigmoid(); g, = torch.autograd.grad(r.nansum(), x)
r = p * 1; r[0] = 3.0; r.mul_(q); g, = torch.autograd.grad((r * r).sum(), x)
r = (p @ q.t()).softmax(0).log(); g, = torch.autograd.grad(r.sum(), x)
r = torch.stack([p, q]).prod(0).max(); g, = torch.autograd.grad(r, x)
""")


@pytest.mark.parametrize("statements", BACKWARD)
def test_backward_inside_a_level(statements):
    body = statements.replace("; ", "\n") + "\ntangent = fw.unpack_dual(g).tangent\n"
    agree(in_level(body, leaves=True))


def test_hooks_on_saved_tensors_see_tangents():
    agree(
        in_level(
            """
seen = []
pack = lambda t: (seen.append(("pack", repr(t))), t)[1]
unpack = lambda t: (seen.append(("unpack", repr(t))), t)[1]
with torch.autograd.graph.saved_tensors_hooks(pack, unpack): r = p.exp()
g, = torch.autograd.grad(r.sum(), x)
tangent = fw.unpack_dual(g).tangent
checkpoint = torch.utils.checkpoint.checkpoint
checkpointed = fw.unpack_dual(checkpoint(lambda v: v.sin() * v, p, use_reentrant=False))
""",
            leaves=True,
        )
    )


FUNCTION = """
def function(forward, jvp=None, **more):
    own = {{"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, *g: g[0]), **more}}
    if jvp is not None:
        own["jvp"] = staticmethod(jvp)
    return type("Own", (torch.autograd.Function,), own).apply

def dirty(ctx, v, *others):
    ctx.mark_dirty(v)
    return v.mul_(2)

def fixed(ctx, v):
    r = v * 2
    ctx.mark_non_differentiable(r)
    return r

def kept(ctx, v):
    ctx.save_for_forward(v, None)
    return v * 2

def undefined(ctx, v, *others):
    ctx.set_materialize_grads(False)
    return v * 2

def late(ctx, v):
    ctx.save_for_backward(v)
    return v * 2

seen = []
modes = lambda: (fw._is_fwd_grad_enabled(), torch.is_grad_enabled())
note = lambda ctx, *t: (seen.append(repr(t)), t[0])[1]
i = T([1, 2])
r = function({arguments})
shown = [repr(r), repr(p), seen]
"""
FUNCTIONS = lines("""
lambda ctx, v: v * 2, lambda ctx, t: t * 2)(p
lambda ctx, v: v * 2)(p
lambda ctx, v: v * 2, note)(y
lambda ctx, v, k, n, w: v * k, note)(p, 3, i, y
undefined, note)(p, y
kept, lambda ctx, t: t * ctx.saved_tensors[0])(p
late, lambda ctx, t: (seen.append(repr(ctx.saved_tensors)), t)[1])(p
lambda ctx, v: (ctx.save_for_forward(3), v * 2)[1], note)(p
dirty, lambda ctx, t: t.mul_(2))(p
dirty, lambda ctx, t: t * 2)(p
dirty, lambda ctx, t: t.mul_(2))(p[0]
dirty, lambda ctx, t, s: t + s)(y, p
lambda ctx, v: v.view(3, 2), lambda ctx, t: t.view(3, 2))(p
lambda ctx, v: v.view(3, 2), lambda ctx, t: t.clone().view(3, 2))(p
lambda ctx, v: v.view(3, 2), lambda ctx, t: (t * 2).reshape(-1))(p
lambda ctx, v: v, lambda ctx, t: t)(p
lambda ctx, v: v, lambda ctx, t: t.view_as(t))(p
lambda ctx, v, w: (v * 2, w), lambda ctx, t, s: (t, s.view_as(s)))(p, y
fixed, lambda ctx, t: None)(p
fixed, lambda ctx, t: t)(p
lambda ctx, v: (v * 2, v.long()), lambda ctx, t: (t * 2, None))(p
lambda ctx, v: (v * 2, v.long()), lambda ctx, t: (t * 2, t))(p
lambda ctx, v: (v * 2, None, 5), lambda ctx, t: (t * 2, None, None))(p
lambda ctx, v: v * 2, lambda ctx, t: (t, t))(p
lambda ctx, v: v * 2, lambda ctx, t: 3)(p
lambda ctx, v: v * 2, lambda ctx, t: [t])(p
lambda ctx, v: v * 2, lambda ctx, t: torch.ones(3))(p
lambda ctx, v: v * 2, lambda ctx, t: t.double())(p
lambda ctx, v: v * 2, lambda ctx: 1)(p
lambda ctx, v: (seen.append((repr(v), modes())), v * 2)[1], note)(p
lambda ctx, v: v * 2, lambda ctx, t: (seen.append(modes()), t)[1])(p
""")


@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("arguments", FUNCTIONS)
def test_functions(arguments, leaves):
    agree(in_level(FUNCTION.format(arguments=arguments), leaves))


def test_the_saved_result_of_a_function_has_its_tangent():
    agree(
        in_level(
            """
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.result = v.exp()
        ctx.save_for_backward(ctx.result)
        return ctx.result
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]
    @staticmethod
    def jvp(ctx, t):
        return t * ctx.result

r = Exp.apply(p)
g, = torch.autograd.grad(r.sum(), x)
found = fw.unpack_dual(r), fw.unpack_dual(g)
""",
            leaves=True,
        )
    )


CHECKS = lines("""
gradcheck(lambda v: v * 2, d(1.0), check_forward_ad=True)
gradcheck(lambda v, w: (v * w).sin(), (d(1.0, 2.0), d(3.0, 4.0)), check_forward_ad=True)
gradcheck(lambda v: v.prod(), d(1.0, 2.0, 3.0), check_forward_ad=True, check_batched_forward_grad=True)
gradcheck(torch.matmul, (d(1.0, 2.0), d(3.0, 4.0)), check_forward_ad=True, fast_mode=True)
gradcheck(Bad.apply, d(1.0), check_forward_ad=True)
gradcheck(Bad.apply, d(1.0), check_forward_ad=True, raise_exception=False)
gradcheck(Bad.apply, d(1.0), check_forward_ad=True, check_backward_ad=False)
gradcheck(Without.apply, d(1.0), check_forward_ad=True)
gradcheck(lambda v: v * v.detach(), d(1.0), check_forward_ad=True)
gradcheck(lambda v: v * v, z, check_forward_ad=True)
gradcheck(lambda v: torch.view_as_complex(v), d(1.0, 2.0), check_forward_ad=True)
gradcheck(lambda v, w: (v * 2, w.long()), (d(1.0, 2.0), d(3.0, 4.0)), check_forward_ad=True)
torch.autograd.gradgradcheck(lambda v: v ** 3, d(1.0, 2.0), check_fwd_over_rev=True, check_rev_over_rev=False)
torch.autograd.functional.jacobian(lambda v: v ** 2, e, **forward)
torch.autograd.functional.jacobian(lambda v, w: (v * w, v.sum()), (e, e * 3), **forward)
torch.autograd.functional.jacobian(inner, torch.tensor([1.0, 2.0]))
""")


@pytest.mark.parametrize("check", CHECKS)
def test_gradcheck_and_functional(check):
    agree(f"""
fw = torch.autograd.forward_ad
gradcheck = torch.autograd.gradcheck
d = lambda *v: torch.tensor(v[0] if len(v) == 1 else list(v), dtype=torch.float64, requires_grad=True)
z = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128, requires_grad=True)
class Without(torch.autograd.Function):
    forward = staticmethod(lambda ctx, v: v * 2)
    backward = staticmethod(lambda ctx, g: g * 2)
class Bad(Without):
    jvp = staticmethod(lambda ctx, t: t * 3)
e = d(1.0, 2.0).detach()
forward = {{"vectorize": True, "strategy": "forward-mode"}}
inner = fw.dual_level()(lambda v: fw.unpack_dual(fw.make_dual(v, torch.ones_like(v)) ** 3).tangent)
torch.manual_seed(0)
r = {check}
level = fw._current_level
fw = None
""")


def test_a_level_lets_go_of_its_tangents():
    primal = refgrad.ones(2)
    with forward_ad.dual_level():
        tangent = refgrad.ones(2)
        alive = weakref.ref(tangent)
        dual = forward_ad.make_dual(primal, tangent)
        product = dual.exp() * dual[0]
        del tangent
        assert alive() is not None
    gc.collect()
    assert alive() is None
    assert forward_ad.unpack_dual(product).tangent is None


def test_random_ops_draw_once():
    agree(
        in_level("""
torch.manual_seed(0)
a = F.dropout(p, 0.5)
b = torch.rand(2)
c = F.rrelu(p, training=True)
e = torch.rand(2)
f = torch.nn.BatchNorm1d(3)
g = f(p)
m, v, n = f.running_mean, f.running_var, f.num_batches_tracked
found = [fw.unpack_dual(each).tangent.detach().clone() for each in (a, c, g)]
""")
    )
