"""Comparison, logic, bits, and the tests for special numbers."""

import numpy as np

from refgrad import call, dtypes
from refgrad.layout import broadcast_shapes
from refgrad.lazy import plain
from refgrad.op import OPS, calls, composite, op
from refgrad.ops.checks import kind_name, not_implemented, together, with_number, written_zeros
from refgrad.storage import count_write
from refgrad.tensor import wrap

# Comparison -------------------------------------------------------------------------------------------------


def comparison(name, synonym, function, orders=True):
    """Declare a comparison with tensor and with number; in place it is part of the graph, with zeros."""

    def kernel(self, other):
        if orders and self.dtype.kind == "c":
            raise not_implemented(f"{name}_cpu", self)
        return function(self, other)

    title = name.title()
    op(
        f"{name}.Tensor(Tensor self, Tensor other) -> Tensor",
        promote="arithmetic",
        inplace=True,
        inplace_node=f"{title}Backward1",
        inplace_formulas={
            "self": lambda grad, self_info: written_zeros(grad, self_info),
            "other": lambda grad, other_info: written_zeros(grad, other_info),
        },
    )(kernel)
    op(
        f"{name}.Scalar(Tensor self, Scalar other) -> Tensor",
        laid_out_by="self, other",
        inplace=True,
        inplace_node=f"{title}Backward0",
        inplace_formulas={"self": lambda grad, self_info: written_zeros(grad, self_info)},
    )(with_number("arithmetic", kernel))
    for kind in ("Tensor", "Scalar") if synonym else ():
        rename(f"{synonym}.{kind}(Tensor self, {kind} other) -> Tensor", OPS[f"{name}.{kind}"], "call")
        rename(
            f"{synonym}_.{kind}(Tensor(a!) self, {kind} other) -> Tensor(a!)",
            OPS[f"{name}.{kind}"],
            "call_inplace",
        )


def rename(text, entry, use="call"):
    """Declare another name for an op of two operands."""
    composite(text)(lambda self, other: getattr(entry, use)(self, other))


comparison("eq", "", np.equal, orders=False)
comparison("ne", "not_equal", np.not_equal, orders=False)
comparison("lt", "less", np.less)
comparison("le", "less_equal", np.less_equal)
comparison("gt", "greater", np.greater)
comparison("ge", "greater_equal", np.greater_equal)


@composite("equal(Tensor self, Tensor other) -> bool")
def equal(self, other):
    first, second = together("arithmetic", plain(self._array), plain(other._array))
    return np.array_equal(first, second)


# Logic ------------------------------------------------------------------------------------------------------


def written(self, result):
    """Put a result into a tensor's memory behind autograd's back: logical ops do not refuse leaves."""
    call.check_write(self)
    call.write(self, result._array)
    return self


def logical(name, function):
    """Declare a logical op of two operands of any type; in place the result keeps the target's type."""
    entry = op(f"{name}(Tensor self, Tensor other) -> Tensor", promote="arithmetic")(
        lambda self, other: function(self, other)
    )
    composite(f"{name}_(Tensor(a!) self, Tensor other) -> Tensor(a!)")(
        lambda self, other: written(self, entry.call(self, other))
    )


logical("logical_and", np.logical_and)
logical("logical_or", np.logical_or)
logical("logical_xor", np.logical_xor)


@op("logical_not(Tensor self) -> Tensor", promote="same")
def logical_not(self):
    return np.logical_not(self)


@composite("logical_not_(Tensor(a!) self) -> Tensor(a!)")
def logical_not_(self):
    return written(self, logical_not.call(self))


# Bits -------------------------------------------------------------------------------------------------------


@op("bitwise_not(Tensor self) -> Tensor", inplace=True, promote="same")
def bitwise_not(self):
    if self.dtype.kind in "fc":
        raise not_implemented("bitwise_not_cpu", self)
    return np.invert(self)


def bitwise(name, function, kernel_name, shifts=False):
    """Declare an op on the bits of two operands; either may be a number."""

    def kernel(self, other):
        if self.dtype.kind in ("fcb" if shifts else "fc"):
            broadcast_shapes(self.shape, np.shape(other))
            raise not_implemented(kernel_name, self)
        return function(self, other)

    entry = op(f"{name}.Tensor(Tensor self, Tensor other) -> Tensor", promote="arithmetic", inplace=True)(
        kernel
    )
    overload = "Tensor_Scalar" if shifts else "Scalar"
    rename(f"{name}.{overload}(Tensor self, Scalar other) -> Tensor", entry)
    rename(f"{name}_.{overload}(Tensor(a!) self, Scalar other) -> Tensor(a!)", entry, "call_inplace")
    rename(f"{name}.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", entry)


bitwise("bitwise_and", np.bitwise_and, "bitwise_and_cpu")
bitwise("bitwise_or", np.bitwise_or, "bitwise_or_cpu")
bitwise("bitwise_xor", np.bitwise_xor, "bitwise_xor_cpu")
bitwise("bitwise_left_shift", np.left_shift, "lshift_cpu", shifts=True)
bitwise("bitwise_right_shift", np.right_shift, "rshift_cpu", shifts=True)

# Special numbers --------------------------------------------------------------------------------------------


def special_test(name, function, exact=False):
    """Declare a test for special numbers; `exact` is the answer for types that have none."""

    @op(f"{name}(Tensor self) -> Tensor", laid_out_by="self, False" if name == "isreal" else "self")
    def kernel(self):
        if self.dtype.kind not in "fc":
            return np.full(self.shape, exact)
        return function(self)


def signed_infinity(name, function):
    """Declare the test for an infinity of one sign."""

    @op(f"{name}(Tensor self) -> Tensor", laid_out_by="self")
    def kernel(self):
        if self.dtype.kind == "c":
            raise RuntimeError(f"{name} does not support complex inputs.")
        return function(self) if self.dtype.kind == "f" else np.zeros(self.shape, bool)


special_test("isnan", np.isnan)
special_test("isinf", np.isinf)
special_test("isfinite", np.isfinite, exact=True)
special_test(
    "isreal", lambda self: self.imag == 0 if self.dtype.kind == "c" else np.ones(self.shape, bool), exact=True
)
signed_infinity("isposinf", np.isposinf)
signed_infinity("isneginf", np.isneginf)


def closeness(first, second, rtol, atol, equal_nan):
    """Where |first - second| <= atol + rtol * |second|; equal infinities are close."""
    if first.dtype != second.dtype:
        raise RuntimeError(f"{kind_name(first)} did not match {kind_name(second)}")
    if rtol < 0:
        raise RuntimeError(f"rtol must be greater than or equal to zero, but got {rtol:g}")
    if atol < 0:
        raise RuntimeError(f"atol must be greater than or equal to zero, but got {atol:g}")
    broadcast_shapes(first.shape, second.shape)
    close = np.equal(first, second)
    if equal_nan:
        close = close | (np.isnan(first) & np.isnan(second))
    if rtol == 0 and atol == 0:
        return close
    if first.dtype.kind not in "fc":
        first, second = first.astype(dtypes.default().numpy), second.astype(dtypes.default().numpy)
    kind = np.abs(second).dtype.type
    allowed = kind(atol) + np.abs(kind(rtol) * second)
    apart = np.abs(first - second)
    return close | (np.isfinite(apart) & (apart <= allowed))


@composite(
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor"
)
def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """What is equal is written over by what is close, so the result has versions."""
    array = plain(self._array)
    close = wrap(closeness(array, plain(other._array), rtol, atol, equal_nan))
    for is_written in (equal_nan and array.dtype.kind in "fc", rtol != 0 or atol != 0):
        if is_written:
            count_write(close)
    return close


@composite(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool"
)
def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(calls.isclose(self, other, rtol, atol, equal_nan)._array.all())


def membership(elements, test_elements, assume_unique, invert):
    """Which elements are among others."""
    first, second = together("arithmetic", elements, test_elements)
    return np.asarray(np.isin(first, second, invert=invert))


for elements, tests, overload in (
    ("Tensor elements", "Tensor test_elements", "Tensor_Tensor"),
    ("Tensor elements", "Scalar test_element", "Tensor_Scalar"),
    ("Scalar element", "Tensor test_elements", "Scalar_Tensor"),
):
    op(f"isin.{overload}({elements}, {tests}, *, bool assume_unique=False, bool invert=False) -> Tensor")(
        membership
    )
