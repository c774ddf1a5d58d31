"""Scaled dot product attention: which way it takes, values, gradients, graphs and refusals are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

START = """
attend = torch.nn.functional.scaled_dot_product_attention
torch.manual_seed(0)
def R(*shape, dtype=torch.float32, grad=True):
    return torch.randn(*shape, dtype=dtype).requires_grad_(grad)
q, k, v = R(2, 3, 4, 5), R(2, 3, 6, 5), R(2, 3, 6, 5)
m = torch.ones(4, 6, dtype=torch.bool)
m[0] = False
m[1, 2:] = False
"""
CALLS = [
    "q, k, v",
    "q, k, v, torch.randn(4, 6)",
    "q, k, v, m",
    "q, k, v, m.expand(2, 1, 4, 6)",
    "q, k, v, torch.randn(1, 3, 4, 6)",
    "q, k, v, torch.randn(4, 1)",
    "q, k, v, R(4, 6)",
    "q, k, v, torch.randn(3, 4, 6)",
    "q, k, v, is_causal=True",
    "q, k, v, m, is_causal=True",
    "q, k, v, scale=0.3",
    "q, k, v, scale=-0.3",
    "q, k, v, dropout_p=0.5",
    "q, k, R(2, 3, 6, 7)",
    "q, k[:1], v[:1]",
    "q, k[:, :1], v[:, :1]",
    "q[0], k[0], v[0]",
    "q[0], k[0], v[0], m",
    "q[0], k[0], v[0], is_causal=True, scale=-2.0",
    "q[0, 0], k[0, 0], v[0, 0]",
    "q.transpose(1, 2).contiguous().transpose(1, 2), k, v",
    "R(2, 5, 4).mT.unsqueeze(1), R(2, 1, 6, 5), R(2, 1, 6, 5)",
    "R(2, 4, 3, 5), R(2, 2, 6, 5), R(2, 2, 6, 5), enable_gqa=True",
    "R(4, 3, 5), R(2, 6, 5), R(2, 6, 5), enable_gqa=True",
    "q.double(), k.double(), v.double(), m",
    "q.half(), k.half(), v.half()",
    "q[0].half(), k[0].half(), v[0].half()",
    "q.detach(), k.detach(), v.detach()",
    "q[:, :, :0], k, v",
    "q[0], k[0, :, :0], v[0, :, :0, :2]",
]


@pytest.mark.parametrize("call", CALLS)
def test_values_and_gradients(call):
    agree(
        START
        + f"""
r = attend({call})
if r.requires_grad:
    g = torch.autograd.grad(r.float().sin().sum(), [q, k, v], allow_unused=True)
"""
    )


REFUSED = [
    "q, k, v, torch.zeros(4, 6), dropout_p=2.0",
    "q[0], k[0], v[0], m, is_causal=True",
    "R(4), R(4), R(4)",
    "q.double(), k, v",
    "q, k, v, torch.zeros(4, 6, dtype=torch.int64)",
    "q, k, v, torch.zeros(3, 3)",
    "q, k, v, torch.zeros(6)",
    "R(2, 4, 3, 5), R(2, 3, 6, 5), R(2, 3, 6, 5), enable_gqa=True",
    "R(2, 4, 3, 5), R(2, 2, 6, 5), R(2, 2, 6, 5)",
    "R(4, 3), R(4, 2), R(4, 3)",
    "q, k, 3",
    "q, k",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(START + f"attend({call})")


def test_no_second_derivative_of_the_one_op():
    agree(
        START
        + """
r = attend(q, k, v)
g = torch.autograd.grad(r.sum(), [q, k, v], create_graph=True)
g[0].sum().backward()
r = attend(q[0], k[0], v[0])
g = torch.autograd.grad(r.sin().sum(), [q, k, v], create_graph=True)
g[0].sum().backward()
"""
    )


MODULE = """
torch.manual_seed(1)
m = torch.nn.MultiheadAttention({options})
x = torch.randn(3, 2, 4, requires_grad=True)
y = torch.randn(5, 2, 4, requires_grad=True)
z = torch.randn(5, 2, 6)
pad = torch.tensor([[False] * 4 + [True], [False] * 5])
"""
HEADS = [
    ("4, 2", "x, x, x"),
    ("4, 2", "x, y, y"),
    ("4, 2", "x, y, y * 2"),
    ("4, 2", "x, y, y, need_weights=False"),
    ("4, 2", "x, y, y, key_padding_mask=pad"),
    ("4, 2", "x, y, y, key_padding_mask=pad, need_weights=False"),
    ("4, 2", "x, y, y, attn_mask=torch.randn(3, 5), average_attn_weights=False"),
    ("4, 2", "x, y, y, attn_mask=torch.randn(4, 3, 5), key_padding_mask=pad"),
    ("4, 2", "x, y, y, attn_mask=torch.ones(3, 5).triu(1).bool(), need_weights=False, is_causal=True"),
    ("4, 2", "x, y, y, attn_mask=torch.ones(3, 5).triu(1).bool(), is_causal=True"),
    ("4, 2", "x[:, 0], y[:, 0], y[:, 0], key_padding_mask=pad[0]"),
    ("4, 2, bias=False, add_bias_kv=True", "x, y, y, key_padding_mask=pad"),
    ("4, 1, add_bias_kv=True, add_zero_attn=True", "x, y, y, attn_mask=torch.zeros(3, 5)"),
    ("4, 2, kdim=4, vdim=6", "x, y, z"),
    ("4, 2, dropout=0.5", "x, x, x"),
    ("4, 2, dropout=0.5", "x, x, x, need_weights=False"),
    ("4, 2, batch_first=True", "x, x, x"),
    ("4, 2, batch_first=True", "y.transpose(0, 1), y.transpose(0, 1), y.transpose(0, 1), pad"),
    ("4, 2, dtype=torch.float64", "x.double(), y.double(), y.double()"),
]


@pytest.mark.parametrize(("options", "call"), HEADS)
def test_heads(options, call):
    agree(
        MODULE.format(options=options)
        + f"""
state = dict(m.state_dict())
r, w = m({call})
g = torch.autograd.grad(r.sin().sum(), [x, *m.parameters()], allow_unused=True)
m.eval()
with torch.no_grad():
    again, weights = m({call})
text, m = repr(m), 0
"""
    )


REFUSED_HEADS = [
    ("4, 3", "x, x, x"),
    ("0, 3", "x, x, x"),
    ("4, 2", "x[0, 0], x, x"),
    ("4, 2", "x, x[0], x[0]"),
    ("4, 2", "x[0], x, x"),
    ("4, 2", "x, y, y[:2]"),
    ("4, 2", "z, z, z"),
    ("4, 2", "x, y, y, pad[0]"),
    ("4, 2", "x, y, y, pad[:1]"),
    ("4, 2", "x, y, y, torch.ones(2, 5, dtype=torch.int64)"),
    ("4, 2", "x, y, y, attn_mask=torch.ones(2)"),
    ("4, 2", "x, y, y, attn_mask=torch.ones(2, 3)"),
    ("4, 2", "x, y, y, attn_mask=torch.ones(2, 3, 5)"),
    ("4, 2", "x, y, y, is_causal=True"),
    ("4, 2", "x[0], y[0], y[0], attn_mask=torch.ones(2, 3, 5)"),
    ("4, 2, kdim=3", "x, y, y"),
    ("4, 2, vdim=6", "x, y, z[:2]"),
]


@pytest.mark.parametrize(("options", "call"), REFUSED_HEADS)
def test_heads_refused_as_by_torch(options, call):
    agree(MODULE.format(options=options) + f"r = m({call})\nm = 0")


WAYS = [
    ("B.MATH", "q, k, v"),
    ("B.FLASH_ATTENTION", "q, k, v"),
    ("B.FLASH_ATTENTION", "q[0], k[0], v[0]"),
    ("B.EFFICIENT_ATTENTION", "q, k, v"),
    ("[B.EFFICIENT_ATTENTION, B.MATH]", "q, k, v"),
    ("[B.MATH, B.FLASH_ATTENTION], set_priority=True", "q, k, v"),
    ("[]", "q, k, v"),
    ("3", "q, k, v"),
]


@pytest.mark.parametrize(("ways", "call"), WAYS)
def test_chosen_ways(ways, call):
    agree(
        START
        + f"""
B = torch.nn.attention.SDPBackend
names = [str(B.MATH), repr(B.FLASH_ATTENTION), list(B.__members__)]
with torch.nn.attention.sdpa_kernel({ways}):
    r = attend({call})
after = attend(q, k, v)
B = 0
"""
    )
