"""Special functions: error functions, gamma functions, Bessel functions, and their relatives. SciPy computes
them.
"""

from math import log, pi, sqrt

import numpy as np

from refgrad import dtypes, modes
from refgrad.op import calls, composite, op, unary
from refgrad.ops.checks import not_implemented, unreduced, with_number

# Kernels ----------------------------------------------------------------------------------------------------


def scipy_kernel(name, refusal, half=True):
    """A kernel over `scipy.special`, which is imported when it first runs."""

    def kernel(self, *others):
        if self.dtype.kind != "f":
            raise not_implemented(refusal, self)
        from scipy import special

        return getattr(special, name)(self, *others).astype(self.dtype, copy=False)

    return kernel if half else unreduced(refusal)(kernel)


# Error functions --------------------------------------------------------------------------------------------

unary(
    "erf",
    scipy_kernel("erf", "erf_vml_cpu"),
    lambda grad, self: 2.0 / sqrt(pi) * calls.exp(-self.pow(2)) * grad,
)
unary(
    "erfc",
    scipy_kernel("erfc", "erfc_vml_cpu"),
    lambda grad, self: -2.0 / sqrt(pi) * calls.exp(-self.pow(2)) * grad,
)
unary(
    "erfinv",
    lambda self: np.where(self == 0, self, scipy_kernel("erfinv", "erfinv_vml_cpu")(self)),
    lambda grad, self: 0.5 * sqrt(pi) * calls.exp(calls.erfinv(self).pow(2)) * grad,
)
unary(
    "special_erfcx",
    scipy_kernel("erfcx", "erfcx_cpu", half=False),
    lambda grad, self, result: (2.0 * self * result - 2.0 / sqrt(pi)) * grad,
    inplace=False,
)
unary(
    "special_ndtri",
    scipy_kernel("ndtri", "ndtri_cpu", half=False),
    lambda grad, result: grad * sqrt(2 * pi) * calls.exp(calls.square(result) / 2),
    inplace=False,
)
unary(
    "special_log_ndtr",
    scipy_kernel("log_ndtr", "log_ndtr_cpu", half=False),
    lambda grad, self, result: grad / sqrt(2 * pi) * calls.exp(-(result + self.pow(2) / 2)),
    inplace=False,
)


@composite("special_ndtr(Tensor self) -> Tensor")
def special_ndtr(self):
    halves = calls.erf(calls.mul__Scalar(self, sqrt(0.5)))
    return calls.mul__Scalar(calls.add__Scalar(halves, 1), 0.5)


# Gamma functions --------------------------------------------------------------------------------------------


def digamma_of(array):
    """The logarithmic derivative of gamma, with the sign of infinity that a zero has."""
    result = scipy_kernel("digamma", "digamma")(array)
    return np.where(array == 0, np.copysign(array.dtype.type(np.inf), -array), result)


def lgamma_of(array):
    """The logarithm of the absolute value of gamma, infinite at both infinities."""
    result = scipy_kernel("gammaln", "lgamma_vml_cpu")(array)
    return np.where(np.isinf(array), array.dtype.type(np.inf), result) if array.dtype.kind == "f" else result


unary("lgamma", lgamma_of, lambda grad, self: grad * calls.digamma(self))
unary("digamma", digamma_of, lambda grad, self: grad * calls.polygamma(1, self))


def polygamma_of(n, array):
    """The derivative of order n of digamma."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if array.dtype.kind != "f":
        raise not_implemented("trigamma" if n == 1 else "digamma" if n == 0 else "polygamma", array)
    if n < 2:
        return trigamma_of(array) if n else digamma_of(array)
    from scipy import special

    wide = array.astype(np.float64)
    result = (-1) ** (n + 1) * special.gamma(n + 1.0) * special.zeta(n + 1.0, wide)
    return np.where(np.isposinf(wide), np.nan, result).astype(array.dtype)


def trigamma_of(array):
    """The derivative of digamma: reflected below a half, stepped up by six, and then its asymptotic series.

    Beside the poles the rounding of the reflection shows, in PyTorch as here.
    """
    kind = array.dtype.type
    below = array < kind(0.5)
    sine = np.sin(kind(np.pi) * array)
    x = np.where(below, 1 - array, array)
    result = np.where(below, -kind(np.pi) * kind(np.pi) / (sine * sine), kind(0))
    for _ in range(6):
        result = result + 1 / (x * x)
        x = x + 1
    inverse = 1 / (x * x)
    series = inverse * (kind(1 / 6) - inverse * (kind(1 / 30) - inverse * kind(1 / 42)))
    result = result + (1 + 1 / (2 * x) + series) / x
    return np.where(below, -result, result)


@op(
    "polygamma(int n, Tensor self) -> Tensor",
    promote="float",
    self=lambda grad, n, self: grad * calls.polygamma(n + 1, self),
)
def polygamma(n, self):
    return polygamma_of(n, self)


@op(
    "polygamma_(Tensor(a!) self, int n) -> Tensor(a!)",
    node="PolygammaBackward1",
    self=lambda grad, n, self: grad * calls.polygamma(n + 1, self),
)
def polygamma_(self, n):
    return polygamma_of(n, self)


def mvlgamma_back(grad, self, p):
    """The gradient of the logarithm of the multivariate gamma function."""
    steps = calls.arange__start_step(-p / 2.0 + 0.5, 0.5, 0.5).to(self.dtype)
    return grad * calls.digamma(steps + self.unsqueeze(-1)).sum(-1)


@op(
    "mvlgamma(Tensor self, int p) -> Tensor",
    promote="float",
    inplace=True,
    self=lambda grad, self, p: mvlgamma_back(grad, self, p),
)
def mvlgamma(self, p):
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if self.dtype.kind != "f":
        raise not_implemented("arange_cpu", self)
    from scipy import special

    steps = np.arange(-p / 2.0 + 0.5, 0.5, 0.5)
    total = special.gammaln(self[..., None] + steps).sum(-1) + p * (p - 1) * log(pi) / 4
    return np.asarray(total).astype(self.dtype)


def gamma_density(self, other):
    """The derivative of the incomplete gamma function along its second argument."""
    return calls.exp((self - 1) * calls.log(other) - other - calls.lgamma(self))


def no_derivative(name):
    """A formula that refuses, in PyTorch's words."""

    def formula(grad):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return formula


op(
    "igamma(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    inplace=True,
    self=no_derivative("igamma: input"),
    other=lambda grad, self, other: grad * gamma_density(self, other),
)(scipy_kernel("gammainc", "igamma_cpu"))
op(
    "igammac(Tensor self, Tensor other) -> Tensor",
    promote="arithmetic",
    inplace=True,
    self=no_derivative("igammac: input"),
    other=lambda grad, self, other: -grad * gamma_density(self, other),
)(scipy_kernel("gammaincc", "igammac_cpu"))


def with_number_first(names, kernel, self_formula, other_formula, title, **options):
    """Declare a function of two variables, and its overload for a number as the first."""
    op(
        f"{names[0]}(Tensor self, Tensor other) -> Tensor",
        promote="float",
        node=f"{title}Backward0",
        self=self_formula,
        other=other_formula,
        **options,
    )(kernel)
    op(
        f"{names[1]}(Scalar self, Tensor other) -> Tensor",
        laid_out_by="other, self",
        node=f"{title}Backward1",
        other=other_formula,
    )(with_number("float", kernel))


@unreduced("zeta_cpu")
def zeta_of(first, second):
    """The Hurwitz zeta function."""
    result = scipy_kernel("zeta", "zeta_cpu")(first, second)
    return np.where((second == np.inf) & (first > 1), result.dtype.type(np.nan), result)


with_number_first(
    ("special_zeta", "special_zeta.self_scalar"),
    zeta_of,
    no_derivative("zeta"),
    lambda grad, self, other: grad * -self * calls.special_zeta(self + 1.0, other),
    "SpecialZeta",
)
op(
    "special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor",
    node="SpecialZetaBackward2",
    self=no_derivative("zeta"),
)(with_number("float", zeta_of))

# Products with logarithms -----------------------------------------------------------------------------------


def xlogy_of(first, second):
    """x log y, zero where x is, unless y is NaN."""
    return np.where(
        np.isnan(second), second, np.where(first == 0, first.dtype.type(0), first * np.log(second))
    )


def xlog1py_of(first, second):
    """x log(1 + y), zero where x is, unless y is NaN."""
    return np.where(
        np.isnan(second), second, np.where(first == 0, first.dtype.type(0), first * np.log1p(second))
    )


def real_only(refusal, function):
    """A kernel of two operands that refuses complex ones."""

    def kernel(self, other):
        if np.iscomplexobj(self):
            raise not_implemented(refusal, self)
        return function(self, other)

    kernel.reduced = "own"
    return kernel


with_number_first(
    ("xlogy.Tensor", "xlogy.Scalar_Self"),
    real_only("xlogy_cpu", xlogy_of),
    lambda grad, self, other: calls.masked_fill(
        calls.xlogy(grad, other), calls.bitwise_and(self == 0.0, other <= 0.0), 0.0
    ),
    lambda grad, self, other: grad * self / other,
    "Xlogy",
    inplace=True,
)
op(
    "xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
    node="XlogyBackward2",
    laid_out_by="self, other",
    inplace=True,
    self=lambda grad, self, other: masked_at_zero(calls.xlogy__Scalar_Other(grad, other), self, other > 0.0),
)(with_number("float", real_only("xlogy_cpu", xlogy_of)))
with_number_first(
    ("special_xlog1py", "special_xlog1py.self_scalar"),
    real_only("xlog1py_cpu", xlog1py_of),
    lambda grad, self, other: calls.masked_fill(
        calls.special_xlog1py(grad, other), calls.bitwise_and(self == 0.0, other <= -1.0), 0.0
    ),
    lambda grad, self, other: grad * self / (other + 1),
    "SpecialXlog1Py",
)
op(
    "special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor",
    node="SpecialXlog1PyBackward2",
    laid_out_by="self, other",
    self=lambda grad, self, other: masked_at_zero(
        calls.special_xlog1py__other_scalar(grad, other), self, other > -1.0
    ),
)(with_number("float", real_only("xlog1py_cpu", xlog1py_of)))


def masked_at_zero(slope, self, regular):
    """The slope, zero where the first operand is, unless the logarithm is regular."""
    return slope if regular else calls.masked_fill(slope, self == 0.0, 0.0)


def entropy(array):
    """-x log x, zero at zero, minus infinity below."""
    if array.dtype.kind not in "fV":
        raise not_implemented("entr_cpu", array)
    kind = array.dtype.type
    inside = np.where(array > 0, -array * np.log(array), np.where(array == 0, kind(0), kind(-np.inf)))
    return np.where(np.isnan(array), array, inside)


unary("special_entr", entropy, lambda grad, self: grad * -(1 + self.log()), inplace=False, reduced="own")


def odds(array, eps):
    """log(x / (1 - x)), with x kept away from the ends by `eps`."""
    if array.dtype.kind not in "fV":
        raise not_implemented("logit_cpu", array)
    one = array.dtype.type(1)
    if eps is not None:
        low = array.dtype.type(eps)
        array = np.where(array < low, low, np.where(array > one - low, one - low, array))
    return np.log(array / (one - array))


def logit_back(grad, self, eps):
    """The gradient of `logit`: NaN outside its domain, none where `eps` cut it off."""
    slope = grad / (self * (1.0 - self))
    low = 0.0 if eps is None else eps
    outside = calls.full((), float("nan") if eps is None else 0.0, dtype=self.dtype)
    if modes.grad_enabled():
        return calls.where__self(calls.logical_and(self >= low, self <= 1.0 - low), slope, outside)
    cut = calls.logical_or(self < low, self > 1.0 - low)
    if eps is None:
        slope = calls.where__self(self == 0.0, grad * float("inf"), slope)  # for a negative zero, too
    return calls.where__self(calls.logical_not(cut), slope, outside)


@op(
    "logit(Tensor self, float? eps=None) -> Tensor",
    reduced="own",
    promote="float",
    inplace=True,
    self=lambda grad, self, eps: logit_back(grad, self, eps),
)
def logit(self, eps):
    return odds(self, eps)


# sinc and Bessel functions ----------------------------------------------------------------------------------


def sinc_of(array):
    """sin(pi x) / (pi x), one at zero."""
    angle = array * array.dtype.type(pi)
    return np.where(array == 0, array.dtype.type(1), np.sin(angle) / angle)


def sinc_back(grad, self):
    """The gradient of `sinc`, zero at zero."""
    angle = self * pi
    square = self * self * pi
    sine = angle.sin()
    slope = grad * ((angle * angle.cos() - sine) / square).conj()
    return calls.where__self(square == 0.0, grad.new_zeros(()), slope)


unary("sinc", sinc_of, lambda grad, self: sinc_back(grad, self))
unary("i0", scipy_kernel("i0", "i0_vml_cpu"), lambda grad, self: grad * calls.special_i1(self))


def i0e_back(grad, self, result):
    """The gradient of `special_i0e`; in PyTorch the right side of the difference is recorded first."""
    signed = self.sgn() * result
    return grad * (calls.special_i1e(self) - signed)


unary(
    "special_i0e",
    scipy_kernel("i0e", "i0e_cpu"),
    lambda grad, self, result: i0e_back(grad, self, result),
    inplace=False,
    node="SpecialI0EBackward0",
)


def i1_back(grad, self, result, slope):
    """The gradient of a function that behaves like x / 2 near zero."""
    eps = float(dtypes.finfo(self.dtype).eps)
    regular = calls.abs(self) > eps
    safe = calls.where__self(regular, self, calls.full((), eps, dtype=self.dtype))
    half = calls.full((), 0.5, dtype=self.dtype)
    return grad * calls.where__self(regular, slope(safe, result), half)


unary(
    "special_i1",
    scipy_kernel("i1", "i1_cpu"),
    lambda grad, self, result: i1_back(
        grad, self, result, lambda x, result: calls.i0(x) - result * calls.reciprocal(x)
    ),
    inplace=False,
)
unary(
    "special_i1e",
    scipy_kernel("i1e", "i1e_cpu"),
    lambda grad, self, result: i1_back(
        grad,
        self,
        result,
        lambda x, result: calls.special_i0e(x) - result * (x.sgn() + calls.reciprocal(x)),
    ),
    inplace=False,
    node="SpecialI1EBackward0",
)

BESSEL = {
    "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "modified_bessel_i0": "i0",
    "modified_bessel_i1": "i1", "modified_bessel_k0": "k0", "modified_bessel_k1": "k1",
    "scaled_modified_bessel_k0": "k0e", "scaled_modified_bessel_k1": "k1e",
}  # fmt: skip
for name, function in BESSEL.items():
    operand = "x" if name.startswith("scaled") else "self"
    op(f"special_{name}(Tensor {operand}) -> Tensor", promote="float")(
        scipy_kernel(function, f"{name}_cpu", half=False)
    )

# Angles -----------------------------------------------------------------------------------------------------


def unit_change(name, factor):
    """Declare a change of the unit of angles."""

    def kernel(self):
        if self.dtype.kind == "c":
            raise RuntimeError(f"{name} is not supported for complex tensors.")
        return self * self.dtype.type(factor)

    title = {"deg2rad": "Deg2RadBackward0", "rad2deg": "Rad2DegBackward0"}[name]
    unary(name, kernel, lambda grad: grad * factor, node=title, laid_out_by="self, False")


unit_change("deg2rad", pi / 180)
unit_change("rad2deg", 180 / pi)
