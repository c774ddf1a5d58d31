"""Pooling to a given output size: the patches share the input evenly, and may overlap by one element."""

import itertools
from typing import Any

import numpy as np

from refgrad.kernels.resampling import mixed
from refgrad.op import calls, composite, op
from refgrad.ops.checks import written_zeros
from refgrad.ops.formats import in_format_of
from refgrad.ops.pooling import MEAN_RANK, check_rank, check_single, largest_in, no_patches, picked, put_at


def bounds(size: int, count: int) -> list[tuple[int, int]]:
    """Where each of `count` patches begins and ends."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def check_adaptive(array: np.ndarray, output: Any, count: int, name: str) -> None:
    """Refuse shapes that do not fit.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if len(output) != count:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {count}")
    if array.ndim not in (count + 1, count + 2):
        raise RuntimeError(
            f"{name}(): Expected {count + 1}D or {count + 2}D tensor, but got {list(array.shape)}"
        )
    for i in range(array.ndim - count, array.ndim):
        if array.shape[i] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has "
                f"sizes {list(array.shape)} with dimension {i} being empty"
            )


def sharing(size: int, count: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Which elements each patch has, as a matrix of ones, and how many."""
    matrix = np.zeros((count, size), dtype)
    for row, (start, end) in zip(matrix, bounds(size, count), strict=True):
        row[start:end] = 1
    return matrix, matrix.sum(1)


def along(array: np.ndarray, matrices: list[np.ndarray]) -> np.ndarray:
    """The last dimensions multiplied by one matrix each."""
    count = len(matrices)
    for i, matrix in enumerate(matrices):
        array = mixed(array, array.ndim - count + i, matrix)
    return np.ascontiguousarray(array)


def declare_mean(count: int) -> None:
    """Declare adaptive mean-pooling over so many dimensions."""
    public, title = f"adaptive_avg_pool{count}d", f"AdaptiveAvgPool{count}D"
    name = f"_{public}"

    @op(
        f"{name}(Tensor self, SymInt[{count}] output_size) -> Tensor",
        node=f"{title}Backward0",
        self=lambda grad, self: getattr(calls, f"{name}_backward")(grad, self),
    )
    @in_format_of(*(0,) * (count == 2))
    def pooled(self, output_size):
        check_adaptive(self, output_size, count, public)
        if self.dtype.kind != "f":
            raise no_patches(f"adaptive_avg_pool{count}d", self)
        shares = [sharing(n, m, self.dtype) for n, m in zip(self.shape[-count:], output_size, strict=True)]
        total = along(self, [matrix for matrix, _ in shares])
        for i, (_, counts) in enumerate(shares):
            total = total / counts.reshape([-1 if j == i else 1 for j in range(count)])
        return total.astype(self.dtype, copy=False)

    def plane(grad, grad_output_sym_argsize_minus_2, grad_output_sym_argsize_minus_1):
        sizes = (grad_output_sym_argsize_minus_2, grad_output_sym_argsize_minus_1)
        return getattr(calls, name)(grad, sizes)

    def space(
        grad,
        grad_output_sym_argsize_minus_3,
        grad_output_sym_argsize_minus_2,
        grad_output_sym_argsize_minus_1,
    ):
        sizes = (
            grad_output_sym_argsize_minus_3,
            grad_output_sym_argsize_minus_2,
            grad_output_sym_argsize_minus_1,
        )
        return getattr(calls, name)(grad, sizes)

    @op(
        f"{name}_backward(Tensor grad_output, Tensor self) -> Tensor",
        node=f"{title}BackwardBackward0",
        grad_output=plane if count == 2 else space,
        self=lambda grad: written_zeros(grad, grad.shape),
    )
    @in_format_of(*(1,) * (count == 2))
    def spread(grad_output, self):
        sizes = grad_output.shape[-count:]
        shares = [sharing(n, m, self.dtype) for n, m in zip(self.shape[-count:], sizes, strict=True)]
        for i, (_, counts) in enumerate(shares):
            grad_output = grad_output / counts.reshape([-1 if j == i else 1 for j in range(count)])
        return along(grad_output, [np.ascontiguousarray(matrix.T) for matrix, _ in shares])

    @composite(f"{public}(Tensor self, SymInt[{count}] output_size) -> Tensor")
    def plain(self, output_size):
        if len(output_size) != count:
            raise RuntimeError(f"{public}: output_size must be {count}")
        if min(output_size) < 0:
            listed = ", ".join(map(str, output_size[:2])) + "".join(f",{size}" for size in output_size[2:])
            raise RuntimeError(
                f"{public}: elements of output_size must be greater than or equal to 0 but received "
                f"{{{listed}}}"
            )
        if all(size == 1 for size in output_size):
            check_adaptive(self._array, output_size, count, public)
            return calls.mean__dim(self, tuple(range(-1, -count - 1, -1)), True)
        return getattr(calls, name)(self, output_size)


def declare_max(count: int) -> None:
    """Declare adaptive max-pooling over so many dimensions."""
    name, title = f"adaptive_max_pool{count}d", f"AdaptiveMaxPool{count}D"

    @op(
        f"{name}(Tensor self, int[{count}] output_size) -> (Tensor, Tensor)",
        node=f"{title}Backward0",
        nondifferentiable=(1,),
        self=lambda grad, self, result1: getattr(calls, f"{name}_backward")(grad, self, result1),
    )
    @in_format_of(*(0,) * (count == 2))
    def pooled(self, output_size):
        check_adaptive(self, output_size, count, name)
        sizes = self.shape[-count:]
        shape = (*self.shape[:-count], *output_size)
        if min(output_size) < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {min(output_size)}: {list(shape)}"
            )
        values: Any = np.zeros(shape, self.dtype)
        indices: Any = np.zeros(shape, np.int64)
        numbers = np.arange(np.prod(sizes)).reshape(sizes)
        edges = [bounds(n, m) for n, m in zip(sizes, output_size, strict=True)]
        for place in itertools.product(*map(range, output_size)):
            part = tuple([slice(*edges[axis][i]) for axis, i in enumerate(place)])
            flat = self[(..., *part)].reshape(*self.shape[:-count], -1)
            values[(..., *place)], chosen = largest_in(flat)
            indices[(..., *place)] = numbers[part].reshape(-1)[chosen]
        return values, indices

    @op(
        f"{name}_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
        node=f"{title}BackwardBackward0",
        grad_output=lambda grad, indices: picked(grad, indices, count),
        self=lambda grad: written_zeros(grad, grad.shape),
    )
    @in_format_of(*(1,) * (count == 2))
    def spread(grad_output, self, indices):
        return put_at(grad_output, indices, self.shape, count)


for spatial in (2, 3):
    declare_mean(spatial)
    declare_max(spatial)


@composite("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor")
def adaptive_avg_pool1d(self, output_size):
    check_rank(self, "adaptive_avg_pool1d", MEAN_RANK)
    check_single("adaptive_avg_pool1d", output_size=output_size)
    return calls.squeeze__dim(calls.adaptive_avg_pool2d(calls.unsqueeze(self, -2), (1, *output_size)), -2)


@composite("adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)")
def adaptive_max_pool1d(self, output_size):
    check_rank(self, "adaptive_max_pool1d", MEAN_RANK)
    check_single("adaptive_max_pool1d", output_size=output_size)
    found = calls.adaptive_max_pool2d(calls.unsqueeze(self, -2), (1, *output_size))
    return tuple([calls.squeeze__dim(tensor, -2) for tensor in found])
