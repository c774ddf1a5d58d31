"""Shuffled, unfolded and sampled images: values, gradients, graphs and refusals are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

START = """
torch.manual_seed(5)
def call(name):
    return getattr(torch.nn.functional, name)
x = torch.randn(2, 8, 3, 4, requires_grad=True)
y = torch.randn(2, 1, 4, 6, dtype=torch.float64, requires_grad=True)
c = torch.randn(2, 12, 6, requires_grad=True)
theta = torch.tensor([[[0.8, 0.3, 0.1], [-0.2, 0.9, 0.3]], [[1.5, 0.0, 0.0], [0.1, -1.2, 0.2]]])
theta.requires_grad_()
cube = torch.randn(2, 3, 4, requires_grad=True)
image = torch.randn(2, 2, 5, 6, requires_grad=True)
volume = torch.randn(2, 2, 3, 4, 5, requires_grad=True)
points = (torch.randn(2, 3, 4, 2) * 1.2).requires_grad_()
spots = torch.randn(2, 2, 2, 3, 3, requires_grad=True)
leaves = [x, y, c, theta, cube, image, volume, points, spots]
"""
TWICE = [
    "call('pixel_shuffle')(x, 2)",
    "call('pixel_shuffle')(x[0], 2)",
    "call('pixel_unshuffle')(y, 2)",
    "call('channel_shuffle')(x, 2)",
    "torch.channel_shuffle(x, 4)",
    "torch.pixel_shuffle(x[None], 1)",
    "call('unfold')(x, 2)",
    "call('unfold')(x[0], (2, 3), dilation=1, padding=1, stride=2)",
    "call('unfold')(y, 2, stride=(2, 1), padding=(0, 1), dilation=(2, 1))",
    "call('fold')(c, (3, 4), 2)",
    "call('fold')(c[0], (5, 4), 2, stride=2, padding=(0, 1))",
    "call('affine_grid')(theta, (2, 1, 3, 4))",
    "call('affine_grid')(theta, (2, 1, 3, 4), align_corners=True)",
    "call('affine_grid')(cube, (2, 1, 2, 3, 4), False)",
    "call('affine_grid')(theta, torch.Size((2, 1, 1, 4)), align_corners=True)",
]


@pytest.mark.parametrize("expression", TWICE)
def test_twice_differentiable(expression):
    agree(
        START
        + f"""
r = {expression}
g = torch.autograd.grad(r.sin().sum(), leaves, create_graph=True, allow_unused=True)
second = torch.autograd.grad(sum(t.sum() for t in g if t is not None), leaves, allow_unused=True)
"""
    )


SAMPLES = [
    f"image, points, '{mode}', '{padding}', {align}"
    for mode in ("bilinear", "nearest", "bicubic")
    for padding in ("zeros", "border", "reflection")
    for align in (False, True)
]
SAMPLES += [
    "image, call('affine_grid')(theta, (2, 1, 3, 4), False)",
    "image.detach(), points, align_corners=True",
    "image, points.detach(), align_corners=True",
    "volume, spots, 'bilinear', 'zeros', False",
    "volume, spots, 'nearest', 'border', True",
    "volume, spots, 'bilinear', 'reflection', True",
    "image[:, :0], points, 'bilinear', 'zeros', False",
    "image.double(), points.double() * 5, 'bilinear', 'reflection', False",
]


@pytest.mark.parametrize("arguments", SAMPLES)
def test_samples(arguments):
    agree(
        START
        + f"""
r = call('grid_sample')({arguments})
g = torch.autograd.grad(r.float().sin().sum(), leaves, allow_unused=True)
"""
    )


REFUSED = [
    "call('pixel_shuffle')(x, 3)",
    "call('pixel_shuffle')(x, 0)",
    "call('pixel_shuffle')(x[0, 0], 2)",
    "call('pixel_unshuffle')(x, 3)",
    "call('pixel_unshuffle')(x, 2)",
    "call('pixel_unshuffle')(x, 0)",
    "call('channel_shuffle')(x, 3)",
    "call('channel_shuffle')(x, 0)",
    "call('channel_shuffle')(x[0, 0], 2)",
    "call('unfold')(x[0, 0], 2)",
    "call('unfold')(x, 5)",
    "call('unfold')(x, 0)",
    "call('unfold')(x, 2, stride=0)",
    "call('unfold')(x, 2, padding=-1)",
    "call('unfold')(x, 2, dilation=0)",
    "call('unfold')(x.long(), 2)",
    "call('unfold')(x[:, :0], 2)",
    "call('unfold')(x[:0], 2).shape",
    "call('unfold')(x, (1, 2, 3))",
    "call('fold')(c, (3, 5), 2)",
    "call('fold')(c[:, :11], (3, 4), 2)",
    "call('fold')(c[0, 0], (3, 4), 2)",
    "call('fold')(c, (3, 4), 2, stride=0)",
    "call('fold')(c.long(), (3, 4), 2)",
    "call('fold')(c[:0], (3, 4), 2).shape",
    "call('fold')(c[:, :0], (3, 4), 2)",
    "call('affine_grid')(theta, (2, 1, 3))",
    "call('affine_grid')(theta, (1, 1, 3, 4))",
    "call('affine_grid')(theta[0], (2, 1, 3, 4))",
    "call('affine_grid')(theta, (2, 1, 2, 3, 4))",
    "call('affine_grid')(theta, (2, 1, 0, 4))",
    "call('affine_grid')(theta.long(), (2, 1, 3, 4))",
    "call('grid_sample')(image, points, 'x')",
    "call('grid_sample')(image, points, 'nearest', 'x')",
    "call('grid_sample')(image, points[:1])",
    "call('grid_sample')(image, points[..., :1])",
    "call('grid_sample')(image, points[0])",
    "call('grid_sample')(image[:, :, :0], points)",
    "call('grid_sample')(image, points.double())",
    "call('grid_sample')(image.long(), points.long())",
    "call('grid_sample')(volume, spots, 'bicubic')",
]


@pytest.mark.parametrize("expression", REFUSED)
def test_refused_as_by_torch(expression):
    agree(START + f"r = {expression}")


def test_modules():
    agree(
        START
        + """
made = [torch.nn.PixelShuffle(2), torch.nn.ChannelShuffle(2), torch.nn.Unfold(2), torch.nn.Fold((3, 4), 2)]
r = [made[0](x), made[1](x), made[2](x), made[3](c), torch.nn.PixelUnshuffle(2)(y)]
text, made = [repr(m) for m in made], 0
"""
    )


UNPOOLED = [
    ("pool1(x[:, 0], 2, return_indices=True)", "call('max_unpool1d')(*found, 2)"),
    ("pool2(x, 2, return_indices=True)", "call('max_unpool2d')(*found, 2)"),
    ("pool2(x[0], 2, return_indices=True)", "call('max_unpool2d')(*found, 2, output_size=(3, 4))"),
    ("pool2(x, 3, 1, 1, return_indices=True)", "call('max_unpool2d')(*found, 3, 1, 1)"),
    ("pool3(volume, 2, return_indices=True)", "call('max_unpool3d')(*found, 2, output_size=(3, 4, 5))"),
    ("pool2(x, 2, return_indices=True)", "torch.nn.MaxUnpool2d(2)(*found)"),
    ("pool2(x, 2, return_indices=True)", "call('max_unpool2d')(found[0], found[1].int(), 2)"),
    ("pool2(x, 2, return_indices=True)", "call('max_unpool2d')(found[0], found[1] + 90, 2)"),
    ("pool2(x, 2, return_indices=True)", "call('max_unpool2d')(found[0], found[1][:1], 2)"),
    ("pool2(x, 2, return_indices=True)", "call('max_unpool2d')(found[0][0, 0], found[1][0, 0], 2)"),
    ("pool2(x, 2, return_indices=True)", "call('max_unpool2d')(*found, 2, output_size=(9, 9))"),
    ("pool2(x, 2, return_indices=True)", "call('max_unpool2d')(*found, 2, output_size=(9,))"),
    ("pool3(volume, 2, return_indices=True)", "call('max_unpool3d')(*found, 2, 0)"),
    ("pool3(volume, 2, return_indices=True)", "call('max_unpool3d')(found[0], found[1].int(), 2)"),
]


@pytest.mark.parametrize(("pooled", "expression"), UNPOOLED)
def test_maxima_put_back(pooled, expression):
    agree(
        START
        + f"""
pool1, pool2, pool3 = (call(f"max_pool{{n}}d") for n in (1, 2, 3))
found = {pooled}
r = {expression}
g = torch.autograd.grad(r.sin().sum(), leaves, create_graph=True, allow_unused=True)
text = [repr(torch.nn.MaxUnpool1d(3, 2, 1)), repr(torch.nn.MaxUnpool3d((1, 2, 3)))]
"""
    )


SMOOTH = [
    "image.double(), points.double() * 0.8, 'bilinear', 'zeros', False",
    "image.double(), points.double(), 'bilinear', 'reflection', True",
    "image.double(), points.double(), 'bicubic', 'border', False",
    "image.double(), points.double(), 'bicubic', 'zeros', True",
    "image.double(), points.double(), 'nearest', 'zeros', False",
    "volume.double(), spots.double(), 'bilinear', 'border', False",
]


@pytest.mark.parametrize("arguments", SMOOTH)
def test_second_derivatives_of_samples(arguments):
    """Values and the first nodes; what lies behind the second derivatives is put together otherwise."""
    agree(
        START
        + f"""
r = call('grid_sample')({arguments})
inputs = [image, points, volume, spots]
g = torch.autograd.grad(r.sin().sum(), inputs, create_graph=True, allow_unused=True)
second = torch.autograd.grad(sum(t.sin().sum() for t in g if t is not None), inputs, allow_unused=True)
second = [t if t is None else t.clone() for t in second]
"""
    )
