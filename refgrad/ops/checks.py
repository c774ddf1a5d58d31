"""What kernels of several families ask: which element types they refuse, and in which type they compute."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad import dtypes, modes
from refgrad.ops.copying import number_in
from refgrad.storage import count_write


def kind_name(array: np.ndarray) -> str:
    """An element type as C++ messages name it, such as `Long`."""
    return dtypes.OF_NUMPY[array.dtype].scalar_type


def not_implemented(kernel: str, array: np.ndarray) -> NotImplementedError:
    """PyTorch's refusal of an element type by the kernel that would have run."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{kind_name(array)}'")


def only(kinds: str, kernel: str, function: Callable) -> Callable:
    """A kernel that takes first operands of these NumPy kinds alone."""

    @functools.wraps(function)
    def guarded(self, *arguments):
        if self.dtype.kind not in kinds:
            raise not_implemented(kernel, self)
        return function(self, *arguments)

    return guarded


def unreduced(refusal: str) -> Callable:
    """Make a kernel refuse float16 and bfloat16."""

    def refusing(kernel: Callable) -> Callable:
        @functools.wraps(kernel)
        def checked(*arguments):
            for argument in arguments:
                if isinstance(argument, np.ndarray) and argument.dtype in dtypes.REDUCED:
                    raise not_implemented(refusal, argument)
            return kernel(*arguments)

        checked.reduced = "own"
        return checked

    return refusing


def plain_numbers(dtype, *arguments):
    """The arguments with real numbers in the place of complex ones that are real."""
    if complex not in map(type, arguments):
        return arguments
    return tuple([number_in(a, dtype)[()] if type(a) is complex else a for a in arguments])


def computed(refusal, function, kinds="f"):
    """A kernel that refuses types of other kinds."""

    def kernel(first, *arguments):
        if first.dtype.kind not in kinds:
            raise not_implemented(refusal, first)
        arguments = plain_numbers(first.dtype, *arguments)
        return np.asarray(function(first, *arguments)).astype(first.dtype, copy=False)

    return kernel


def first_of_equals(function: np.ufunc, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The maximum or minimum that keeps the first of two equal operands, which shows in the sign of zero."""
    # NumPy keeps the second one, except in half precision.
    return function(first, second) if first.itemsize == 2 else function(second, first)


def written_zeros(grad: Any, shape: tuple) -> Any:
    """Zeros as the gradient of an operand that nothing flows into; PyTorch counts filling them as a write."""
    zeros = grad.new_zeros(shape)
    count_write(zeros)
    return zeros


def put_into(zeros: Any, write: Callable, instead: Callable, *arguments: Any) -> Any:
    """Fresh zeros after a write; in a transform of torch.func PyTorch makes a new tensor instead."""
    return (instead if in_transform() else write)(zeros, *arguments)


def in_transform() -> bool:
    """Whether a transform of torch.func runs, whose tensors have no values to look at."""
    return bool(modes.state.transforms or modes.state.pulls)


REAL = (float, int)


def together(word: str, *operands: Any) -> list[np.ndarray]:
    """Arrays and numbers as arrays of their common type; with `float`, integers become the default float."""
    first = operands[0]
    if isinstance(first, np.ndarray) and first.dtype.kind == "f":
        kind = first.dtype
        if all(o.dtype is kind if isinstance(o, np.ndarray) else o.__class__ in REAL for o in operands):
            return [o if isinstance(o, np.ndarray) else kind.type(o) for o in operands]
    dimensioned: list[dtypes.DType] = []
    zero_dim: list[dtypes.DType] = []
    numbers = []
    for operand in operands:
        if isinstance(operand, np.ndarray):
            (dimensioned if operand.ndim else zero_dim).append(dtypes.OF_NUMPY[operand.dtype])
        else:
            numbers.append(operand)
    common = dtypes.result_of(dimensioned, zero_dim, numbers)
    if word == "float" and common.category < dtypes.FLOATING:
        common = dtypes.default()
    return [np.asarray(operand).astype(common.numpy, copy=False) for operand in operands]


def with_number(word: str, kernel: Callable) -> Callable:
    """The kernel of the overload whose other operand is a number."""

    @functools.wraps(kernel)
    def promoting(self, other, *arguments):
        return kernel(*together(word, self, other), *arguments)

    return promoting
