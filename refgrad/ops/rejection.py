"""Numbers drawn by rejection (gamma, Dirichlet, binomial), and how they follow their parameters.

Each takes as many uniform and normal numbers from the stream as it needs, element by element. The arithmetic
is that of ATen/native/Distributions.h, step by step, with its mixture of precisions.
"""

import math

import numpy as np

from refgrad import dtypes
from refgrad.call import warn_resized
from refgrad.generator import one_by_one
from refgrad.op import calls, op
from refgrad.ops.random import draws_from, refuse
from refgrad.ops.special_functions import digamma_of, no_derivative

SINGLES_AND_DOUBLES = (np.float32, np.float64)
THIRD = np.float32(1.0) / np.float32(3.0)
SQUEEZE = float(np.float32(0.0331))
log = one_by_one("log")


def check_kind(array, kernel):
    """Refuse what is neither float32 nor float64."""
    if array.dtype.type not in SINGLES_AND_DOUBLES:
        raise refuse(kernel, array.dtype)


# Gamma and Dirichlet ----------------------------------------------------------------------------------------


def one_gamma(alpha, source):
    """One gamma number (Marsaglia and Tsang), by a scalar of the precision in which it is wanted."""
    scale = 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale = (1 - float(source.doubles(1)[0])) ** float(1 / alpha)
        alpha = alpha + alpha.dtype.type(1)
    d = float(alpha - THIRD)
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = float(source.pairwise_normals(1)[0])
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1 - float(source.doubles(1)[0])
        square = x * x
        if u < 1.0 - SQUEEZE * square * square or log(u) < 0.5 * square + d * (1.0 - v + log(v)):
            return scale * d * v


def gammas(alphas, source):
    """Gamma numbers, none below the least normal number."""
    drawn = np.array([one_gamma(alpha, source) for alpha in alphas.ravel()], alphas.dtype)
    return np.maximum(drawn, np.finfo(alphas.dtype).tiny).reshape(alphas.shape)


@op(
    "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
    self=lambda grad, self, result: grad * calls._standard_gamma_grad(self, result),
    reduced="own",
)
def standard_gamma(self, generator):
    check_kind(self, "gamma_cpu")
    return gammas(self, draws_from(generator))


@op(
    "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
    refused="aten::_sample_dirichlet",
    reduced="own",
)
def sample_dirichlet(self, generator):
    check_kind(self, "dirichlet")
    drawn = gammas(self.astype(np.float64), draws_from(generator))
    shares = (drawn / drawn.sum(-1, keepdims=True)).astype(self.dtype)
    one = self.dtype.type(1)
    return np.clip(shares, np.finfo(self.dtype).tiny, np.nextafter(one, 1 - one))


# Binomial ---------------------------------------------------------------------------------------------------


@op(
    "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
    refused="aten::binomial",
    reduced="own",
)
def binomial(count, prob, generator):
    for name, array in (("count", count), ("prob", prob)):
        if array.dtype.kind != "f":
            kind = dtypes.OF_NUMPY[array.dtype].scalar_type
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {kind}")
    check_kind(count, "binomial_cpu")
    if prob.dtype != count.dtype:
        found, expected = (dtypes.OF_NUMPY[array.dtype].scalar_type for array in (prob, count))
        raise RuntimeError(f"Found dtype {found} but expected {expected}")
    source = draws_from(generator)
    shape = np.broadcast_shapes(count.shape, prob.shape)
    if count.size and shape != count.shape:
        warn_resized(count.shape, shape)  # PyTorch makes the result in the shape of the count
    count, prob = np.broadcast_arrays(count, prob)
    pairs = zip(count.ravel(), prob.ravel(), strict=True)
    drawn = np.array([one_binomial(number, share, source) for number, share in pairs], count.dtype)
    return drawn.reshape(count.shape)


def one_binomial(count, prob, source):
    """One binomial number; for a large share what is left is drawn."""
    if count <= 0 or prob <= 0:
        return 0.0
    if prob >= 1:
        return count
    if prob <= 0.5:
        return smaller_binomial(count, prob, source)
    if prob > 0.5:
        return count - smaller_binomial(count, prob.dtype.type(1.0 - float(prob)), source)
    return math.nan


def smaller_binomial(count, prob, source):
    """One binomial number for a share up to a half."""
    draw = by_rejection if count * prob >= 10.0 else by_inversion
    return draw(count, prob, source)


def by_inversion(count, prob, source):
    """Add up geometric numbers until they exceed the count."""
    log_prob = float(np.log1p(-prob))
    total, found = 0.0, 0
    while True:
        total += math.ceil(log(float(source.doubles(1)[0])) / log_prob)
        if total > count:
            return found
        found += 1


TAILS: tuple = (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509)
TAILS += (0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.010411265261972)
TAILS += (0.00925546218271273, 0.00833056343336287)


def stirling_tail(k):
    """What Stirling's formula leaves of the logarithm of a factorial."""
    if k < len(TAILS):
        return TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def by_rejection(count, prob, source):
    """Transformed rejection (Hörmann)."""
    deviation = math.sqrt(count * prob * (1 - prob))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * float(prob)
    c = float(count * prob) + 0.5
    r = float(prob / (1 - prob))
    alpha = (2.83 + 5.1 / b) * deviation
    m = float(math.floor((count + 1) * prob))
    count = float(count)
    while True:
        u, v = float(source.doubles(1)[0]) - 0.5, float(source.doubles(1)[0])
        distance = 0.5 - abs(u)
        k = float(math.floor((2 * a / distance + b) * u + c))
        if k < 0 or k > count:
            continue
        if distance >= 0.07 and v <= 0.92 - 4.2 / b:
            return k
        level = (m + 0.5) * log((m + 1) / (r * (count - m + 1)))
        level += (count + 1) * log((count - m + 1) / (count - k + 1))
        level += (k + 0.5) * log(r * (count - k + 1) / (k + 1))
        level += stirling_tail(m) + stirling_tail(count - m) - stirling_tail(k) - stirling_tail(count - k)
        if log(v * alpha / (a / (distance * distance) + b)) <= level:
            return k


# How a gamma number follows its parameter -------------------------------------------------------------------

GAMMA = np.array(
    [
        (0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089, 0.0014179084),
        (0.53487893, 0.1298071, 0.065735949, -0.0015649758)
        + (0.16639465, 0.020070113, -0.0035938915, -0.00058392623),
        (0.040121004, -0.0065914022, -0.0026286047, -0.0013441777)
        + (0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07),
    ]
)


def digamma_one(x):
    """The digamma function of a scalar."""
    return digamma_of(np.asarray(x))[()]


def element_by_element(function, *arrays):
    """A function of scalars on arrays of one shape; of the dtype of the first."""
    arrays = np.broadcast_arrays(*arrays)
    with np.errstate(all="ignore"):
        values = [function(*scalars) for scalars in zip(*(a.ravel() for a in arrays), strict=True)]
    return np.array(values, arrays[0].dtype).reshape(arrays[0].shape)


@op(
    "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
    self=no_derivative("_standard_gamma_grad"),
    reduced="own",
)
def standard_gamma_grad(self, output):
    check_kind(self, "_standard_gamma_grad_cpu")
    return element_by_element(gamma_slope, self, output)


def gamma_slope(alpha, x):
    """-(d cdf / d alpha) / pdf at a gamma number."""
    x, alpha = np.float64(x), np.float64(alpha)
    if x < np.float32(0.8):
        return gamma_slope_near_zero(alpha, x)
    if alpha > 8:
        return gamma_slope_of_large(alpha, x)
    u, v = np.log(x / alpha), np.log(alpha)
    c = GAMMA[0] + u * (GAMMA[1] + u * GAMMA[2])
    p = c[0] + v * (c[1] + v * (c[2] + v * c[3]))
    q = c[4] + v * (c[5] + v * (c[6] + v * c[7]))
    return np.exp(p / q)


def gamma_slope_near_zero(alpha, x):
    """By a Taylor series."""
    numerator, denominator = np.float64(1), alpha
    first, second = numerator / denominator, numerator / (denominator * denominator)
    for order in range(1, 6):
        numerator *= -x / order
        denominator = denominator + 1
        first += numerator / denominator
        second += numerator / (denominator * denominator)
    power = x**alpha
    density = x ** (alpha - 1) * np.exp(-x)
    slope = (np.log(x) - digamma_one(alpha)) * (power * first) - power * second
    result = -slope / density
    return 0.0 if np.isnan(result) else result


def gamma_slope_of_large(alpha, x):
    """By Rice's saddle point expansion."""
    if np.float32(0.9) * alpha <= x <= np.float32(1.1) * alpha:
        first = 1 + 24 * alpha * (1 + 12 * alpha)
        second = 1440 * (alpha * alpha) + 6 * x * (53 - 120 * x)
        second = second - 65 * x * x / alpha + alpha * (107 + 3600 * x)
        return first * second / (1244160 * (alpha * alpha) * (alpha * alpha))
    root = np.sqrt(8 * alpha)
    near, far = root / (alpha - x), (x - alpha - alpha * np.log(x / alpha)) ** -1.5
    both = near - far if x < alpha else near + far
    term = np.log(x / alpha) * both
    term = term - np.sqrt(2 / alpha) * (alpha + x) / ((alpha - x) * (alpha - x))
    stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))
    return -stirling * (x * term) / root


# How a share follows its parameter --------------------------------------------------------------------------

SHARES = np.array(
    [
        [
            [
                (1.003668233, -0.01061107488, -0.0657888334, 0.01201642863),
                (0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033),
                (-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013),
            ],
            [
                (0.221950385, -0.3187676331, 0.01799915743, 0.01074823814),
                (-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057),
                (0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05),
            ],
            [
                (-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565),
                (0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181),
                (0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05),
            ],
        ],
        [
            [
                (1, -0.02924021934, -0.04438342661, 0.007285809825),
                (0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521),
                (-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149),
            ],
            [
                (0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273),
                (0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956),
                (-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05),
            ],
            [
                (0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05),
                (0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05),
                (-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06),
            ],
        ],
    ]
)


@op(
    "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
    refused="aten::_dirichlet_grad",
    reduced="own",
)
def dirichlet_grad(x, alpha, total):
    check_kind(x, "_dirichlet_grad_cpu")
    return element_by_element(share_slope, x, alpha, total)


def share_slope(x, alpha, total):
    """-(d cdf / d alpha) / pdf / (1 - x) at a share."""
    beta = total - alpha
    boundary = total * x * (1 - x)
    if x <= 0.5 and boundary < 2.5:
        return share_slope_near_zero(x, alpha, beta)
    if x >= 0.5 and boundary < 0.75:
        return -share_slope_near_one(1 - x, beta, alpha)
    x, alpha, total = np.float64(x), np.float64(alpha), np.float64(total)
    if alpha > 6 and beta > 6:
        return share_slope_of_large(x, alpha, total - alpha)
    u = np.log(x)
    a = np.log(alpha) - u
    b = np.log(total) - a
    c = SHARES[..., 0] + b * (SHARES[..., 1] + b * (SHARES[..., 2] + b * SHARES[..., 3]))
    p, q = (c * np.outer([1, u, u * u], [1, a, a * a])).sum((1, 2))
    return p / q * (x * (digamma_one(total) - digamma_one(alpha)) / (total - alpha))


def share_slope_near_zero(x, alpha, beta):
    """By a Taylor series, by the first parameter."""
    factor = digamma_one(alpha) - digamma_one(alpha + beta) - np.log(x)
    numerator = x.dtype.type(1)
    series = numerator / alpha * (factor + 1 / alpha)
    for order in range(1, 11):
        numerator = numerator * ((order - beta) * x / order)
        denominator = alpha + order
        series = series + numerator / denominator * (factor + 1 / denominator)
    result = x * (1 - x) ** -beta * series
    return 0.0 if np.isnan(result) else result


def share_slope_near_one(x, alpha, beta):
    """By a Taylor series, by the second parameter."""
    factor = digamma_one(alpha + beta) - digamma_one(beta)
    numerator, product, slope, series = x.dtype.type(1), x.dtype.type(1), x.dtype.type(0), factor / alpha
    for order in range(1, 9):
        numerator = numerator * (-x / order)
        slope = slope * (beta - order) + product
        product = product * (beta - order)
        series = series + numerator / (alpha + order) * (slope + factor * product)
    result = -((1 - x) ** (1 - beta)) * series
    return 0.0 if np.isnan(result) else result


def share_slope_of_large(x, alpha, beta):
    """By Rice's saddle point expansion, with the singularity at the mean avoided."""
    total = alpha + beta
    mean = alpha / total
    deviation = np.sqrt(alpha * beta / (total + 1)) / total
    if mean - 0.1 * deviation <= x <= mean + 0.1 * deviation:
        return share_slope_at_mean(x, alpha, beta)
    stirling = stirling_factor(alpha) * stirling_factor(beta) / stirling_factor(total)
    distance = alpha * (x - 1) + beta * x
    first = 2 * (alpha * alpha) * (x - 1) + alpha * beta * (x - 1) - x * (beta * beta)
    first = first / (np.sqrt(2 * alpha / beta) * total**1.5 * distance * distance)
    far = beta * np.log(beta / (total * (1 - x))) + alpha * np.log(alpha / (total * x))
    near = np.sqrt(8 * alpha * beta / total) / distance
    both = near + (far**-1.5 if x < mean else -(far**-1.5))
    terms = first + 0.5 * np.log(alpha / (total * x)) * both
    return stirling * (-x / np.sqrt(2 * alpha * beta / total)) * terms


def stirling_factor(x):
    """The correction of Stirling's formula."""
    return 1 + 1 / (12 * x) + 1 / (288 * x * x)


def share_slope_at_mean(x, alpha, beta):
    """By a polynomial."""
    total, square = alpha + beta, beta * beta
    fourth = 8 * (1 - x) * (135 * beta - 11)
    third = (453 + 1620 * beta * (1 - x) - 455 * x) * beta + alpha * fourth
    second = 3 * (59 + 180 * beta - 90 * x) * square + alpha * third
    first = (43 + 20 * (16 + 27 * beta) * x) * square * beta + alpha * second
    polynomial = 47 * x * square * square + alpha * first
    above = (1 + 12 * alpha) * (1 + 12 * beta) / (total * total)
    below = 12960 * alpha * alpha * alpha * beta * beta * (1 + 12 * total)
    return above / (1 - x) * polynomial / below
