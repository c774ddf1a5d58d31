"""Ops that round, which have no slope, and what rounding leaves over."""

import numpy as np

from refgrad import dtypes
from refgrad.op import calls, op
from refgrad.ops.checks import not_implemented


def rounding(name, function, complex_error="{} is not supported for complex inputs"):
    """Declare a rounding op; integers stay what they are."""

    def kernel(self):
        if self.dtype.kind == "c" and complex_error:
            raise NotImplementedError(complex_error.format(name))
        if self.dtype.kind in "bc":
            raise not_implemented(f"{name}_vml_cpu", self)
        return self.copy(order="K") if self.dtype.kind in "iu" else function(self)

    return op(
        f"{name}(Tensor self) -> Tensor",
        promote="same",
        inplace=True,
        self=lambda grad: calls.zeros_like(grad),
    )(kernel)


floor = rounding("floor", np.floor)
ceil = rounding("ceil", np.ceil)
trunc = rounding("trunc", np.trunc)
round_ = rounding("round", np.rint, complex_error="")


def rounded_to(array, decimals):
    """Floats rounded to a number of decimals, negative ones in front of the point."""
    scale = array.dtype.type(10.0 ** abs(decimals))
    return np.rint(array / scale) * scale if decimals < 0 else np.rint(array * scale) / scale


@op(
    "round.decimals(Tensor self, *, int decimals) -> Tensor",
    promote="same",
    inplace=True,
    node="RoundBackward1",
    self=lambda grad: calls.zeros_like(grad),
)
def round_decimals(self, decimals):
    if decimals == 0:
        return round_.kernel(self)
    if self.dtype.kind != "f":
        raise not_implemented("round_cpu", self)
    return rounded_to(self, decimals)


@op("frac(Tensor self) -> Tensor", promote="same", inplace=True, self=lambda grad: grad)
def frac(self):
    if self.dtype.kind != "f":
        raise not_implemented("frac_cpu", self)
    return self - np.trunc(self)


@op(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    reduced="own",
    promote="same",
    laid_out_by="self, False",
    inplace=True,
    real_gradient=True,
    self=lambda grad, self: grad * calls.isfinite(self),
)
def nan_to_num(self, nan, posinf, neginf):
    if self.dtype.kind not in "fcV":
        return self.copy(order="K")
    if self.dtype.kind == "c":
        result = np.empty_like(self)
        result.real = nan_to_num.kernel(self.real, nan, posinf, neginf)
        result.imag = nan_to_num.kernel(self.imag, nan, posinf, neginf)
        return result
    limits = dtypes.finfo(dtypes.OF_NUMPY[self.dtype])
    nan = 0.0 if nan is None else nan
    posinf = limits.max if posinf is None else posinf
    neginf = limits.min if neginf is None else neginf
    kind = self.dtype.type
    result = np.where(np.isnan(self), kind(nan), self)
    return np.where(self == np.inf, kind(posinf), np.where(self == -np.inf, kind(neginf), result))
