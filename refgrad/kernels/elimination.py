"""Gaussian elimination and substitution on stacks of matrices, rounded as PyTorch's library rounds them.

The order of the sums, and where a division is done as such or as a product with the reciprocal, were found by
comparing bits on PyTorch 2.13; for real matrices of up to 16 rows the results are the same, beyond that
within rounding. *Pivots*: for each column the row it was swapped with, counted from 1.
"""

from math import prod

import numpy as np

DIVIDED = 5  # square matrices smaller than this divide in their last column but one
DOTS = 8  # systems smaller than this are solved row by row, by sums of products


def factored(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The triangles L and U of each matrix in one matrix, the pivots, and the place of the first zero on U's
    diagonal (counted from 1; 0 when there is none)."""
    *lead, rows, columns = matrices.shape
    count, steps = prod(lead), min(rows, columns)
    work = np.array(matrices, order="C").reshape(count, rows, columns)
    pivots = np.zeros((count, steps), np.int32)
    info = np.zeros(count, np.int32)
    each = np.arange(count)
    for k in range(steps):
        column = work[:, k:, k]
        sizes = np.abs(column.real) + np.abs(column.imag) if work.dtype.kind == "c" else np.abs(column)
        found = sizes.argmax(1) + k
        pivots[:, k] = found + 1
        work[each, k], work[each, found] = work[each, found], work[each, k]
        divisor = work[:, k, k]
        zero = divisor == 0
        info[zero & (info == 0)] = k + 1
        divisor = np.where(zero, divisor.dtype.type(1), divisor)
        if rows == columns < DIVIDED and k == rows - 2:
            work[:, k + 1 :, k] /= divisor[:, None]
        else:
            work[:, k + 1 :, k] *= np.reciprocal(divisor)[:, None]
        work[:, k + 1 :, k + 1 :] -= work[:, k + 1 :, k, None] * work[:, k, None, k + 1 :]
    return work.reshape(matrices.shape), pivots.reshape(*lead, steps), info.reshape(lead)


def row_order(pivots: np.ndarray, rows: int) -> np.ndarray:
    """Which row of the matrix became which row of the factors."""
    *lead, steps = pivots.shape
    order = np.tile(np.arange(rows), (prod(lead), 1))
    each = np.arange(len(order))
    for k, swapped in enumerate(pivots.reshape(len(order), steps).T - 1):
        order[each, k], order[each, swapped] = order[each, swapped], order[each, k]
    return order.reshape(*lead, rows)


def adjoint(matrices: np.ndarray) -> np.ndarray:
    """The conjugate transposes."""
    return matrices.swapaxes(-2, -1).conj()


def substituted(
    triangle: np.ndarray, right: np.ndarray, upper: bool, unit: bool, dots: bool, reciprocal: bool
) -> np.ndarray:
    """The solution of triangular systems; the part beyond the triangle is not read, with `unit` neither is
    the diagonal.

    `dots`: a row's products are summed before they are subtracted. `reciprocal`: see the head of this file.
    """
    lead = np.broadcast_shapes(triangle.shape[:-2], right.shape[:-2])
    triangle = np.broadcast_to(triangle, (*lead, *triangle.shape[-2:]))
    solution = np.array(np.broadcast_to(right, (*lead, *right.shape[-2:])), order="C")
    size = triangle.shape[-1]
    order = range(size - 1, -1, -1) if upper else range(size)
    for place, i in enumerate(order):
        row = solution[..., i, :]
        if dots and place:
            total = sum(triangle[..., i, j, None] * solution[..., j, :] for j in order[:place])
            row -= total
        if not unit:
            divisor = triangle[..., i, i, None]
            if reciprocal:
                row *= np.reciprocal(divisor)
            else:
                row /= divisor
        if not dots:
            rest = slice(0, i) if upper else slice(i + 1, size)
            solution[..., rest, :] -= triangle[..., rest, i, None] * row[..., None, :]
    return solution


def triangular_solved(triangle: np.ndarray, right: np.ndarray, upper: bool, unit: bool) -> np.ndarray:
    """The solution X of `triangle @ X = right`."""
    return substituted(triangle, right, upper, unit, dots=False, reciprocal=right.shape[-1] != 1)


def solved(lu: np.ndarray, pivots: np.ndarray, right: np.ndarray, adjoint_system: bool = False) -> np.ndarray:
    """The solution of the systems whose matrices were factored, or of the adjoint ones."""
    rows = lu.shape[-1]
    lead = np.broadcast_shapes(lu.shape[:-2], right.shape[:-2])
    right = np.broadcast_to(right, (*lead, *right.shape[-2:]))
    order = np.broadcast_to(row_order(pivots, rows), (*lead, rows))[..., None]
    small = rows < DOTS
    if adjoint_system:
        turned = adjoint(lu)
        half = substituted(turned, right, False, False, small, small)
        permuted = substituted(turned, half, True, True, small, small)
        solution = np.empty_like(permuted)
        np.put_along_axis(solution, order, permuted, -2)
        return solution
    half = substituted(lu, np.take_along_axis(right, order, -2), False, True, small, small)
    return substituted(lu, half, True, False, small, small)


def unpacked(lu: np.ndarray, pivots: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The matrices P, L and U whose product was factored."""
    steps = min(lu.shape[-2:])
    return permutations(pivots, lu), lower(lu[..., :, :steps]), np.triu(lu[..., :steps, :])


def lower(matrices: np.ndarray) -> np.ndarray:
    """The part below the diagonal, with ones on it."""
    return np.tril(matrices, -1) + np.eye(*matrices.shape[-2:], dtype=matrices.dtype)


def permutations(pivots: np.ndarray, lu: np.ndarray) -> np.ndarray:
    """The matrices that put the rows of the factors back to their places."""
    order = row_order(pivots, lu.shape[-2])
    return np.ascontiguousarray(np.eye(lu.shape[-2], dtype=lu.dtype)[order].swapaxes(-2, -1))


def choleskied(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lower factor of each matrix, and the order of the first leading minor that is not positive.

    Only the lower triangle is read.
    """
    *lead, _, size = matrices.shape
    work = np.tril(matrices).reshape(prod(lead), size, size)
    info = np.zeros(len(work), np.int32)
    for j in range(size):
        live = info == 0
        if j:
            work[live, j, j] -= sum(work[live, j, k] * work[live, j, k].conj() for k in range(j))
        pivot = work[:, j, j].real
        if work.dtype.kind == "c":
            work[live, j, j] = pivot[live]
        info[live & ~(pivot > 0)] = j + 1
        live = info == 0  # where it broke off, the rest of the column stays as it was
        if j:
            total = sum(work[live, j + 1 :, k] * work[live, j, k, None].conj() for k in range(j))
            work[live, j + 1 :, j] -= total
        root = np.sqrt(pivot[live])
        work[live, j, j] = root
        if size > 2:
            work[live, j + 1 :, j] *= np.reciprocal(root)[:, None]
        else:
            work[live, j + 1 :, j] /= root[:, None]
    return work.reshape(matrices.shape), info.reshape(lead)
