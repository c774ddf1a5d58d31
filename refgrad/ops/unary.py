"""Pointwise ops of one operand: signs, exponentials, trigonometry, roots."""

from math import log

import numpy as np

from refgrad import return_types
from refgrad.dtypes import REDUCED
from refgrad.layout import widened
from refgrad.op import calls, composite, op, unary
from refgrad.ops.checks import first_of_equals, not_implemented
from refgrad.ops.copying import number_in
from refgrad.tensor import wrap

BOOL_NEGATION = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
    "use the `~` or "
    "`logical_not()` operator instead."
)

# Signs ------------------------------------------------------------------------------------------------------


@op("neg(Tensor self) -> Tensor", inplace=True, promote="same", self=lambda grad: -grad)
def neg(self):
    if self.dtype == bool:
        raise RuntimeError(BOOL_NEGATION)
    return np.negative(self)


@composite("positive(Tensor(a) self) -> Tensor(a)")
def positive(self):
    if self._array.dtype == bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


@op("abs(Tensor self) -> Tensor", promote="same", self=lambda grad, self: grad * self.sgn())
def abs_(self):
    if self.dtype == bool:
        raise not_implemented("abs_cpu", self)
    return np.abs(self)


@op(
    "abs_(Tensor(a!) self) -> Tensor(a!)",
    node="AbsBackward0",
    self=lambda grad, self: grad * self.sgn(),
)
def abs_in_place(self):
    if self.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return abs_.kernel(self)


def signs(array):
    """1, 0 or -1 for each real number; 0 for NaN."""
    if array.dtype == bool:
        return array.copy()
    result = np.sign(array)
    return result if array.dtype.kind in "iu" else np.where(np.isnan(array), array.dtype.type(0), result)


@op("sign(Tensor self) -> Tensor", inplace=True, promote="same", self=lambda grad: calls.zeros_like(grad))
def sign(self):
    if self.dtype.kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please "
            "use torch.sgn instead."
        )
    return signs(self)


class Unwritten(np.ndarray):
    """Memory to which no gradient is added in place."""


def unwritten_zeros(grad):
    """Zeros like those without memory that PyTorch has here, which it never writes to."""
    memory = Unwritten(grad._array.shape, grad._array.dtype)
    memory.fill(0)
    return wrap(memory.view(np.ndarray))


def sgn_back(grad, self, result):
    """The gradient of `sgn`: for complex numbers what is left after projecting on the circle."""
    if self._array.dtype.kind != "c":
        return unwritten_zeros(grad)
    size = calls.abs(self)
    turned = grad - result * result * grad.conj()
    return calls.masked_fill_(turned / (2.0 * size), size == 0.0, 0.0)


@op("sgn(Tensor self) -> Tensor", inplace=True, promote="same",
    self=lambda grad, self, result: sgn_back(grad, self, result))  # fmt: skip
def sgn(self):
    if self.dtype.kind != "c":
        return signs(self)
    size = np.abs(self)
    return np.where(
        size == 0, self.dtype.type(0), np.divide(self, size, where=size != 0, out=np.zeros_like(self))
    )


@op("signbit(Tensor self) -> Tensor", laid_out_by="self")
def signbit(self):
    if self.dtype.kind == "c":
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return np.signbit(self) if self.dtype.kind == "f" else np.less(self, 0)


# Exponentials and logarithms --------------------------------------------------------------------------------


def exp2_of(array):
    """Two to the power of each element."""
    return np.exp(array * array.dtype.type(log(2))) if array.dtype.kind == "c" else np.exp2(array)


exp = unary("exp", np.exp, lambda grad, result: grad * result.conj())
exp2 = unary("exp2", exp2_of, lambda grad, result: grad * result.conj() * 0.6931471805599453)
expm1 = unary("expm1", np.expm1, lambda grad, result: grad * (result.conj() + 1))
log_ = unary("log", np.log, lambda grad, self: grad / self.conj())
log10 = unary("log10", np.log10, lambda grad, self: grad / (self.conj() * 2.3025850929940456))
log2 = unary("log2", np.log2, lambda grad, self: grad / (self.conj() * 0.6931471805599453))
log1p = unary("log1p", np.log1p, lambda grad, self: grad / (self + 1).conj(), node="Log1PBackward0")

# Roots and reciprocals --------------------------------------------------------------------------------------


def reciprocals(array):
    """One over each element."""
    return np.divide(array.dtype.type(1), array)


def reciprocal_roots(array):
    """One over the root of each element; of a reduced type, the root is rounded but in whole vectors."""
    result = reciprocals(np.sqrt(array))
    vectors = array.size // 32 * 32 if array.dtype in REDUCED and array.flags.c_contiguous else 0
    if vectors:
        first = widened(array.reshape(-1)[:vectors])
        result.reshape(-1)[:vectors] = reciprocals(np.sqrt(first)).astype(array.dtype)
    return result


sqrt = unary("sqrt", np.sqrt, lambda grad, result: grad / (2 * result.conj()))
rsqrt = unary(
    "rsqrt",
    lambda self: reciprocal_roots(self),
    lambda grad, result: -0.5 * grad * result.pow(3).conj(),
    reduced="own",
)
reciprocal = unary("reciprocal", reciprocals, lambda grad, result: -grad * (result * result).conj())


@composite("square(Tensor self) -> Tensor")
def square(self):
    return calls.pow(self, 2)


@composite("square_(Tensor(a!) self) -> Tensor(a!)")
def square_(self):
    return calls.pow_(self, 2)


# Trigonometry -----------------------------------------------------------------------------------------------

sin = unary("sin", np.sin, lambda grad, self: grad * self.cos().conj())
cos = unary("cos", np.cos, lambda grad, self: grad * -self.sin().conj())
tan = unary("tan", np.tan, lambda grad, result: grad * (1 + result.pow(2)).conj())
asin = unary("asin", np.arcsin, lambda grad, self: grad * (-self * self + 1).rsqrt().conj())
acos = unary("acos", np.arccos, lambda grad, self: grad * -((-self * self + 1).rsqrt()).conj())
atan = unary("atan", np.arctan, lambda grad, self: grad / (self * self + 1).conj())
sinh = unary("sinh", np.sinh, lambda grad, self: grad * self.cosh().conj())
cosh = unary("cosh", np.cosh, lambda grad, self: grad * self.sinh().conj())


def no_inplace(name):
    """The options of an op whose twin can be recorded but has no derivative."""

    def formula(grad):
        raise NotImplementedError(f"the derivative for 'inplace version of {name}' is not implemented.")

    return {"inplace_node": f"{name.title()}Backward1", "inplace_formulas": {"self": formula}}


asinh = unary(
    "asinh",
    np.arcsinh,
    lambda grad, self: grad * (self.pow(2) + 1).rsqrt().conj(),
    **no_inplace("asinh"),
)
atanh = unary(
    "atanh",
    np.arctanh,
    lambda grad, self: grad * 1 / (1 - self.pow(2)).conj(),
    **no_inplace("atanh"),
)


def acosh_back(grad, self):
    """The gradient of `acosh`; complex numbers need two roots to stay on the right branch."""
    if self._array.dtype.kind == "c":
        return grad * ((self + 1).rsqrt() * (self - 1).rsqrt()).conj()
    return grad * (self * self - 1).rsqrt()


acosh = unary("acosh", np.arccosh, lambda grad, self: acosh_back(grad, self), **no_inplace("acosh"))
tanh = unary("tanh", np.tanh, lambda grad, result: calls.tanh_backward(grad, result))


@op(
    "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
    laid_out_by="grad_output, output",
    node="TanhBackwardBackward0",
    grad_output=lambda grad, output: calls.tanh_backward(grad, output.conj()),
    output=lambda grad, output, grad_output: grad.conj() * (-2 * output.conj() * grad_output),
)
def tanh_backward(grad_output, output):
    return grad_output * (1 - output * output).conj()


def logistic(array):
    """1 / (1 + exp(-x)) for each element."""
    return reciprocals(1 + np.exp(-array))


sigmoid = unary("sigmoid", logistic, lambda grad, result: calls.sigmoid_backward(grad, result))


@op(
    "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
    reduced="own",
    laid_out_by="grad_output, output",
    node="SigmoidBackwardBackward0",
    grad_output=lambda grad, output: calls.sigmoid_backward(grad, output.conj()),
    output=lambda grad, output, grad_output: grad.conj() * grad_output * (-2 * output.conj() + 1),
)
def sigmoid_backward(grad_output, output):
    if grad_output.dtype == output.dtype == np.float16:  # of which PyTorch has no vectors here
        return grad_output * (1 - output) * output
    grad, share = widened(grad_output), widened(output)
    return (grad * ((1 - share) * share).conj()).astype(grad_output.dtype, copy=False)


# Parts of a number ------------------------------------------------------------------------------------------


@op(
    "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
    nondifferentiable=(1,),
    wrapper=return_types.named("frexp", "mantissa", "exponent"),
    self=lambda grad, exponent: grad / calls.exp2(exponent),
)
def frexp(self):
    if self.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(self)
    return mantissa, np.where(np.isfinite(self), exponent, 0).astype(np.int32)


# Other names ------------------------------------------------------------------------------------------------

SYNONYMS = {f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
for alias, name in (SYNONYMS | {"absolute": "abs", "negative": "neg", "fix": "trunc"}).items():
    composite(f"{alias}(Tensor self) -> Tensor")(lambda self, name=name: getattr(calls, name)(self))
    composite(f"{alias}_(Tensor(a!) self) -> Tensor(a!)")(
        lambda self, name=name: getattr(calls, name + "_")(self)
    )


@op("relu(Tensor self) -> Tensor", inplace=True, promote="same",
    self=lambda grad, result: calls.threshold_backward(grad, result, 0))  # fmt: skip
def relu(self):
    if self.dtype == bool:
        raise RuntimeError("Boolean inputs not supported for relu")
    if self.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    return first_of_equals(np.maximum, self, self.dtype.type(0))


@op(
    "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    laid_out_by="self, grad_output",
    node="ThresholdBackwardBackward0",
    grad_output=lambda grad, self, threshold: calls.threshold_backward(grad, self, threshold),
    self=lambda grad: calls.zeros_like(grad),
)
def threshold_backward(grad_output, self, threshold):
    return np.where(self <= number_in(threshold, self.dtype), grad_output.dtype.type(0), grad_output)
