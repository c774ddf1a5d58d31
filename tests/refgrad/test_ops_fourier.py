"""Fourier transforms: values, layouts, graphs, first and second derivatives, errors."""

import pytest

from tests.refgrad.against_torch import agree
from tests.refgrad.gradient_programs import gradients

REAL = """
rfft(a) 5
rfft(a) 6
rfft(a, 7) 5
rfft(a, 3) 5
ihfft(a) 5
rfft(a, dim=0) 4,6
rfft(a.t()) 4,6
rfft2(a) 4,6
rfft2(a.t()) 4,6
rfftn(a) 4,5
rfftn(a, dim=(2, 0)) 2,3,4
ihfft2(a) 4,3
ihfftn(a) 2,3,4
ihfftn(a) 4
"""

ANY = """
fft(a) 5
ifft(a) 5
irfft(a) 5
irfft(a, 4) 5
irfft(a, 1) 5
irfft(a, 9) 3
hfft(a) 4
fft(a, 7) 5
fft(a, 3) 5
fft(a, norm='ortho') 4
ifft(a, norm='forward') 4
irfft(a, norm='ortho') 4
fft(a, dim=0) 4,3
fft(a.t()) 4,6
fft2(a) 4,6
fft2(a.t()) 4,6
ifft2(a) 2,4,6
irfft2(a) 4,6
irfft2(a.t()) 4,6
fftn(a) 2,3,4
fftn(a, (3, 8)) 4,6
fftn(a, dim=(0,)) 4,6
fftn(a, dim=()) 2,3
irfftn(a, (4, 7)) 4,6
irfftn(a, dim=(0, 1)) 2,3,4
hfft2(a) 4,3
hfftn(a) 2,3,2
fft(a.permute(2, 0, 1), dim=1) 2,3,4
"""


def parsed(table: str) -> list[tuple[str, tuple[int, ...]]]:
    """The expressions of a table, and the shape of their operand."""
    lines = [line.rpartition(" ") for line in table.strip().splitlines()]
    return [(expression, tuple(int(n) for n in shape.split(","))) for expression, _, shape in lines]


@pytest.mark.parametrize("expression, shape", parsed(REAL + ANY.lstrip()))
def test_transforms_of_real_numbers(expression, shape):
    agree(gradients(f"torch.fft.{expression}.abs()", a=shape))
    agree(f"a = torch.ones({shape}).cumsum(0)\ny = torch.fft.{expression}")


@pytest.mark.parametrize("expression, shape", parsed(ANY))
def test_transforms_of_complex_numbers(expression, shape):
    complex_operand = expression.replace("(a", "((a + 1j * a.flip(-1))", 1)
    agree(gradients(f"torch.fft.{complex_operand}.abs()", a=shape))


@pytest.mark.parametrize(
    "expression", ["fftshift(a)", "fftshift(a, 1)", "ifftshift(a)", "ifftshift(a, (0,))"]
)
def test_shifts(expression):
    agree(gradients(f"torch.fft.{expression}", a=(4, 5)))


SETUP = """
x, v, i, s = torch.ones(4, 6), torch.arange(5.0), torch.arange(4), torch.tensor(1.0)
z, h, b, e, E = x.cfloat(), v.half(), torch.ones(2).bool(), torch.empty(0), torch.empty(0, 4)
"""


@pytest.mark.parametrize(
    "line",
    """
    fft(i); fft(b); fft(h); fft(s); fft(e); fft(E); fft(v, 0); fft(v, norm="foo"); fft(v, dim=1); fft(v, n=2.)
    rfft(z); rfft(i); rfft(E); irfft(v, 0); irfft(v[:1]); irfft(i); irfft(s); ihfft(z); ifft(i); fft2(v)
    fft2(x, s=(2,)); fftn(x, s=(2, 2, 2)); fftn(x, s=(-1, 3)); fftn(x, dim=(0, 0)); fftn(s); fftn(x, s=3)
    rfftn(z); rfftn(x, dim=()); irfftn(x, dim=()); irfftn(x, s=(4, 0)); hfft2(x); ihfft2(z); hfftn(x, dim=())
    fftshift(x, dim=5); fftshift(s); fftfreq(5); fftfreq(4, 0.5); fftfreq(5, dtype=torch.float64); fftfreq(0)
    fftfreq(4, dtype=torch.int64); fftfreq(-1); fftfreq(3, d=0.); fftfreq(4, requires_grad=True); rfftfreq(5)
    rfftfreq(4, 2.); rfftfreq(4, dtype=torch.complex64); fft("a"); fft(v, 1, 2, 3); fft(v.double()); foo(v)
    """.strip()
    .replace("\n", ";")
    .split(";"),
)
def test_types_and_errors(line):
    agree(SETUP + f"r = torch.fft.{line.strip()}")
