"""Resampled images: values, gradients, second gradients, graphs and refusals are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

START = """
torch.manual_seed(4)
resize = torch.nn.functional.interpolate
x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
y = torch.randn(2, 3, 4, 5, requires_grad=True)
z = torch.randn(1, 2, 2, 3, 4, requires_grad=True)
last = y.detach().to(memory_format=torch.channels_last).requires_grad_()
"""
CALLS = [
    "x, scale_factor=2",
    "x, size=7",
    "x, scale_factor=1.3, mode='nearest-exact'",
    "x, scale_factor=0.6, mode='linear'",
    "x, size=9, mode='linear', align_corners=True",
    "x, size=3, mode='area'",
    "y, scale_factor=2",
    "y, size=(3, 9)",
    "y, scale_factor=(0.7, 1.9), mode='nearest-exact'",
    "y, scale_factor=2, mode='bilinear'",
    "y, scale_factor=1.7, mode='bilinear', recompute_scale_factor=True",
    "y, size=(1, 11), mode='bilinear', align_corners=True",
    "y, size=(4, 5), mode='bilinear'",
    "y, size=(7, 3), mode='bicubic'",
    "y, scale_factor=(1.5, 2), mode='bicubic', align_corners=True",
    "y, size=(2, 3), mode='bilinear', antialias=True",
    "y, size=(9, 2), mode='bicubic', antialias=True",
    "y, scale_factor=0.5, mode='bilinear', antialias=True",
    "y, scale_factor=0.5, mode='area'",
    "z, size=(3, 4, 5)",
    "z, scale_factor=(1, 2, 1.5), mode='trilinear'",
    "z, size=3, mode='nearest-exact'",
    "z, size=(1, 2, 2), mode='area'",
    "last, scale_factor=2",
    "last, size=(3, 4), mode='bilinear'",
    "y[:0], scale_factor=2, mode='bilinear'",
    "y.half(), size=3, mode='bilinear'",
    "(y.detach() * 10).byte(), size=3",
]


@pytest.mark.parametrize("call", CALLS)
def test_values_and_gradients(call):
    agree(
        START
        + f"""
r = resize({call})
if r.requires_grad:
    leaves = [x, y, z, last]
    g = torch.autograd.grad(r.float().sin().sum(), leaves, create_graph=True, allow_unused=True)
    second = torch.autograd.grad(sum(t.sum() for t in g if t is not None), leaves, allow_unused=True)
"""
    )


REFUSED = [
    "y",
    "y, size=3, scale_factor=2",
    "y, size=(3, 4, 5)",
    "y, size=(3.0, 4)",
    "y, scale_factor=(1, 2, 3)",
    "y, size=3, align_corners=True",
    "y, size=3, recompute_scale_factor=True",
    "y, size=3, mode='linear'",
    "x, size=3, mode='bilinear'",
    "z, size=3, mode='linear'",
    "x, size=3, mode='bicubic'",
    "y, size=3, mode='nope'",
    "y[0, 0], size=3",
    "x, size=3, mode='linear', antialias=True",
    "y, size=(0, 3)",
    "x, size=0, mode='linear'",
    "z, scale_factor=0.1, mode='trilinear'",
    "y[:, :0], size=3",
    "y.long(), size=3",
    "x.long(), size=3, mode='linear'",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(START + f"r = resize({call})")


def test_modules_and_old_names():
    agree(
        START
        + """
m = torch.nn.Upsample(scale_factor=2, mode="bilinear")
n = torch.nn.UpsamplingBilinear2d(scale_factor=2)
o = torch.nn.UpsamplingNearest2d(size=(5, 7))
r = [m(y), n(y), o(y)]
old = [torch.nn.functional.upsample(y, 3), torch.nn.functional.upsample_bilinear(y, 3)]
older = torch.nn.functional.upsample_nearest(y, scale_factor=2)
text, m, n, o = [repr(m), repr(n), repr(o)], 0, 0, 0
"""
    )
