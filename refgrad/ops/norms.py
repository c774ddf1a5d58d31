"""Norms of vectors and matrices."""

import math

import numpy as np

from refgrad import dtypes
from refgrad.layout import widened, wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.checks import written_zeros
from refgrad.ops.reductions import axes_of, cast, restored, row_major


def order_text(order):
    """An order as messages show it."""
    return f"{order:g}" if isinstance(order, float) else str(order)


def check_vector_norm(array, order, dims, dtype):
    """Refuse types, orders and empty dimensions that a norm is not defined for.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    kind = dtypes.OF_NUMPY[array.dtype]
    if kind.category < dtypes.FLOATING:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as "
            f"input. Got {kind.scalar_type}"
        )
    if isinstance(order, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    check_norm_dtype("linalg.vector_norm", kind, dtype)
    if array.size or order >= 0 and order != math.inf:
        return
    subject = f"linalg.vector_norm cannot compute the {order_text(order)} norm on"
    if not dims:
        raise RuntimeError(f"{subject} an empty tensor because the operation does not have an identity")
    for dim in dims:
        if not array.shape[wrap_dim(dim, array.ndim)]:
            raise RuntimeError(
                f"{subject} the dimension {dim}because this dimension is empty and the operation does not "
                "have an identity"
            )


def check_norm_dtype(name, kind, dtype):
    """Refuse a `dtype=` that the input does not convert to without loss.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if dtype is None:
        return
    if dtype.category < dtypes.FLOATING:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {dtype.scalar_type}")
    if kind.is_complex != dtype.is_complex:
        what = "complex" if kind.is_complex else "real"
        raise RuntimeError(f"{name}: dtype should be {what} for {what} inputs, but got {dtype.scalar_type}")
    if dtypes.promote(kind, dtype) is not dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({kind.scalar_type}) should be convertible without narrowing to "
            f"the specified dtype ({dtype.scalar_type})"
        )


# Vector norms -----------------------------------------------------------------------------------------------


@op(
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    reduced="own",
    self=lambda grad, self, ord, result, dim, keepdim: norm_back(grad, self, ord, result, dim or (), keepdim),
)
def vector_norm(self, ord, dim, keepdim, dtype):
    check_vector_norm(self, ord, dim, dtype)
    axes = axes_of(dim, self.ndim)
    array = self if dtype is None else self.astype(dtype.numpy, copy=False)
    target = array.real.dtype
    sizes = np.abs(widened(array))
    if ord and all(sizes.shape[axis] == 1 for axis in axes):
        ord = math.inf  # the norm of one element is its size, without a power and a root
    return row_major(norm_of_sizes(sizes, ord, axes, keepdim).astype(target, copy=False))


def norm_of_sizes(sizes, order, axes, keepdim):
    """The norm of elements of these absolute values."""
    if order == 2:
        return np.sqrt(np.add.reduce(np.square(sizes), axis=axes, keepdims=keepdim))
    if order == 1:
        return np.add.reduce(sizes, axis=axes, keepdims=keepdim)
    if order == math.inf:
        return np.maximum.reduce(sizes, axis=axes, keepdims=keepdim)
    if order == -math.inf:
        return np.minimum.reduce(sizes, axis=axes, keepdims=keepdim)
    if order == 0:
        return np.add.reduce(np.not_equal(sizes, 0), axis=axes, keepdims=keepdim, dtype=sizes.dtype)
    kind = sizes.dtype.type
    return np.add.reduce(sizes ** kind(order), axis=axes, keepdims=keepdim) ** kind(1 / order)


def norm_back(grad, self, order, norm, dims, keepdim):
    """The gradient of a norm; where the norm is zero, the subgradient zero."""
    order = float(order)
    if not order:
        return None
    ndim = self._array.ndim
    grad, norm = restored(grad, dims, ndim, keepdim), restored(norm, dims, ndim, keepdim)
    if order == 1:
        return self.sgn() * grad
    if order == 2:
        return grad * (self / norm).masked_fill_(zeros_of(norm), 0)
    if math.isinf(order):
        size = self.abs()
        mask = calls.logical_or(calls.eq__Tensor(size, norm), calls.isnan(size))
        return self.sgn() * ((grad / calls.sum__dim_IntList(mask, dims, True)) * mask)
    if order < 1:
        scaled = self.sgn() * self.abs().pow_(order - 1).masked_fill_(zeros_of(self), 0)
        return scaled * grad * norm.pow(1 - order)
    scaled = self.sgn() * self.abs().pow_(order - 1) if order < 2 else self * self.abs().pow_(order - 2)
    return scaled * (grad / norm.pow(order - 1)).masked_fill_(zeros_of(norm), 0)


def zeros_of(tensor):
    """The mask of the elements that are zero."""
    return calls.eq__Scalar(tensor, 0)


# Norms of matrices, as PyTorch composes them ----------------------------------------------------------------


def checked_matrix_dims(self, dim, dtype, by_values):
    """The two dimensions that the matrices lie in, counted from the front; `by_values`: the norm is one of
    singular values.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    kind, ndim = self.dtype, self._array.ndim
    name = "linalg.matrix_norm"
    if kind.category < dtypes.FLOATING:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {kind.scalar_type}"
        )
    if by_values and kind in dtypes.HALVES:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {kind.scalar_type}")
    if ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    wrapped = tuple(wrap_dim(d, ndim) for d in dim)
    if wrapped[0] == wrapped[1]:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    check_norm_dtype(name, kind, dtype)
    return wrapped


def of_singular_values(self, dims, keepdim, dtype, reduce):
    """A reduction of the singular values of the matrices that lie in two dimensions."""
    ndim = self._array.ndim
    order = [*(i for i in range(ndim) if i not in dims), *dims]
    matrices = self if dtype is None else calls._to_copy(self, dtype)
    result = reduce(calls.linalg_svdvals(calls.permute(matrices, order)))
    if not keepdim:
        return result
    return calls.permute(calls.unsqueeze(result, -1), [order.index(i) for i in range(ndim)])


@composite(
    "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor"
)
def matrix_norm(self, ord, dim=(-2, -1), keepdim=False, dtype=None):
    dims = checked_matrix_dims(self, dim, dtype, abs(ord) == 2)
    if abs(ord) not in (1, 2, math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {order_text(ord)} not supported.")

    def extreme(values, dims, keepdim):
        """The largest or smallest; the largest of nothing is zero."""
        axis = wrap_dim(dims[0], values._array.ndim)
        if ord < 0 or values._array.shape[axis]:
            return (calls.amax if ord > 0 else calls.amin)(values, dims, keepdim)
        shape = values._array.shape
        return written_zeros(values, (*shape[:axis], *((1,) if keepdim else ()), *shape[axis + 1 :]))

    if abs(ord) == 2:
        return of_singular_values(self, dims, keepdim, dtype, lambda values: extreme(values, (-1,), keepdim))
    first, second = dims if abs(ord) == 1 else dims[::-1]
    if not keepdim and first < second:
        second -= 1
    return extreme(calls.linalg_vector_norm(self, 1.0, (first,), keepdim, dtype), (second,), keepdim)


@composite(
    "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor"
)
def matrix_norm_by_name(self, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    dims = checked_matrix_dims(self, dim, dtype, ord == "nuc")
    if ord == "fro":
        return calls.linalg_vector_norm(self, 2, dims, keepdim, dtype)
    if ord != "nuc":
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return of_singular_values(
        self, dims, keepdim, dtype, lambda values: calls.sum__dim_IntList(values, (-1,), keepdim)
    )


def check_norm_dims(dim, ord, ndim):
    """Refuse dims that are neither one nor two, given or not.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if dim is not None and len(dim) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if dim is None and ord is not None and ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D."
        )


@composite(
    "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor"
)
def norm(self, ord=None, dim=None, keepdim=False, dtype=None):
    ndim = self._array.ndim
    check_norm_dims(dim, ord, ndim)
    if ord is not None and (ndim == 2 if dim is None else len(dim) == 2):
        return matrix_norm(self, ord, (0, 1) if dim is None else dim, keepdim, dtype)
    return calls.linalg_vector_norm(self, 2.0 if ord is None else ord, dim, keepdim, dtype)


@composite(
    "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor"
)
def norm_by_name(self, ord, dim=None, keepdim=False, dtype=None):
    check_norm_dims(dim, ord, self._array.ndim)
    return matrix_norm_by_name(self, ord, (0, 1) if dim is None else dim, keepdim, dtype)


# Rows of bounded norm ---------------------------------------------------------------------------------------

TINY = 1e-7  # what PyTorch adds to a norm before it divides by it


@op(
    "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    reduced="own",
    inplace=True,
    self=lambda grad, self, p, dim, maxnorm: renorm_back(grad, self, p, dim, maxnorm),
)
def renorm(self, p, dim, maxnorm):
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {order_text(maxnorm)}")
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    axes = other_dims(self, dim)
    check_vector_norm(self, p, axes, None)
    norms = norm_of_sizes(np.abs(self).astype(np.float64), p, axes, True)
    factors = np.where(norms > maxnorm, maxnorm / (norms + TINY), 1).astype(self.real.dtype, copy=False)
    return row_major(np.multiply(self, factors).astype(self.dtype, copy=False))


def other_dims(array, dim):
    """All dimensions but this one."""
    axis = wrap_dim(dim, array.ndim)
    return tuple(i for i in range(array.ndim) if i != axis)


def renorm_back(grad, self, p, dim, maxnorm):
    """The gradient where the norm is bounded, and elsewhere the gradient itself."""
    dims = other_dims(self._array, dim)
    wide = dtypes.promote(self.dtype, dtypes.float64) if self.dtype is not dtypes.float64 else None
    norm = calls.linalg_vector_norm(self, p, dims, True, wide)
    products = self.conj() * grad
    if self.dtype.is_complex:
        products = calls.real(products)
    inner = calls.sum__dim_IntList(products, dims, True, wide and wide.to_real())
    slope = norm_back(inner, self, p, norm, dims, True)
    inverse = calls.reciprocal(norm + TINY)
    bounded = maxnorm * inverse * (grad - inverse * slope)
    return calls.where__self(calls.gt__Scalar(norm, maxnorm), cast(bounded, grad.dtype), grad)


@composite("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor")
def vecdot(x, y, dim=-1):
    for tensor in (x, y):
        if tensor.dtype.category < dtypes.FLOATING:
            kind = tensor.dtype.scalar_type
            raise RuntimeError(
                f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {kind}"
            )
    if x._array.ndim == y._array.ndim == 1:
        return calls.vdot(x, y)
    return calls.sum__dim_IntList(x.conj() * y, (dim,))
