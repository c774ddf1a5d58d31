"""What the ops of linear algebra share: refusals, reports of failed decompositions, and layouts.

*Matrices*: an array whose last two dimensions are rows and columns. *Info*: for each matrix, 0 or the place
where its decomposition broke off.
"""

import numpy as np

from refgrad import dtypes
from refgrad.layout import broadcast_shapes
from refgrad.op import calls
from refgrad.ops.checks import kind_name, not_implemented
from refgrad.ops.copying import contiguous_like, empty_strided
from refgrad.tensor import wrap


class _LinAlgError(RuntimeError):
    """A decomposition failed (`torch.linalg.LinAlgError`)."""


_LinAlgError.__module__ = "torch._C"

SINGULAR = (
    "The diagonal element {} is zero, the inversion could not be completed because the input matrix is "
    "singular."
)
NOT_SOLVED = "The solver failed because the input matrix is singular."
NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor "
    "of order {} is not positive-definite)."
)


# Refusals ---------------------------------------------------------------------------------------------------


def check_matrix(array, name, letter="A"):
    """Refuse what has fewer than two dimensions.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {letter} must have at least 2 dimensions.")


def check_square(array, name):
    """Refuse what is no batch of square matrices; `name` may be empty.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    check_matrix(array, name)
    rows, columns = array.shape[-2:]
    if rows != columns:
        prefix = f"{name}: " if name else ""
        raise RuntimeError(
            f"{prefix}A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def check_floating(array, name, half=True):
    """Refuse integers; without `half`, half precision too.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    kind = dtypes.OF_NUMPY[array.dtype]
    if kind.category < dtypes.FLOATING:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {kind.scalar_type}"
        )
    if not half and array.dtype in dtypes.REDUCED:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {kind.scalar_type}")


def check_kernel(array, kernel):
    """Refuse the types that PyTorch's inner function does not take.

    Raises:
        NotImplementedError: with PyTorch's text.
    """
    if array.size and (array.dtype.kind not in "fc" or array.dtype in dtypes.REDUCED):
        raise not_implemented(kernel, array)


def check_same_kind(first, second, name, letters=("A", "B")):
    """Refuse two matrices of different types.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if first.dtype is not second.dtype:
        a, b = letters
        raise RuntimeError(
            f"{name}: Expected {a} and {b} to have the same dtype, but found {a} of type {kind_name(first)} "
            f"and {b} of type {kind_name(second)} instead"
        )


def check_system(matrices, right, left, name, square_name=None):
    """Refuse a system of equations whose shapes do not fit.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    check_square(matrices, square_name or name)
    check_matrix(right, name, "B")
    if matrices.shape[-2] != right.shape[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        sizes = " and ".join("x".join(map(str, array.shape[-2:])) for array in (matrices, right))
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {equation} ({sizes})")


def check_info(info, name, text, error=_LinAlgError):
    """Report the first matrix whose decomposition failed; `text` has a place for where.

    Raises:
        _LinAlgError: one failed.
    """
    if not info.any():
        return
    batch = ""
    where = int(info) if not info.ndim else int(info.reshape(-1)[np.flatnonzero(info)[0]])
    if info.ndim:
        batch = f"(Batch element {np.flatnonzero(info)[0]}): "
    raise error(f"{name}: {batch}{text.format(where)}")


# Layouts ----------------------------------------------------------------------------------------------------


def column_major(array):
    """Matrices laid out column by column, as LAPACK leaves them."""
    ndim = array.ndim
    order = contiguous_like(array.shape, [*range(ndim - 2), ndim - 1, ndim - 2])
    result = empty_strided(array.shape, order, array.dtype)
    result[...] = array
    return result


def row_by_row(array):
    """Matrices laid out row by row, with the strides that PyTorch gives to what it wrote transposed."""
    return column_major(array.swapaxes(-2, -1)).swapaxes(-2, -1)


def broadcast_lead(first, second):
    """The common shape of the dimensions before rows and columns."""
    return broadcast_shapes(first.shape[:-2], second.shape[:-2])


# For formulas -----------------------------------------------------------------------------------------------


def transposed(matrix):
    """The tensor's matrices transposed."""
    return calls.transpose(matrix, -2, -1)


def adjoint(matrix):
    """The tensor's matrices transposed and conjugated."""
    return calls.transpose(matrix, -2, -1).conj()


def matmul(first, second):
    """The product of the matrices."""
    return calls.matmul(first, second)


def zeros(like):
    """Zeros of a tensor's shape and type that are part of no graph."""
    return wrap(np.zeros(like._array.shape, like._array.dtype))
