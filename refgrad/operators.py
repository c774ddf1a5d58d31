"""The operators of `Tensor`.

An operator over an op of two operands is the op's own generated function: it leaves operands that are
neither tensors nor numbers to Python. A slot holds a stub until it is first used. Formulas that record a
graph mean something else by a number than users do, see the note at `call.in_formula`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad import call, dtypes
from refgrad.binding import check_width
from refgrad.op import OPS, calls
from refgrad.ops.from_data import from_numpy
from refgrad.overriding import HAND_TO_OPERAND, overriding_in
from refgrad.tensor import Tensor, wrap

NUMBERS = (int, float, complex)  # bool is an int


def operand(value: Any) -> Any:
    """An operand as tensor or number; NotImplemented for anything else."""
    if isinstance(value, int):
        check_width(value)
    if isinstance(value, (Tensor, int, float, complex)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    return NotImplemented


def unknown(symbol: str, self: Tensor, other: Any) -> Any:
    """What an operator makes of an operand that is neither tensor nor number, see watched.py."""
    is_overriding = overriding_in((other,))
    return HAND_TO_OPERAND[0](symbol.strip("_"), self, other) if is_overriding else NotImplemented


def twin_of(entry: str) -> Callable:
    """The function that does what an op does in place."""
    found: Any = OPS[entry]
    return found.call_inplace


INSTALL: list[Callable] = [lambda symbol, function: setattr(Tensor, symbol, function)]  # see watched.py


def slot(symbol: str, entry: str) -> None:
    """Give `Tensor` an operator over an op, whose function is made on first use."""

    def first_use(self: Tensor, *others: Any) -> Any:
        function = OPS[entry].call
        INSTALL[0](symbol, function)
        return function(self, *others)

    setattr(Tensor, symbol, first_use)


def inplace_slot(symbol: str, entry: str) -> None:
    """Give `Tensor` an augmented assignment over the in-place twin of an op."""

    def operator(self: Tensor, other: Any) -> Any:
        value = operand(other)
        return unknown(symbol, self, other) if value is NotImplemented else twin_of(entry)(self, value)

    setattr(Tensor, symbol, operator)


def attach(function: Callable) -> Callable:
    """Make a function of tensor and operand the operator of its name."""

    symbol = f"__{function.__name__.strip('_')}__"

    def operator(self: Tensor, other: Any) -> Any:
        value = operand(other)
        return unknown(symbol, self, other) if value is NotImplemented else function(self, value)

    def power(self: Tensor, other: Any, modulus: Any = None) -> Any:
        return NotImplemented if modulus is not None else operator(self, other)

    setattr(Tensor, symbol, power if symbol in ("__pow__", "__rpow__") else operator)
    return operator


def number_tensor(number: Any, like: Tensor) -> Tensor:
    """A tensor of another's shape and type, filled with a number."""
    return wrap(np.full(like._array.shape, number, like._array.dtype))


@attach
def rsub(self: Tensor, other: Any) -> Tensor:
    """`other - self`."""
    if call.in_formula():
        return calls.sub(number_tensor(other, self), self)
    return calls.rsub__Scalar(self, other) if isinstance(other, NUMBERS) else calls.rsub(self, other)


@attach
def rtruediv(self: Tensor, other: Any) -> Tensor:
    """`other / self`."""
    if call.in_formula():
        return calls.div(number_tensor(other, self), self)
    return calls.mul(calls.reciprocal(self), other)


def array_or_number_over(self: Tensor, other: Any, number_over: Callable = Tensor.__rtruediv__) -> Any:
    """`other / self`; the reciprocal is multiplied with whatever the other is, with an array by NumPy."""
    return calls.reciprocal(self) * other if isinstance(other, np.ndarray) else number_over(self, other)


Tensor.__rtruediv__ = array_or_number_over


@attach
def rfloordiv(self: Tensor, other: Any) -> Tensor:
    """`other // self`."""
    return calls.floor_divide(other, self)


@attach
def mod(self: Tensor, other: Any) -> Tensor:
    """`self % other`."""
    overload = "Tensor" if isinstance(other, Tensor) else "Scalar"
    return OPS[f"remainder.{overload}"].call(self, other)


@attach
def imod(self: Tensor, other: Any) -> Tensor:
    """`self %= other`."""
    overload = "Tensor" if isinstance(other, Tensor) else "Scalar"
    return twin_of(f"remainder.{overload}")(self, other)


@attach
def rmod(self: Tensor, other: Any) -> Tensor:
    """`other % self`."""
    if isinstance(other, Tensor):
        return calls.remainder__Tensor(other, self)
    return calls.remainder__Scalar_Tensor(other, self)


@attach
def pow_(self: Tensor, exponent: Any) -> Tensor:
    """`self ** exponent`."""
    if isinstance(exponent, Tensor):
        return calls.pow__Tensor_Tensor(self, exponent)
    return calls.pow__Tensor_Scalar(self, exponent)


@attach
def rpow(self: Tensor, base: Any) -> Tensor:
    """`base ** self`."""
    return calls.pow__Tensor_Tensor(base, self) if isinstance(base, Tensor) else calls.pow__Scalar(base, self)


@attach
def ipow(self: Tensor, exponent: Any) -> Tensor:
    """`self **= exponent`."""
    overload = "Tensor_Tensor" if isinstance(exponent, Tensor) else "Tensor_Scalar"
    return twin_of(f"pow.{overload}")(self, exponent)


@attach
def rlshift(self: Tensor, other: Any) -> Tensor:
    """`other << self`."""
    return calls.bitwise_left_shift__Tensor(other, self)


@attach
def rrshift(self: Tensor, other: Any) -> Tensor:
    """`other >> self`."""
    return calls.bitwise_right_shift__Tensor(other, self)


def equal(self: Tensor, other: Any) -> Any:
    """`self == other`; this operator alone takes arrays too."""
    return calls.eq__Tensor(self, from_numpy(other) if isinstance(other, np.ndarray) else other)


def matmul(self: Tensor, other: Any) -> Any:
    """`self @ other`: tensors alone."""
    return calls.matmul(self, other) if isinstance(other, Tensor) else unknown("matmul", self, other)


def rmatmul(self: Tensor, other: Any) -> Any:
    """`other @ self`, which Python asks first where `self` is of a subclass."""
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


def invert(self: Tensor) -> Tensor:
    """`~self`.

    Raises:
        TypeError: the elements are floating or complex numbers.
    """
    if self.dtype.category >= dtypes.FLOATING:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return calls.bitwise_not(self)


def wrapped(self: Tensor, array: np.ndarray) -> Tensor:
    """What NumPy makes of a result when a tensor was among its operands: booleans come out as bytes."""
    return from_numpy(array.astype(np.uint8) if array.dtype == bool else array)


BITS = {
    "and": "bitwise_and.Tensor",
    "or": "bitwise_or.Tensor",
    "xor": "bitwise_xor.Tensor",
    "lshift": "bitwise_left_shift.Tensor",
    "rshift": "bitwise_right_shift.Tensor",
}
ARITHMETIC = {
    "add": "add.Tensor",
    "sub": "sub.Tensor",
    "mul": "mul.Tensor",
    "truediv": "div.Tensor",
    "floordiv": "floor_divide",
}
COMPARISONS = {name: f"{name}.Tensor" for name in ("ne", "lt", "le", "gt", "ge")}
REFLECTED = {
    f"r{name}": (ARITHMETIC | BITS)[name] for name in ("add", "mul", "and", "or", "xor")
}  # those in which the order of operands does not matter
TWO_OPERANDS = ARITHMETIC | BITS | COMPARISONS | REFLECTED
IN_PLACE = {f"i{name}": entry for name, entry in (ARITHMETIC | BITS).items()}
for name, entry in TWO_OPERANDS.items():
    slot(f"__{name}__", entry)
for name, entry in IN_PLACE.items():
    inplace_slot(f"__{name}__", entry)
for name, entry in {"neg": "neg", "abs": "abs", "pos": "positive"}.items():
    slot(f"__{name}__", entry)
setattr(Tensor, "__rdiv__", Tensor.__rtruediv__)  # noqa: B010 - mypy knows neither
for name, function in {
    "eq": equal,
    "matmul": matmul,
    "rmatmul": rmatmul,
    "invert": invert,
    "array_wrap": wrapped,
}.items():
    setattr(Tensor, f"__{name}__", function)
