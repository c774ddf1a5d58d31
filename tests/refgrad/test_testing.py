"""`torch.testing` against PyTorch: what counts as close, the reports, and random tensors."""

import pytest

from tests.refgrad.against_torch import agree

CLOSE = """
T([1.0, 2.0]), T([1.0, 2.000001])
T([1.0, 2.0]), T([1.0, 2.1])
T([[1.0, 2.0], [3.0, 4.0]]), T([[1.0, 0.0], [3.0, 5.0]])
T([1, 2]), T([1, 3])
T(1.0), T(2.0)
T(1), T(2)
T([True, False]), T([True, True])
T([1.0]), T([1.0], dtype=torch.float64)
T([1.0]), T([1.0], dtype=torch.float64), check_dtype=False
T([1.0]), T([2.0], dtype=torch.float64), check_dtype=False
T([1.0]), T([1.0, 2.0])
T([1.0]), 1.0
1.0, T([1.0])
1, 1.0
1, 1.0, check_dtype=False
1.0, 1.1
1, 0
True, False
np.bool_(True), False
True, 1
[T([1.0]), True], [T([1.0]), 1]
None, None
None, 1
"a", "a"
[1, 2], [1, 2, 3]
[1.0, T([2.0])], [1.0, T([3.0])]
{"a": 1}, {"b": 1}
{"a": [1, T([2.0])]}, {"a": [1, T([3.0])]}
(1, 2), [1, 2]
nan, nan
nan, nan, equal_nan=True
T([nan]), T([nan])
T([nan]), T([nan]), equal_nan=True
T([1.0]), T([2.0]), msg="boo"
T([1.0]), T([2.0]), msg=lambda text: "X " + text
T([1.0]), T([2.0]), rtol=0.1
T([1.0]), T([2.0]), rtol=0, atol=0
T([1.0]), T([1.5]), rtol=0.5, atol=0
T([1j]), T([2j])
1j, 2j
T([[1.0, 2.0], [3.0, 4.0]]), T([[1.0, 3.0], [2.0, 4.0]]).t()
T([[1.0, 2.0], [3.0, 4.0]]), T([[1.0, 3.0], [2.0, 4.0]]).t(), check_stride=True
np.array([1.0, 2.0]), np.array([1.0, 3.0])
np.array([1.0, 2.0]), T([1.0, 3.0])
np.float32(1), 1.0
T([]), T([])
T([1.0, inf]), T([1.0, -inf])
T([0.0, 1e-9]), T([1.0, 0.0])
T([1.0], requires_grad=True), T([2.0])
T([1.0], dtype=torch.float16), T([2.0], dtype=torch.float16)
T([200], dtype=torch.uint8), T([100], dtype=torch.uint8)
"""
MADE = """
(2,), dtype=torch.float32, requires_grad=True
(2,), dtype=torch.int64, requires_grad=True
(2,), dtype=torch.int64, low=3, high=3
(2,), dtype=torch.float32, low=3, high=3
(2,), dtype=torch.float32, low=3, high=2
(2,), dtype=torch.uint8, low=-3, high=-2
(2,), dtype=torch.float32, low=nan
(2,), dtype=torch.float32, noncontiguous=True, memory_format=torch.contiguous_format
(2, 3), dtype=torch.float32, memory_format=torch.contiguous_format
(2, 3), dtype=torch.float64, low=-1e308, high=1.7e308
(2, 3), dtype=torch.float64, low=-inf, high=inf
(1, 2, 2, 2), dtype=torch.float64, memory_format=torch.channels_last
"""
INTEGERS = ["bool", "uint8", "int8", "int32", "int64"]
TYPES = [*INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]


def rows(text):
    return text.strip().split("\n")


@pytest.mark.parametrize("arguments", rows(CLOSE))
def test_close(arguments):
    agree(f"T = torch.tensor\ntorch.testing.assert_close({arguments})")


@pytest.mark.parametrize("arguments", rows(MADE))
def test_made(arguments):
    agree(
        f'torch.manual_seed(3)\na = torch.testing.make_tensor({arguments}, device="cpu")\nb = torch.rand(2)'
    )


@pytest.mark.parametrize("dtype", TYPES)
def test_made_of_every_type(dtype):
    shapes = ["(3,)", "2, 2, noncontiguous=True", "[2], low=0, high=2, exclude_zero=True", "()", "(0, 3)"]
    calls = [f'torch.testing.make_tensor({shape}, dtype=torch.{dtype}, device="cpu")' for shape in shapes]
    agree("torch.manual_seed(3)\n" + "\n".join(f"a{at} = {call}" for at, call in enumerate(calls)))


def test_the_deprecated_comparison():
    agree("""
torch.testing.assert_allclose([1.0], [1.00001])
torch.testing.assert_allclose(torch.ones(2), torch.ones(2) + 1e-3)
torch.testing.assert_allclose(torch.ones(2), torch.ones(2, dtype=torch.float64))
""")
