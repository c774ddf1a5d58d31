"""Matrices as products: Cholesky factors, orthogonal and triangular ones, and those of an elimination."""

import numpy as np

from refgrad.kernels import elimination
from refgrad.modes import warn_once
from refgrad.op import calls, composite, op
from refgrad.ops.matrices import (
    NOT_POSITIVE,
    adjoint,
    check_floating,
    check_info,
    check_kernel,
    check_matrix,
    check_square,
    column_major,
    matmul,
)
from refgrad.return_types import named
from refgrad.samples import elements_of

# Cholesky ---------------------------------------------------------------------------------------------------


def cholesky_factor(matrix, upper):
    """The factor, column by column, and its info."""
    check_kernel(matrix, "cholesky_cpu")
    lower, info = elimination.choleskied(elimination.adjoint(matrix) if upper else matrix)
    return column_major(elimination.adjoint(lower) if upper else lower), info


@op(
    "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, "
    "Tensor info)",
    reduced="own",
    nondifferentiable=(1,),
    wrapper=named("linalg_cholesky_ex", "L", "info"),
    self=lambda grad, upper, L: cholesky_back(grad, upper, L),
)
def linalg_cholesky_ex(self, upper, check_errors):
    check_square(self, "linalg.cholesky")
    check_floating(self, "linalg.cholesky")
    factor, info = cholesky_factor(self, upper)
    if check_errors:
        check_info(info, "linalg.cholesky_ex", NOT_POSITIVE)
    return factor, info


def cholesky_back(grad, upper, factor):
    """The gradient of a Cholesky factor; see I. Murray, Differentiation of the Cholesky decomposition,
    2016."""
    lower = adjoint(factor) if upper else factor
    inner = calls.tril(matmul(adjoint(lower), adjoint(grad) if upper else grad))
    symmetric = (inner + adjoint(calls.tril(inner, -1))) * 0.5
    half = calls.linalg_solve_triangular(adjoint(lower), symmetric, True, True)
    return calls.linalg_solve_triangular(lower, half, False, False)


@composite("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor")
def linalg_cholesky(self, upper=False):
    factor, info = calls.linalg_cholesky_ex(self, upper, False)
    check_info(elements_of(info), "linalg.cholesky", NOT_POSITIVE)
    return factor


@op(
    "cholesky(Tensor self, bool upper=False) -> Tensor",
    self=lambda grad, upper, result: cholesky_back(grad, upper, result),
)
def cholesky(self, upper):
    warn_once(OLD_CHOLESKY)
    if self.size:
        check_square(self, "cholesky")
    factor, info = cholesky_factor(self, upper)
    check_info(info, "cholesky", NOT_POSITIVE)
    return factor


OLD_CHOLESKY = (
    "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch "
    "release.\nL = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\n"
    "U = torch.cholesky(A, upper=True)\nshould be replaced with\nU = torch.linalg.cholesky(A).mH\n"
    "This transform will produce equivalent results for all valid (symmetric positive definite) inputs."
)

# Orthogonal and triangular ----------------------------------------------------------------------------------


@op(
    "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    reduced="own",
    wrapper=named("linalg_qr", "Q", "R"),
    A=lambda grads, Q, R, mode: qr_back(grads, Q, R, mode),
)
def linalg_qr(A, mode):
    check_matrix(A, "linalg.qr")
    check_floating(A, "linalg.qr")
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            "'complete'"
        )
    check_kernel(A, "geqrf_cpu")
    if mode == "r":
        return np.empty(0, A.dtype), column_major(np.linalg.qr(A, "r"))
    return tuple(column_major(factor) for factor in np.linalg.qr(A, mode))


def qr_back(grads, Q, R, mode):
    """The gradient of the two factors.

    Raises:
        RuntimeError: it does not exist in this mode.
    """
    grad_Q, grad_R = grads
    rows, columns = Q._array.shape[-2:][0], R._array.shape[-1]
    if mode == "complete" and rows > columns:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if grad_R is None:
        inner = -matmul(adjoint(Q), grad_Q)
    else:
        inner = matmul(grad_R, adjoint(R))
        inner = inner if grad_Q is None else inner - matmul(adjoint(Q), grad_Q)
    if rows >= columns:
        inner = calls.triu(inner)
        inner = inner + adjoint(inner)
        calls.diagonal(inner, 0, -2, -1).mul_(0.5)
        product = matmul(Q, inner)
        product = product if grad_Q is None else product + grad_Q
        return calls.linalg_solve_triangular(adjoint(R), product, False, False)
    return wide_qr_back(-inner, grad_R, Q, R)


def wide_qr_back(inner, grad_R, Q, R):
    """The gradient of the factors of matrices with more columns than rows."""
    rows, columns = R._array.shape[-2:]
    inner = calls.tril(inner - adjoint(inner))
    if inner.is_complex():
        calls.diagonal(inner, 0, -2, -1).mul_(0.5)
    square = calls.linalg_solve_triangular(adjoint(R.narrow(-1, 0, rows)), matmul(Q, inner), False, False)
    rest = square.new_zeros((*square._array.shape[:-1], columns - rows))
    result = calls.cat([square, rest], -1)
    return result if grad_R is None else result + matmul(Q, grad_R)


qr_results = named("qr", "Q", "R")


@composite("qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)")
def qr(self, some=True):
    warn_once(OLD_QR)
    return qr_results(calls.linalg_qr(self, "reduced" if some else "complete"))


OLD_QR = (
    "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\n"
    "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
    "Q, R = torch.qr(A, some)\nshould be replaced with\n"
    "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
)

# Lower and upper, by elimination ----------------------------------------------------------------------------


def eliminated(A, pivot, name):
    """The factors of an elimination.

    Raises:
        RuntimeError: A is no matrix, or no pivots are wanted.
    """
    if A.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead"
        )
    check_kernel(A, "lu_cpu")
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return elimination.factored(A)


ZERO_PIVOT = (
    "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still want to "
    "perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)


@op(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, "
    "Tensor pivots, Tensor info)",
    reduced="own",
    nondifferentiable=(1, 2),
    wrapper=named("linalg_lu_factor_ex", "LU", "pivots", "info"),
    A=lambda grad, LU, pivots, pivot: lu_factor_back(grad, LU, pivots),
)
def linalg_lu_factor_ex(A, pivot, check_errors):
    lu, pivots, info = eliminated(A, pivot, "torch.lu_factor")
    if check_errors:
        check_info(info, "torch.linalg.lu_factor_ex", ZERO_PIVOT, RuntimeError)
    return column_major(lu), pivots, info


def lu_factor_back(grad, lu, pivots):
    """The gradient of factors that lie in one matrix."""
    order, lower, upper = calls.lu_unpack(lu, pivots)
    rows, columns = lu._array.shape[-2:]
    grad_lower = grad.narrow(-1, 0, min(rows, columns))
    grad_upper = grad.narrow(-2, 0, min(rows, columns))
    return lu_back((grad_lower, grad_upper), order, lower, upper)


lu_factor_results = named("linalg_lu_factor", "LU", "pivots")


@composite("linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)")
def linalg_lu_factor(A, pivot=True):
    lu, pivots, info = calls.linalg_lu_factor_ex(A, pivot, False)
    check_info(elements_of(info), "torch.linalg.lu_factor", ZERO_PIVOT, RuntimeError)
    return lu_factor_results((lu, pivots))


@op(
    "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    reduced="own",
    nondifferentiable=(0,),
    wrapper=named("linalg_lu", "P", "L", "U"),
    A=lambda grads, P, L, U, pivot: lu_back(grads, P, L, U),
)
def linalg_lu(A, pivot):
    lu, pivots, _ = eliminated(A, pivot, "linalg.lu")
    return elimination.unpacked(lu, pivots)


def lu_back(grads, order, lower, upper):
    """The gradient of lower and upper factor."""
    grad_lower, grad_upper = grads
    rows, columns = lower._array.shape[-2], upper._array.shape[-1]
    if rows == columns:
        inner = square_terms(grad_lower, grad_upper, lower, upper)
        result = left_solved(lower, right_solved(upper, inner))
    elif rows < columns:
        result = wide_lu_back(grad_lower, grad_upper, lower, upper)
    else:
        result = tall_lu_back(grad_lower, grad_upper, lower, upper)
    return matmul(order, result)


def square_terms(grad_lower, grad_upper, lower, upper):
    """What both factors of a square matrix add to the gradient between them."""
    terms = []
    if grad_lower is not None:
        terms.append(calls.tril(matmul(adjoint(lower), grad_lower), -1))
    if grad_upper is not None:
        terms.append(calls.triu(matmul(grad_upper, adjoint(upper))))
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


def left_solved(lower, right):
    """The solution of equations with the adjoint of a lower factor."""
    return calls.linalg_solve_triangular(adjoint(lower), right, True, True, True)


def right_solved(upper, right):
    """The solution of equations with the adjoint of an upper factor, which stands to the right."""
    return calls.linalg_solve_triangular(adjoint(upper), right, False, False)


def difference(first, second):
    """`first - second`, where one may be missing."""
    if second is None:
        return first
    return -second if first is None else first - second


def wide_lu_back(grad_lower, grad_upper, lower, upper):
    """The gradient, but for the permutation, of matrices with more columns than rows."""
    rows, columns = upper._array.shape[-2:]
    from_lower = None if grad_lower is None else matmul(adjoint(lower), grad_lower)
    from_upper = None if grad_upper is None else matmul(calls.triu(grad_upper), adjoint(upper))
    inner = calls.tril(difference(from_lower, from_upper), -1)
    square = right_solved(upper.narrow(-1, 0, rows), inner)
    if grad_upper is None:
        square = left_solved(lower, square)
        return calls.cat([square, square.new_zeros((*square._array.shape[:-1], columns - rows))], -1)
    square = square + calls.triu(grad_upper.narrow(-1, 0, rows))
    return left_solved(lower, calls.cat([square, grad_upper.narrow(-1, rows, columns - rows)], -1))


def tall_lu_back(grad_lower, grad_upper, lower, upper):
    """The gradient, but for the permutation, of matrices with more rows than columns."""
    rows, columns = lower._array.shape[-2:]
    from_lower = None if grad_lower is None else matmul(adjoint(lower), calls.tril(grad_lower, -1))
    from_upper = None if grad_upper is None else matmul(grad_upper, adjoint(upper))
    inner = calls.triu(difference(from_upper, from_lower))
    square = left_solved(lower.narrow(-2, 0, columns), inner)
    if grad_lower is None:
        square = right_solved(upper, square)
        shape = square._array.shape
        return calls.cat([square, square.new_zeros((*shape[:-2], rows - columns, shape[-1]))], -2)
    square = square + calls.tril(grad_lower.narrow(-2, 0, columns), -1)
    return right_solved(upper, calls.cat([square, grad_lower.narrow(-2, columns, rows - columns)], -2))


@op(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> "
    "(Tensor P, Tensor L, Tensor U)",
    nondifferentiable=(0,),
    wrapper=named("lu_unpack", "P", "L", "U"),
    LU_data=lambda grads, LU_data_sym_argsize_minus_2, LU_data_sym_argsize_minus_1: lu_unpack_back(
        grads, LU_data_sym_argsize_minus_2, LU_data_sym_argsize_minus_1
    ),
)
def lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots):
    if LU_data.ndim < 2:
        raise RuntimeError(
            "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(LU_data.shape)} instead"
        )
    if unpack_pivots and LU_pivots.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    steps = min(LU_data.shape[-2:])
    order = lower = upper = np.empty(0, LU_data.dtype)
    if unpack_data:
        lower = elimination.lower(LU_data[..., :, :steps])
        upper = np.ascontiguousarray(np.triu(LU_data[..., :steps, :]))
    if unpack_pivots:
        if (
            LU_pivots.shape[-1] != steps
            or LU_pivots.size
            and not (LU_pivots.min() >= 1 and LU_pivots.max() <= LU_data.shape[-2])
        ):
            raise RuntimeError(
                "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly "
                "pass the result of lu_factor?"
            )
        order = elimination.permutations(LU_pivots, LU_data)
    return order, np.ascontiguousarray(lower), upper


def lu_unpack_back(grads, rows, columns):
    """The gradient of the one matrix that two factors were taken from."""
    grad_lower, grad_upper = grads
    size, dim = min(rows, columns), -1 if rows < columns else -2
    rest = None
    if rows > columns and grad_lower is not None and grad_upper is not None:
        rest, grad_lower = grad_lower.narrow(-2, size, rows - size), grad_lower.narrow(-2, 0, size)
    elif rows < columns and grad_lower is not None and grad_upper is not None:
        rest, grad_upper = grad_upper.narrow(-1, size, columns - size), grad_upper.narrow(-1, 0, size)
    terms = []
    if grad_lower is not None:
        terms.append(calls.tril(grad_lower, -1))
    if grad_upper is not None:
        terms.append(calls.triu(grad_upper))
    result = terms[0] if len(terms) == 1 else terms[0] + terms[1]
    *lead, height, width = result._array.shape
    if (height, width) == (rows, columns):
        return result
    if rest is None:
        rest = result.new_zeros((*lead, rows - height or rows, columns - width or columns))
    return calls.cat([result, rest], dim)


lu_info_results = named("_lu_with_info", "LU", "pivots", "info")


@composite(
    "_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, "
    "Tensor info)"
)
def lu_with_info(self, pivot=True, check_errors=True):
    warn_once(OLD_LU)
    return lu_info_results(calls.linalg_lu_factor_ex(self, pivot, False))


OLD_LU = (
    "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be "
    "removed in a future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\n"
    "should be replaced with\nLU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
    "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
    "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
)
