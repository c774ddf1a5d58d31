"""The singular value decomposition."""

import numpy as np

from refgrad import dtypes
from refgrad.op import calls, composite, op
from refgrad.ops.copying import contiguous_like, empty_strided
from refgrad.ops.reductions import row_major
from refgrad.return_types import named
from refgrad.tensor import wrap


class _LinAlgError(RuntimeError):
    """A decomposition failed (`torch.linalg.LinAlgError`)."""


_LinAlgError.__module__ = "torch._C"


def check_matrices(array, name):
    """Refuse what is no batch of floating-point matrices.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    kind = dtypes.OF_NUMPY[array.dtype]
    if array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if kind.category < dtypes.FLOATING:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {kind.scalar_type}"
        )


def column_major(array):
    """Matrices laid out column by column, as LAPACK leaves them."""
    ndim = array.ndim
    order = contiguous_like(array.shape, [*range(ndim - 2), ndim - 1, ndim - 2])
    result = empty_strided(array.shape, order, array.dtype)
    result[...] = array
    return result


@op(
    "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) "
    "-> (Tensor U, Tensor S, Tensor Vh)",
    node="LinalgSvdBackward0",
    wrapper=named("linalg_svd", "U", "S", "Vh"),
    A=lambda grads, full_matrices, U, S, S_sym_argsize_minus_1, Vh: svd_back(
        *narrowed(grads, full_matrices, U, S, Vh, S_sym_argsize_minus_1)
    ),
)
def svd(A, full_matrices, compute_uv, driver):
    check_matrices(A, "linalg.svd")
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs "
            "with cuSOLVER backend."
        )
    if not np.isfinite(A).all():
        raise _LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix "
            "contained non-finite values."
        )
    left, values, right = np.linalg.svd(A, full_matrices)
    return column_major(left), row_major(values), column_major(right)


def narrowed(grads, full_matrices, left, values, right, count):
    """The gradients and the factors without what a full decomposition adds."""
    if not full_matrices:
        return (*grads, left, values, right)
    grad_left, grad_values, grad_right = grads
    return (
        None if grad_left is None else grad_left.narrow(-1, 0, count),
        grad_values,
        None if grad_right is None else grad_right.narrow(-2, 0, count),
        left.narrow(-1, 0, count),
        values,
        right.narrow(-2, 0, count),
    )


def adjoint(matrix):
    """The conjugate transpose."""
    return calls.transpose(matrix, -2, -1).conj()


def svd_back(grad_left, grad_values, grad_right, left, values, right):
    """The gradient of a decomposition; see J. Townsend, Differentiating the SVD, 2016."""
    rows, columns, count = left._array.shape[-2], right._array.shape[-1], values._array.shape[-1]
    if grad_left is None and grad_right is None:
        if rows >= columns:
            return left.matmul(grad_values.unsqueeze(-1) * right)
        return (left * grad_values.unsqueeze(-2)).matmul(right)
    squares = values * values
    gaps = squares.unsqueeze(-2) - squares.unsqueeze(-1) + wrap(np.eye(count, dtype=values._array.dtype))
    parts = []
    if grad_left is not None:
        turned = adjoint(left).matmul(grad_left)
        parts.append(((turned - adjoint(turned)) / gaps) * values.unsqueeze(-2))
        if left.is_complex():
            phase = calls.diagonal(turned - adjoint(turned), 0, -2, -1)
            parts.append(calls.diag_embed(phase / (2 * values)))
    if grad_right is not None:
        turned = right.matmul(adjoint(grad_right))
        parts.append(values.unsqueeze(-1) * ((turned - adjoint(turned)) / gaps))
    if grad_values is not None:
        parts.append(calls.diag_embed(grad_values))
    core = parts[0]
    for part in parts[1:]:
        core = core + part
    result = left.matmul(core)
    if rows > count and grad_left is not None:
        scaled = grad_left / values.unsqueeze(-2)
        result = result + scaled - left.matmul(adjoint(left).matmul(scaled))
    result = result.matmul(right)
    if columns > count and grad_right is not None:
        scaled = grad_right / values.unsqueeze(-1)
        result = result + left.matmul(scaled - scaled.matmul(adjoint(right)).matmul(right))
    return result


@composite(
    "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)"
)
def linalg_svd(A, full_matrices=True, driver=None):
    return calls._linalg_svd(A, full_matrices, True, driver)


@composite("linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor")
def linalg_svdvals(A, driver=None):
    return calls._linalg_svd(A, False, True, driver)[1]


svd_results = named("svd", "U", "S", "V")


@composite("svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)")
def plain_svd(self, some=True, compute_uv=True):
    check_matrices(self._array, "linalg.svd")
    left, values, right = calls._linalg_svd(self, not some, True, None)
    if compute_uv:
        return svd_results((left, values, adjoint(right)))
    shape = self._array.shape
    sides = [self.new_zeros((*shape[:-2], n, n)) for n in shape[-2:]]
    return svd_results((sides[0], values, sides[1]))
