"""float16 and bfloat16: bit for bit what PyTorch computes, and what refgrad does without ml_dtypes."""

import subprocess
import sys

import pytest
import torch

import refgrad
from tests.refgrad.against_torch import agree

EXPRESSIONS = """
x + y | x - y | x * y | x / y | x * 1.1 | x / 1.1 | x + 1.1 | 1.1 - x | x ** 2 | x ** 3 | x ** -2
x.abs() ** 0.3 | torch.add(x, y, alpha=0.3) | torch.sub(x, y, alpha=3) | torch.addcmul(x, y, z) | x % y
torch.addcdiv(x, y, z) | torch.lerp(x, y, 0.3) | torch.where(x > 0, x, y) | x.clamp(-0.5, 0.75) | x.exp()
x.abs().log() | x.abs().sqrt() | x.abs().rsqrt() | x.sin() | x.tanh() | x.sigmoid() | x.erf()
x.reciprocal() | torch.relu(x) | F.gelu(x) | F.silu(x) | F.softplus(x) | F.elu(x) | F.leaky_relu(x)
F.logsigmoid(x) | F.hardtanh(x) | x.sum() | x.mean() | x.sum(0) | x.mean(1) | x.prod(0) | x.amax(1)
x.std() | x.var(0) | x.norm() | x.cumsum(0) | x.softmax(0) | x.softmax(1) | x.log_softmax(0)
x.log_softmax(1) | x.logsumexp(1) | x @ y.t() | x.t() @ y | torch.addmm(z[:, :1], x, y.t())
torch.addmm(z[:, :1], x, y.t(), beta=0.5, alpha=2) | torch.bmm(x[None], y.t()[None]) | F.linear(x, y)
F.linear(x, y, z[:, 0]) | torch.einsum("ij,kj->ik", x, y) | torch.outer(x[0], y[0]) | x[0].dot(y[0])
F.mse_loss(x, y) | F.l1_loss(x, y) | F.smooth_l1_loss(x, y) | F.cross_entropy(x, torch.tensor([0, 2, 1, 1]))
F.conv1d(x[None], y[None, :, :2]) | F.rms_norm(x, (3,))
F.binary_cross_entropy_with_logits(x, y.sigmoid()) | F.layer_norm(x, (3,)) | F.group_norm(x[None], 2)
F.embedding(torch.tensor([0, 2, 0]), x) | F.max_pool1d(x[None], 2) | F.avg_pool1d(x[None], 2)
F.pad(x, (1, 0)) | torch.cat([x, y]) | torch.stack([x, y]) | x[1:, ::2] | x[[0, 0, 2]]
x.gather(1, torch.tensor([[0], [2], [1], [0]])) | x.sort(1).values | x.topk(2).values | x.flip(0)
x.roll(1, 0) | x.tril() | x.masked_fill(x > 0, -2.0) | x.index_add(0, torch.tensor([0, 0]), y[:2])
x.to(torch.float32) | x.double() | x.int() | x.to(torch.float16) | x.bfloat16() | x > y | x == x | x.isnan()
x.round() | x.sign()
"""
EXPRESSIONS = [each.strip() for line in EXPRESSIONS.strip().split("\n") for each in line.split(" | ")]


def values(engine, dtype: str, expression: str) -> list:
    """What an expression is, and its gradients, as Python numbers."""
    engine.manual_seed(7)
    kind = getattr(engine, dtype)
    x, y, z = (engine.randn(4, 3).to(kind).requires_grad_() for _ in range(3))
    result = eval(expression, {"torch": engine, "F": engine.nn.functional, "x": x, "y": y, "z": z})
    found = [str(result.dtype), result.tolist()]
    if result.requires_grad:
        weights = engine.linspace(0.3, 1.7, result.numel()).reshape(result.shape).to(result.dtype)
        for gradient in engine.autograd.grad(result, [x, y, z], weights, allow_unused=True):
            found.append(None if gradient is None else [str(gradient.dtype), gradient.tolist()])
    return found


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_bit_is_pytorchs(expression, dtype):
    assert repr(values(refgrad, dtype, expression)) == repr(values(torch, dtype, expression))


PROGRAMS = {
    "creation": """
a = torch.tensor([1.1, 300.0, 1e39, float("nan")], dtype=torch.bfloat16)
b = torch.zeros(2, 3, dtype=torch.bfloat16)
c = torch.full((3,), 0.1, dtype=torch.bfloat16)
d = torch.arange(0, 1, 0.3, dtype=torch.bfloat16)
e = torch.linspace(0, 1, 4, dtype=torch.bfloat16)
f = torch.eye(2, dtype=torch.bfloat16)
g = torch.ones_like(a)
h = torch.full((3,), 1e39, dtype=torch.bfloat16)
i = torch.empty(2, 3, dtype=torch.bfloat16).shape
j = torch.BFloat16Tensor([1.0, 2.0])
k = torch.tensor([16320], dtype=torch.int16).view(torch.bfloat16)
""",
    "random numbers": """
torch.manual_seed(3)
a = torch.rand(5, dtype=torch.bfloat16)
b = torch.randn(5, dtype=torch.bfloat16)
c = torch.randn(21, dtype=torch.bfloat16)
d = torch.zeros(4, dtype=torch.bfloat16).uniform_(-2, 3)
e = torch.zeros(4, dtype=torch.bfloat16).normal_(1, 2)
f = torch.zeros(4, dtype=torch.bfloat16).random_()
g = torch.zeros(4, dtype=torch.bfloat16).random_(0, 1000)
h = torch.zeros(4, dtype=torch.bfloat16).exponential_()
i = torch.bernoulli(torch.full((6,), 0.5, dtype=torch.bfloat16))
j = torch.randint(0, 300, (6,), dtype=torch.bfloat16)
k = torch.nn.functional.dropout(torch.ones(6, dtype=torch.bfloat16))
""",
    "in place": """
x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16, requires_grad=True)
y = x * 1.0
y += torch.tensor([0.001, 1.0, 5.0])
y *= 1.1
y[1] = 7.7
y[0:1] += 2
z = y.exp_()
z.sum().backward()
w = torch.tensor([1, 2])
w += x.detach()
v = torch.zeros(2, dtype=torch.float16)
v.copy_(torch.tensor([1e-3, 7.0], dtype=torch.bfloat16))
""",
    "refusals": """
x = torch.eye(2, dtype=torch.bfloat16)
a = torch.linalg.inv(x)
b = torch.linalg.svd(x)
c = torch.linalg.cholesky(x)
d = torch.linalg.solve(x, x)
e = torch.fft.fft(x)
f = torch.complex(x, x)
g = x & x
h = torch.gcd(x, x)
i = torch.special.erfcx(x)
j = torch.mm(x, x.float())
k = torch.nn.functional.linear(x.float(), x)
l = torch.linalg.norm(x, 2)
m = torch.quantile(x, 0.5)
n = x.numpy()
o = torch.cdist(x, x)
p = torch.bincount(x[0])
""",
    "default type": """
torch.set_default_dtype(torch.bfloat16)
a = torch.tensor([1.5])
b = torch.ones(2)
c = torch.arange(3) / 2
torch.set_default_dtype(torch.float32)
""",
    "a module": """
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)).bfloat16()
opt = torch.optim.Adam(net.parameters(), lr=0.1)
loss = net(torch.ones(2, 3, dtype=torch.bfloat16)).pow(2).mean()
loss.backward()
opt.step()
parameters = [p for p in net.parameters()]
norm = torch.nn.BatchNorm1d(3).bfloat16()
out = norm(torch.arange(6, dtype=torch.bfloat16).reshape(2, 3))
stats = [norm.running_mean, norm.running_var]
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_does_what_pytorch_does(name):
    agree(PROGRAMS[name])


def run_python(text: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_ml_dtypes_is_imported_with_the_first_tensor_of_its_type():
    text = """
import sys
import refgrad
half = refgrad.ones(2).half()
limits = refgrad.finfo(refgrad.bfloat16), refgrad.promote_types(refgrad.bfloat16, refgrad.float16)
before = "ml_dtypes" in sys.modules
refgrad.ones(2).bfloat16()
print(before, "ml_dtypes" in sys.modules)
"""
    assert run_python(text) == "False True"


def test_without_ml_dtypes_the_type_is_there_and_its_tensors_are_refused():
    text = """
import sys
sys.modules["ml_dtypes"] = None
import refgrad
print(refgrad.bfloat16, refgrad.finfo(refgrad.bfloat16).eps, refgrad.bfloat16.itemsize)
try:
    refgrad.zeros(2, dtype=refgrad.bfloat16)
except ImportError as error:
    print(error)
"""
    assert run_python(text).split("\n") == [
        "torch.bfloat16 0.0078125 2",
        "tensors of torch.bfloat16 need the package ml_dtypes: install refgrad[bfloat16]",
    ]
