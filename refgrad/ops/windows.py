"""Windows: factors that a signal is weighted with before it is transformed.

*Periodic*: of one element more than asked for, the last left out, so that copies of the window join evenly.
"""

from math import pi

import numpy as np

from refgrad import dtypes, modes
from refgrad.op import calls, composite
from refgrad.ops.creation import OPTIONS, check_device, finished
from refgrad.tensor import wrap

SHOWN = (
    "TensorOptions(dtype={}, device=cpu, layout=Strided (default), requires_grad=false (default), "
    "pinned_memory=false, memory_format=(nullopt))"
)


def window(name, length, periodic, values, dtype, device, requires_grad):
    """A window of so many elements, whose values are made from the numbers of its elements and their count.

    Raises:
        RuntimeError: the length is negative, or the type not floating.
    """
    check_device(device)
    kind = dtypes.default() if dtype is None else dtype
    if kind.category < dtypes.FLOATING:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {SHOWN.format(kind.cpp_name)}")
    if kind.is_complex:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{kind.scalar_type}'")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    if length < 2:
        return finished(np.ones(length, kind.numpy), requires_grad)
    count = length + bool(periodic)
    before = modes.grad_enabled()
    modes.set_grad(False)
    try:
        made = values(wrap(np.arange(count).astype(kind.numpy)), count)
    finally:
        modes.set_grad(before)
    return finished(made._array[:length], requires_grad)


def cosine(alpha, beta):
    """A raised cosine."""
    return lambda steps, count: steps.mul_(pi * 2.0 / (count - 1)).cos_().mul_(-beta).add_(alpha)


def hamming(
    window_length, periodic=True, alpha=0.54, beta=0.46, dtype=None, layout=None, device=None,
    pin_memory=False, requires_grad=False,
):  # fmt: skip
    return window(
        "hamming_window", window_length, periodic, cosine(alpha, beta), dtype, device, requires_grad
    )


def hamming_of_alpha(window_length, periodic, alpha, *options):
    return hamming(window_length, periodic, alpha, 0.46, *options)


def hamming_by_default(window_length, *options):
    return hamming(window_length, True, 0.54, 0.46, *options)


def hamming_periodic(window_length, periodic, *options):
    return hamming(window_length, periodic, 0.54, 0.46, *options)


def declare(name, values):
    """Declare a window that has no parameters, with and without the choice whether it is periodic."""

    def periodic_window(
        window_length, periodic=True, dtype=None, layout=None, device=None, pin_memory=False,
        requires_grad=False,
    ):  # fmt: skip
        return window(name, window_length, periodic, values, dtype, device, requires_grad)

    def default_window(window_length, *options):
        return periodic_window(window_length, True, *options)

    composite(f"{name}(int window_length, *, {OPTIONS}) -> Tensor")(default_window)
    composite(f"{name}.periodic(int window_length, bool periodic, *, {OPTIONS}) -> Tensor")(periodic_window)


def bartlett(steps, count):
    """A triangle."""
    made = steps.mul_(2.0 / (count - 1))
    half = (count - 1) // 2 + 1
    calls.slice(made, 0, half, count).mul_(-1).add_(2)
    return made


def blackman(steps, count):
    """A sum of two cosines."""
    made = steps.mul_(pi / (count - 1))
    return made.mul(4).cos_().mul_(0.08) - made.mul(2).cos_().mul_(0.5) + 0.42


def kaiser(beta):
    """The values of a Bessel function."""

    def values(steps, count):
        alpha = (count - 1) / 2.0
        inside = 1 - (steps / alpha - 1).square()
        return calls.i0(beta * inside.sqrt()) / calls.i0(wrap(np.asarray(beta, steps._array.dtype)))

    return values


declare("hann_window", cosine(0.5, 0.5))
declare("bartlett_window", bartlett)
declare("blackman_window", blackman)
composite(f"hamming_window(int window_length, *, {OPTIONS}) -> Tensor")(hamming_by_default)
composite(f"hamming_window.periodic(int window_length, bool periodic, *, {OPTIONS}) -> Tensor")(
    hamming_periodic
)
composite(
    f"hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, {OPTIONS}) -> Tensor"
)(hamming_of_alpha)
composite(
    "hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, "
    f"{OPTIONS}) -> Tensor"
)(hamming)


@composite(f"kaiser_window(int window_length, *, {OPTIONS}) -> Tensor")
def kaiser_window(window_length, *options):
    return kaiser_of_beta(window_length, True, 12.0, *options)


@composite(f"kaiser_window.periodic(int window_length, bool periodic, *, {OPTIONS}) -> Tensor")
def kaiser_periodic(window_length, periodic, *options):
    return kaiser_of_beta(window_length, periodic, 12.0, *options)


@composite(f"kaiser_window.beta(int window_length, bool periodic, float beta, *, {OPTIONS}) -> Tensor")
def kaiser_of_beta(
    window_length, periodic, beta, dtype=None, layout=None, device=None, pin_memory=False,
    requires_grad=False,
):  # fmt: skip
    return window("kaiser_window", window_length, periodic, kaiser(beta), dtype, device, requires_grad)
