"""Complex numbers: conjugates, parts, and views of their memory as real numbers."""

import numpy as np

from refgrad import dtypes
from refgrad.layout import Layout, layout_of, strides_of, window
from refgrad.lazy import ConjugateArray, NegativeArray, negated_like, toggled
from refgrad.op import calls, composite, op
from refgrad.ops.checks import kind_name
from refgrad.ops.subscript import value_of
from refgrad.storage import flat_memory
from refgrad.tensor import Tensor

NO_IMAG = "imag is not implemented for tensors with non-complex dtypes."

# Conjugates -------------------------------------------------------------------------------------------------


@composite("conj(Tensor(a) self) -> Tensor(a)")
def conj(self):
    return calls._conj(self) if self._array.dtype.kind == "c" else self


@op(
    "_conj(Tensor(a) self) -> Tensor(a)",
    replay=True,
    node="ConjBackward0",
    self=lambda grad: calls.conj(grad),
)
def conj_view(array):
    return toggled(array, ConjugateArray)


@op("_neg_view(Tensor(a) self) -> Tensor(a)", replay=True, node="NegViewBackward0", self=lambda grad: -grad)
def neg_view(array):
    return toggled(array, NegativeArray)


@op(
    "_conj_physical(Tensor self) -> Tensor",
    node="ConjPhysicalBackward0",
    self=lambda grad: grad.conj_physical(),
)
def conj_physical_copy(self):
    return np.conjugate(self)


@composite("conj_physical(Tensor self) -> Tensor")
def conj_physical(self):
    return calls._conj_physical(self) if self._array.dtype.kind == "c" else self


@op(
    "conj_physical_(Tensor(a!) self) -> Tensor(a!)",
    node="ConjPhysicalBackward1",
    self=lambda grad: grad.conj_physical(),
)
def conj_physical_(self):
    return np.conjugate(self)


@composite("is_conj(Tensor self) -> bool")
def is_conj(self):
    return isinstance(self._array, ConjugateArray)


@composite("is_neg(Tensor self) -> bool")
def is_neg(self):
    return isinstance(self._array, NegativeArray)


@composite("resolve_conj(Tensor(a) self) -> Tensor(a)")
def resolve_conj(self):
    return self.clone() if isinstance(self._array, ConjugateArray) else self


@composite("resolve_neg(Tensor(a) self) -> Tensor(a)")
def resolve_neg(self):
    return self.clone() if isinstance(self._array, NegativeArray) else self


# Views as real numbers and back -----------------------------------------------------------------------------


@op(
    "view_as_real(Tensor(a) self) -> Tensor(a)",
    replay=True,
    self=lambda grad: calls.view_as_complex(grad.contiguous()),
)
def view_as_real(array):
    if array.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if isinstance(array, ConjugateArray):
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so "
            "you can view it as real, use self.resolve_conj(); however, be warned that the resulting tensor "
            "will NOT alias the original."
        )
    kind = dtypes.OF_NUMPY[array.dtype].to_real().numpy
    shape, strides, offset = layout_of(array)
    pairs = Layout((*shape, 2), (*(2 * stride for stride in strides), 1), 2 * offset)
    return negated_like(window(flat_memory(array), kind, pairs), array)


@op(
    "view_as_complex(Tensor(a) self) -> Tensor(a)",
    replay=True,
    self=lambda grad: calls.view_as_real(grad.contiguous().resolve_conj()),
)
def view_as_complex(array):
    if array.dtype.kind != "f":
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            "scalar type: " + kind_name(array)
        )
    check_pairs(array)
    kind = dtypes.OF_NUMPY[array.dtype].to_complex().numpy
    shape, strides, offset = layout_of(array)
    numbers = Layout(shape[:-1], tuple(stride // 2 for stride in strides[:-1]), offset // 2)
    return negated_like(window(flat_memory(array), kind, numbers), array)


def check_pairs(array):
    """Refuse memory that does not hold pairs of numbers.

    Raises:
        RuntimeError: with what PyTorch asks for.
    """
    if not array.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    strides = strides_of(array)
    if array.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if strides[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(stride % 2 for stride in strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if layout_of(array).offset % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")


@composite("real(Tensor(a) self) -> Tensor(a)")
def real(self):
    if self._array.dtype.kind != "c":
        return self
    pairs = calls.view_as_real(self.conj() if self.is_conj() else self)
    return calls.select(pairs, self._array.ndim, 0)


@composite("imag(Tensor(a) self) -> Tensor(a)")
def imag(self):
    if self._array.dtype.kind != "c":
        raise RuntimeError(NO_IMAG)
    if self.is_conj():
        return calls.select(calls._neg_view(calls.view_as_real(self.conj())), self._array.ndim, 1)
    return calls.select(calls.view_as_real(self), self._array.ndim, 1)


def set_real(self, value):
    """Write the real parts: a tensor, or a number for all of them."""
    part = real(self)
    part.copy_(value_of(part, value))


def set_imag(self, value):
    """Write the imaginary parts: a tensor, or a number for all of them."""
    part = imag(self)
    part.copy_(value_of(part, value))


Tensor.real = property(real, set_real)
Tensor.imag = property(imag, set_imag)

# Parts put together -----------------------------------------------------------------------------------------


def check_parts(first, second):
    """Refuse parts that are not floats of one type.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if first.dtype.kind != "f" or second.dtype.kind != "f":
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{kind_name(first)} and {kind_name(second)}"
        )
    if first.dtype.itemsize == 2:
        raise NotImplementedError("complex numbers of half precision (torch.complex32) do not exist here")
    if first.dtype != second.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {kind_name(first)} but got scalar type {kind_name(second)} "
            "for second argument"
        )


def joined(first, second):
    """Complex numbers of these parts."""
    kind = dtypes.OF_NUMPY[first.dtype].to_complex().numpy
    first, second = np.broadcast_arrays(first, second)
    result = np.empty(first.shape, kind)
    result.real, result.imag = first, second
    return result


@op(
    "complex(Tensor real, Tensor imag) -> Tensor",
    reduced="own",
    promote="same",
    real=lambda grad, real: calls.real(grad),
    imag=lambda grad, imag: calls.imag(grad),
)
def complex_(real, imag):
    check_parts(real, imag)
    return joined(real, imag)


def polar_back(grad, result):
    """The gradients of length and angle."""
    conjugate = grad.conj()
    return calls.real(conjugate * calls.sgn(result)), calls.real(conjugate * (result * 1j))


@op(
    "polar(Tensor abs, Tensor angle) -> Tensor",
    promote="same",
    jointly=("abs, angle", polar_back),
    reduced="own",
)
def polar(abs, angle):
    check_parts(abs, angle)
    return joined(abs * np.cos(angle), abs * np.sin(angle))


# Angles -----------------------------------------------------------------------------------------------------


def angle_back(grad, self):
    """The gradient of the angle: none for real numbers, and none at zero."""
    if self._array.dtype.kind != "c":
        return calls.zeros_like(self)
    slope = grad * self / calls.abs(self).pow(2) * 1j
    return calls.where__self(self == 0.0, self.new_zeros(()), slope)


@op("angle(Tensor self) -> Tensor", promote="float", self=lambda grad, self: angle_back(grad, self))
def angle(self):
    if self.dtype.kind == "c":
        return np.angle(self).astype(self.real.dtype)
    turned = np.where(self < 0, self.dtype.type(np.pi), self.dtype.type(0))
    return np.where(np.isnan(self), self, turned)
