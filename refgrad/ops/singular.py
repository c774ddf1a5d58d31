"""The singular value decomposition."""

import numpy as np

from refgrad.op import calls, composite, op
from refgrad.ops.eigen import gaps
from refgrad.ops.matrices import (
    _LinAlgError,
    adjoint,
    check_floating,
    check_kernel,
    check_matrix,
    column_major,
    matmul,
)
from refgrad.ops.reductions import row_major
from refgrad.return_types import named


@op(
    "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) "
    "-> (Tensor U, Tensor S, Tensor Vh)",
    reduced="own",
    node="LinalgSvdBackward0",
    wrapper=named("linalg_svd", "U", "S", "Vh"),
    A=lambda grads, full_matrices, U, S, S_sym_argsize_minus_1, Vh: svd_back(
        *narrowed(grads, full_matrices, U, S, Vh, S_sym_argsize_minus_1)
    ),
)
def svd(A, full_matrices, compute_uv, driver):
    check_matrix(A, "linalg.svd")
    check_floating(A, "linalg.svd")
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs "
            "with cuSOLVER backend."
        )
    check_kernel(A, "linalg_svd_cpu")
    if not np.isfinite(A).all():
        raise _LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix "
            "contained non-finite values."
        )
    left, values, right = decomposed(A, full_matrices)
    return column_major(left), row_major(values), column_major(right)


# Note [Wide matrices are padded before they are decomposed]
# NumPy's LAPACK splits an orthogonal factor off matrices that are much wider than high, PyTorch's does not
# for real ones, and the signs of the vectors differ then. Rows and columns of zeros make them less wide.


def decomposed(A, full_matrices):
    """The factors with the signs that PyTorch gives the vectors."""
    rows, columns = A.shape[-2:]
    if A.dtype.kind == "c" or rows < 2 or columns < split_off(rows):
        return np.linalg.svd(A, full_matrices)
    height = rows + 1
    while split_off(height) <= max(columns, height + 1):
        height += 1
    padded = np.zeros((*A.shape[:-2], height, max(columns, height + 1)), A.dtype)
    padded[..., :rows, :columns] = A
    left, values, right = np.linalg.svd(padded, full_matrices)
    if full_matrices:  # zero singular values of the padding come out in reverse order
        right[..., rows:height, :] = right[..., rows:height, :][..., ::-1, :].copy()
    right = right[..., : columns if full_matrices else rows, :columns]
    return left[..., :rows, :rows], values[..., :rows], right


def split_off(rows):
    """The number of columns from which on LAPACK splits a factor off."""
    return rows * 11 // 6


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


def svd_back(grad_left, grad_values, grad_right, left, values, right):
    """The gradient of a decomposition; see J. Townsend, Differentiating the SVD, 2016."""
    rows, columns = left._array.shape[-2], right._array.shape[-1]
    if grad_left is None and grad_right is None:
        if rows >= columns:
            return matmul(left, grad_values.unsqueeze(-1) * right)
        return matmul(left * grad_values.unsqueeze(-2), right)
    core = svd_core(grad_left, grad_values, grad_right, left, values, right)
    if rows > columns and grad_left is not None:
        scaled = grad_left / values.unsqueeze(-2)
        beside = matmul(left, core) + scaled - matmul(left, matmul(adjoint(left), scaled))
        return matmul(beside, right)
    if rows < columns and grad_right is not None:
        scaled = grad_right / values.unsqueeze(-1)
        beside = matmul(core, right) + scaled - matmul(matmul(scaled, adjoint(right)), right)
        return matmul(left, beside)
    if rows < columns:
        return matmul(matmul(left, core), right)
    return matmul(left, matmul(core, right))


def svd_core(grad_left, grad_values, grad_right, left, values, right):
    """The gradient of a decomposition as seen between its two unitary factors."""
    left_turned = right_turned = None
    if grad_left is not None:
        left_turned = matmul(adjoint(left), grad_left)
    if grad_right is not None:
        right_turned = matmul(right, adjoint(grad_right))
    check_phases(left_turned, right_turned, left)
    if left_turned is not None:
        left_turned = left_turned - adjoint(left_turned)
    if right_turned is not None:
        right_turned = right_turned - adjoint(right_turned)
    squares = values * values
    if right_turned is None:
        core = left_turned / gaps(squares) * values.unsqueeze(-2)
    elif left_turned is None:
        core = values.unsqueeze(-1) * (right_turned / gaps(squares))
    else:
        core = left_turned * values.unsqueeze(-2) + values.unsqueeze(-1) * right_turned
        core = core / gaps(squares)
    if grad_values is not None:
        core = core + calls.diag_embed(grad_values)
    if left_turned is not None and right_turned is not None and left.is_complex():
        core = core + calls.diag_embed(calls.diagonal(left_turned, 0, -2, -1) / (values * 2))
    return core


def check_phases(left_turned, right_turned, left):
    """Refuse gradients of a loss that depends on the common phase of complex singular vectors.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if left._array.dtype.kind != "c":
        return
    given = [turned for turned in (left_turned, right_turned) if turned is not None]
    phases = sum(np.diagonal(turned._array, 0, -2, -1).imag for turned in given)
    if not np.allclose(phases, 0, rtol=1e-2, atol=1e-2):
        raise RuntimeError(
            "svd_backward: The singular vectors in the complex case are specified up to multiplication by "
            "e^{i phi}. The specified loss function depends on this phase term, making it ill-defined."
        )


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
    ndim = self._array.ndim
    if ndim < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {ndim} dimensions instead"
        )
    check_floating(self._array, "linalg.svd")
    left, values, right = calls._linalg_svd(self, not some, True, None)
    if compute_uv:
        return svd_results((left, values, adjoint(right)))
    shape = self._array.shape
    sides = [self.new_zeros((*shape[:-2], n, n)) for n in shape[-2:]]
    return svd_results((sides[0], values, sides[1]))
