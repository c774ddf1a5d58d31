"""Products of any ranks, made of those of matrices and vectors as PyTorch makes them.

*Fold*: to multiply a stack of matrices by one matrix as a single, taller product.
"""

from math import prod
from typing import Any

from refgrad.layout import broadcast_shapes, strides_of
from refgrad.op import calls, composite
from refgrad.ops.checks import in_transform
from refgrad.tensor import is_batched


@composite("matmul(Tensor self, Tensor other) -> Tensor")
def matmul(self, other):
    left, right = self._array.ndim, other._array.ndim
    if left == 2 == right:
        return calls.mm(self, other)
    if not left or not right:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {left}D and {right}D"
        )
    if left == 1 and right == 1:
        return calls.dot(self, other)
    if left == 2 and right == 1:
        return calls.mv(self, other)
    if left == 1 and right == 2:
        return calls.mm(calls.unsqueeze(self, 0), other).squeeze_(0)
    if folds(self, other):
        return folded(self, other)
    return batched(self, other)


def folds(self: Any, other: Any) -> bool:
    """Whether PyTorch multiplies by one tall product: one stack, one matrix or vector, and it costs no "
    "copy."""
    stack, single = (self, other) if self._array.ndim >= other._array.ndim else (other, self)
    if stack._array.ndim < 3 or single._array.ndim > 2:
        return False
    if single.requires_grad:
        return True
    if self is not stack:
        return False
    array = stack._array
    if array.size == 0:
        return True
    strides = strides_of(array)
    return all(strides[i] == strides[i + 1] * array.shape[i + 1] for i in range(array.ndim - 2))


def folded(self: Any, other: Any) -> Any:
    """The product of a stack and one matrix or vector as a single, taller product."""
    swapped = self._array.ndim < other._array.ndim
    stack = calls.transpose(other, -2, -1) if swapped else self
    single = other if not swapped else calls.t(self) if self._array.ndim == 2 else self
    shape = stack._array.shape
    tall = calls.reshape(stack, (prod(shape[:-1]), shape[-1]))
    if single._array.ndim == 1:
        return calls._unsafe_view(calls.mv(tall, single), shape[:-1])
    result = calls._unsafe_view(calls.mm(tall, single), (*shape[:-1], single._array.shape[1]))
    return calls.contiguous(calls.transpose(result, -2, -1)) if swapped else result


def batched(self: Any, other: Any) -> Any:
    """The product of two stacks, expanded to common leading dimensions."""
    first, second = self._array.shape, other._array.shape
    if len(first) == 3 == len(second) and first[0] != second[0]:
        if first[0] == 1 and self.requires_grad:
            return matmul(calls.squeeze__dim(self, 0), other)
        if second[0] == 1 and other.requires_grad:
            return matmul(self, calls.squeeze__dim(other, 0))
    lead = broadcast_shapes(first[:-2], second[:-2])
    count = prod(lead)
    rows = first[-2] if len(first) > 1 else 1
    left = calls.reshape(calls.expand(self, (*lead, rows, first[-1])), (count, rows, first[-1]))
    if len(second) == 1:
        vectors = calls.reshape(calls.expand(other, (*lead, second[0])), (count, second[0]))
        result = calls.squeeze__dim(calls.bmm(left, calls.unsqueeze(vectors, 2)), -1)
        return calls._unsafe_view(result, (*lead, rows) if len(first) > 1 else lead)
    columns = second[-1]
    right = calls.reshape(calls.expand(other, (*lead, *second[-2:])), (count, second[-2], columns))
    shape = (*lead, rows, columns) if len(first) > 1 else (*lead, columns)
    return calls._unsafe_view(calls.bmm(left, right), shape)


@composite("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")
def linear(input, weight, bias=None):
    shape = input._array.shape
    if not shape or not weight._array.ndim:
        raise RuntimeError(
            "both arguments to linear need to be at least 1D, but they are "
            f"{len(shape)}D and {weight._array.ndim}D"
        )
    if bias is None:
        return matmul(input, calls.t(weight))
    if len(shape) == 2:
        return calls.addmm(bias, input, calls.t(weight))
    flat = bias._array.ndim == 1 and not is_batched(input) and input._array.flags.c_contiguous
    if flat and (len(shape) == 3 or not in_transform()):
        tall = calls.reshape(input, (prod(shape[:-1]), shape[-1]))
        result = calls.addmm(bias, tall, calls.t(weight))
        return calls.view(result, (*shape[:-1], result._array.shape[1]))
    add = calls.add if is_batched(input) or in_transform() else calls.add_
    return add(matmul(input, calls.t(weight)), bias)


@composite("linalg_matmul(Tensor self, Tensor other) -> Tensor")
def linalg_matmul(self, other):
    return matmul(self, other)
