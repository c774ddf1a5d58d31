"""Text for text, what `refgrad` prints is what PyTorch prints."""

import itertools
import math
import random

import numpy as np
import pytest
import torch
from torch.autograd import forward_ad

from refgrad import dtypes, printing

DTYPES = {str(dtype).removeprefix("torch."): dtype for dtype in dtypes.ALL}
SHAPES = [(), (1,), (3,), (16,), (40,), (1000,), (1001,), (2, 2), (3, 5), (30, 40), (1, 2000), (2000, 1)]
SHAPES += [(2, 3, 4), (7, 8, 20), (2, 1, 2, 2), (0,), (0, 3), (2, 0, 1), (7, 150)]


class Tensor:
    """What the printer reads of a tensor, taken from one of PyTorch's."""

    def __init__(self, tensor):
        self.dtype = DTYPES[str(tensor.dtype).removeprefix("torch.")]
        is_foreign = self.dtype is dtypes.bfloat16  # NumPy does not have it, and PyTorch does not give it
        values = tensor.detach().double() if is_foreign else tensor.detach()
        self._array = values.numpy().astype(self.dtype.numpy) if is_foreign else values.numpy()
        self.requires_grad = tensor.requires_grad
        self.source = tensor

    @property
    def grad_fn(self):
        return self.source.grad_fn


class Sub(Tensor):
    pass


@pytest.fixture(autouse=True)
def default_options():
    """Leave both printers and both default dtypes as they were."""
    yield
    set_both(profile="default")
    default_dtype("float32")


def set_both(**options):
    torch.set_printoptions(**options)
    printing.set_printoptions(**options)


def default_dtype(name):
    torch.set_default_dtype(getattr(torch, name))
    dtypes.set_default(DTYPES[name])


def check(tensor):
    assert printing.tensor_repr(Tensor(tensor)) == repr(tensor)


def random_floats(choose, numbers, size):
    """Floats of one of several styles, some of them special."""
    values = numbers.standard_normal(size)
    scale = 10.0 ** choose.randrange(-6, 10)
    values = choose.choice(
        [
            values * scale,
            np.round(values * scale),
            values * 10.0 ** numbers.uniform(-6, 6, size),
            numbers.integers(-4, 5, size) * scale,
            np.round(values, 2),
            np.exp(numbers.uniform(-700, 700, size)),
        ]
    )
    for place in range(min(size, choose.choice([0, 0, 0, 3]))):
        values[place * size // 3] = choose.choice([math.nan, math.inf, -math.inf, -0.0, 0.0])
    return values


def random_tensor(choose, numbers, name, shape):
    size = math.prod(shape)
    with np.errstate(over="ignore", invalid="ignore"):
        if name == "bool":
            values = numbers.integers(0, 2, size)
        elif name.startswith("complex"):
            values = np.empty(size, np.complex128)
            values.real = random_floats(choose, numbers, size)
            values.imag = random_floats(choose, numbers, size)
        elif DTYPES[name].is_floating_point:
            values = random_floats(choose, numbers, size)
        else:
            values = numbers.integers(-(2**62), 2**62, size) >> choose.randrange(63)
        kind = "float64" if name == "bfloat16" else name
        tensor = torch.from_numpy(values.astype(kind).reshape(shape)).to(getattr(torch, name))
    if tensor.is_floating_point() or tensor.is_complex():
        tensor.requires_grad_(choose.random() < 0.5)
        if choose.random() < 0.5:
            tensor = tensor * 1
    return tensor.transpose(0, -1) if len(shape) > 1 and choose.random() < 0.2 else tensor


def random_options(choose):
    options = {"profile": choose.choice([None, None, "short", "full", "default", "unheard of"])}
    choices = {
        "precision": [0, 1, 3, 7],
        "threshold": [0, 5, 1000, math.inf],
        "edgeitems": [0, 1, 2, 5],
        "linewidth": [0, 20, 40, 120],
        "sci_mode": [True, False],
    }
    return options | {name: choose.choice(of) for name, of in choices.items() if choose.random() < 0.4}


@pytest.mark.parametrize("name", sorted(DTYPES))
def test_random_tensors(name):
    choose, numbers = random.Random(name), np.random.default_rng(len(name))
    for shape in SHAPES * 3:
        check(random_tensor(choose, numbers, name, shape))


@pytest.mark.parametrize("name", sorted(DTYPES))
def test_random_options(name):
    choose, numbers = random.Random(name), np.random.default_rng(len(name))
    for shape in SHAPES * 2:
        set_both(profile="default")
        set_both(**random_options(choose))
        check(random_tensor(choose, numbers, name, shape))


@pytest.mark.parametrize("default", ["float16", "float32", "float64"])
def test_dtype_is_shown_unless_it_is_usual(default):
    default_dtype(default)
    for name, size in itertools.product(DTYPES, (0, 1)):
        check(torch.ones(size, dtype=getattr(torch, name)))


def test_switches_of_style_fall_where_pytorch_has_them():
    edges = [
        1e-4,
        9.999e-5,
        1e-3,
        1.0,
        999.0,
        999.5,
        1000.0,
        1000.5,
        1001.0,
        99999.5,
        1e8,
        1e8 + 1,
        1.1e8,
        1e9,
    ]
    for first, second in itertools.product([*edges, 0.0, -0.0, math.nan, -math.inf], edges):
        for dtype in (torch.float32, torch.float64):
            check(torch.tensor([first, second], dtype=dtype))


@pytest.mark.parametrize("length", range(1, 60))
def test_suffixes_break_lines(length):
    for dtype, largest in itertools.product((torch.float32, torch.float64), (1.0, 10.0, 100.0, 999.5)):
        values = torch.full((length,), largest, dtype=dtype)
        check(values)
        check(values.requires_grad_())
        check(values * 1)


def test_invalidated_history():
    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx, tensor):
            return tensor[:1]

        @staticmethod
        def backward(ctx, grad):
            return grad

    view = First.apply(torch.ones(2, requires_grad=True) * 1)
    view._base.mul_(2)
    with pytest.raises(RuntimeError):
        _ = view.grad_fn
    check(view)


def test_subclass_gives_its_name_and_indent():
    class TorchSub(torch.Tensor):
        pass

    TorchSub.__name__ = "Sub"
    for length in (2, 20, 30):
        tensor = torch.ones(length).as_subclass(TorchSub)
        assert printing.tensor_repr(Sub(tensor)) == repr(tensor)
        assert printing.tensor_repr(Sub(tensor)).startswith("Sub([1., 1.")


def test_tangent_comes_last():
    with forward_ad.dual_level():
        for shape in ((2,), (12,), (2, 2)):
            primal, tangent = (
                torch.ones(shape, dtype=torch.float64),
                torch.full(shape, 3.0, dtype=torch.float64),
            )
            expected = repr(forward_ad.make_dual(primal, tangent))
            assert printing.tensor_repr(Tensor(primal), printing.tensor_repr(Tensor(tangent))) == expected


def test_sci_mode_is_set_by_every_call():
    printing.set_printoptions(sci_mode=True, precision=2)
    assert printing.tensor_repr(Tensor(torch.tensor([1.0]))) == "tensor([1.00e+00])"
    printing.set_printoptions(linewidth=100)
    assert printing.tensor_repr(Tensor(torch.tensor([1.5]))) == "tensor([1.50])"


def test_without_edge_items_the_size_is_told():
    set_both(edgeitems=0, threshold=0)
    for shape in ((), (1,), (2, 3), (0,), (0, 3)):
        check(torch.ones(shape, dtype=torch.float64))
