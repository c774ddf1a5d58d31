"""Pointwise ops against PyTorch: values, types, nodes, saved values, gradients of both orders, in place,
errors.
"""

import pytest

from tests.refgrad.against_torch import agree

ROUND = """
x = torch.tensor({x}, requires_grad=True)
y = torch.tensor({y}, requires_grad=True)
out = {expression}
seed = torch.ones_like(out, requires_grad=True)
plain = torch.autograd.grad({expression}, [x, y], torch.ones_like(out), allow_unused=True)
first = torch.autograd.grad(out, [x, y], seed, create_graph=True, allow_unused=True)
total = [g.real.sum() for g in first if g is not None and g.requires_grad]
second = torch.autograd.grad(total, [x, y, seed], allow_unused=True) if total else None
"""
UNARY = [
    "neg",
    "abs",
    "sign",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sigmoid",
    "sqrt",
    "rsqrt",
    "square",
    "reciprocal",
    "positive",
    "relu",
    "erf",
    "erfc",
    "erfinv",
    "lgamma",
    "digamma",
    "sinc",
    "logit",
    "i0",
    "nan_to_num",
    "deg2rad",
    "rad2deg",
    "frac",
    "floor",
    "ceil",
    "round",
    "trunc",
    "angle",
    "selu",
    "celu",
    "conj_physical",
    "arcsin",
    "absolute",
    "negative",
]
COMPLEX = [
    "neg",
    "abs",
    "sgn",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sigmoid",
    "sqrt",
    "rsqrt",
    "square",
    "reciprocal",
    "sinc",
    "angle",
    "conj_physical",
    "conj",
    "real",
    "imag",
    "view_as_real",
]
SPECIAL = ["i0e", "i1", "i1e", "erfcx", "ndtr", "ndtri", "log_ndtr", "entr", "expit", "gammaln"]
ACTIVATIONS = [
    "softplus",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "gelu",
    "silu",
    "hardtanh",
    "relu6",
    "logsigmoid",
    "mish",
    "hardswish",
    "softshrink",
    "hardshrink",
    "tanhshrink",
    "glu",
]
NUMBERS = (
    """
x * 2|x + 2|x - 2|2 - x|x / 2|2 / x|x ** 2|x ** 3|x ** 1|x ** 0|x ** 0.5|x ** -1|2 ** x|0 ** x|x % 2
x.fmod(2)|x.clamp(0.3, 0.6)|x.clamp(0.4)|x.clamp(max=0.4)|x.clamp_min(0.4)|x.clamp_max(0.4)|x.copysign(-1)
x.xlogy(2)|torch.xlogy(2, x)|torch.float_power(x, 2)|torch.float_power(2, x)|torch.rsub(x, 2)
x.div(2, rounding_mode='floor')|torch.round(x, decimals=1)|torch.logit(x, 0.35)|torch.polygamma(1, x)
torch.mvlgamma(x + 2, 2)|torch.nan_to_num(x, 1.0)|torch.where(x > 0.4, x, 2.0)|torch.where(x > 0.4, 1.0, x)
x.add(2)|x.sub(1, alpha=2)|x.true_divide(2)|torch.nn.functional.gelu(x, approximate='tanh')
torch.nn.functional.threshold(x, 0.4, 9.0)|x.clip(0.4, 0.45)|torch.nn.functional.softplus(x, 2.0, 0.8)
torch.nn.functional.elu(x - 0.4, 2.0)|torch.special.zeta(x + 2, 3.0)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
PAIRS = (
    """
x + y|x - y|x * y|x / y|x ** y|x % y|torch.fmod(y, x)|torch.maximum(x, y)|torch.minimum(x, y)
torch.fmax(x, y)|torch.fmin(x, y)|torch.max(x, y)|torch.atan2(x, y)|torch.hypot(x, y)|torch.copysign(x, y)
torch.xlogy(x, y)|torch.logaddexp(x, y)|torch.logaddexp2(x, y)|torch.nextafter(x, y)|torch.lerp(x, y, 0.3)
torch.lerp(x, y, x)|torch.addcmul(x, y, y, value=2)|torch.addcmul(y, x, y)|torch.addcdiv(x, y, x, value=2)
x.clamp(y, x)|x.clamp(min=y)|x.clamp(max=y)|x.clamp_min(y)|x.clamp_max(y)|torch.where(x > y, x, y)
torch.ldexp(x, y)|torch.float_power(x, y)|torch.polar(x, y)|torch.complex(x, y)|x.add(y, alpha=2)
x.sub(y, alpha=3)|torch.rsub(x, y, alpha=2)|torch.div(x, y, rounding_mode='trunc')
torch.div(x, y, rounding_mode=None)|torch.special.xlog1py(x, y)|torch.prelu(x - 0.4, y[:1])
torch.nn.functional.glu(torch.stack([x, y]), 0)|torch.igamma(torch.ones(2), y)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


def agree_round(expression, x="[0.3, 0.5]", y="[0.4, 0.7]"):
    agree(ROUND.format(expression=expression, x=x, y=y))


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    agree_round(f"torch.{name}(x)")


@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name):
    agree_round(f"torch.{name}(x)", x="[0.3 + 0.2j, -0.5j]")


@pytest.mark.parametrize("name", SPECIAL)
def test_special(name):
    agree_round(f"torch.special.{name}(x)")


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    agree_round(f"torch.nn.functional.{name}(x)", x="[-0.3, 0.6]")


@pytest.mark.parametrize("expression", NUMBERS)
def test_with_a_number(expression):
    agree_round(expression)


@pytest.mark.parametrize("expression", PAIRS)
def test_pairs(expression):
    agree_round(expression)


@pytest.mark.parametrize(
    "expression", ["x * y", "x / y", "x ** y", "x + y", "torch.where(x == y, x, y)", "x - y"]
)
def test_real_with_complex(expression):
    agree_round(expression, x="[1 + 2j, 3 - 1j]")


@pytest.mark.parametrize(
    "expression", ["x + y", "x * y", "x / y", "torch.maximum(x, y)", "torch.where(x > y, x, y)"]
)
def test_gradients_are_summed_over_broadcast_dimensions(expression):
    agree_round(expression, x="[[1.0], [2.0]]", y="[3.0, 1.0, 2.0]")


@pytest.mark.parametrize("expression", ["x + y", "x * y", "x.pow(y)", "torch.atan2(x, y)", "x.lerp(y, 0.5)"])
def test_shapes_that_do_not_broadcast(expression):
    agree_round(expression, x="[1.0, 2.0]", y="[3.0, 1.0, 2.0]")


TIES = {
    "relu": "[-1.0, 0.0, -0.0, nan]",
    "abs": "[-1.0, 0.0, -0.0, nan]",
    "sqrt": "[0.0, -1.0]",
    "sinc": "[0.0, 1.0]",
    "logit": "[0.0, 1.0, 2.0]",
    "asin": "[1.0, -1.0, 2.0]",
    "reciprocal": "[0.0, inf]",
    "nn.functional.hardtanh": "[-1.0, 1.0, 0.0]",
    "nn.functional.hardswish": "[-3.0, 0.0, 3.0]",
    "nn.functional.hardshrink": "[-0.5, 0.0, 0.5, 0.6]",
    "nn.functional.softshrink": "[-0.5, 0.0, 0.5, 0.6]",
    "nn.functional.elu": "[0.0, nan, -inf]",
    "nn.functional.softplus": "[0.0, 20.0, 21.0]",
    "nn.functional.logsigmoid": "[0.0, 100.0, -100.0]",
    "special.entr": "[0.0, 1.0, -1.0]",
    "special.i1": "[0.0, 1.0]",
    "erfinv": "[1.0, 0.0, -0.0]",
    "digamma": "[0.0, -0.0]",
    "round": "[0.5, 1.5, 2.5, -0.5]",
    "nan_to_num": "[nan, inf, -inf]",
}


@pytest.mark.parametrize("name", TIES)
def test_awkward_points(name):
    agree_round(f"torch.{name}(x)", x=TIES[name])


AWKWARD_PAIRS = (
    """
torch.maximum(x, y)|torch.fmax(x, y)|torch.fmin(x, y)|x ** y|torch.xlogy(x, y)|torch.atan2(x, y)|x.clamp(y)
x.clamp(y, x)|torch.logaddexp(x, y)|torch.hypot(x, y)|x / y|torch.copysign(x, y)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("expression", AWKWARD_PAIRS)
def test_awkward_pairs(expression):
    agree_round(expression, x="[0.0, 0.0, 1.0, 1.0, nan]", y="[0.0, 2.0, 1.0, nan, 1.0]")


INPLACE = """
x = torch.tensor([0.3, 0.5], requires_grad=True)
y = torch.tensor([0.4, 0.7], requires_grad=True)
t = x * 1
out = {expression}
first = torch.autograd.grad(out, [x, y], torch.ones(2), create_graph=True, allow_unused=True)
"""
TWINS = (
    """
t.exp_()|t.sin_()|t.neg_()|t.abs_()|t.sigmoid_()|t.tanh_()|t.relu_()|t.sqrt_()|t.square_()|t.floor_()
t.sgn_()|t.logit_()|t.clamp_(0.4, 0.6)|t.clamp_min_(0.4)|t.pow_(2)|t.pow_(y)|t.add_(y)|t.add_(y, alpha=2)
t.sub_(1)|t.mul_(2)|t.mul_(y)|t.div_(y)|t.div_(2, rounding_mode='floor')|t.eq_(1)|t.lt_(y)|t.greater_(y)
t.logical_not_()|t.remainder_(2)|t.fmod_(y)|t.floor_divide_(2)|t.copysign_(y)|t.lerp_(y, 0.5)
t.addcmul_(y, y)|t.addcdiv_(y, y)|t.atan2_(y)|t.hypot_(y)|t.xlogy_(2)|t.nan_to_num_()|t.erfinv_()|t.asinh_()
t.polygamma_(1)|t.heaviside_(y)|t.float_power_(2)|t.clip_(y, y)|torch.nn.functional.elu_(t)
torch.nn.functional.leaky_relu_(t)|torch.nn.functional.hardtanh_(t)|torch.celu_(t)
torch.nn.functional.silu(t, inplace=True)|torch.nn.functional.threshold_(t, 0.4, 2.0)|torch.selu_(t)
t.bitwise_not_()|t.__iadd__(y)|t.__ipow__(2)|t.__imod__(2)|t.__itruediv__(y)|t.true_divide_(y)|x.mul_(2)
x.logical_or_(y)|x.floor_divide_(2)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("expression", TWINS)
def test_in_place(expression):
    agree(INPLACE.format(expression=expression))


ODD_TYPES = (
    """
-b|~b|abs(b)|+b|b - b|b - 1|1 - b|True - b|b * b|b / b|b // b|b % b|b ** b|b ** -1|b & b|b ^ True|b << 1
b >> True|i / 2|i // 2|i // -2|i % 3|i % -3|i ** 2|i ** -1|i ** i|i / 0|i // 0|i % 0|i + 1.5|i * 2.5
i - True|i & 3|i.bitwise_or(4)|~i|i << 2|i.sqrt()|i.exp()|i.sigmoid()|i.reciprocal()|i.floor()
i.round(decimals=1)|i.frac()|i.relu()|i.erf()|i.add(i, alpha=2.5)|i.clamp(0, 1.5)|i.addcdiv(i, i)
i.lerp(i, 0.5)|i.hypot(i)|i.copysign(-1)|i.exp_()|i.mul_(2.5)|i.pow_(0.5)|i.div_(2)|i.logaddexp(i)
i.xlogy(i)|torch.nn.functional.gelu(i)|torch.nn.functional.hardtanh(u)|u + 300|u - 2|-u|c < c|c // 2|c % 2
c.floor()|c.round()|c.sign()|c.clamp(0, 1)|c.relu()|torch.maximum(c, c)|c.abs_()|c == 1j|c.isnan()|c.erf()
c.atan2(c)|c.signbit()|c.isposinf()|f.imag|f & 1|~f|f << 1|f.bitwise_not()|h.exp()|h * 1.5|h.softmax(0) * 2
torch.complex(f, f.double())|torch.complex(i, i)|torch.view_as_complex(f)|torch.view_as_real(f)
f.lerp(f.double(), 0.5)|torch.where(f, f, f)|torch.where(b, i, 1.5)|torch.where(b, 1, 2)
torch.where(b, f, f.double())|torch.where(b)|torch.isclose(i, f)|torch.isclose(f, f, rtol=-1.0)
torch.equal(f, i)|torch.allclose(f, f + 1e-9)|f.clamp()|f.heaviside(i)|torch.div(i, 2, rounding_mode='junk')
torch.nn.functional.softshrink(f, -1.0)|torch.nn.functional.glu(f[:1])|torch.nn.functional.celu(f, 0.0)
torch.prelu(f, f.double())|torch.gelu|torch.eq(f, 1)|f.not_equal(i)|torch.gcd(i, i * 2)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
VALUES = """
b = torch.tensor([True, False])
i = torch.tensor([7, -3])
u = torch.tensor([3, 200], dtype=torch.uint8)
f = torch.tensor([1.5, -0.0])
h = torch.tensor([1.5, -0.25], dtype=torch.float16)
c = torch.tensor([1 + 2j, 0j])
out = {expression}
"""


@pytest.mark.parametrize("expression", ODD_TYPES)
def test_types_and_refusals(expression):
    agree(VALUES.format(expression=expression))


FOREIGN = (
    """
x + 'a'|x - None|x * [1]|x / 'a'|x // 'a'|x % 'a'|x ** 'a'|'a' - x|None / x|'a' ** x|x & 'a'|x @ 2|2 @ x
x < 'a'|x == 'a'|x != None|x >= None|x + True|x * 2j|x.__add__('a')|x.__rsub__('a')|x.__eq__('a')
x.__pow__('a')|divmod(x, 2)|x + np.float64(2)|x * np.float32(2)|np.float64(2) * x|np.float64(2) - x|2 ** x
1 - x|1 / x|7 // x|7 % x|x + np.ones(2)|x * np.ones(2)|np.ones(2) * x|np.ones(2) - x|x ** np.ones(2)
x == np.ones(2)|x > np.ones(2)|np.float64(2) > x|pow(x, 2)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("expression", FOREIGN)
def test_operators_with_foreign_operands(expression):
    agree(f"x = torch.tensor([1.0, 2.0])\nout = {expression}")


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "@"])
def test_augmented_assignment_with_foreign_operands(symbol):
    agree(f"x = torch.tensor([1.0, 2.0])\nx {symbol}= 'a'")
    agree(f"x = torch.tensor([3, 2])\ny = x\nx {symbol}= 2\nsame = x is y")


def test_numbers_inside_recorded_formulas_are_nodes_of_their_own():
    agree("""
x = torch.tensor([0.3, 0.5], requires_grad=True)
names = []
for f in (torch.sqrt, torch.expm1, torch.log1p, torch.tan, torch.atanh, lambda x: x * 2, lambda x: x ** 3):
    g, = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    names.append((g.grad_fn.name(), [n and n.name() for n, _ in g.grad_fn.next_functions]))
""")


def test_a_hook_inside_a_recorded_backward_uses_numbers_as_users_do():
    agree("""
x = torch.tensor([0.3, 0.5], requires_grad=True)
y = x.exp()
y.register_hook(lambda grad: grad * 2)
g, = torch.autograd.grad(y.sqrt().sum(), x, create_graph=True)
""")


def test_frexp_is_differentiable_in_the_mantissa():
    agree("""
x = torch.tensor([0.3, -5.0, 0.0, inf], requires_grad=True)
parts = torch.frexp(x)
shown = repr(parts)
g = torch.autograd.grad(parts.mantissa.sum(), x, create_graph=True)
""")


@pytest.mark.parametrize(
    "form", ["[1, 2, 3]), torch.tensor([2, 3]", "[1, 2]), 2, invert=(True", "[2.0]), torch.tensor([2]"]
)
def test_isin(form):
    agree(f"out = torch.isin(torch.tensor({form}))")


def test_rrelu_draws_for_negative_elements_alone():
    agree("""
torch.manual_seed(0)
x = torch.tensor([-1.0, 2.0, -3.0, 0.0], requires_grad=True)
y = torch.rrelu(x, 0.1, 0.9, True)
g, = torch.autograd.grad(y.sum(), x, create_graph=True)
z = torch.rrelu_(x * 1, 0.1, 0.9, True)
""")
