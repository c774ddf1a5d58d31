"""`assert_close`: comparing numbers, tensors, and what holds them.

*Place*: the indices and keys that lead to an item. *Mismatch*: an exception type, a text and a place; the
first one found is raised.

Source: `torch.testing.assert_close` in PyTorch's docs.
"""

import cmath
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

import refgrad
from refgrad.tensor import Tensor

# By itemsize of the real part: relative and absolute tolerance.
TOLERANCES = {2: (1e-3, 1e-5), 4: (1.3e-6, 1e-5), 8: (1e-7, 1e-7)}
OF_NUMBERS = {int: (0.0, 0.0), float: TOLERANCES[8], complex: TOLERANCES[8]}
NUMBERS = (int, float, complex, np.number)


class Mismatch(Exception):
    """What is wrong, before the caller's message is known."""

    def __init__(self, kind: type[Exception], text: str, place: tuple = ()):
        super().__init__(text)
        self.kind, self.text, self.place = kind, text, place

    def error(self, message: Any) -> Exception:
        """The exception to raise; `message` replaces its text, or makes a new one of it."""
        if isinstance(message, str):
            return self.kind(message)
        text = self.text
        if self.place:
            text += f"\n\nThe failure occurred for item {''.join(str([step]) for step in self.place)}"
        return self.kind(message(text) if callable(message) else text)


class NoNumber(Exception):
    """A boolean met a number, or a subclass of a number's type: PyTorch has no tolerance for it."""

    def at(self, place: tuple) -> RuntimeError:
        """The exception to raise."""
        first, second = (f"{type(value).__name__}(): {value}" for value in self.args)
        item = "".join(str([step]) for step in place)
        return RuntimeError(
            f"Originating a NumberPair() at item {item} with\n\n"
            f"{first}\n\n"
            "and\n\n"
            f"{second}\n\n"
            "resulted in the unexpected exception above. If you are a user and see this message during "
            "normal operation please file an issue at https://github.com/pytorch/pytorch/issues. If you are "
            "a developer and working on the comparison functions, please except the previous error and raise "
            "an expressive `ErrorMeta` instead."
        )


@dataclass(frozen=True)
class Rules:
    """What counts as close."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, actual: tuple[float, float], expected: tuple[float, float]) -> tuple[float, float]:
        """The tolerances that were given, or the looser ones of two defaults.

        Raises:
            Mismatch: only one was given.
        """
        if (self.rtol is None) != (self.atol is None):
            missing = "rtol" if self.rtol is None else "atol"
            raise Mismatch(
                ValueError,
                f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.",
            )
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        return max(actual[0], expected[0]), max(actual[1], expected[1])


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Assert that two values are close: tensors, numbers, None, or sequences and mappings of them.

    Raises:
        AssertionError: they are not; `msg` replaces the text, or makes another of it.
        TypeError: they cannot be compared.
        ValueError: only one of `rtol` and `atol` is given.
    """
    rules = Rules(
        allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride
    )
    try:
        comparisons = list(pairs(actual, expected, rules, ()))
    except Mismatch as mismatch:
        raise mismatch.error(None) from None
    for place, compare in comparisons:
        try:
            compare()
        except Mismatch as mismatch:
            mismatch.place = place
            raise mismatch.error(msg) from None


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The deprecated form of `assert_close`, with looser tolerances and without the dtype."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    if not isinstance(actual, Tensor):
        actual = refgrad.tensor(actual)  # type: ignore[operator]
    if not isinstance(expected, Tensor):
        expected = refgrad.tensor(expected, dtype=actual.dtype)  # type: ignore[operator]
    if rtol is None and atol is None:
        loose = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}
        found = [loose.get(tensor.dtype.name, (0.0, 0.0)) for tensor in (actual, expected)]
        rtol, atol = (max(each) for each in zip(*found, strict=True))
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None
    )


# Finding what to compare ------------------------------------------------------------------------------------


def pairs(actual: Any, expected: Any, rules: Rules, place: tuple) -> Iterator[tuple[tuple, Callable]]:
    """The places of the items in two values, each with the function that compares them.

    Raises:
        Mismatch: lengths or keys differ, or two items cannot be compared.
    """
    if all(isinstance(value, Sequence) and not isinstance(value, str) for value in (actual, expected)):
        if len(actual) != len(expected):
            raise Mismatch(
                AssertionError,
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}",
                place,
            )
        for index in range(len(actual)):
            yield from pairs(actual[index], expected[index], rules, (*place, index))
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        for key in common_keys(actual, expected, place):
            yield from pairs(actual[key], expected[key], rules, (*place, key))
    else:
        try:
            yield place, comparison(actual, expected, rules)
        except NoNumber as error:
            raise error.at(place) from None
        except Mismatch as mismatch:
            mismatch.place = place
            raise


def common_keys(actual: Mapping, expected: Mapping, place: tuple) -> list:
    """The keys of two mappings, sorted if they can be.

    Raises:
        Mismatch: they differ.
    """
    if actual.keys() != expected.keys():
        raise Mismatch(
            AssertionError,
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(expected.keys() - actual.keys())}\n"
            f"Additional keys in the actual mapping: {sorted(actual.keys() - expected.keys())}",
            place,
        )
    try:
        return sorted(actual)
    except TypeError:
        return list(actual)


def comparison(actual: Any, expected: Any, rules: Rules) -> Callable[[], None]:
    """The function that compares two items.

    Raises:
        Mismatch: there is none.
    """
    both = (actual, expected)
    if actual is None or expected is None:
        return lambda: compare_none(actual, expected)
    if all(isinstance(value, (bool, np.bool_)) for value in both):
        return lambda: compare_booleans(bool(actual), bool(expected))
    if all(isinstance(value, NUMBERS) for value in both):
        one, other = [value.item() if isinstance(value, np.number) else value for value in both]
        if type(one) not in OF_NUMBERS or type(other) not in OF_NUMBERS:
            raise NoNumber(actual, expected)
        rtol, atol = rules.tolerances(OF_NUMBERS[type(one)], OF_NUMBERS[type(other)])
        return lambda: compare_numbers(one, other, rtol, atol, rules)
    if are_related(actual, expected, rules):
        first, second = (as_tensor(value) for value in both)
        if first is not None and second is not None:
            rtol, atol = rules.tolerances(tolerances_of(first), tolerances_of(second))
            return lambda: compare_tensors(first, second, rtol, atol, rules)
    kinds = f"{shown_type(actual)} and {shown_type(expected)}"
    raise Mismatch(TypeError, f"No comparison pair was able to handle inputs of type {kinds}.")


def shown_type(value: Any) -> str:
    """A value's type as PyTorch shows it."""
    return "<class 'torch.Tensor'>" if type(value) is Tensor else str(type(value))


def are_related(actual: Any, expected: Any, rules: Rules) -> bool:
    """Whether one value is of the other's type; of the same one unless subclasses are allowed."""
    if type(actual) is type(expected):
        return True
    is_sub = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    return rules.allow_subclasses and is_sub


def as_tensor(value: Any) -> Tensor | None:
    """A value as a tensor; None if it is none."""
    if isinstance(value, Tensor):
        return value
    try:
        return refgrad.as_tensor(value)
    except Exception:
        return None


def tolerances_of(tensor: Tensor) -> tuple[float, float]:
    """The default tolerances for a tensor's dtype."""
    dtype = tensor.dtype
    if dtype.name == "bfloat16":
        return 1.6e-2, 1e-5
    if not (dtype.is_floating_point or dtype.is_complex):
        return 0.0, 0.0
    return TOLERANCES[dtype.to_real().itemsize]


# Comparing --------------------------------------------------------------------------------------------------


def fail(text: str) -> NoReturn:
    """Report two items that are not close.

    Raises:
        Mismatch: in any case.
    """
    raise Mismatch(AssertionError, text)


def compare_none(actual: Any, expected: Any) -> None:
    """Both are None."""
    if actual is not expected:
        fail(f"None mismatch: {actual} is not {expected}")


def compare_booleans(actual: bool, expected: bool) -> None:
    """They are the same."""
    if actual is not expected:
        fail(f"Booleans mismatch: {actual} is not {expected}")


def compare_numbers(actual: Any, expected: Any, rtol: float, atol: float, rules: Rules) -> None:
    """They are of one type and close."""
    if rules.check_dtype and type(actual) is not type(expected):
        fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.")
    if actual == expected or rules.equal_nan and cmath.isnan(actual) and cmath.isnan(expected):
        return
    difference = abs(actual - expected)
    if not (cmath.isfinite(difference) and difference <= atol + rtol * abs(expected)):
        fail(scalar_report(actual, expected, rtol, atol))


def compare_tensors(actual: Tensor, expected: Tensor, rtol: float, atol: float, rules: Rules) -> None:
    """Attributes agree, then values are close in the common type."""
    for name, one, other in attributes(actual, expected, rules):
        if one != other:
            fail(f"The values for attribute '{name}' do not match: {one} != {other}.")
    if actual.dtype != expected.dtype:
        dtype = refgrad.promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(dtype), expected.to(dtype)
    matches = refgrad.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=rules.equal_nan)
    if refgrad.all(matches):
        return
    if actual.dim() == 0:
        fail(scalar_report(actual.item(), expected.item(), rtol, atol))
    fail(tensor_report(actual, expected, matches, rtol, atol))


def attributes(actual: Tensor, expected: Tensor, rules: Rules) -> Iterator[tuple[str, Any, Any]]:
    """The attributes that have to agree."""
    yield "shape", actual.shape, expected.shape
    if rules.check_stride:
        yield "stride()", actual.stride(), expected.stride()
    if rules.check_device:
        yield "device", actual.device, expected.device
    if rules.check_dtype:
        yield "dtype", actual.dtype, expected.dtype


# Reports ----------------------------------------------------------------------------------------------------


def report(title: str, detail: str, lines: list[str], rtol: float, atol: float) -> str:
    """A report on how far apart two items are: what, how many, the absolute and the relative difference."""
    exact = rtol == 0 and atol == 0
    head = f"{title} are not {'equal' if exact else 'close'}!\n\n{detail}\n"
    limits = ["" if exact else f" (up to {limit} allowed)" for limit in (atol, rtol)]
    return head + "\n".join(line + limit for line, limit in zip(lines, limits, strict=True))


def scalar_report(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    """The report on two numbers."""
    absolute = abs(actual - expected)
    relative = float("inf") if expected == 0 else absolute / abs(expected)
    lines = [f"Absolute difference: {absolute}", f"Relative difference: {relative}"]
    return report("Scalars", f"Expected {expected} but got {actual}.", lines, rtol, atol)


def tensor_report(actual: Tensor, expected: Tensor, matches: Tensor, rtol: float, atol: float) -> str:
    """The report on two tensors, with the elements that are farthest apart."""
    count = matches.numel()
    missed = count - int(matches.sum())
    detail = f"Mismatched elements: {missed} / {count} ({missed / count:.1%})"
    one, other = (tensor.detach().flatten() for tensor in (actual, expected))
    if not (one.dtype.is_floating_point or one.dtype.is_complex):
        one, other = one.to(refgrad.int64), other.to(refgrad.int64)
    absolute = refgrad.abs(one - other)
    absolute[matches.flatten()] = 0
    relative = absolute / refgrad.abs(other)
    relative[matches.flatten()] = 0
    lines = []
    for name, differences in (("absolute", absolute), ("relative", relative)):
        greatest, position = refgrad.max(differences, 0)
        place = tuple(int(step) for step in np.unravel_index(int(position), tuple(matches.shape)))
        lines.append(f"Greatest {name} difference: {greatest.item()} at index {place}")
    return report("Tensor-likes", detail, lines, rtol, atol)
