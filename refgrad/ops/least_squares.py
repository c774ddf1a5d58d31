"""Pseudoinverses, least squares, and the ranks and condition numbers that tell how far to trust them."""

from math import inf

import numpy as np

from refgrad import dtypes
from refgrad.layout import broadcast_shapes
from refgrad.op import calls, composite, op
from refgrad.ops.checks import kind_name
from refgrad.ops.matrices import adjoint, check_square, column_major, matmul
from refgrad.ops.norms import order_text
from refgrad.ops.reductions import row_major
from refgrad.ops.singular import decomposed
from refgrad.return_types import named
from refgrad.storage import count_write
from refgrad.tensor import Tensor, wrap

# Tolerances -------------------------------------------------------------------------------------------------


def cutoffs(values, shape, atol, rtol):
    """Below which size the singular values of matrices of this shape count as zero."""
    kind = values.dtype
    if rtol is None:
        relative = np.finfo(kind).eps * max(shape[-2:])
        if atol is not None:
            relative = np.where(np.asarray(plain(atol)) > 0, 0, relative)
        rtol = relative
    largest = values.max(-1) if values.shape[-1] else np.zeros(values.shape[:-1], kind)
    absolute = np.asarray(0 if atol is None else plain(atol))
    return np.maximum(absolute, np.asarray(plain(rtol)) * largest).astype(kind)[..., None]


def plain(bound):
    """A tolerance as array or number."""
    return bound._array if isinstance(bound, Tensor) else bound


def check_tolerance(bound, name, letter):
    """Refuse complex tolerances.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if isinstance(bound, Tensor) and bound.is_complex():
        raise RuntimeError(
            f"torch.linalg.{name}: {letter} tensor of complex type is not supported. Got "
            f"{bound.dtype.scalar_type}"
        )


# Pseudoinverses ---------------------------------------------------------------------------------------------


@op(
    "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, "
    "bool hermitian=False) -> Tensor",
    reduced="own",
    node="LinalgPinvBackward0",
    self=lambda grad, result, self: pinv_back(grad, result, self),
)
def pinv(self, atol, rtol, hermitian):
    return pseudoinverse(self, atol, rtol, hermitian)


def pseudoinverse(array, atol, rtol, hermitian):
    """The pseudoinverses of matrices; smaller singular values count as zero.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    kind = array.dtype
    if array.ndim < 2 or kind.kind not in "fc" or kind in dtypes.REDUCED:
        shape = ", ".join(map(str, array.shape))
        raise RuntimeError(
            f"linalg.pinv({kind_name(array)}{{[{shape}]}}): expected a tensor with 2 or more dimensions of "
            "float, double, cfloat or cdouble types"
        )
    if not array.size:
        return np.empty((*array.shape[:-2], array.shape[-1], array.shape[-2]), kind)
    if hermitian:
        values, vectors = calls.linalg_eigh(wrap(array))
        left, signed = vectors._array, values._array
        right = left.swapaxes(-2, -1).conj()
    else:
        left, values, right = (factor._array for factor in calls.linalg_svd(wrap(array), False))
        signed = values
    sizes = np.abs(signed)
    kept = sizes > cutoffs(sizes, array.shape, atol, rtol)
    inverse = np.where(kept, 1 / np.where(kept, signed, 1), 0).astype(sizes.dtype)
    product = inverse[..., None] * left.swapaxes(-2, -1).conj()
    return row_major(np.matmul(right.swapaxes(-2, -1).conj(), product))


def pinv_back(grad, inverse, self):
    """The gradient of a pseudoinverse; see G. Golub and V. Pereyra, The differentiation of pseudo-inverses,
    1973."""
    rows, columns = self._array.shape[-2:]
    turned, outer = adjoint(inverse), adjoint(grad)
    if rows <= columns:
        inner = matmul(outer, inverse)
        beside = matmul(inner, turned)
        result = -adjoint(matmul(inverse, inner)) + beside - matmul(matmul(self, inverse), beside)
        return result + matmul(matmul(turned, inverse), outer - matmul(inner, self))
    inner = matmul(inverse, outer)
    beside = matmul(turned, inner)
    result = -adjoint(matmul(inner, inverse))
    result = result + matmul(matmul(outer - matmul(self, inner), inverse), turned) + beside
    return result - matmul(matmul(beside, inverse), self)


def as_tensor(bound):
    """A tolerance as a tensor of double precision."""
    return None if bound is None else wrap(np.asarray(bound, np.float64))


@composite(
    "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) "
    "-> Tensor"
)
def pinv_with_numbers(self, atol=None, rtol=None, hermitian=False):
    bounds = as_tensor(atol), as_tensor(rtol)
    return calls.linalg_pinv__atol_rtol_tensor(self, *bounds, hermitian)


@composite("linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor")
def pinv_relative(self, rcond, hermitian=False):
    return pinv_with_numbers(self, 0.0, rcond, hermitian)


@composite("linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor")
def pinv_relative_tensor(self, rcond, hermitian=False):
    return calls.linalg_pinv__atol_rtol_tensor(self, as_tensor(0.0), rcond, hermitian)


@composite("pinverse(Tensor self, float rcond=1e-15) -> Tensor")
def pinverse(self, rcond=1e-15):
    return pinv_with_numbers(self, 0.0, rcond, False)


# Ranks ------------------------------------------------------------------------------------------------------


def rank(self, atol, rtol, hermitian):
    """How many singular values of each matrix are larger than the tolerances."""
    array = self._array
    if array.ndim < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    check_tolerance(atol, "matrix_rank", "atol")
    check_tolerance(rtol, "matrix_rank", "rtol")
    if array.dtype.kind not in "fc" or array.dtype in dtypes.REDUCED:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if not array.size:
        return filled_with_zeros(self, np.dtype(np.int64))
    if hermitian:
        values = np.abs(calls.linalg_eigvalsh(self.detach())._array)
    else:
        values = calls.linalg_svdvals(self.detach())._array
    found = wrap(np.asarray((values > cutoffs(values, array.shape, atol, rtol)).sum(-1, dtype=np.int64)))
    count_write(found)
    return found


@composite(
    "linalg_matrix_rank.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, "
    "bool hermitian=False) -> Tensor"
)
def matrix_rank_tensors(self, atol=None, rtol=None, hermitian=False):
    return rank(self, atol, rtol, hermitian)


@composite(
    "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, "
    "bool hermitian=False) -> Tensor"
)
def matrix_rank_numbers(self, atol=None, rtol=None, hermitian=False):
    return rank(self, atol, rtol, hermitian)


@composite("linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor")
def matrix_rank(self, tol, hermitian=False):
    return rank(self, tol, 0.0, hermitian)


@composite("linalg_matrix_rank.tol_tensor(Tensor self, Tensor tol, bool hermitian=False) -> Tensor")
def matrix_rank_tensor(self, tol, hermitian=False):
    return rank(self, tol, 0.0, hermitian)


# Condition numbers ------------------------------------------------------------------------------------------


def check_condition(self):
    """Refuse vectors.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if self._array.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")


def filled_with_zeros(self, kind):
    """A zero for each matrix; PyTorch counts filling them as a write."""
    zeros = wrap(np.zeros(self._array.shape[:-2], kind))
    count_write(zeros)
    return zeros


def of_empty(self):
    """The condition number of matrices without elements."""
    return filled_with_zeros(self, self._array.real.dtype)


@composite("linalg_cond(Tensor self, Scalar? p=None) -> Tensor")
def linalg_cond(self, p=None):
    check_condition(self)
    order = 2 if p is None else p
    if order not in (1, -1, 2, -2, inf, -inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {order_text(p)}")
    if not self._array.size:
        return of_empty(self)
    if abs(order) != 2:
        check_square(self._array, f"linalg.cond(ord={order_text(order)})")
        return by_inverse(self, float(order))
    values = calls.linalg_svdvals(self)
    count = values._array.shape[-1]
    largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, count - 1, 1)
    quotient = largest / smallest if order > 0 else smallest / largest
    return calls.squeeze__dim(quotient, -1)


@composite("linalg_cond.p_str(Tensor self, str p) -> Tensor")
def linalg_cond_named(self, p):
    check_condition(self)
    if p not in ("fro", "nuc"):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if not self._array.size:
        return of_empty(self)
    check_square(self._array, f"linalg.cond(ord={p})")
    if p == "fro":
        return by_inverse(self, p)
    values = calls.linalg_svdvals(self)
    of_inverse = calls.sum__dim_IntList(calls.reciprocal(values), (-1,))
    return calls.sum__dim_IntList(values, (-1,)) * of_inverse


def by_inverse(self, order):
    """The norm of the matrices times that of their inverses; infinite where there is none."""
    inverse, info = calls.linalg_inv_ex(self, False)
    # PyTorch writes into the inverse that was saved: backward through this op raises there, and here.
    inverse.masked_fill_(wrap(np.asarray(info._array > 0)[..., None, None]), inf)
    norm = calls.linalg_matrix_norm__str_ord if isinstance(order, str) else calls.linalg_matrix_norm
    return (norm(self, order) * norm(inverse, order)).nan_to_num_(inf, inf, -inf)


# Least squares ----------------------------------------------------------------------------------------------

DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def checked_lstsq(self, b, driver):
    """The right-hand sides as matrices, and whether they were vectors.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    name = "torch.linalg.lstsq"
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    difference = self.ndim - b.ndim
    if difference not in (0, 1):
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) "
            "<= 1"
        )
    vector = difference == 1
    right = b[..., None] if vector else b
    if self.shape[-2] != right.shape[-2]:
        place = "-1" if vector else "-2"
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({place})")
    if self.dtype is not b.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{kind_name(self)} and other's dtype {kind_name(b)}"
        )
    if driver is not None and driver not in DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if self.dtype.kind not in "fc" or self.dtype in dtypes.REDUCED:
        raise RuntimeError("This function doesn't handle types other than float and double")
    return right, vector


@op(
    "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, "
    "Tensor residuals, Tensor rank, Tensor singular_values)",
    reduced="own",
    nondifferentiable=(2, 3),
    wrapper=named("linalg_lstsq", "solution", "residuals", "rank", "singular_values"),
    jointly=(
        "self, b",
        lambda grads, self, b, solution, needs_input_grad: lstsq_back(
            grads, self, b, solution, needs_input_grad
        ),
    ),
)
def linalg_lstsq(self, b, rcond, driver):
    right, vector = checked_lstsq(self, b, driver)
    driver = driver or "gelsy"
    lead = broadcast_shapes(self.shape[:-2], right.shape[:-2])
    rows, columns = self.shape[-2:]
    kind = self.real.dtype
    matrix = np.broadcast_to(self, (*lead, rows, columns))
    right = np.broadcast_to(right, (*lead, rows, right.shape[-1]))
    solution, values, ranks = smallest_solution(matrix, right, rcond)
    memory = column_major(np.zeros((*lead, max(rows, columns), right.shape[-1]), self.dtype))
    memory[..., :columns, :] = solution
    solution = memory[..., :columns, :]
    nothing = np.empty(0, kind)
    residuals = nothing
    if rows > columns and driver != "gelsy" and (driver == "gels" or (ranks == columns).all()):
        residuals = (np.abs(np.matmul(matrix, solution) - right) ** 2).sum(-2).astype(kind)
        residuals = np.zeros_like(residuals) if driver == "gels" and not columns else residuals
    if driver == "gels":
        ranks = np.empty(0, np.int64)
    if driver in ("gels", "gelsy"):
        values = nothing
    return solution[..., 0] if vector else solution, residuals, ranks, values


def smallest_solution(matrix, right, rcond):
    """Of the solutions that come closest the smallest, the singular values, and the ranks."""
    rows, columns = matrix.shape[-2:]
    count = min(rows, columns)
    lead = matrix.shape[:-2]
    kind = matrix.real.dtype
    if not count:
        empty = np.zeros((*lead, columns, right.shape[-1]), matrix.dtype)
        return empty, np.zeros((*lead, 0), kind), np.zeros(lead, np.int64)
    left, values, turned = decomposed(matrix, False)
    bound = np.finfo(kind).eps * max(rows, columns) if rcond is None else rcond
    kept = values > bound * values[..., :1]
    inverse = np.where(kept, 1 / np.where(kept, values, 1), 0).astype(kind)
    inner = inverse[..., None] * np.matmul(left.swapaxes(-2, -1).conj(), right)
    solution = np.matmul(turned.swapaxes(-2, -1).conj(), inner)
    return solution, row_major(values), np.asarray(kept.sum(-1, dtype=np.int64))


def lstsq_back(grads, self, b, solution, needs):
    """The gradients of the solution and of the squared residuals for matrix and right-hand side."""
    grad, grad_residuals = grads
    vector = self._array.ndim == b._array.ndim + 1
    if vector:
        b, solution = calls.unsqueeze(b, -1), calls.unsqueeze(solution, -1)
        grad = None if grad is None else calls.unsqueeze(grad, -1)
    parts: list[list] = [[], []]
    if grad is not None:
        inverse = pinv_with_numbers(self)
        if needs[0]:
            parts[0].append(pinv_back(matmul(grad, adjoint(b)), inverse, self))
        if needs[1]:
            parts[1].append(matmul(adjoint(inverse), grad))
    if grad_residuals is not None and grad_residuals._array.size:
        slope = grad_residuals.unsqueeze(-2)
        rest = matmul(self, solution) - b
        if needs[0]:
            parts[0].append(matmul(slope * rest, adjoint(solution)) * 2)
        if needs[1]:
            parts[1].append(slope * -2 * rest)
    first, second = (None if not part else part[0] if len(part) == 1 else part[0] + part[1] for part in parts)
    return first, calls.squeeze__dim(second, -1) if vector and second is not None else second
