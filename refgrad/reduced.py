"""Kernels for the reduced types, float16 and bfloat16: computed in float32, and rounded once at the end.

Kernels know nothing of these types. Once one of them is in use, every kernel is called through a wrapper that
widens its operands and narrows its results. An op whose kernel has its own way says so (`reduced="own"`), as
does one whose kernel rounds each of its steps for bfloat16 alone (`"vectors"`: those that PyTorch has).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.call import number_of, promoted
from refgrad.dtypes import OF_NUMPY, REDUCED
from refgrad.layout import cast, widened
from refgrad.tensor import Tensor

SINGLE = dtypes.float32.numpy
WRAPPED: list[tuple[dict, Any]] = []  # the namespaces of compiled functions, whose kernels are to be wrapped

# Note [One rounding in reduced precision]
# PyTorch's kernels read float16 and bfloat16 into float32, compute and sum there, and round what they store.
# So an op of several steps rounds once, a formula that is made of several ops once in each of them. Operands
# of mixed types are left to the kernel, which refuses them, or has a rule of its own.


def wrap_kernel(namespace: dict, op: Any) -> None:
    """Put an op's kernel into the namespace of a function compiled from it."""
    namespace["kernel"] = op.kernel
    if op.is_view or op.reduced == "own":
        return
    if REDUCED:
        namespace["kernel"] = computed_wide(op)
    else:
        WRAPPED.append((namespace, op))


def prepare() -> None:
    """Wrap the kernels of all functions compiled so far."""
    for namespace, op in WRAPPED:
        namespace["kernel"] = computed_wide(op)
    WRAPPED.clear()


dtypes.ON_FIRST_USE.append(prepare)


def promoted_with_number(word: str, first: Any, second: Any) -> list:
    """The operands promoted; of a reduced type, a second one that is a number stays in float32."""
    arrays = promoted(word, first, second)
    if arrays[1].dtype in REDUCED and not (isinstance(second, Tensor) and second._array.ndim):
        arrays[1] = SINGLE.type(second._array if isinstance(second, Tensor) else number_of(second))
    return arrays


def computed_wide(op: Any) -> Callable:
    """An op's kernel, for operands of any type."""
    kernel: Callable = op.kernel

    def wide_kernel(*arguments: Any) -> Any:
        kind = common_reduced(arguments)
        if kind is None or kind.kind == "V" and op.reduced == "vectors":
            return kernel(*arguments)
        wide = [widened_argument(argument) for argument in arguments]
        try:
            results = kernel(*wide)
        except NotImplementedError as refusal:
            given = OF_NUMPY[kind].scalar_type
            raise NotImplementedError(str(refusal).replace("'Float'", f"'{given}'")) from None
        if op.writes:
            arguments[0][...] = wide[0]
            return results
        asked = [argument for argument in arguments if argument.__class__ is dtypes.DType]
        if asked and asked[0].numpy is not kind:
            return results
        return narrowed(results, kind, arguments, wide)

    return wide_kernel


def common_reduced(arguments: Sequence[Any]) -> np.dtype | None:
    """The reduced type that a call computes in: the one asked for, or that of all its floating operands.

    Operands without dimensions count only where there are no others.
    """
    dimensioned: set[np.dtype] = set()
    zero_dim: set[np.dtype] = set()
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            note_kind(argument, dimensioned, zero_dim)
        elif argument.__class__ is dtypes.DType:
            if argument.numpy in REDUCED:
                return argument.numpy
        elif argument.__class__ in (list, tuple):
            for each in argument:
                if isinstance(each, np.ndarray):
                    note_kind(each, dimensioned, zero_dim)
    kinds = dimensioned or zero_dim
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    return kind if kind in REDUCED else None


def note_kind(array: np.ndarray, dimensioned: set, zero_dim: set) -> None:
    """Note the type of a floating operand."""
    if array.dtype.kind not in "biu":
        (dimensioned if array.ndim else zero_dim).add(array.dtype)


def widened_argument(argument: Any) -> Any:
    """An argument with float32 in the place of reduced types; of a dtype, too."""
    if isinstance(argument, np.ndarray):
        is_number = not argument.ndim and argument.dtype.kind == "f"
        return argument.astype(SINGLE) if is_number else widened(argument)
    if argument.__class__ is dtypes.DType:
        return dtypes.float32 if argument.numpy in REDUCED else argument
    if argument.__class__ in (list, tuple):
        return type(argument)([widened_argument(each) for each in argument])
    return argument


def narrowed(results: Any, kind: np.dtype, arguments: Sequence[Any], wide: Sequence[Any]) -> Any:
    """What a kernel returned with the reduced type in the place of float32; an operand comes as it was."""
    if isinstance(results, (tuple, list)):
        return type(results)([narrowed(result, kind, arguments, wide) for result in results])
    for given, used in zip(arguments, wide):
        if results is used:
            return given
    if isinstance(results, (np.ndarray, np.generic)) and results.dtype == SINGLE:
        return cast(np.asarray(results), kind)
    return results
