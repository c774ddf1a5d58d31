"""Autocast: what it casts, that it costs nothing outside of its regions, and its state."""

import sys
import threading

import pytest

import refgrad
from refgrad import casting
from refgrad.op import OPS
from tests.refgrad.against_torch import agree

START = """
torch.manual_seed(0)
x = torch.randn(4, 3)
w = torch.randn(4, 3, requires_grad=True)
"""
PROGRAMS = {
    "operations of lower precision": """
with torch.autocast("cpu"):
    a = x @ w.t()
    b = torch.nn.functional.linear(x, w)
    c = torch.addmm(torch.ones(4), x, w.t())
    d = torch.bmm(x[None], w.t()[None])
    e = torch.nn.functional.conv1d(x[None], w[None, :, :2])
    f = torch.nn.functional.prelu(x * w, torch.tensor([0.25]))
    g = torch.nn.functional.scaled_dot_product_attention(x[None], w[None], w[None])
    h = torch.einsum("ij,kj->ik", x, w)
    i = torch.mv(w, x[0])
    j = torch.nn.Linear(3, 2)(x)
    k = torch.matmul(x, w.t(), out=torch.empty(4, 4))
sum(t.float().sum() for t in (a, b, c, d, e, f, g, h)).backward()
""",
    "operations in float32": """
y = (x @ w.t()).bfloat16()
with torch.autocast("cpu"):
    a = torch.nn.functional.mse_loss(y, torch.ones(4, 4))
    b = torch.nn.functional.cross_entropy(y, torch.tensor([0, 1, 2, 3]))
    c = y.prod()
    d = y.trace()
    e = torch.linalg.inv(y + torch.eye(4))
    f = torch.nn.functional.binary_cross_entropy(y.sigmoid(), torch.ones(4, 4))
    g = torch.nn.functional.pad(y[None], (1, 1), mode="reflect")
    h = y.sum()
    i = y.softmax(1)
    j = torch.nn.functional.layer_norm(y, (4,), torch.ones(4))
    k = torch.fft.fft(y[0]).real
(a + b + c + d + e.sum() + f + g.sum() + h + i.sum() + j.sum() + k.sum()).backward()
""",
    "operations in the widest type": """
with torch.autocast("cpu"):
    a = torch.cat([x, w.bfloat16()])
    b = torch.stack([w.bfloat16(), w.bfloat16()])
    c = torch.cat([w, w.double()])
    d = torch.cat([w.half(), w.bfloat16()])
    e = torch.index_copy(w.bfloat16(), 0, torch.tensor([0]), x[:1])
(a.sum() + b.sum() + c.sum() + e.sum()).backward()
""",
    "weights are cast once": """
with torch.autocast("cpu"):
    with torch.no_grad():
        a = x @ w.t()
    b = x @ w.t()
    c = w.detach() @ w.t()
    d = (w[0:2] @ x.t()).sum() + (w @ x.t()).sum()
    with torch.inference_mode():
        e = w @ x.t()
d.backward()
""",
    "float16": """
with torch.autocast("cpu", dtype=torch.float16):
    a = x @ w.t()
    b = torch.nn.functional.mse_loss(a, x @ x.t())
b.backward()
""",
    "state": """
a = torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled(), torch.is_autocast_cpu_enabled()
torch.set_autocast_enabled("cpu", True)
torch.set_autocast_dtype("cpu", torch.float16)
b = x @ w.t()
c = torch.get_autocast_cpu_dtype()
torch.set_autocast_cpu_enabled(False)
torch.set_autocast_cpu_dtype(torch.bfloat16)
d = torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
torch.set_autocast_cache_enabled(False)
e = torch.is_autocast_cache_enabled()
torch.set_autocast_cache_enabled(True)
f = torch.get_autocast_dtype("cuda"), torch.amp.is_autocast_available("meta")
torch.is_autocast_enabled("lazy")
torch.get_autocast_dtype("lazy")
torch.set_autocast_enabled("cpu", 1)
torch.get_autocast_dtype(3)
torch.get_autocast_dtype()
torch.set_autocast_dtype("cpu", 3)
torch.set_autocast_cache_enabled(1)
""",
    "old names": """
with torch.cpu.amp.autocast():
    a = x @ w.t()
b = torch.cpu.amp.autocast(dtype=torch.float32)._enabled
c = torch.cpu.amp.GradScaler(init_scale=8.0).get_scale()
d = torch.cuda.amp.autocast()._enabled
e = torch.cuda.amp.GradScaler().is_enabled()
""",
    "transforms": """
with torch.autocast("cpu"):
    a = torch.func.grad(lambda t: (t @ w.t().detach()).sum())(x)
    b = torch.autograd.functional.jacobian(lambda t: t @ t.t(), x)
    c = torch.func.vmap(lambda t: t @ t.t())(x[None])
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_does_what_pytorch_does(name):
    agree(START + PROGRAMS[name])


def test_gates_stand_only_while_a_region_is_open():
    x = refgrad.ones(2, 2)
    before = OPS["mm"].call.__code__
    with refgrad.autocast("cpu"):
        assert OPS["mm"].call.__code__ is not before
        with refgrad.autocast("cpu", enabled=False):
            assert OPS["mm"].call.__code__ is before
        assert (x @ x).dtype is refgrad.bfloat16
    assert OPS["mm"].call.__code__ is before
    assert not casting.PLAIN
    assert not casting.CASTS


def test_every_policy_has_its_op():
    assert [name for name in casting.POLICIES if name not in OPS] == []


def test_another_thread_is_in_no_region():
    x, found = refgrad.ones(2, 2), []

    def work() -> None:
        found.append((x @ x).dtype)
        with refgrad.autocast("cpu", dtype=refgrad.float16):
            found.append((x @ x).dtype)

    with refgrad.autocast("cpu"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        found.append((x @ x).dtype)
    assert found == [refgrad.float32, refgrad.float16, refgrad.bfloat16]
    assert not casting.PLAIN


def test_a_cast_lives_no_longer_than_its_region():
    w = refgrad.ones(2, 2, requires_grad=True)
    references = sys.getrefcount(w)
    with refgrad.autocast("cpu"):
        refgrad.ones(2, 2) @ w
        assert len(casting.CASTS) == 1
    assert sys.getrefcount(w) == references


def test_an_op_that_is_first_used_after_a_region_has_its_gate_in_the_next():
    with refgrad.autocast("cpu"):
        pass
    plain = OPS["trace"].call.__code__
    with refgrad.autocast("cpu"):
        assert OPS["trace"].call.__code__ is not plain
        assert refgrad.ones(2, 2).bfloat16().trace().dtype is refgrad.float32
    assert OPS["trace"].call.__code__ is plain
