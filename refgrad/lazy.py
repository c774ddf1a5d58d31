"""Windows that show the conjugate, or the negative, of what lies in memory.

*Lazy array*: such a window, an `ndarray` of its own class. NumPy's ufuncs and functions see the values that
it shows; a write through it stores what makes them come out. Kernels of ops get plain arrays: `plain` copies
the values out. Slices and reshaped windows of a lazy array are lazy; what NumPy computes is not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np


class LazyArray(np.ndarray):
    """An array whose elements differ from its memory by an involution, `shown`."""

    shown: Callable

    def plain(self) -> np.ndarray:
        """The values in memory of their own."""
        return type(self).shown(self.memory())

    def memory(self) -> np.ndarray:
        """The same window without the involution."""
        return self.view(np.ndarray)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: tuple = (), **options: Any) -> Any:
        result = getattr(ufunc, method)(*plain_values(inputs), **options)
        if not out:
            return result
        out[0][...] = result
        return out[0]

    def __array_function__(self, function: Callable, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*plain_values(args), **{name: plain_values(value) for name, value in kwargs.items()})

    def __setitem__(self, place: Any, value: Any) -> None:
        self.memory()[place] = type(self).shown(np.asarray(plain_values(value)).astype(self.dtype))

    def item(self, *place: Any) -> Any:
        """One value as a Python number."""
        return self.plain().item(*place)

    def tolist(self) -> Any:
        """The values as nested lists."""
        return self.plain().tolist()

    def astype(self, *args: Any, **kwargs: Any) -> np.ndarray:
        """The values cast."""
        return self.plain().astype(*args, **kwargs)

    def copy(self, order: Any = "C") -> Any:
        """The values in memory of their own."""
        return self.plain().copy(order)

    def tobytes(self, order: Any = "C") -> bytes:
        """The bytes of the values."""
        return self.plain().tobytes(order)

    def conj(self) -> Any:
        """The conjugates of the values."""
        return np.conjugate(self.plain())


class ConjugateArray(LazyArray):
    """Shows the conjugates."""

    shown: Callable = staticmethod(np.conjugate)


class NegativeArray(LazyArray):
    """Shows the negatives."""

    shown: Callable = staticmethod(np.negative)


class NegativeConjugateArray(ConjugateArray, NegativeArray):
    """Shows the negatives of the conjugates."""

    shown = staticmethod(lambda values: np.negative(np.conjugate(values)))


KINDS: dict[frozenset, type[np.ndarray]] = {
    frozenset(): np.ndarray,
    frozenset({ConjugateArray}): ConjugateArray,
    frozenset({NegativeArray}): NegativeArray,
    frozenset({ConjugateArray, NegativeArray}): NegativeConjugateArray,
}


class WithoutElements:
    """What stands for an array of which only the form is known; to ask for its elements raises."""

    __slots__ = ()

    def plain(self) -> np.ndarray:
        """Refused."""
        raise NotImplementedError


def plain_values(value: Any) -> Any:
    """A value with the lazy arrays in it, or in a list or tuple, made plain."""
    if isinstance(value, LazyArray):
        return value.plain()
    if type(value) in (list, tuple):
        return type(value)([plain_values(item) for item in value])
    return value


def plain(array: np.ndarray) -> np.ndarray:
    """The array itself, or the values of a lazy one."""
    return array.plain() if isinstance(array, (LazyArray, WithoutElements)) else array


def toggled(array: np.ndarray, kind: type[LazyArray]) -> np.ndarray:
    """The same window with the involution of this kind put on or taken off."""
    kinds = {each for each in (ConjugateArray, NegativeArray) if isinstance(array, each)}
    return array.view(KINDS[frozenset(kinds ^ {kind})])


def negated_like(array: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The same window, which shows negatives if the other does."""
    return array.view(NegativeArray) if isinstance(other, NegativeArray) else array
