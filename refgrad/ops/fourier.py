"""Fourier transforms: three ops, and the public functions that are made of them.

*One-sided*: of the transform of real numbers, the half that says all; the other half mirrors it. The number
for normalization is 0 for none, 1 for division by the root of the length, 2 for division by the length.
"""

from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.layout import strides_of, wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.copying import contiguous_like, copy_of, empty_strided
from refgrad.ops.creation import finished

FORWARD_NORMS: Any = ("backward", "ortho", "forward")
INVERSE_NORMS: Any = ("forward", "ortho", "backward")

# The three ops ----------------------------------------------------------------------------------------------


def laid_out(result, source, dims):
    """A transform laid out as PyTorch leaves it: the transformed dimensions lie innermost, in this order."""
    strides = strides_of(source)
    others = sorted(without(source.ndim, dims), key=lambda i: -strides[i])
    moved = empty_strided(result.shape, contiguous_like(result.shape, [*others, *dims]), result.dtype)
    moved[...] = result
    return moved


def without(count, dims):
    """The other dimensions, as C++ partitions them: their order decides between equal strides."""
    order = list(range(count))
    first, last = 0, count
    while first < last:
        if order[first] not in dims:
            first += 1
        elif order[last - 1] in dims:
            last -= 1
        else:
            last -= 1
            order[first], order[last] = order[last], order[first]
            first += 1
    return order[:first]


def by_stride(array, dims):
    """Dimensions in the order in which they lie in memory, the outermost first."""
    strides = strides_of(array)
    return sorted(dims, key=lambda i: -strides[i])


def check_elements(array):
    """Refuse what has no elements, as the library does that PyTorch calls.

    Raises:
        RuntimeError: there are none.
    """
    if not array.size:
        raise RuntimeError("MKL FFT error: Intel oneMKL DFTI ERROR: Inconsistent configuration parameters")


def transformed(array, dims, normalization, forward):
    """The transform of complex numbers, laid out as PyTorch leaves it."""
    if not dims:
        return copy_of(array)
    check_elements(array)
    if forward:
        result = np.fft.fftn(array, axes=dims, norm=FORWARD_NORMS[normalization])
    else:
        result = np.fft.ifftn(array, axes=dims, norm=INVERSE_NORMS[normalization])
    return laid_out(result, array, by_stride(array, dims))


@op(
    "_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
    node="FftC2CBackward0",
    self=lambda grad, dim, normalization, forward: calls._fft_c2c(grad, dim, normalization, not forward),
)
def complex_to_complex(self, dim, normalization, forward):
    return transformed(self, dim, normalization, forward)


@op(
    "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    node="FftR2CBackward0",
    self=lambda grad, self, dim, normalization, onesided: real_to_complex_back(
        grad, self, dim, normalization, onesided
    ),
)
def real_to_complex(self, dim, normalization, onesided):
    check_elements(self)
    transform = np.fft.rfftn if onesided else np.fft.fftn
    result = transform(self, axes=dim, norm=FORWARD_NORMS[normalization])
    return laid_out(result, self, [*by_stride(self, dim[:-1]), dim[-1]])


def real_to_complex_back(grad, self, dim, normalization, onesided):
    """The gradient of a transform for the real numbers."""
    if onesided:
        half, full = grad._array.shape[dim[-1]], self._array.shape[dim[-1]]
        if full > half:
            shape = list(grad._array.shape)
            shape[dim[-1]] = full
            whole = grad.new_zeros(shape)
            whole.narrow(dim[-1], 0, half).copy_(grad)
            grad = whole
    return calls.real(calls._fft_c2c(grad, dim, normalization, False))


@op(
    "_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
    node="FftC2RBackward0",
    self=lambda grad, dim, normalization: complex_to_real_back(grad, dim, normalization),
)
def complex_to_real(self, dim, normalization, last_dim_size):
    check_elements(self)
    inner = transformed(self, dim[:-1], normalization, False)
    result = np.fft.irfft(inner, last_dim_size, dim[-1], INVERSE_NORMS[normalization])
    return laid_out(result, inner, dim[-1:])


def complex_to_real_back(grad, dim, normalization):
    """The gradient of a real transform for its one side, which stands for the mirrored one too."""
    result = calls._fft_r2c(grad, dim, normalization, True)
    mirrored = grad._array.shape[dim[-1]] - result._array.shape[dim[-1]]
    if mirrored > 0:
        result.narrow(dim[-1], 1, mirrored).mul_(2)
    return result


# Arguments --------------------------------------------------------------------------------------------------


def suited(tensor, wants_complex=False):
    """The operand in a type that can be transformed.

    Raises:
        RuntimeError: there is none.
    """
    kind = tensor.dtype
    if kind.category < dtypes.FLOATING:
        kind = dtypes.default()
    if kind in dtypes.HALVES:
        raise RuntimeError(f"Unsupported dtype {kind.scalar_type}")
    if wants_complex and not kind.is_complex:
        kind = dtypes.complex128 if kind is dtypes.float64 else dtypes.complex64
    return tensor if kind is tensor.dtype else calls._to_copy(tensor, kind)


def number_of_norm(norm, forward):
    """The number that an op takes for a normalization.

    Raises:
        RuntimeError: there is none of that name.
    """
    if norm is None:
        norm = "backward"
    if norm not in FORWARD_NORMS:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return (FORWARD_NORMS if forward else INVERSE_NORMS).index(norm)


def check_length(length):
    """Refuse transforms of nothing.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if length < 1:
        raise RuntimeError(f"Invalid number of data points ({length}) specified")


def wrapped(tensor, dim):
    """A dimension counted from the front.

    Raises:
        IndexError: there is no such dimension.
    """
    if not tensor._array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, tensor._array.ndim)


def resized(tensor, dims, sizes):
    """The operand cut, or filled up with zeros, to these sizes."""
    pads = [0] * (2 * tensor._array.ndim)
    for dim, size in zip(dims, sizes, strict=True):
        own = tensor._array.shape[dim]
        if size < own:
            tensor = tensor.narrow(dim, 0, size)
        elif size > own:
            pads[-2 * dim - 1] = size - own
    return calls.constant_pad_nd(tensor, pads) if any(pads) else tensor


def shape_and_dims(tensor, s, dim):
    """The sizes and dimensions of a transform over several of them.

    Raises:
        RuntimeError: they do not fit each other or the operand.
    """
    ndim, shape = tensor._array.ndim, tensor._array.shape
    if dim is not None:
        dims = [wrap_dim(d, ndim) for d in dim]
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    elif s is not None:
        if len(s) > ndim:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
        dims = list(range(ndim - len(s), ndim))
    else:
        dims = list(range(ndim))
    sizes = [shape[d] if s is None or s[i] == -1 else s[i] for i, d in enumerate(dims)]
    for size in sizes:
        check_length(size)
    return sizes, tuple(dims)


# Along one dimension ----------------------------------------------------------------------------------------


def of_complex(name, forward):
    """Declare `fft` or `ifft`."""

    @composite(f"fft_{name}(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor")
    def transform(self, n=None, dim=-1, norm=None):
        tensor = suited(self)
        if not tensor.is_complex():
            return from_real(name, tensor, n, dim, norm, forward, False)
        dim = wrapped(tensor, dim)
        length = tensor._array.shape[dim] if n is None else n
        check_length(length)
        if n is not None:
            tensor = resized(tensor, (dim,), (n,))
        return calls._fft_c2c(tensor, (dim,), number_of_norm(norm, forward), forward)

    return transform


def from_real(name, self, n, dim, norm, forward, onesided):
    """The transform of real numbers; the inverse one is the conjugate of the other."""
    if self.is_complex():
        raise RuntimeError(f"{name} expects a real input tensor, but got {self.dtype.scalar_type}")
    tensor = suited(self)
    dim = wrapped(tensor, dim)
    check_length(tensor._array.shape[dim] if n is None else n)
    if n is not None:
        tensor = resized(tensor, (dim,), (n,))
    result = calls._fft_r2c(tensor, (dim,), number_of_norm(norm, forward), onesided)
    return result if forward else result.conj()


def to_real(self, n, dim, norm, forward):
    """The real numbers whose transform has this one side."""
    tensor = suited(self, wants_complex=True)
    dim = wrapped(tensor, dim)
    length = 2 * (tensor._array.shape[dim] - 1) if n is None else n
    check_length(length)
    if n is not None:
        tensor = resized(tensor, (dim,), (n // 2 + 1,))
    tensor = tensor.conj() if forward else tensor
    return calls._fft_c2r(tensor, (dim,), number_of_norm(norm, forward), length)


of_complex("fft", True)
of_complex("ifft", False)


@composite("fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor")
def rfft(self, n=None, dim=-1, norm=None):
    return from_real("rfft", self, n, dim, norm, True, True)


@composite("fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor")
def ihfft(self, n=None, dim=-1, norm=None):
    return from_real("ihfft", self, n, dim, norm, False, True)


@composite("fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor")
def irfft(self, n=None, dim=-1, norm=None):
    return to_real(self, n, dim, norm, False)


@composite("fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor")
def hfft(self, n=None, dim=-1, norm=None):
    return to_real(self, n, dim, norm, True)


# Along several ----------------------------------------------------------------------------------------------


def complex_many(self, s, dim, norm, forward):
    """The transform over several dimensions."""
    tensor = suited(self, wants_complex=True)
    sizes, dims = shape_and_dims(tensor, s, dim)
    tensor = resized(tensor, dims, sizes)
    return calls._fft_c2c(tensor, dims, number_of_norm(norm, forward), forward)


def real_many(self, s, dim, norm):
    """The one side of the transform of real numbers over several dimensions."""
    if self.is_complex():
        raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {self.dtype.scalar_type}")
    tensor = suited(self)
    sizes, dims = shape_and_dims(tensor, s, dim)
    check_some(dims, "rfftn")
    return calls._fft_r2c(resized(tensor, dims, sizes), dims, number_of_norm(norm, True), True)


def check_some(dims, name):
    """Refuse transforms along no dimension.

    Raises:
        RuntimeError: there is none.
    """
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")


def one_side(self, s, dim, name):
    """The one side cut or filled up, its dimensions, and the size that the last one will have."""
    tensor = suited(self, wants_complex=True)
    sizes, dims = shape_and_dims(tensor, s, dim)
    check_some(dims, name)
    length = 2 * (tensor._array.shape[dims[-1]] - 1) if s is None or s[-1] == -1 else s[-1]
    check_length(length)
    return resized(tensor, dims, [*sizes[:-1], length // 2 + 1]), dims, length


def irfft_many(self, s, dim, norm):
    """The real numbers whose transform over several dimensions has this one side."""
    tensor, dims, length = one_side(self, s, dim, "irfftn")
    return calls._fft_c2r(tensor, dims, number_of_norm(norm, False), length)


def hfft_many(self, s, dim, norm):
    """The real transform over several dimensions of what mirrors itself."""
    tensor, dims, length = one_side(self, s, dim, "hfftn")
    number = number_of_norm(norm, True)
    if len(dims) > 1:
        tensor = calls._fft_c2c(tensor, dims[:-1], number, True)
    return calls._fft_c2r(tensor.conj(), dims[-1:], number, length)


def ihfft_many(self, s, dim, norm):
    """The inverse of that, of which one side is kept."""
    if self.is_complex():
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {self.dtype.scalar_type}")
    tensor = suited(self)
    sizes, dims = shape_and_dims(tensor, s, dim)
    check_some(dims, "ihfftn")
    number = number_of_norm(norm, False)
    result = calls._fft_r2c(resized(tensor, dims, sizes), dims[-1:], number, True)
    if len(dims) == 1:
        return result.conj()
    return calls._fft_c2c(calls.conj_physical(result), dims[:-1], number, False)


def forward_many(self, s, dim, norm):
    """`fftn`."""
    return complex_many(self, s, dim, norm, True)


def inverse_many(self, s, dim, norm):
    """`ifftn`."""
    return complex_many(self, s, dim, norm, False)


def over_two_and_more(name, function):
    """Declare a function over all dimensions, and over the last two."""

    @composite(f"fft_{name}n(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor")
    def over_all(self, s=None, dim=None, norm=None):
        return function(self, s, dim, norm)

    @composite(f"fft_{name}2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor")
    def over_two(self, s=None, dim=(-2, -1), norm=None):
        return function(self, s, dim, norm)

    return over_all, over_two


over_two_and_more("fft", forward_many)
over_two_and_more("ifft", inverse_many)
over_two_and_more("rfft", real_many)
over_two_and_more("irfft", irfft_many)
over_two_and_more("hfft", hfft_many)
over_two_and_more("ihfft", ihfft_many)


# Frequencies ------------------------------------------------------------------------------------------------


def shifted(self, dim, extra):
    """The tensor rolled by half its size in each dimension, rounded down, or with `extra` 1 up."""
    ndim, shape = self._array.ndim, self._array.shape
    dims = range(ndim) if dim is None else [wrap_dim(d, ndim) for d in dim]
    return calls.roll(self, [(shape[d] + extra) // 2 for d in dims], list(dims))


@composite("fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor")
def fftshift(self, dim=None):
    return shifted(self, dim, 0)


@composite("fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor")
def ifftshift(self, dim=None):
    return shifted(self, dim, 1)


def frequencies(name, steps, n, d, dtype, requires_grad):
    """Multiples of the lowest frequency.

    Raises:
        RuntimeError: the type is an integer one.
    """
    kind = dtypes.default() if dtype is None else dtype
    if kind.category < dtypes.FLOATING:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    unit = np.reciprocal(np.float64(n * d))
    return finished(steps.astype(kind.numpy) * kind.numpy.type(unit), requires_grad)


@composite(
    "fft_fftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, bool? requires_grad=False) -> Tensor"
)
def fftfreq(n, d=1.0, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False):
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    half = (n + 1) // 2
    steps = np.concatenate([np.arange(half), np.arange(-(n // 2), 0)])
    return frequencies("fftfreq", steps, n, d, dtype, requires_grad)


@composite(
    "fft_rfftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, bool? requires_grad=False) -> Tensor"
)
def rfftfreq(n, d=1.0, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False):
    if dtype is not None and dtype.is_complex:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtype.scalar_type}'")
    return frequencies("rfftfreq", np.arange(n // 2 + 1), n, d, dtype, requires_grad)
