"""torch.autograd.forward_ad: the tangents of ops, views and writes, and the graphs of tangents."""

import warnings

import pytest
import torch

from tests.refgrad.against_torch import agree

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyTorch warns when it first loads what forward mode needs
    torch.func.jvp(torch.sin, (torch.ones(1),), (torch.ones(1),))

START = """
T = torch.tensor
F = torch.nn.functional
fw = torch.autograd.forward_ad
x = T([[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]], requires_grad={leaves})
y = T([[1.0, 0.5, -1.0], [2.0, 1.5, 3.0]], requires_grad={leaves})
s = T([[1.0, -2.0, 0.5], [0.25, 4.0, -1.0]])
u = T([[-0.5, 1.0, 2.0], [3.0, -1.5, 0.75]])
level = fw.enter_dual_level()
p, q = fw.make_dual(x, s), fw.make_dual(y, u)
"""
END = """
fw.exit_dual_level()
F = fw = None
"""


def lines(text: str) -> list[str]:
    """The lines of a text, one test each."""
    return text.strip().split("\n")


def in_level(body: str, leaves: bool = False) -> str:
    """A program that runs inside a level, with the duals `p` and `q`."""
    return START.format(leaves=leaves) + body + END


POINTWISE = lines("""
p + q
p - 2 * q
3 - p
p * q
p * y
y * p
p * 2.5
p / q
p / 3
2 / q
p ** 2
q.abs() ** p
2.0 ** p
p.sin() * q.cos()
p.exp()
q.abs().log()
p.tanh()
p.sigmoid()
p.relu()
F.gelu(p)
F.softplus(p)
F.leaky_relu(p)
p.abs()
p.sign()
p.floor()
p.clamp(-1, 1)
p.clamp(y, y + 1)
torch.maximum(p, q)
torch.minimum(p, y)
torch.where(x > 0, p, q)
torch.where(x > 0, p, 0.0)
torch.atan2(p, q)
torch.hypot(p, q)
torch.lerp(p, q, 0.25)
torch.addcmul(p, q, p, value=2)
torch.addcdiv(p, q, q, value=0.5)
p.remainder(q)
torch.fmod(p, y)
p.frac()
torch.div(p, q, rounding_mode='floor')
torch.logaddexp(p, q)
torch.xlogy(p, y.abs())
p.lgamma()
p.double()
p.nan_to_num()
torch.rsub(p, q, alpha=2)
torch.copysign(p, q)
p.float()
p.neg().square().sqrt()
""")
STRUCTURED = lines("""
p.sum()
p.sum(1, keepdim=True)
p.mean(0)
p.prod()
p.prod(1)
p.max()
p.max(1)[0]
p.min(0, keepdim=True)[0]
p.amax(1)
p.norm()
p.norm(1, 1)
torch.linalg.vector_norm(p, dim=0)
p.var(1)
p.std()
p.cumsum(1)
p.cumprod(0)
p.logsumexp(1)
p.softmax(1)
p.log_softmax(0)
p.sort(1)[0]
p.topk(2)[0]
p.median(1)[0]
p @ q.t()
torch.mm(p, y.t())
p.t().mv(q[:, 0])
torch.dot(p[0], q[1])
torch.addmm(p[:, :2], p, q.t())
torch.einsum('ij,ik->jk', p, q)
torch.outer(p[0], q[0])
p.unsqueeze(0).bmm(q.t().unsqueeze(0))
F.linear(p, q, p[0, :2])
torch.cat([p, y, q])
torch.stack([p, y], 1)
p.index_select(1, T([2, 0]))
p.gather(1, T([[0, 2], [1, 1]]))
p[T([0, 1]), T([2, 0])]
p[x > 0]
p.masked_fill(x > 0, 5.0)
p.scatter(1, T([[0], [2]]), q)
p.scatter_add(1, T([[0], [2]]), q)
p.index_add(0, T([1]), q[:1])
p.repeat(2, 1)
p.flip(1).roll(1, 0)
p.tril()
p.clone()
F.pad(p, (1, 2))
F.mse_loss(p, q, reduction='none')
F.smooth_l1_loss(p, y, reduction='sum')
F.cross_entropy(p, T([2, 0]))
F.nll_loss(p, T([1, 2]), reduction='none')
F.binary_cross_entropy_with_logits(p, q.sigmoid(), reduction='none')
F.layer_norm(p, (3,))
F.conv1d(p.unsqueeze(0), q.unsqueeze(0), padding=1)
F.avg_pool1d(p, 2)
F.max_pool1d(p, 2)
F.embedding(T([0, 1, 1]), p)
F.cosine_similarity(p, q)
torch.trace(p @ q.t())
torch.diag_embed(p)
torch.kron(p, q)
torch.cov(p)
""")
VIEWS = lines("""
p[0]
p[:, 1:]
p.t()
p.view(3, 2)
p.reshape(-1)
p.expand(2, 2, 3)
p.unsqueeze(1).squeeze()
p.permute(1, 0)
p.diagonal()
p.unfold(1, 2, 1)
p.split(2, 1)[0]
p.unbind()[1]
p.narrow(1, 1, 2)
p.as_strided((2,), (2,), 1)
p.flatten()
p.view_as(p)
p.detach()
p.data
p.contiguous()
p.to(torch.float32)
p.real
torch.view_as_complex(p[:, :2])
""")
UNMOVED = lines("""
p > 0
p.argmax()
p.long()
p.isnan()
p.new_zeros(2)
torch.zeros_like(p)
y * 2
p.detach() * 2
p.bool()
torch.tensor(p[0, 0].item())
""")
REFUSED = lines("""
torch.heaviside(p, q)
p // 2
torch.igamma(q.abs(), p.abs())
torch.cdist(p, q)
F.pdist(p)
p.unique()
F.multi_margin_loss(p, T([0, 1]))
p.clone().igamma_(q)
p.clone().floor_divide_(2)
torch.mul(p, 2, out=torch.empty(2, 3))
torch.sin(y, out=p)
p.numpy() + 0
""")


@pytest.mark.parametrize("expression", POINTWISE + STRUCTURED + VIEWS + UNMOVED)
def test_tangents(expression):
    agree(in_level(f"r = {expression}\nt = fw.unpack_dual(r).tangent\n"))


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals(expression):
    agree(in_level(f"r = {expression}\n"))


OWN_GRAPH = {  # the tangent's graph is that of a backward differentiated, not PyTorch's
    *("p.prod()", "p.prod(1)", "p.amax(1)", "p.cumprod(0)", "torch.copysign(p, q)", "p.clamp(y, y + 1)"),
    *("q.abs() ** p", "F.conv1d(p.unsqueeze(0), q.unsqueeze(0), padding=1)"),
    *("F.binary_cross_entropy_with_logits(p, q.sigmoid(), reduction='none')",),
}
OWN_VERSIONS = {  # PyTorch writes on the way
    *("p.cumprod(0)", "p[T([0, 1]), T([2, 0])]", "p[x > 0]"),
    "F.binary_cross_entropy_with_logits(p, q.sigmoid(), reduction='none')",
}


@pytest.mark.parametrize("expression", POINTWISE + STRUCTURED + VIEWS)
def test_tangents_have_a_graph(expression):
    """Reverse over forward, and forward over reverse."""
    tangent = "d = fw.unpack_dual(r).tangent\n"
    follow = (
        f"r = {expression}\n{tangent}"
        "g = torch.autograd.grad((d * d).real.sum(), (x, y), retain_graph=True, allow_unused=True) "
        "if d is not None and d.requires_grad else None\n"
        "h = torch.autograd.grad((r * r).real.sum(), (x, y), retain_graph=True, allow_unused=True) "
        "if r.requires_grad else ()\n"
        "k = [None if v is None else fw.unpack_dual(v).tangent for v in h]\n"
    )
    if expression in OWN_GRAPH:
        follow += "d = d.detach()\n"
    if expression in OWN_VERSIONS:
        follow += (
            "g, h, k = [[None if v is None else v.clone() for v in found] for found in (g or (), h, k)]\n"
        )
    agree(in_level(follow, leaves=True))


WRITES = lines("""
p.mul_(2); p.add_(q); p.sub_(1)
p.sin_().exp_().neg_().sigmoid_()
p.mul_(p)
p.div_(p)
p.zero_()
p.fill_(3.0)
p.fill_(q[0, 0])
p.copy_(y)
p.copy_(q)
p.uniform_()
p.t_()
p[0] = 5.0
p[:, 1] = q[:, 0]
p[x > 0] = 0
p[T([0, 1]), T([0, 2])] = q[0, :2]
v = p[0]; v.mul_(3)
v = p[0]; w = v[1:]; w.mul_(q[0, 1:]); p.add_(1)
v = p.t(); p.mul_(2); w = v[0]
x.add_(1)
x.mul_(q)
c = y * 1; v = c[0]; c.add_(p); d = v.clone()
c = y * 1; c[0] = p[1]; d = c[0] * 2
c = y * 1; v = c.view(3, 2); v.mul_(p.view(3, 2)); w = c[1]
c = y * 1; v, w = c[:, :2], c[:, 1:]; v.add_(p[:, :2]); w.mul_(3)
c = torch.zeros(2, 2); v = c.t()[0]; v.copy_(p[0, :2])
c = torch.zeros(3, 2, 3); c.copy_(p)
c = torch.zeros(2, 3, dtype=torch.float64); c.copy_(p); c.add_(q)
c = torch.zeros(2, 3, dtype=torch.int64); c.copy_(p)
c = y.detach(); c.add_(p)
c = p.detach(); c.mul_(3)
c = p.clone(); c.mul_(3)
c = torch.zeros(5); c.scatter_(0, T([0, 2, 4]), p[0]); c.index_add_(0, T([0, 0, 1]), q[0])
c = torch.zeros(4); c.index_put_((T([0, 1, 0]),), p[0], accumulate=True); c.cumsum_(0); c.clamp_(0, 0.5)
c = torch.zeros(3, 3); c.addmm_(p.t(), q); c.triu_(); c.fill_diagonal_(1.0)
c = torch.ones(2, 3); c.lerp_(p, 0.5); c.addcmul_(p, q).addcdiv_(p, q)
c = p.clone(); c.relu_(); c.masked_fill_(x > 1, 3.0); c.index_fill_(1, T([0]), q[0, 0])
c = fw.unpack_dual(p).primal; c.mul_(2); v = c[0]; v.mul_(q[0])
c, d = p.split(1); c.mul_(2)
c = p.clone(); c.squeeze_(); c.unsqueeze_(0); c.transpose_(0, 1)
p.data = y * 2
p.mul_(q.detach())
c = p + 0; d = fw.unpack_dual(c).tangent; c.mul_(2); e = p.frac(); e.mul_(2)
""")
AFTER = "\nfound = [fw.unpack_dual(each) for each in (x, y, p, q)]"
AFTER += "\nothers = [fw.unpack_dual(eval(name)) for name in ('c', 'd', 'v', 'w') if name in globals()]\n"


@pytest.mark.parametrize("statements", WRITES)
def test_writes(statements):
    drawn = "uniform_" in statements
    body = ("torch.manual_seed(0)\n" if drawn else "") + statements.replace("; ", "\n") + AFTER
    agree(in_level(body))


@pytest.mark.parametrize(
    "statements",
    lines("""
c = x * 1; c[0] = p[0]; d = c * 2
c = p * 1; v = c[0]; v.mul_(3); d = c.sum()
c = p * 1; c.mul_(q)
p.mul_(2)
x.add_(p)
c = p.exp(); c.mul_(2)
"""),
)
def test_writes_with_a_graph(statements):
    body = statements.replace("; ", "\n") + AFTER
    agree(in_level(body + "g = torch.autograd.grad(c.sum(), x, retain_graph=True)\n", leaves=True))
