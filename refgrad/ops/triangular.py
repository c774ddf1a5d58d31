"""Systems of equations whose matrices are triangular or factored."""

import numpy as np

from refgrad.kernels import elimination
from refgrad.lazy import ConjugateArray, plain
from refgrad.modes import warn_once
from refgrad.op import calls, composite, op
from refgrad.ops.checks import kind_name, written_zeros
from refgrad.ops.inverses import solve_factored
from refgrad.ops.matrices import (
    adjoint,
    broadcast_lead,
    check_floating,
    check_info,
    check_kernel,
    check_same_kind,
    check_square,
    check_system,
    column_major,
    matmul,
    row_by_row,
)
from refgrad.return_types import named

# Triangles --------------------------------------------------------------------------------------------------


def triangle(matrix, upper, unit):
    """The part of a gradient that belongs to a triangle; a diagonal of ones is constant."""
    if upper:
        return calls.triu(matrix, int(unit))
    return calls.tril(matrix, -int(unit))


@op(
    "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) "
    "-> Tensor",
    reduced="own",
    jointly=(
        "self, B",
        lambda grad, self, result, upper, left, unitriangular, needs_input_grad: solve_triangular_back(
            grad, self, result, upper, left, unitriangular, needs_input_grad
        ),
    ),
    unresolved=("self",),
)
def solve_triangular(self, B, upper, left, unitriangular):
    # PyTorch solves with an adjoint as it lies in memory, and conjugates and transposes the rest.
    laid_out = row_by_row if is_adjoint_in_memory(self) else column_major
    self = plain(self)
    check_system(self, B, left, "linalg.solve_triangular")
    broadcast_lead(B, self)
    check_kernel(self, "triangular_solve_cpu")
    B = B.astype(self.dtype, copy=False)
    if left:
        return laid_out(elimination.triangular_solved(self, B, upper, unitriangular))
    turned = elimination.triangular_solved(
        self.swapaxes(-2, -1), B.swapaxes(-2, -1), not upper, unitriangular
    )
    return laid_out(turned.swapaxes(-2, -1))


def is_adjoint_in_memory(array):
    """Whether an array is a conj view whose matrices lie column by column."""
    return isinstance(array, ConjugateArray) and array.swapaxes(-2, -1).flags.c_contiguous


def solve_triangular_back(grad, self, result, upper, left, unitriangular, needs):
    """The gradients of a solution for triangle and right-hand side."""
    right = calls.linalg_solve_triangular(adjoint(self), grad, not upper, left, unitriangular)
    if not needs[0]:
        return None, right
    product = matmul(right, adjoint(result)) if left else matmul(adjoint(result), right)
    return triangle(-product, upper, unitriangular), right


def check_right_side(self, A, name):
    """Refuse operands of the functions that take the right-hand side first.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if self.dtype is not A.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {kind_name(self)} and A of type "
            f"{kind_name(A)} instead."
        )
    check_square(A, "")
    if A.shape[-2] != self.shape[-2]:
        sizes = [f"{array.shape[-2]} by {array.shape[-1]}" for array in (A, self)]
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {sizes[0]} but each b matrix is "
            f"{sizes[1]}"
        )


@op(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
    "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    reduced="own",
    wrapper=named("triangular_solve", "solution", "cloned_coefficient"),
    jointly=(
        "self, A",
        lambda grads, self, A, solution, upper, transpose, unitriangular, needs_input_grad: (
            old_triangular_back(grads, self, A, solution, upper, transpose, unitriangular, needs_input_grad)
        ),
    ),
)
def triangular_solve(self, A, upper, transpose, unitriangular):
    for array, letter in ((self, "b"), (A, "A")):
        if array.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {letter} to have at least 2 dimensions, but it has "
                f"{array.ndim} dimensions instead"
            )
    check_right_side(self, A, "triangular_solve")
    lead = broadcast_lead(self, A)
    warn_once(OLD_TRIANGULAR)
    check_kernel(self, "triangular_solve_cpu")
    coefficient = np.broadcast_to(A, (*lead, *A.shape[-2:]))
    turned = coefficient.swapaxes(-2, -1) if transpose else coefficient
    solution = elimination.triangular_solved(turned, self, upper != transpose, unitriangular)
    return column_major(solution), column_major(coefficient)


OLD_TRIANGULAR = (
    "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a "
    "future PyTorch release.\ntorch.linalg.solve_triangular has its arguments reversed and does not return a "
    "copy of one of the inputs.\nX = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
    "X = torch.linalg.solve_triangular(A, B)."
)


def old_triangular_back(grads, self, A, solution, upper, transpose, unitriangular, needs):
    """The gradients of a solution, and of the copy of the triangle beside it."""
    grad, grad_copy = grads
    right = grad_A = None
    if grad is not None:
        right = calls.triangular_solve(grad, A.conj(), upper, not transpose, unitriangular)[0]
        if needs[1]:
            if transpose:
                product = matmul(solution.conj(), calls.transpose(right, -2, -1))
            else:
                product = matmul(right, adjoint(solution))
            grad_A = triangle(-product, upper, unitriangular)
    elif needs[0]:
        right = written_zeros(self, (1,)).expand(self.shape)
    if needs[1] and grad_copy is not None:
        grad_A = calls.zeros_like(A) + grad_copy if grad_A is None else grad_A + grad_copy
    return right, grad_A


# Cholesky factors -------------------------------------------------------------------------------------------


@op(
    "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    reduced="own",
    jointly=(
        "self, input2",
        lambda grad, self, input2, result, upper, needs_input_grad: cholesky_solve_back(
            grad, input2, result, upper, needs_input_grad
        ),
    ),
)
def cholesky_solve(self, input2, upper):
    for array, letter in ((self, "b"), (input2, "u")):
        if array.ndim < 2:
            raise RuntimeError(
                f"{letter} should have at least 2 dimensions, but has {array.ndim} dimensions instead"
            )
    check_right_side(self, input2, "cholesky_solve")
    broadcast_lead(self, input2)
    check_kernel(self, "cholesky_solve_cpu")
    lower = elimination.adjoint(input2) if upper else input2
    return column_major(solve_with_lower(lower, self))


def solve_with_lower(lower, right):
    """The solution of the systems whose matrices are `lower @ lower.mH`."""
    half = elimination.triangular_solved(lower, right, False, False)
    return elimination.triangular_solved(elimination.adjoint(lower), half, True, False)


def cholesky_solve_back(grad, factor, result, upper, needs):
    """The gradients of a solution for right-hand side and factor."""
    right = calls.cholesky_solve(grad, factor, upper)
    if not needs[1]:
        return right, None
    product = matmul(right, adjoint(result))
    both = product + adjoint(product)
    return right, -(matmul(factor, both) if upper else matmul(both, factor))


@op(
    "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    reduced="own",
    self=lambda grad, self, upper, result: cholesky_inverse_back(grad, self, upper, result),
)
def cholesky_inverse(self, upper):
    check_square(self, "cholesky_inverse")
    check_kernel(self, "cholesky_inverse_out_cpu")
    lower = elimination.adjoint(self) if upper else self
    diagonal = np.diagonal(self, 0, -2, -1) == 0
    info = np.where(diagonal.any(-1), diagonal.argmax(-1) + 1, 0) if diagonal.shape[-1] else np.asarray(0)
    check_info(
        np.asarray(info),
        "cholesky_inverse",
        "The diagonal element {} is zero, the inversion could not be completed because the input matrix is "
        "singular.",
    )
    inverse = elimination.triangular_solved(lower, np.eye(self.shape[-1], dtype=self.dtype), False, False)
    return column_major(with_adjoint(inverse, upper))


def with_adjoint(lower, upper):
    """`lower.mH @ lower`; LAPACK takes the diagonal for real, but for its last element in the product."""
    places = np.arange(lower.shape[-1])
    diagonal = lower[..., places, places].copy()
    lower[..., places, places] = diagonal.real
    product = elimination.adjoint(lower) @ lower
    if lower.dtype.kind == "c" and len(places):
        last = diagonal[..., -1]
        product[..., -1, -1] = last.real * (last.conj() if upper else last)
    return product


def cholesky_inverse_back(grad, self, upper, result):
    """The gradient of an inverse for the factor it was made from."""
    inner = matmul(result, matmul(grad + adjoint(grad), result))
    return -(matmul(self, inner) if upper else matmul(inner, self))


# Factors of an elimination ----------------------------------------------------------------------------------


@op(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
    reduced="own",
    LU=lambda grad, LU, pivots, result, left, adjoint: lu_solve_back(grad, LU, pivots, result, left, adjoint),
    B=lambda grad, LU, pivots, left, adjoint: calls.linalg_lu_solve(LU, pivots, grad, left, not adjoint),
)
def linalg_lu_solve(LU, pivots, B, left, adjoint):
    if pivots.dtype != np.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    check_same_kind(LU, B, "linalg.lu_solve", ("LU", "B"))
    check_system(LU, B, left, "linalg.lu_solve", "torch.linalg.lu_solve")
    if LU.shape[-1] != pivots.shape[-1]:
        raise RuntimeError(
            "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if LU.shape[:-2] != pivots.shape[:-1]:
        raise RuntimeError(
            "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    check_floating(LU, "torch.linalg.lu_solve")
    broadcast_lead(B, LU)
    check_kernel(LU, "linalg.lu_solve_cpu")
    return solve_factored(LU, pivots, B, left, adjoint)


def lu_solve_back(grad, LU, pivots, result, left, adjoint_system):
    """The gradient of a solution for the factors."""
    order, lower, upper = calls.lu_unpack(LU, pivots)
    if left != adjoint_system:
        product = matmul(grad, adjoint(result)) if left else matmul(adjoint(grad), result)
        half = calls.linalg_solve_triangular(adjoint(upper), -product, False)
        grad_upper = calls.triu(half)
        turned = matmul(half, adjoint(upper))
        grad_lower = calls.linalg_solve_triangular(adjoint(lower), turned, True, True, True)
        return calls.tril(grad_lower, -1) + grad_upper
    if left:
        product = matmul(matmul(adjoint(order), result), adjoint(grad))
    else:
        product = matmul(matmul(adjoint(order), adjoint(result)), grad)
    half = calls.linalg_solve_triangular(adjoint(lower), -matmul(product, order), True, False, True)
    turned = matmul(adjoint(lower), half)
    grad_upper = calls.linalg_solve_triangular(adjoint(upper), turned, False, False)
    return calls.tril(half, -1) + calls.triu(grad_upper)


@composite("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor")
def lu_solve(self, LU_data, LU_pivots):
    warn_once(OLD_LU_SOLVE)
    return calls.linalg_lu_solve(LU_data, LU_pivots, self)


OLD_LU_SOLVE = (
    "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future PyTorch "
    "release.\nNote that torch.linalg.lu_solve has its arguments reversed.\n"
    "X = torch.lu_solve(B, LU, pivots)\nshould be replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)"
)
