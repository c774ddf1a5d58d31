"""Eigenvalues and eigenvectors.

*Phase*: an eigenvector may be multiplied by any complex number of size 1. A loss that such a factor changes
has no gradient.
"""

import numpy as np

from refgrad import modes
from refgrad.kernels import symmetric
from refgrad.op import calls, composite, op
from refgrad.ops.checks import kind_name
from refgrad.ops.matrices import adjoint, check_kernel, check_square, column_major, matmul
from refgrad.ops.reductions import row_major
from refgrad.return_types import named

# Of symmetric matrices --------------------------------------------------------------------------------------


@op(
    "_linalg_eigh(Tensor A, str UPLO='L', bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
    reduced="own",
    node="LinalgEighBackward0",
    wrapper=named("linalg_eigh", "eigenvalues", "eigenvectors"),
    A=lambda grads, eigenvalues, eigenvectors: eigh_back(grads, eigenvalues, eigenvectors),
)
def linalg_eigh_(A, UPLO, compute_v):
    check_square(A, "linalg.eigh")
    side = UPLO.upper()
    if side not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check_kernel(A, "linalg_eigh_cpu")
    if not np.isfinite(A).all():
        return np.full(A.shape[:-1], np.nan, A.real.dtype), column_major(np.full(A.shape, np.nan, A.dtype))
    if not compute_v:
        return row_major(np.linalg.eigvalsh(A, side)), np.empty(0, A.dtype)
    if A.shape[-1] <= symmetric.LARGEST:
        values, vectors = symmetric.decomposed(A, side == "L")
    else:
        values, vectors = np.linalg.eigh(A, side)
    return row_major(values), column_major(vectors)


@composite("linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)")
def linalg_eigh(self, UPLO="L"):
    return calls._linalg_eigh(self, UPLO, True)


@composite("linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor")
def linalg_eigvalsh(self, UPLO="L"):
    return calls._linalg_eigh(self, UPLO, True)[0]


def eigh_back(grads, values, vectors):
    """The gradient of the eigenvalues and eigenvectors of symmetric matrices."""
    grad_values, grad_vectors = grads
    if grad_vectors is None:
        return matmul(vectors * grad_values.unsqueeze(-2), adjoint(vectors))
    turned = matmul(adjoint(vectors), grad_vectors)
    check_phase(turned, vectors, "linalg_eigh_backward")
    inner = (turned - adjoint(turned)) * 0.5 / gaps(values)
    if grad_values is not None:
        calls.diagonal(inner, 0, -2, -1).copy_(grad_values)
    return matmul(vectors, matmul(inner, adjoint(vectors)))


def gaps(values):
    """The differences of all pairs of eigenvalues; ones where a value is paired with itself."""
    result = values.unsqueeze(-2) - values.unsqueeze(-1)
    calls.diagonal(result, 0, -2, -1).fill_(1)
    return result


def check_phase(turned, vectors, name):
    """Refuse gradients of a loss that depends on the phase of the vectors.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if vectors._array.dtype.kind != "c":
        return
    phases = np.diagonal(turned._array, 0, -2, -1).imag
    if not np.allclose(phases, 0, rtol=1e-2, atol=1e-2):
        raise RuntimeError(
            f"{name}: The eigenvectors in the complex case are specified up to multiplication by "
            "e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined."
        )


# Of any square matrices -------------------------------------------------------------------------------------


def complex_kind(array):
    """The complex type that goes with an array's.

    Raises:
        RuntimeError: there is none.
    """
    if array.dtype.kind not in "fc":
        raise RuntimeError(f"Unknown Complex ScalarType for {kind_name(array)}")
    return np.result_type(array.dtype, np.complex64)


@op(
    "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
    reduced="own",
    wrapper=named("linalg_eig", "eigenvalues", "eigenvectors"),
    self=lambda grads, self_scalar_type, eigenvalues, eigenvectors: eig_back(
        grads, self_scalar_type, eigenvalues, eigenvectors
    ),
)
def linalg_eig(self):
    kind = complex_kind(self)
    check_square(self, "linalg.eig")
    check_kernel(self, "linalg_eig_out_cpu")
    if not np.isfinite(self).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = np.linalg.eig(self)
    if self.shape[-1] == 2 and self.dtype == np.float64 and vectors.dtype.kind == "c":
        vectors = with_positive_parts(vectors)
    return row_major(values.astype(kind)), column_major(vectors.astype(kind))


@composite("linalg_eigvals(Tensor self) -> Tensor")
def linalg_eigvals(self):
    if not (modes.grad_enabled() and self.requires_grad):
        complex_kind(self._array)
        check_square(self._array, "linalg.eigvals")
    return calls.linalg_eig(self)[0]


def with_positive_parts(vectors):
    """The vectors of a conjugate pair with the sign that PyTorch gives them: the real part is positive."""
    is_real = (vectors.imag == 0).argmax(-2)[..., None, :]
    parts = np.take_along_axis(vectors.real, is_real, -2)
    return np.where(parts < 0, -vectors, vectors)


def eig_back(grads, kind, values, vectors):
    """The gradient of eigenvalues and eigenvectors; real for real matrices."""
    grad_values, grad_vectors = grads
    if grad_vectors is None:
        result = calls.linalg_solve(adjoint(vectors), grad_values.unsqueeze(-1) * adjoint(vectors))
    else:
        turned = matmul(adjoint(vectors), grad_vectors)
        check_phase(turned, vectors, "linalg_eig_backward")
        lengths = calls.real(calls.diagonal(turned, 0, -2, -1)).unsqueeze(-2)
        inner = (turned - matmul(adjoint(vectors), vectors * lengths)) / gaps(values.conj())
        if grad_values is not None:
            calls.diagonal(inner, 0, -2, -1).copy_(grad_values)
        result = calls.linalg_solve(adjoint(vectors), matmul(inner, adjoint(vectors)))
    return result if kind.is_complex else calls.real(result)
