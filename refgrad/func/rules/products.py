"""Batching rules of products and of linear algebra: one product of the wholes."""

from collections.abc import Callable
from typing import Any

from refgrad.func.rules.operands import (
    Moved,
    Operand,
    count_of,
    in_channels,
    in_images,
    moved,
    padded,
    rule,
    spread,
    whole_in_front,
)
from refgrad.op import calls
from refgrad.tensor import Tensor


@rule("mm", "bmm")
def product(function: Callable, self: Any, mat2: Any) -> Tensor:
    """Products of matrices."""
    return calls.matmul(whole_in_front(self), whole_in_front(mat2))


@rule("mv")
def matrix_by_vector(function: Callable, self: Any, vec: Any) -> Any:
    """Products of matrices with vectors; the vectors of all samples for one matrix are its columns."""
    if not isinstance(vec, Operand):
        return calls.matmul(self.front(), vec)
    if not isinstance(self, Operand):
        return Moved(calls.matmul(self, moved(vec.whole, vec.dim, -1)), -1)
    matrices = self.in_front()
    return calls.squeeze__dim(calls.matmul(matrices, calls.unsqueeze(vec.front(), -1)), -1)


@rule("dot")
def dot(function: Callable, self: Any, tensor: Any) -> Tensor:
    """Products of vectors: rows by columns."""
    if isinstance(self, Operand) and isinstance(tensor, Operand):
        rows, columns = calls.unsqueeze(self.front(), -2), calls.unsqueeze(tensor.front(), -1)
        return calls.squeeze__dim(calls.squeeze__dim(calls.matmul(rows, columns), -1), -1)
    return calls.matmul(whole_in_front(self), calls.t(whole_in_front(tensor)))


@rule("vdot")
def vdot(function: Callable, self: Any, tensor: Any) -> Any:
    """Products of vectors, the first conjugated."""
    conjugate = Operand(self.whole.conj(), self.dim) if isinstance(self, Operand) else self.conj()
    return dot(function, conjugate, tensor)


@rule(
    "_linalg_det", "_linalg_slogdet", "linalg_inv_ex", "linalg_cholesky_ex", "_linalg_eigh", "linalg_eig",
    "_linalg_svd", "linalg_matrix_exp", "linalg_qr", "linalg_lu_factor_ex", "linalg_pinv.atol_rtol_tensor",
    "cholesky", "cholesky_inverse",
)  # fmt: skip
def of_matrices(function: Callable, matrices: Operand, *others: Any) -> Any:
    """What PyTorch does with each matrix of a stack."""
    return function(matrices.front(), *[whole_in_front(other) for other in others])


@rule(
    "cholesky_solve", "linalg_householder_product", "triangular_solve", "linalg_solve_triangular",
    "linalg_lu_solve", "lu_unpack", "linalg_lstsq",
)  # fmt: skip
def of_pairs(function: Callable, *arguments: Any) -> Any:
    """An op of several stacks of matrices."""
    count = count_of(arguments)
    return function(*[spread(a, count) if isinstance(a, (Tensor, Operand)) else a for a in arguments])


@rule("_linalg_solve_ex")
def solve(function: Callable, A: Any, B: Any, left: bool = True, *others: Any) -> Any:
    """Linear systems, one for each sample."""
    count = (A if isinstance(A, Operand) else B).count
    is_vector = (B.rank if isinstance(B, Operand) else B.dim()) == 1
    matrices = spread(A, count) if is_vector or isinstance(A, Operand) else A
    return function(matrices, spread(B, count), left, *others)


@rule("linalg_cross")
def cross(function: Callable, self: Any, other: Any, dim: int = -1) -> Tensor:
    """Vector products along a dimension."""
    operands = [a for a in (self, other) if isinstance(a, Operand)]
    rank = max(a.rank if isinstance(a, Operand) else a.dim() for a in (self, other))
    values = [
        padded(a, rank) if isinstance(a, Operand) else spread(a, operands[0].count) for a in (self, other)
    ]
    return function(*values, dim if dim < 0 else dim + 1)


@rule("_cdist_forward")
def distances(function: Callable, x1: Any, x2: Any, *others: Any) -> Tensor:
    """Distances between rows."""
    count = (x1 if isinstance(x1, Operand) else x2).count
    return function(spread(x1, count), spread(x2, count), *others)


# Convolution ------------------------------------------------------------------------------------------------


@rule("convolution")
def convolution(function: Callable, input: Any, weight: Any, bias: Any, *options: Any) -> Any:
    """Convolutions: the batch joins that of the input; filters of samples are groups of one convolution."""
    *geometry, transposed, output_padding, groups = options
    count = count_of((input, weight, bias))
    if not isinstance(weight, Operand):
        value = input.in_front() if isinstance(input, Operand) else spread(input, count)
        flat = value.reshape(count * value.size(1), *value.shape[2:])
        result = function(flat, weight, None if isinstance(bias, Operand) else bias, *options)
        result = result.view(count, value.size(1), *result.shape[1:])
        return result if not isinstance(bias, Operand) else result + channels_of(bias, result.dim())
    joined = in_images(weight)
    if isinstance(input, Operand):
        result = function(
            in_channels(input), joined, None, *geometry, transposed, output_padding, groups * count
        )
    elif groups == 1 and not transposed:
        result = function(input, joined, None, *geometry, transposed, output_padding, groups)
    else:
        flat = spread(input, count).movedim(0, 1)
        flat = flat.reshape(flat.size(0), count * flat.size(2), *flat.shape[3:])
        result = function(flat, joined, None, *geometry, transposed, output_padding, groups * count)
    result = result.view(result.size(0), count, -1, *result.shape[2:])
    if bias is None:
        return Moved(result, 1)
    return moved(result, 1, 0) + channels_of(bias, result.dim())


@rule("convolution_backward")
def convolution_backward(
    function: Callable, grad: Any, input: Any, weight: Any, bias_sizes: Any, *options: Any
) -> Any:
    """The gradients of convolutions: with filters of samples by groups, else the batch joins what it can."""
    *geometry, groups, wanted = options
    count = count_of((grad, input, weight))
    if not isinstance(grad, Operand):
        return NotImplemented
    of_input = of_weight = of_bias = None
    if wanted[2]:
        of_bias = grad.front().sum([1, *range(3, grad.whole.dim())])
    if isinstance(input, Operand) and isinstance(weight, Operand):
        whole = in_channels(grad), in_channels(input), in_images(weight)
        found = function(*whole, None, *geometry, groups * count, [*wanted[:2], False])
        if found[0] is not None:
            of_input = Moved(found[0].view(input.shape[0], count, *input.shape[1:]), 1)
        of_weight = None if found[1] is None else found[1].view(count, *weight.shape)
        return of_input, of_weight, of_bias
    if isinstance(weight, Operand) or wanted[1] and not isinstance(input, Operand):
        return NotImplemented
    if wanted[0]:
        shape = (grad.shape[0], *input.shape[1:])
        images = calls.empty((count * shape[0], *shape[1:]), dtype=grad.whole.dtype)
        found = function(in_images(grad), images, weight, None, *geometry, groups, [True, False, False])
        of_input = found[0].view(count, *shape)
    if wanted[1]:
        filters = calls.empty((count * weight.shape[0], *weight.shape[1:]), dtype=grad.whole.dtype)
        whole = in_channels(grad), in_channels(input), filters
        found = function(*whole, None, *geometry, groups * count, [False, True, False])
        of_weight = found[1].view(count, *weight.shape)
    return of_input, of_weight, of_bias


def channels_of(bias: Any, rank: int) -> Tensor:
    """A bias with dimensions behind it, and ones before it for the images."""
    value = whole_in_front(bias)
    for _ in range(rank - 3):
        value = calls.unsqueeze(value, -1)
    return padded(Operand(value, 0), rank - 1) if isinstance(bias, Operand) else value
