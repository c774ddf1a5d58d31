"""Products of matrices and vectors, and of stacks of matrices."""

from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.dtypes import REDUCED, result_of
from refgrad.layout import expands_to, layout_of, widened
from refgrad.modes import AUTOCAST, DUALS, FORMULA, GRAD_OFF, state
from refgrad.op import calls, composite, op
from refgrad.tensor import wrap

# Kernels ----------------------------------------------------------------------------------------------------


def product(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A matrix product in new memory; a formula may give it factors of a reduced type."""
    if REDUCED and first.dtype in REDUCED:
        return product(widened(first), widened(second)).astype(first.dtype)
    if (
        first.ndim == 2 == second.ndim
        and first.shape[1] == 1
        and len(first) > 1 < second.shape[-1]
        and first.dtype.kind == "f"
    ):
        return first * second  # no sum that would begin with +0: the sign of zeros stays
    return np.matmul(first, second)


def refuse_bool(array: np.ndarray, name: str) -> None:
    """Refuse bool operands.

    Raises:
        NotImplementedError: naming the inner function of PyTorch that has no such version.
    """
    if array.dtype == bool:
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")


def scalar_type(array: np.ndarray) -> str:
    """The element type as messages name it."""
    return dtypes.OF_NUMPY[array.dtype].scalar_type


def cpp_name(array: np.ndarray) -> str:
    """The element type as C++ names it."""
    return dtypes.OF_NUMPY[array.dtype].cpp_name


def weighted_sum(self: np.ndarray, inner: np.ndarray, beta: Any, alpha: Any) -> np.ndarray:
    """`beta * self + alpha * inner`, where `self` is not read when `beta` is 0."""
    kind = inner.dtype.type
    if kind(alpha) != 1:
        inner = inner * kind(alpha)
    if kind(beta) == 0:
        return inner
    return inner + (self if kind(beta) == 1 else self * kind(beta))


def expanded(self: np.ndarray, shape: tuple) -> np.ndarray:
    """The summand broadcast to the shape of the product.

    Raises:
        RuntimeError: it does not broadcast to exactly that shape.
    """
    if not expands_to(self.shape, shape):
        from refgrad.ops.views import expand

        expand.kernel(layout_of(self), shape, False)
    return np.broadcast_to(self, shape)


def is_plain() -> bool:
    """Whether neither graph, tangents nor batches are wanted, so that a formula may compute on arrays."""
    return bool(GRAD_OFF) and not state.grad and not DUALS and not FORMULA


def multiplies_arrays() -> bool:
    """Whether a formula may multiply arrays: neither that nor autocast, which would cast the factors."""
    return is_plain() and not AUTOCAST


def conj(tensor: Any) -> Any:
    """The conjugate; a real tensor itself."""
    return tensor.conj() if tensor._array.dtype.kind == "c" else tensor


def multiplied(grad: Any, number: Any) -> Any:
    """`grad * number`, without an op where the number is 1."""
    number = number.conjugate() if isinstance(number, complex) else number
    return grad if number == 1 else grad * number


# Matrix by matrix -------------------------------------------------------------------------------------------


def check_shapes(self: np.ndarray, mat2: np.ndarray) -> None:
    """Refuse matrices that do not fit.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if self.shape[1] != mat2.shape[0]:
        left, right = "x".join(map(str, self.shape)), "x".join(map(str, mat2.shape))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({left} and {right})")


def is_column_major(sizes: tuple, strides: tuple) -> bool:
    """Whether a matrix lies in memory column by column."""
    return strides[0] == 1 and strides[1] == sizes[0]


def first_matrix_gradient(grad, mat2, sizes, strides, alpha=1):
    """The gradient of a product's first factor, laid out like that factor."""
    if is_column_major(sizes, strides):
        if multiplies_arrays() and alpha == 1:
            return calls.t(wrap(product(mat2._array.conj(), grad._array.T)))
        return multiplied(calls.t(calls.mm(conj(mat2), calls.t(grad))), alpha)
    if multiplies_arrays() and alpha == 1:
        return product(grad._array, mat2._array.T.conj())
    return multiplied(calls.mm(grad, conj(calls.t(mat2))), alpha)


def second_matrix_gradient(grad, mat1, sizes, strides, alpha=1):
    """The gradient of a product's second factor, laid out like that factor."""
    if is_column_major(sizes, strides):
        if multiplies_arrays() and alpha == 1:
            return calls.t(wrap(product(grad._array.T, mat1._array.conj())))
        return multiplied(calls.t(calls.mm(calls.t(grad), conj(mat1))), alpha)
    if multiplies_arrays() and alpha == 1:
        return product(mat1._array.T.conj(), grad._array)
    return multiplied(calls.mm(conj(calls.t(mat1)), grad), alpha)


@op(
    "mm(Tensor self, Tensor mat2) -> Tensor",
    self=lambda grad, mat2, self_sym_sizes, self_sym_strides: first_matrix_gradient(
        grad, mat2, self_sym_sizes, self_sym_strides
    ),
    mat2=lambda grad, self, mat2_sym_sizes, mat2_sym_strides: second_matrix_gradient(
        grad, self, mat2_sym_sizes, mat2_sym_strides
    ),
)
def mm(self, mat2):
    if self.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    check_shapes(self, mat2)
    if self.dtype is not mat2.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {cpp_name(self)} != {cpp_name(mat2)}"
        )
    refuse_bool(self, "addmm_impl_cpu_")
    return product(self, mat2)


def check_addmm_types(self, mat1, mat2):
    """Refuse operands of `addmm` of different types.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    for name, array in (("self", self), ("mat1", mat1)):
        if array.dtype is not mat2.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {scalar_type(array)} and "
                f"{scalar_type(mat2)}"
            )


def checked_addmm(self, mat1, mat2):
    """Refuse operands of `addmm` that do not fit together, but for the summand's shape."""
    check_addmm_types(self, mat1, mat2)
    if not mat1.ndim == 2 == mat2.ndim:
        name, array = ("mat1", mat1) if mat1.ndim != 2 else ("mat2", mat2)
        raise RuntimeError(f"{name} must be a matrix, got {array.ndim}-D tensor")
    check_shapes(mat1, mat2)
    refuse_bool(self, "addmm_impl_cpu_")


def with_twin(text: str, **formulas: Any):
    """Declare an op that adds to its first argument, and its twin, whose target must have the shape of the "
    "result."""

    def declare(kernel):
        def into(self, *arguments):
            result = kernel(self, *arguments)
            if result.shape != self.shape:
                raise RuntimeError(
                    f"Bad in-place call: input tensor size {list(self.shape)} and output tensor size "
                    f"{list(result.shape)} should match"
                )
            return result

        name = text[: text.index("(")]
        twin = text.replace("(Tensor self", "_(Tensor(a!) self", 1).replace("-> Tensor", "-> Tensor(a!)")
        op(twin, node=f"{name.title()}Backward0", **formulas)(into)
        return op(text, **formulas)(kernel)

    return declare


@with_twin(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    self=lambda grad, beta: multiplied(grad, beta),
    mat1=lambda grad, mat2, mat1_sym_sizes, mat1_sym_strides, alpha: first_matrix_gradient(
        grad, mat2, mat1_sym_sizes, mat1_sym_strides, alpha
    ),
    mat2=lambda grad, mat1, mat2_sym_sizes, mat2_sym_strides, alpha: second_matrix_gradient(
        grad, mat1, mat2_sym_sizes, mat2_sym_strides, alpha
    ),
)
def addmm(self, mat1, mat2, beta, alpha):
    checked_addmm(self, mat1, mat2)
    if beta == 1 == alpha and self.shape == mat2.shape[1:]:
        return np.add(product(mat1, mat2), self)
    summand = expanded(self, (mat1.shape[0], mat2.shape[1]))
    return weighted_sum(summand, product(mat1, mat2), beta, alpha)


# Stacks of matrices -----------------------------------------------------------------------------------------


def check_batches(batch1: np.ndarray, batch2: np.ndarray) -> None:
    """Refuse stacks of matrices that do not fit.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    for name, array in (("batch1", batch1), ("batch2", batch2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    wanted = [batch1.shape[0], batch1.shape[2]]
    if list(batch2.shape[:2]) != wanted:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {wanted} "
            f"but got: {list(batch2.shape[:2])}."
        )


def check_same_type(expected: np.ndarray, *others: np.ndarray) -> None:
    """Refuse operands of another type.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    for array in others:
        if array.dtype is not expected.dtype:
            raise RuntimeError(f"expected scalar type {scalar_type(expected)} but found {scalar_type(array)}")


@op(
    "bmm(Tensor self, Tensor mat2) -> Tensor",
    self=lambda grad, mat2: first_batch_gradient(grad, mat2),
    mat2=lambda grad, self: second_batch_gradient(grad, self),
)
def bmm(self, mat2):
    check_batches(self, mat2)
    check_same_type(self, mat2)
    refuse_bool(self, "bmm")
    return product(self, mat2)


def first_batch_gradient(grad, batch2):
    """The gradient of the first factor of a product of stacks."""
    if multiplies_arrays():
        return product(grad._array, batch2._array.transpose(0, 2, 1).conj())
    return calls.bmm(grad, conj(calls.transpose(batch2, 1, 2)))


def second_batch_gradient(grad, batch1):
    """The gradient of the second factor of a product of stacks."""
    if multiplies_arrays():
        return product(batch1._array.transpose(0, 2, 1).conj(), grad._array)
    return calls.bmm(conj(calls.transpose(batch1, 1, 2)), grad)


def wrapped_size(array: np.ndarray, dim: int) -> int:
    """The size of a dimension.

    Raises:
        IndexError: there is no such dimension.
    """
    if not array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return array.shape[layout_of(array).wrap_dim(dim)]


@with_twin(
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    self=lambda grad, beta: multiplied(grad, beta),
    batch1=lambda grad, batch2, alpha: multiplied(
        calls.bmm(grad, conj(calls.transpose(batch2, 1, 2))), alpha
    ),
    batch2=lambda grad, batch1, alpha: multiplied(
        calls.bmm(conj(calls.transpose(batch1, 1, 2)), grad), alpha
    ),
)
def baddbmm(self, batch1, batch2, beta, alpha):
    shape = (wrapped_size(batch1, 0), wrapped_size(batch1, 1), wrapped_size(batch2, 2))
    summand = expanded(self, shape)
    check_batches(batch1, batch2)
    if batch1.dtype is not self.dtype:
        names = [cpp_name(array) for array in (self, batch1, batch2)]
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {names[0]}, batch1: {names[1]}, batch2: {names[2]}"
        )
    check_same_type(self, batch2)
    refuse_bool(self, "baddbmm")
    return weighted_sum(summand, product(batch1, batch2), beta, alpha)


def spread(grad, batches, rows, columns):
    """The gradient of a sum of products as a stack of that many gradients."""
    return calls.expand(calls.unsqueeze(grad, 0), (batches, rows, columns))


@with_twin(
    "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    self=lambda grad, beta: multiplied(grad, beta),
    batch1=lambda grad, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2, batch2, alpha: (
        multiplied(
            calls.bmm(
                spread(grad, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2),
                conj(calls.transpose(batch2, 1, 2)),
            ),
            alpha,
        )
    ),
    batch2=lambda grad, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2, batch1, alpha: (
        multiplied(
            calls.bmm(
                conj(calls.transpose(batch1, 1, 2)),
                spread(grad, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2),
            ),
            alpha,
        )
    ),
)
def addbmm(self, batch1, batch2, beta, alpha):
    summand = expanded(self, (wrapped_size(batch1, 1), wrapped_size(batch2, 2)))
    for name, array in (("batch1", batch1), ("batch2", batch2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {batch1.shape[0]} and {batch2.shape[0]}"
        )
    if batch1.shape[2] != batch2.shape[1]:
        left, right = (f"{array.shape[1]}x{array.shape[2]}" for array in (batch1, batch2))
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({left} and {right})")
    check_addmm_types(self, batch1, batch2)
    refuse_bool(self, "addbmm")
    return weighted_sum(summand, product(batch1, batch2).sum(0, dtype=self.dtype), beta, alpha)


# Vectors ----------------------------------------------------------------------------------------------------


def checked_mv(self: np.ndarray, mat: np.ndarray, vec: np.ndarray) -> None:
    """Refuse operands of `addmv`; for `mv` the vector stands for the summand."""
    if vec.ndim != 1 or mat.ndim != 2 or self.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.size or (self.size != mat.shape[0] and self.size != 1):
        raise RuntimeError(
            f"size mismatch, got input ({self.size}), mat ({mat.shape[0]}x{mat.shape[1]}), vec ({vec.size})"
        )
    if not self.dtype is mat.dtype is vec.dtype:
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{scalar_type(self)}, {scalar_type(mat)}, and {scalar_type(vec)}"
        )
    refuse_bool(self, "addmv_impl_cpu")


@op(
    "mv(Tensor self, Tensor vec) -> Tensor",
    self=lambda grad, vec: calls.outer(grad, conj(vec)),
    vec=lambda grad, self: calls.mv(calls.t(conj(self)), grad),
)
def mv(self, vec):
    result = np.empty(self.shape[0] if self.ndim else 1, vec.dtype)
    checked_mv(result, self, vec)
    return product(self, vec)


@with_twin(
    "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    self=lambda grad, beta: multiplied(grad, beta),
    mat=lambda grad, vec, alpha: multiplied(calls.outer(grad, conj(vec)), alpha),
    vec=lambda grad, mat, alpha: multiplied(calls.mv(conj(calls.t(mat)), grad), alpha),
)
def addmv(self, mat, vec, beta, alpha):
    checked_mv(self, mat, vec)
    return weighted_sum(np.broadcast_to(self, mat.shape[:1]), product(mat, vec), beta, alpha)


def check_vectors(self: np.ndarray, other: np.ndarray) -> None:
    """Refuse operands of `dot` and `vdot`.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if self.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors")
    if self.dtype is not other.dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{scalar_type(self)} and {scalar_type(other)}"
        )
    if self.size != other.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{self.size}] and src [{other.size}] to have the "
            f"same number of elements, but got {self.size} and {other.size} elements respectively"
        )


@op(
    "dot(Tensor self, Tensor tensor) -> Tensor",
    self=lambda grad, tensor: grad * tensor.conj(),
    tensor=lambda grad, self: grad * self.conj(),
)
def dot(self, tensor):
    check_vectors(self, tensor)
    refuse_bool(self, "dot")
    return np.asarray(product(self, tensor))


@op(
    "vdot(Tensor self, Tensor other) -> Tensor",
    self=lambda grad, other: grad.conj() * other,
    other=lambda grad, self: grad * self,
)
def vdot(self, other):
    check_vectors(self, other)
    refuse_bool(self, "dot" if self.dtype.kind != "c" else "vdot")
    return np.asarray(product(self.conj(), other))


@composite("outer(Tensor self, Tensor vec2) -> Tensor")
def outer(self, vec2):
    for name, tensor in (("self", self), ("vec2", vec2)):
        if tensor._array.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {tensor._array.ndim}-D")
    return calls.mul(calls.reshape(self, (self._array.size, 1)), vec2)


@composite("ger(Tensor self, Tensor vec2) -> Tensor")
def ger(self, vec2):
    return outer(self, vec2)


@with_twin(
    "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    reduced="own",
    self=lambda grad, beta: multiplied(grad, beta),
    vec1=lambda grad, vec2, alpha: multiplied(calls.mv(grad, conj(vec2)), alpha),
    vec2=lambda grad, vec1, alpha: multiplied(calls.mv(calls.t(grad), conj(vec1)), alpha),
)
def addr(self, vec1, vec2, beta, alpha):
    for name, array in (("vec1", vec1), ("vec2", vec2)):
        if array.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {array.ndim}-D")
    kind = result_of([dtypes.OF_NUMPY[array.dtype] for array in (self, vec1, vec2)], [], []).numpy
    summand = expanded(self, (vec1.size, vec2.size)).astype(kind)
    first = vec1.astype(kind) if kind.type(alpha) == 1 else vec1.astype(kind) * kind.type(alpha)
    return weighted_sum(summand, np.outer(first, vec2.astype(kind)), beta, 1)
