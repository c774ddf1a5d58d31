"""Inverses, determinants, and systems of equations, all by Gaussian elimination."""

import numpy as np

from refgrad.kernels import elimination
from refgrad.op import calls, composite, op
from refgrad.ops import matrices
from refgrad.ops.matmul import is_plain
from refgrad.ops.matrices import (
    NOT_SOLVED,
    SINGULAR,
    adjoint,
    check_floating,
    check_info,
    check_kernel,
    check_same_kind,
    check_square,
    check_system,
    column_major,
    matmul,
    transposed,
)
from refgrad.ops.reductions import product_of_others
from refgrad.return_types import named
from refgrad.samples import elements_of, values_of
from refgrad.tensor import wrap

# Inverses ---------------------------------------------------------------------------------------------------


@op(
    "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    reduced="own",
    nondifferentiable=(1,),
    wrapper=named("linalg_inv_ex", "inverse", "info"),
    A=lambda grad, inverse: inverse_back(grad, inverse),
)
def linalg_inv_ex(A, check_errors):
    check_square(A, "linalg.inv")
    check_floating(A, "linalg.inv", half=False)
    lu, pivots, info = elimination.factored(A)
    inverse = elimination.solved(lu, pivots, np.eye(A.shape[-1], dtype=A.dtype))
    if check_errors:
        check_info(info, "linalg.inv_ex", SINGULAR)
    return column_major(inverse), info


def inverse_back(grad, inverse):
    """The gradient of what was inverted; the inner product comes first, as in C++."""
    inner = matmul(grad, adjoint(inverse))
    return -matmul(adjoint(inverse), inner)


@composite("linalg_inv(Tensor A) -> Tensor")
def linalg_inv(A):
    inverse, info = calls.linalg_inv_ex(A, False)
    check_info(elements_of(info), "linalg.inv", SINGULAR)
    return inverse


@composite("inverse(Tensor self) -> Tensor")
def inverse(self):
    return linalg_inv(self)


# Determinants -----------------------------------------------------------------------------------------------


def factored_transposed(A):
    """The factors of the matrices, of their transposes where the matrices lie row by row, as PyTorch factors
    them for determinants."""
    lu, pivots, info = elimination.factored(A.swapaxes(-2, -1) if is_row_major(A) else A)
    return column_major(lu), pivots, info


def is_row_major(array):
    """Whether PyTorch takes these matrices for transposed ones."""
    return array.flags.c_contiguous and array.dtype.kind == "f"


def sign_of(pivots):
    """The sign of the permutations."""
    swaps = np.not_equal(pivots, np.arange(1, pivots.shape[-1] + 1)).sum(-1)
    return np.where(swaps % 2, -1, 1)


def diagonal_of(lu):
    """The diagonals of the upper triangles."""
    return np.diagonal(lu, 0, -2, -1)


@op(
    "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
    reduced="own",
    node="LinalgDetBackward0",
    nondifferentiable=(1, 2),
    A=lambda grad, result, A, LU, pivots: det_back(grad, result, A, LU, pivots),
)
def linalg_det_(A):
    check_square(A, "linalg.det")
    check_floating(A, "linalg.det")
    check_kernel(A, "lu_cpu")
    lu, pivots, _ = factored_transposed(A)
    product = np.multiply.reduce(diagonal_of(lu), -1)
    return (product * sign_of(pivots)).astype(A.dtype), lu, pivots


@composite("linalg_det(Tensor A) -> Tensor")
def linalg_det(A):
    return calls._linalg_det(A)[0]


@composite("det(Tensor self) -> Tensor")
def det(self):
    return calls._linalg_det(self)[0]


def on_diagonals(numbers, shape):
    """Diagonal matrices that hold one number each, column by column."""
    return transposed(calls.diag_embed(calls.expand(calls.unsqueeze(numbers, -1), shape[:-1])))


def det_back(grad, det, A, lu, pivots):
    """The gradient of a determinant."""
    if not A._array.size:
        return calls.zeros_like(A)
    if A._array.shape[-1] == 1:
        return calls.expand(calls.unsqueeze(calls.unsqueeze(grad, -1), -1), A._array.shape)
    scaled = on_diagonals(grad * det.conj(), A._array.shape)
    if not is_plain():
        return det_back_again(grad, det, A, scaled)
    factors = column_major(lu._array)
    rows = np.arange(A._array.shape[-1])
    pivot = factors[..., rows, rows]
    # The determinant is smooth, so where it vanishes a matrix close by has nearly the same gradient.
    tiny = np.finfo(factors.dtype).eps
    factors[..., rows, rows] = np.where(pivot == 0, tiny, pivot)
    return from_factors(scaled, A, factors, pivots._array)


def from_factors(right, A, factors, pivots):
    """The solution X of `A.mH @ X = right`, from the factors kept by a determinant."""
    direct = is_row_major(A._array)
    return wrap(column_major(elimination.solved(factors, pivots, right._array, not direct)))


def det_back_again(grad, det, A, scaled):
    """The gradient of a determinant as differentiable steps, which differ near singular matrices."""
    tiny = 100 * np.finfo(A._array.dtype).eps
    singular = np.less(np.abs(values_of(det)), tiny)
    if singular.all():
        return adjugate(A, grad)
    if not singular.any():
        return calls.linalg_solve(adjoint(A), scaled)
    near, far = wrap(singular), wrap(~singular)
    result = matrices.zeros(A)
    result[near] = adjugate(A[near], grad[near])
    result[far] = calls.linalg_solve(adjoint(A[far]), scaled[far])
    return result


def adjugate(A, grad):
    """The gradient of a determinant by way of singular values: each is replaced by the product of the "
    "others."""
    left, values, right = calls.linalg_svd(A)
    phase = (calls.linalg_det(left) * calls.linalg_det(right)).conj()
    others = product_of_others((phase * grad).unsqueeze(-1), values, values._array.ndim - 1)
    return matmul(left * others.unsqueeze(-2), right)


@op(
    "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
    reduced="own",
    node="LinalgSlogdetBackward0",
    nondifferentiable=(2, 3),
    A=lambda grads, A, sign, LU, pivots: slogdet_back(grads, A, sign, LU, pivots),
)
def linalg_slogdet_(A):
    check_square(A, "linalg.slogdet")
    check_floating(A, "linalg.slogdet", half=False)
    lu, pivots, _ = factored_transposed(A)
    diagonal = diagonal_of(lu)
    sizes = np.abs(diagonal)
    signs = diagonal / np.where(sizes == 0, sizes.dtype.type(1), sizes)
    sign = (np.multiply.reduce(signs, -1) * sign_of(pivots)).astype(A.dtype)
    return sign, np.add.reduce(np.log(sizes), -1), lu, pivots


def slogdet_back(grads, A, sign, lu, pivots):
    """The gradient of sign and logarithm; a real sign is constant."""
    grad_sign, grad_log = grads
    kind = A._array.dtype.kind
    if kind != "c" and grad_log is None:
        return None
    slope = grad_log
    if kind == "c" and grad_sign is not None:
        turn = calls.imag(grad_sign.conj() * sign)
        slope = turn * -1j if slope is None else slope - turn * 1j
    elif kind == "c":
        slope = slope.to(A.dtype)
    scaled = on_diagonals(slope, A._array.shape)
    if not is_plain():
        return calls.linalg_solve(adjoint(A), scaled)
    return from_factors(scaled, A, lu._array, pivots._array)


slogdet_results = named("linalg_slogdet", "sign", "logabsdet")


@composite("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)")
def linalg_slogdet(A):
    return slogdet_results(calls._linalg_slogdet(A)[:2])


named_slogdet = named("slogdet", "sign", "logabsdet")


@composite("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)")
def slogdet(self):
    return named_slogdet(calls._linalg_slogdet(self)[:2])


@composite("logdet(Tensor self) -> Tensor")
def logdet(self):
    check_square(self._array, "logdet")
    check_floating(self._array, "logdet", half=False)
    sign, size = calls._linalg_slogdet(self)[:2]
    if self.is_complex():
        return sign.log() + size
    return calls.where__ScalarSelf(calls.eq__Scalar(sign, -1), np.nan, size)


# Systems of equations ---------------------------------------------------------------------------------------


def is_vector(A, B):
    """Whether the right-hand side counts as vectors, one for each matrix."""
    return len(B) == 1 or len(A) - 1 == len(B) and A[:-1] == B


@op(
    "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, "
    "Tensor LU, Tensor pivots, Tensor info)",
    reduced="own",
    node="LinalgSolveExBackward0",
    nondifferentiable=(1, 2, 3),
    jointly=(
        "A, B",
        lambda grad, result, A, LU, pivots, left, needs_input_grad: solve_back(
            grad, result, A, LU, pivots, left, needs_input_grad
        ),
    ),
)
def linalg_solve_ex_(A, B, left, check_errors):
    check_floating(A, "linalg.solve")
    check_same_kind(A, B, "linalg.solve")
    vector = is_vector(A.shape, B.shape)
    right = B[..., None] if vector else B
    check_system(A, right, left, "linalg.solve")
    if vector and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In "
            "this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    matrices.broadcast_lead(right, A)
    check_kernel(A, "lu_cpu")
    lu, pivots, info = elimination.factored(A)
    if check_errors:
        check_info(info, "torch.linalg.solve_ex", NOT_SOLVED)
    solution = solve_factored(lu, pivots, right, left, False)
    if vector:
        solution = solution[..., 0] if solution.ndim < 3 else column_major(solution[..., 0])
    return solution, column_major(lu), pivots, info


def solve_factored(lu, pivots, right, left, adjoint_system):
    """The solution X of `A @ X = right`, without `left` of `X @ A = right`, for A or its adjoint."""
    if left:
        return column_major(elimination.solved(lu, pivots, right, adjoint_system))
    turned = elimination.solved(lu, pivots, elimination.adjoint(right), not adjoint_system)
    return matrices.row_by_row(elimination.adjoint(turned))


def solve_back(grad, result, A, lu, pivots, left, needs):
    """The gradients of a solution for matrix and right-hand side."""
    vector = result._array.ndim < A._array.ndim or is_vector(A._array.shape, result._array.shape)
    slope = calls.unsqueeze(grad, -1) if vector else grad
    if not is_plain():
        right = calls._linalg_solve_ex(adjoint(A), slope, left, False)[0]
    else:
        right = wrap(solve_factored(lu._array, pivots._array, slope._array, left, True))
    grad_A = None
    if needs[0]:
        solution = adjoint(calls.unsqueeze(result, -1) if vector else result)
        grad_A = -(matmul(right, solution) if left else matmul(solution, right))
    return grad_A, calls.squeeze__dim(right, -1) if vector and needs[1] else right


solve_ex_results = named("linalg_solve_ex", "result", "info")


@composite(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, "
    "Tensor info)"
)
def linalg_solve_ex(A, B, left=True, check_errors=False):
    result, _, _, info = calls._linalg_solve_ex(A, B, left, check_errors)
    return solve_ex_results((result, info))


@composite("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor")
def linalg_solve(A, B, left=True):
    result, _, _, info = calls._linalg_solve_ex(A, B, left, False)
    check_info(elements_of(info), "torch.linalg.solve", NOT_SOLVED)
    return result
