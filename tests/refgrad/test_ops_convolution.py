"""Convolution, pooling and bilinear products: values, graphs, saved values, derivatives, errors."""

import pytest

from tests.refgrad.against_torch import agree
from tests.refgrad.gradient_programs import gradients

CASES = [
    ("F.conv1d(a, b, c)", {"a": (2, 2, 5), "b": (3, 2, 3), "c": (3,)}),
    ("F.conv1d(a, b, c)", {"a": (2, 5), "b": (3, 2, 3), "c": (3,)}),
    ("F.conv1d(a, b, c, stride=2, padding=1)", {"a": (2, 2, 5), "b": (3, 2, 3), "c": (3,)}),
    ("F.conv1d(a, b, groups=2, dilation=2)", {"a": (2, 4, 5), "b": (6, 2, 2)}),
    ("F.conv1d(a, b, padding='same')", {"a": (2, 2, 5), "b": (3, 2, 2)}),
    ("F.conv1d(a.detach(), b, c)", {"a": (2, 2, 5), "b": (3, 2, 3), "c": (3,)}),
    ("F.conv2d(a, b, c, (2, 1), (1, 2))", {"a": (2, 2, 5, 4), "b": (3, 2, 3, 2), "c": (3,)}),
    ("F.conv3d(a, b)", {"a": (1, 2, 3, 3, 3), "b": (2, 2, 2, 2, 2)}),
    ("F.conv_transpose1d(a, b, c)", {"a": (2, 2, 5), "b": (2, 3, 3), "c": (3,)}),
    ("F.conv_transpose1d(a, b, None, 2, 1, 1, dilation=2)", {"a": (2, 2, 5), "b": (2, 3, 3)}),
    ("F.conv_transpose2d(a, b, stride=2, groups=2)", {"a": (1, 4, 3, 3), "b": (4, 2, 2, 2)}),
    ("F.max_pool1d(a, 2)", {"a": (2, 2, 5)}),
    ("F.max_pool1d(a, 3, 2, 1, ceil_mode=True)", {"a": (2, 6)}),
    ("F.max_pool2d(a, (2, 3), stride=1, padding=1)", {"a": (2, 5, 5)}),
    ("F.max_pool2d(a, 2, dilation=2, ceil_mode=True)", {"a": (1, 2, 6, 6)}),
    ("F.max_pool3d(a, 2)", {"a": (1, 2, 4, 4, 4)}),
    ("F.avg_pool1d(a, 3, 2, 1, True, False)", {"a": (2, 6)}),
    ("F.avg_pool2d(a, (2, 3), stride=1, padding=1, count_include_pad=False)", {"a": (2, 5, 5)}),
    ("F.avg_pool2d(a, 3, stride=2, padding=1, ceil_mode=True)", {"a": (1, 2, 6, 6)}),
    ("F.avg_pool2d(a, 2, divisor_override=3)", {"a": (1, 2, 6, 6)}),
    ("F.avg_pool3d(a, 2)", {"a": (1, 2, 4, 4, 4)}),
    ("F.lp_pool2d(a.abs() + 1, 2, 2)", {"a": (1, 2, 4, 4)}),
    ("F.adaptive_avg_pool1d(a, 2)", {"a": (2, 2, 5)}),
    ("F.adaptive_avg_pool2d(a, (2, 3))", {"a": (2, 2, 5, 5)}),
    ("F.adaptive_avg_pool2d(a, 1)", {"a": (2, 2, 5, 5)}),
    ("F.adaptive_avg_pool3d(a, 2)", {"a": (2, 3, 3, 3)}),
    ("F.adaptive_max_pool1d(a, 2)", {"a": (2, 2, 5)}),
    ("F.adaptive_max_pool2d(a, (None, 3))", {"a": (2, 2, 5, 5)}),
    ("F.bilinear(a, b, c, d)", {"a": (2, 3), "b": (2, 4), "c": (5, 3, 4), "d": (5,)}),
    ("F.bilinear(a, b, c)", {"a": (3,), "b": (4,), "c": (5, 3, 4)}),
]


@pytest.mark.parametrize(
    "expression, inputs", CASES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_first_and_second_derivatives(expression, inputs):
    agree(gradients(expression, **inputs).replace("v.clone()", "(v * 1).contiguous().detach()"))


EXPRESSIONS = """
conv1d(x, torch.ones(3, 4, 3)); conv1d(torch.ones(5), w); conv1d(x, torch.ones(3, 2, 6))
conv1d(x, w.double()); conv1d(x, w, torch.ones(4)); conv1d(x, w, torch.ones(3).double())
conv1d(x, w, stride=0); conv1d(x, w, padding=-1); conv1d(x, w, dilation=0); conv1d(x, w, groups=0)
conv1d(x, w, groups=3); conv1d(x, w, stride=(1, 1)); conv1d(x, 3); conv1d(x, w, padding="x")
conv1d(x, w, padding="same", stride=2); conv2d(y, w); conv1d(x.long(), w.long())
conv2d(torch.ones(0, 2, 5, 5), torch.ones(3, 2, 3, 3)); conv2d(y, torch.ones(3, 1, 3, 3), groups=2)
conv_transpose2d(y, torch.ones(2, 3, 3, 3), output_padding=1); conv_transpose2d(y, torch.ones(3, 3, 3, 3))
conv_transpose1d(x, torch.ones(2, 3, 3), torch.ones(2)); conv1d(x.half(), w.half()); max_pool1d(x, 6)
max_pool1d(x, 0); max_pool1d(x, 2, 0); max_pool1d(x, 2, padding=2); max_pool1d(x, 2, dilation=0)
max_pool1d(torch.ones(5), 2); max_pool1d(x, 2); max_pool1d(x[0], 2); max_pool1d(x.long(), 2)
max_pool2d(y, 6); max_pool2d(y[0, 0], 2); max_pool2d(y, 2, padding=2); max_pool2d(y, 2, 0)
max_pool2d(y, (1, 2, 3)); max_pool2d(y.long(), 2); max_pool2d(y, 2, return_indices=True)
avg_pool1d(torch.ones(5), 2); avg_pool1d(x, 0); avg_pool2d(y, 2, divisor_override=0); avg_pool2d(y, 6)
avg_pool2d(y.long(), 2); adaptive_avg_pool2d(y, (1, 1, 1))
max_pool1d(torch.tensor([[1, nan, 2, inf, inf, 0.]]), 2, return_indices=True); avg_pool2d(y.half(), 2)
bilinear(torch.ones(2, 2), torch.ones(2, 4), torch.ones(5, 3, 4)); bilinear(y, x, w)
"""


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().replace("\n", ";").split(";"))
def test_warnings_and_errors(expression):
    setup = "x, y, w = torch.arange(10.).reshape(1, 2, 5), torch.ones(2, 2, 5, 5), torch.ones(3, 2, 3)\n"
    agree(setup + f"r = torch.nn.functional.{expression.strip()}")
