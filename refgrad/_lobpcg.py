"""`torch.lobpcg`: a few extreme eigenpairs of a symmetric positive definite problem.

PyTorch iterates from a first guess until the residuals are small; here all eigenpairs are found at once and
the asked ones given, with the signs that have them point to where the guess does.
"""

from typing import Any

import numpy as np

from refgrad.autograd import enable_grad, grad
from refgrad.autograd.function import Function
from refgrad.autograd.grad_mode import is_grad_enabled
from refgrad.op import calls
from refgrad.tensor import Tensor, wrap


class LOBPCGAutogradFunction(Function):
    """The eigenpairs as part of the graph."""

    @staticmethod
    def forward(ctx: Any, A: Tensor, k: Any, B: Any, X: Any, n: Any, largest: Any, *rest: Any) -> tuple:
        """The eigenpairs, kept for backward."""
        A = A.contiguous()
        values, vectors = eigenpairs(A, k, B, X, n, largest)
        ctx.save_for_backward(A, B, values, vectors)
        ctx.largest = largest
        return values, vectors

    @staticmethod
    def backward(ctx: Any, D_grad: Tensor, U_grad: Tensor) -> tuple:
        """The gradient of the matrix, which can be differentiated again.

        Raises:
            ValueError: for complex matrices, or with a second matrix.
        """
        A, B, _, vectors = ctx.saved_tensors
        if A.is_complex() or B is not None and B.is_complex():
            raise ValueError(
                "lobpcg.backward does not support complex input yet. Note that lobpcg.forward does though."
            )
        if B is not None:
            raise ValueError("lobpcg.backward does not support backward with B != I yet.")
        again = is_grad_enabled()
        with enable_grad():
            matrix = A if A.requires_grad else A.detach().requires_grad_()
            all_values, all_vectors = calls.linalg_eigh(matrix, "L")
            chosen = slice(None, -vectors.shape[-1] - 1, -1) if is_largest(ctx) else slice(vectors.shape[-1])
            order = list(range(matrix.shape[-1]))[chosen]
            values, found = all_values[..., order], all_vectors[..., order]
            signs = (found.detach() * vectors.detach()).sum(-2, keepdim=True).sign()
            found = found * signs
        (gradient,) = grad((values, found), matrix, (D_grad, U_grad), create_graph=again)
        return gradient, *[None] * (len(ctx.needs_input_grad) - 1)


def is_largest(ctx: Any) -> bool:
    """Whether the largest eigenvalues were asked for."""
    return ctx.largest is None or bool(ctx.largest)


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` largest, or smallest, eigenvalues of `A` (of `A` and `B`), shape (..., k), and their vectors,
    shape (..., m, k). What steers PyTorch's iteration has no effect.

    Source: `torch.lobpcg` in PyTorch's docs.

    Raises:
        AssertionError: shapes do not fit.
        ValueError: more than a third of the eigenpairs is asked for.
    """
    if A.requires_grad or B is not None and B.requires_grad:
        A = (A + A.mT) / 2
        B = B if B is None else (B + B.mT) / 2
        rest = (iK, niter, tol, method, tracker, ortho_iparams, ortho_fparams, ortho_bparams)
        return LOBPCGAutogradFunction.apply(A, k, B, X, n, largest, *rest)
    return eigenpairs(A, k, B, X, n, largest)


def eigenpairs(A: Tensor, k: Any, B: Any, X: Any, n: Any, largest: Any) -> tuple[Tensor, Tensor]:
    """The asked eigenpairs, outside the graph."""
    size, k, n = checked(A, k, B, X, n)
    matrices = A.detach().resolve_conj()._array.reshape(-1, size, size)
    metrics = None if B is None else B.detach().resolve_conj()._array.reshape(-1, size, size)
    starts = None if X is None else X.detach()._array.reshape(-1, size, n)
    values, vectors = [], []
    for at, matrix in enumerate(matrices):
        start = calls.randn((size, n), dtype=A.dtype)._array if starts is None else starts[at]
        pair = one_problem(matrix, None if metrics is None else metrics[at], n, largest is None or largest)
        signs = np.sign((start.conj() * pair[1]).real.sum(0))
        values.append(pair[0])
        vectors.append(pair[1] * np.where(signs == 0, 1, signs).astype(matrix.dtype))
    if A.ndim == 2:
        return wrap(values[0].copy())[:k], wrap(vectors[0])[:, :k]
    lead = A.shape[:-2]
    of_all = np.array(values)[:, :k], np.array(vectors)[:, :, :k]
    return wrap(of_all[0].copy()).reshape(*lead, k), wrap(of_all[1].copy()).reshape(*lead, size, k)


def checked(A: Tensor, k: Any, B: Any, X: Any, n: Any) -> tuple[int, int, int]:
    """The size of the problem, and how many eigenpairs are asked for and sought.

    Raises:
        AssertionError: shapes do not fit.
        ValueError: more than a third of the eigenpairs is sought.
    """
    if A.shape[-2] != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if B is not None and A.shape != B.shape:
        raise AssertionError(f"A and B must have same shape, got {A.shape} vs {B.shape}")
    size = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if n is None else n) if X is None else X.shape[-1]
    if size < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={size}) is smaller than 3 x the "
            f"number of requested eigenpairs (={n})"
        )
    if X is not None and A.ndim == 2 and X.shape != (size, n):
        raise AssertionError(f"X shape mismatch: got {X.shape}, expected {(size, n)}")
    return size, k, n


def one_problem(matrix: np.ndarray, metric: Any, k: int, largest: bool) -> tuple[np.ndarray, np.ndarray]:
    """The extreme eigenpairs of one problem, the most extreme first."""
    factor = None if metric is None else np.linalg.inv(np.linalg.cholesky(metric))
    plain = matrix if factor is None else factor @ matrix @ factor.conj().T
    values, vectors = np.linalg.eigh(plain)
    if largest:
        values, vectors = values[::-1], vectors[:, ::-1]
    if factor is not None:
        vectors = factor.conj().T @ vectors
    return values[:k], vectors[:, :k]
