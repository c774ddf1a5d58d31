"""Bit for bit, and word for word, the generator draws what PyTorch's draws."""

import math
import random
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import torch

from refgrad.generator import Generator, default_generator, fused, fused_double, one_by_one

SIZES = [0, 1, 2, 3, 9, 15, 16, 17, 31, 32, 33, 40, 100, 1000]
SEEDS = [0, 1, -1, 42, 2**31, 2**32 - 1, 2**32, 2**63 - 1, -(2**63), 2**64 - 1]
FLOATS = ["float16", "float32", "float64"]
COMPLEXES = ["complex64", "complex128"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8"]


@pytest.fixture
def pair():
    """A generator of each kind, at the same place."""
    return torch.Generator().manual_seed(7), Generator().manual_seed(7)


def torch_dtype(name):
    return getattr(torch, name)


def new(count, name):
    return torch.empty(count, dtype=torch_dtype(name))


def same(expected, actual, pair):
    """The same elements, down to the sign of zero, and the same state left behind."""
    expected = expected.numpy()
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    assert actual.tobytes() == expected.tobytes()
    assert pair[1].get_state().tobytes() == pair[0].get_state().numpy().tobytes()


@pytest.mark.parametrize("seed", SEEDS)
def test_seeds(seed):
    pair = torch.Generator().manual_seed(seed), Generator().manual_seed(seed)
    assert pair[1].initial_seed() == pair[0].initial_seed()
    same(torch.rand(700, generator=pair[0]), pair[1].uniform(700, "float32"), pair)


def test_unseeded_generator_starts_from_the_same_seed():
    assert Generator().initial_seed() == torch.Generator().initial_seed()
    assert default_generator.initial_seed() == Generator().initial_seed()
    pair = torch.Generator(), Generator()
    same(torch.rand(3, generator=pair[0]), pair[1].uniform(3, "float32"), pair)


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1, "a", 1.5, None, True])
def test_refused_seeds(seed):
    with pytest.raises((RuntimeError, ValueError)) as expected:
        torch.Generator().manual_seed(seed)
    with pytest.raises((RuntimeError, ValueError)) as actual:
        Generator().manual_seed(seed)
    assert (type(actual.value), str(actual.value)) == (type(expected.value), str(expected.value))


def test_seed_starts_a_stream_that_can_be_repeated():
    generator = Generator()
    seeds = {generator.seed() for _ in range(20)}
    assert len(seeds) == 20
    drawn = generator.uniform(5, "float32")
    assert np.array_equal(drawn, Generator().manual_seed(generator.initial_seed()).uniform(5, "float32"))


@pytest.mark.parametrize("words", [0, 1, 623, 624, 625, 1248])
def test_state_moves_between_the_two(words, pair):
    """Whatever the place in the block of words, with a spare and without."""
    for normals in (0, 2):  # the second time, the spare of the round before makes it odd again
        same(torch.randint(9, (words,), generator=pair[0]), pair[1].randint(words, 0, 9, "int64"), pair)
        same(torch.randn(normals, generator=pair[0]), pair[1].normal(normals, "float32"), pair)
        other = Generator()
        other.set_state(pair[0].get_state().numpy())
        assert other.initial_seed() == pair[0].initial_seed()
        assert other.get_state().tobytes() == pair[1].get_state().tobytes()
        expected = torch.randn(5, generator=pair[0]), torch.rand(700, generator=pair[0])
        for generator in (pair[1], other):
            assert generator.normal(5, "float32").tolist() == expected[0].tolist()
            assert generator.uniform(700, "float32").tolist() == expected[1].tolist()


def test_refused_states():
    good = Generator().get_state().tobytes()
    bad = [b"", good[:-1], bytes(5056), good[:8] + b"\xff" * 4 + good[12:], good[:12] + bytes(4) + good[16:]]
    for state in bad:
        with pytest.raises(RuntimeError) as expected:
            torch.Generator().set_state(torch.tensor(list(state), dtype=torch.uint8))
        with pytest.raises(RuntimeError) as actual:
            Generator().set_state(state)
        assert str(actual.value) == str(expected.value)


@pytest.mark.parametrize("name", FLOATS + COMPLEXES)
def test_standard_numbers(name, pair):
    for size in SIZES * 2:
        dtype = torch_dtype(name)
        same(torch.rand(size, dtype=dtype, generator=pair[0]), pair[1].uniform(size, name), pair)
        same(torch.randn(size, dtype=dtype, generator=pair[0]), pair[1].normal(size, name), pair)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize(
    "low, high", [(-2, 3), (0, 0.7), (0.1, 0.1), (-0.3, 0.5), (1, 1 + 2**-21), (5, 5.001)]
)
def test_uniform_between_bounds(name, low, high, pair):
    for size in SIZES:
        expected = new(size, name).uniform_(low, high, generator=pair[0])
        same(expected, pair[1].uniform(size, name, low, high), pair)


@pytest.mark.parametrize("name", FLOATS + COMPLEXES)
@pytest.mark.parametrize("mean, std", [(2, 3), (0.1, 0.7), (-0.3, 1), (0, 0.02), (0, 0), (1, 0), (-5, 1e-3)])
def test_normal_with_mean_and_std(name, mean, std, pair):
    for size in SIZES:
        expected = new(size, name).normal_(mean, std, generator=pair[0])
        same(expected, pair[1].normal(size, name, mean, std), pair)
        if name in FLOATS:
            expected = new(2 * size, name)[::2].normal_(mean, std, generator=pair[0])
            same(expected, pair[1].normal(size, name, mean, std, contiguous=size < 2), pair)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("size", [16384, 16385, 50001])
def test_large_draws(name, size, pair):
    """Larger than a chunk, and enough elements to meet rare roundings."""
    same(new(size, name).normal_(0.1, 0.7, generator=pair[0]), pair[1].normal(size, name, 0.1, 0.7), pair)
    same(new(size, name).uniform_(-0.3, 0.5, generator=pair[0]), pair[1].uniform(size, name, -0.3, 0.5), pair)
    same(new(size, name).log_normal_(3, 0.2, generator=pair[0]), pair[1].log_normal(size, name, 3, 0.2), pair)


@pytest.mark.parametrize("name", INTEGERS + FLOATS)
def test_randint(name, pair):
    for size, (low, high) in zip(SIZES, [(0, 10), (0, 1), (3, 100), (0, 2**7)] * 4, strict=False):
        expected = torch.randint(low, high, (size,), dtype=torch_dtype(name), generator=pair[0])
        same(expected, pair[1].randint(size, low, high, name), pair)


@pytest.mark.parametrize("low", [0, -5, -(2**62), -(2**63)])
@pytest.mark.parametrize("span", [1, 10, 2**28 - 1, 2**28, 2**32, 2**62, 2**63 - 1])
def test_randint_over_wide_ranges(low, span, pair):
    expected = torch.randint(low, low + span, (20,), generator=pair[0])
    same(expected, pair[1].randint(20, low, low + span, "int64"), pair)


@pytest.mark.parametrize("name", ["bool", *INTEGERS, *FLOATS])
def test_random_without_bounds(name, pair):
    same(new(50, name).random_(generator=pair[0]), pair[1].random(50, name), pair)
    for low in (0, 1) if name in ("bool", "uint8") else (0, 1, -3):
        same(new(50, name).random_(low, None, generator=pair[0]), pair[1].randint(50, low, None, name), pair)
    if name == "int64":
        expected = new(50, name).random_(-(2**63), None, generator=pair[0])
        same(expected, pair[1].randint(50, -(2**63), None, name), pair)


@pytest.mark.parametrize("size", SIZES)
def test_randperm(size, pair):
    same(torch.randperm(size, generator=pair[0]), pair[1].randperm(size), pair)


@pytest.mark.parametrize("name", FLOATS)
def test_bernoulli(name, pair):
    for size in SIZES:
        expected = new(size, name).bernoulli_(0.3, generator=pair[0])
        same(expected != 0, pair[1].bernoulli_scalar(size, 0.3), pair)
        probabilities = torch.linspace(0, 1, 2 * size).to(torch_dtype(name)).reshape(2, size)
        expected = torch.bernoulli(probabilities, generator=pair[0])
        same(expected != 0, pair[1].bernoulli_tensor(probabilities.numpy()), pair)


DISTRIBUTIONS = [
    ("exponential", (1.0,)),
    ("exponential", (0.7,)),
    ("exponential", (5.123,)),
    ("geometric", (0.3,)),
    ("geometric", (0.99,)),
    ("log_normal", (0.3, 0.7)),
    ("log_normal", (1.0, 2.0)),
    ("cauchy", (0.0, 1.0)),
    ("cauchy", (-0.3, 0.02)),
]


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("distribution, parameters", DISTRIBUTIONS)
def test_other_distributions(name, distribution, parameters, pair):
    for size in SIZES:
        expected = getattr(new(size, name), f"{distribution}_")(*parameters, generator=pair[0])
        with np.errstate(over="ignore"):
            same(expected, getattr(pair[1], distribution)(size, name, *parameters), pair)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (4,), (300,), (3, 20)])
def test_multinomial(name, shape, pair):
    for samples, replacement in ((1, False), (4, False), (1, True), (50, True)):
        weights = (
            torch.rand(shape, dtype=torch_dtype(name), generator=torch.Generator().manual_seed(3)) + 0.01
        )
        samples = samples if replacement else min(samples, shape[-1])
        expected = torch.multinomial(weights, samples, replacement, generator=pair[0])
        same(expected, pair[1].multinomial(weights.numpy(), samples, replacement), pair)


def test_the_spare_survives_every_other_draw(pair):
    """Draws that know the spare and draws that do not, mixed, in all dtypes."""
    choose = random.Random(0)
    for _ in range(300):
        name, size = choose.choice(FLOATS), choose.randrange(20)
        dtype = torch_dtype(name)
        kind = choose.randrange(5)
        if kind < 2:
            same(torch.randn(size, dtype=dtype, generator=pair[0]), pair[1].normal(size, name), pair)
        elif kind == 2:
            same(torch.rand(size, dtype=dtype, generator=pair[0]), pair[1].uniform(size, name), pair)
        elif kind == 3:
            same(new(size, name).log_normal_(generator=pair[0]), pair[1].log_normal(size, name), pair)
        else:
            same(torch.randperm(size, generator=pair[0]), pair[1].randperm(size), pair)


def test_restarting_forgets_the_spare(pair):
    pair[1].normal(1, "float32")
    pair[1].manual_seed(7)
    same(torch.randn(3, generator=pair[0]), pair[1].normal(3, "float32"), pair)


def test_slow_functions_give_what_pytorch_gives(pair, monkeypatch):
    """Where NumPy has its own functions for float64, those of the C library are called one by one."""
    asked = []
    monkeypatch.setattr(sys.modules["refgrad.generator"], "numpy_calls_libm", asked.append)
    test_standard_numbers("float64", pair)
    test_other_distributions("float64", "log_normal", (1.0, 400.0), pair)
    assert set(asked) == {"log", "log1p", "cos", "sin", "exp"}
    assert one_by_one("log")(0.0) == -math.inf
    assert one_by_one("exp")(1000.0) == math.inf


def test_fused_rounds_once():
    numbers = np.random.default_rng(0)
    for scale in (1e-6, 0.03, 1.0, 40.0, 1e9):
        first = numbers.standard_normal(200)
        second, addend = scale * numbers.standard_normal(2)
        expected = [float(Fraction(value) * Fraction(second) + Fraction(addend)) for value in first]
        assert fused_double(first, second, addend).tolist() == expected


def test_fused_rounds_once_where_two_roundings_differ():
    """Half a last bit is added to an odd number, less so little that the sum alone rounds it away."""
    for sign in (1, -1):
        first, second = np.full(1, 1 - 2.0**-23, np.float32), np.float32(sign * 2.0**-24 * (1 + 2.0**-23))
        assert fused(first, second, np.float32(sign * (1 + 2.0**-23))).tolist() == [sign * (1 + 2.0**-23)]
        first, second = np.full(1, 1 - 2.0**-52), sign * 2.0**-53 * (1 + 2.0**-52)
        assert fused_double(first, second, sign * (1 + 2.0**-52)).tolist() == [sign * (1 + 2.0**-52)]


def test_importing_does_not_load_the_random_numbers_of_numpy():
    program = (
        "import sys, numpy; known = 'numpy.random' in sys.modules; "
        "import refgrad.generator; sys.exit('numpy.random' in sys.modules and not known)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
