"""Lazy modules: what they are before and after their first call is PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

MADE = [
    ("LazyLinear(3)", "torch.randn(2, 5)"),
    ("LazyLinear(3, bias=False, dtype=torch.float64)", "torch.randn(2, 5).double()"),
    ("LazyConv1d(4, 2)", "torch.randn(2, 3, 5)"),
    ("LazyConv2d(4, 3, stride=2, padding=1, groups=2)", "torch.randn(2, 6, 5)"),
    ("LazyConv3d(2, 2, bias=False)", "torch.randn(1, 2, 3, 3, 3)"),
]


@pytest.mark.parametrize(("made", "input"), MADE)
def test_first_call(made, input):
    agree(
        f"""
import copy
torch.manual_seed(13)
m = torch.nn.{made}
n = copy.deepcopy(m)
before = [repr(m), list(m.state_dict()), [repr(p) for p in m.parameters()], m.has_uninitialized_params()]
m.weight.shape
x = {input}
r = m(x)
after = [repr(m), type(m).__name__, dict(m.state_dict())] + [hasattr(m, "_initialize_hook")]
again = m(x)
loaded = repr(n.load_state_dict(m.state_dict()))
s = n(x)
m = n = copy = 0
"""
    )


REFUSED = [
    "LazyConv2d(4, 3)(torch.ones(2, 3))",
    "LazyConv1d(4, 3, groups=2)(torch.ones(1, 3, 5))",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(f"r = torch.nn.{call}")
