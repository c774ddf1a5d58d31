"""Powers and exponentials of matrices, products of their columns, and matrices made of powers."""

from math import prod

import numpy as np

from refgrad import dtypes
from refgrad.layout import broadcast_shapes, wrap_dim
from refgrad.modes import warn_once
from refgrad.op import calls, composite, op
from refgrad.ops.checks import kind_name, not_implemented
from refgrad.ops.inverses import linalg_inv, linalg_solve
from refgrad.ops.matmul import check_same_type
from refgrad.ops.matrices import SINGULAR, adjoint, check_floating, check_info, check_square, matmul
from refgrad.samples import elements_of
from refgrad.tensor import wrap
from refgrad.types import contiguous_format

# Powers -----------------------------------------------------------------------------------------------------


@composite("linalg_matrix_power(Tensor self, int n) -> Tensor")
def linalg_matrix_power(self, n):
    check_square(self._array, "linalg.matrix_power")
    if n == 0:
        shape = self._array.shape
        identity = np.broadcast_to(np.eye(shape[-1], dtype=self._array.dtype), shape)
        return calls.clone(self, contiguous_format).copy_(wrap(np.array(identity)))
    if n == 1:
        return calls.clone(self, contiguous_format)
    base = linalg_inv(self) if n < 0 else self
    n = abs(n)
    if n == 1:
        return base
    if n == 3:
        return matmul(matmul(base, base), base)
    result = square = None
    while n:
        square = base if square is None else matmul(square, square)
        if n & 1:
            result = square if result is None else matmul(result, square)
        n >>= 1
    return result


@composite("matrix_power(Tensor self, int n) -> Tensor")
def matrix_power(self, n):
    return linalg_matrix_power(self, n)


# Exponentials -----------------------------------------------------------------------------------------------

TERMS = 18  # of the power series, for matrices of norm up to 1


@op(
    "linalg_matrix_exp(Tensor self) -> Tensor",
    self=lambda grad, self: matrix_exp_back(grad, self),
)
def linalg_matrix_exp(self):
    check_square(self, "linalg.matrix_exp")
    check_floating(self, "linalg.matrix_exp")
    return np.ascontiguousarray(exponential(self).astype(self.dtype, copy=False))


def exponential(matrices):
    """The exponential of matrices: the power series of a fraction of each, squared again and again."""
    size = matrices.shape[-1]
    if not matrices.size:
        return matrices
    norms = np.abs(matrices).sum(-2).max(-1)
    halvings = np.where(np.isfinite(norms) & (norms > 1), np.ceil(np.log2(np.maximum(norms, 1))), 0)
    fraction = matrices * (0.5**halvings)[..., None, None].astype(norms.dtype)
    identity = np.eye(size, dtype=matrices.dtype)
    result = np.broadcast_to(identity, matrices.shape)
    for k in range(TERMS, 0, -1):
        result = identity + np.matmul(fraction, result) * matrices.real.dtype.type(1 / k)
    for step in range(int(halvings.max())):
        result = np.where((halvings > step)[..., None, None], np.matmul(result, result), result)
    return result


def matrix_exp_back(grad, self):
    """The gradient of an exponential, a block of the exponential of a block matrix."""
    size = self._array.shape[-1]
    turned = adjoint(self)
    blocks = self.new_zeros((*self._array.shape[:-2], 2 * size, 2 * size))
    blocks.narrow(-2, 0, size).narrow(-1, 0, size).copy_(turned)
    blocks.narrow(-2, size, size).narrow(-1, size, size).copy_(turned)
    blocks.narrow(-2, 0, size).narrow(-1, size, size).copy_(grad)
    return calls.linalg_matrix_exp(blocks).narrow(-2, 0, size).narrow(-1, size, size)


@composite("matrix_exp(Tensor self) -> Tensor")
def matrix_exp(self):
    return calls.linalg_matrix_exp(self)


# Cross products ---------------------------------------------------------------------------------------------


@op(
    "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    reduced="own",
    self=lambda grad, other, dim: calls.linalg_cross(other.conj(), grad, dim),
    other=lambda grad, self, dim: calls.linalg_cross(grad, self.conj(), dim),
)
def linalg_cross(self, other, dim):
    if self.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if not self.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = wrap_dim(dim, self.ndim)
    if self.shape[axis] != 3 or other.shape[axis] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.shape[axis]} and "
            f"{other.shape[axis]}"
        )
    shape = broadcast_shapes(self.shape, other.shape)
    check_same_type(self, other)
    if self.dtype == bool:
        raise not_implemented("cross", self)
    a, b = (np.moveaxis(np.broadcast_to(array, shape), axis, 0) for array in (self, other))
    result = np.empty(shape, self.dtype)
    parts = np.moveaxis(result, axis, 0)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts[i] = a[j] * b[k] - a[k] * b[j]
    return result


NO_DIM = (
    "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly "
    "or simply use torch.linalg.cross.\nThe default value of dim will change to agree with that of "
    "linalg.cross in a future release."
)


@composite("cross(Tensor self, Tensor other, int? dim=None) -> Tensor")
def cross(self, other, dim=None):
    if dim is None:
        warn_once(NO_DIM)
        sizes = self._array.shape
        if 3 not in sizes:
            raise RuntimeError("no dimension of size 3 in input")
        dim = sizes.index(3)
    return calls.linalg_cross(self, other, dim)


# Tensors taken for matrices ---------------------------------------------------------------------------------


@composite("linalg_tensorinv(Tensor self, int ind=2) -> Tensor")
def linalg_tensorinv(self, ind=2):
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = self._array.shape
    first, last = shape[:ind], shape[ind:]
    if prod(first) != prod(last):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but "
            f"got {prod(last)} != {prod(first)}"
        )
    matrix = calls.reshape(self, (prod(last), prod(first)))
    inverse, info = calls.linalg_inv_ex(matrix, False)
    check_info(elements_of(info), "inv", SINGULAR)
    return calls.reshape(inverse, (*last, *first))


@composite("linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor")
def linalg_tensorsolve(self, other, dims=None):
    ndim = self._array.ndim
    if dims is not None:
        self = calls.movedim__intlist(self, dims, [ndim - len(dims) + i for i in range(len(dims))])
    shape = self._array.shape
    first, last = shape[: other._array.ndim], shape[other._array.ndim :]
    if prod(first) != prod(last):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {prod(last)} != {prod(first)}"
        )
    size = prod(last)
    matrix = calls.reshape(self, (size, size))
    solution = linalg_solve(matrix, calls.reshape(other, (size,)))
    return calls.reshape(solution, last)


# Views and powers -------------------------------------------------------------------------------------------


@composite("linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)")
def linalg_diagonal(A, offset=0, dim1=-2, dim2=-1):
    return calls.diagonal(A, offset, dim1, dim2)


@composite("linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor")
def linalg_vander(x, N=None):
    array = x._array
    if array.dtype.kind == "b" or array.dtype in dtypes.REDUCED:
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {kind_name(array)}"
        )
    shape = array.shape
    count = N if N is not None else shape[-1] if shape else 1
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = calls.cumprod(calls.expand(calls.unsqueeze(x, -1), (*shape, count - 1)), -1)
    ones = x.new_ones((*shape, 1))
    return calls.cat([ones, powers], -1)


@composite("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor")
def vander(x, N=None, increasing=False):
    if x._array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x._array.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    kind = x._array.dtype if x._array.dtype.kind in "fcV" else np.dtype(np.int64)
    powers = calls.new_empty(x, (x._array.shape[0], count), dtypes.OF_NUMPY[np.dtype(kind)])
    if count > 0:
        powers.select(1, 0).fill_(1)
    if count > 1:
        # PyTorch multiplies up in place, so that backward finds what cumprod saved overwritten.
        tail(powers).copy_(calls.unsqueeze(x, 1))
        tail(powers).copy_(calls.cumprod(tail(powers), 1))
    return powers if increasing else calls.flip(powers, (1,))


def tail(powers):
    """All columns but the first."""
    return calls.slice__Tensor(powers, 1, 1, None, 1)
