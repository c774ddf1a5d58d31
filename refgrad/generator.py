"""The random stream of PyTorch's CPU generator, reproduced bit for bit with NumPy.

*Word*: one 32-bit output of the Mersenne Twister; how many of them a draw consumes decides what the next
draw sees. *Single*: a float32 in [0, 1) made of one word. *Double*: a float64 in [0, 1) made of two
words. *Spare*: normals come in pairs, and the second waits here for the next draw, whatever lies between.
*Fill*: the other way to normals, 16 at a time, which knows no spare; contiguous tensors of 16 elements
and more take it.

Draws return fresh arrays in the order in which PyTorch visits memory. Arguments are checked by the
caller. What depends on the processor follows PyTorch's kernels for AVX2; on Intel processors PyTorch
draws `bernoulli_(p)` and `exponential_` from MKL's stream instead, which is not reproduced.
"""

import math
import os
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

DEFAULT_SEED = 67280421310721
STATE_WORDS = 624
# How PyTorch lays a state out as bytes. The last field holds a float32 spare, which nothing on the CPU sets.
STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", (STATE_WORDS,)),
        ("normal_x", "<f8"),
        ("spare", "<f8"),
        ("normal_rho", "<f8"),
        ("has_spare", "<i4"),
        ("float_spare", "<u4", (3,)),
    ]
)
# The largest integer that `random_` without bounds draws; for floats, up to where every integer is exact.
LARGEST = {
    "bool": 1,
    "uint8": 2**8 - 1,
    "int8": 2**7 - 1,
    "int16": 2**15 - 1,
    "int32": 2**31 - 1,
    "int64": 2**63 - 1,
    "float16": 2**11,
    "bfloat16": 2**8,
    "float32": 2**24,
    "float64": 2**53,
}


class Generator:
    """A CPU generator: `torch.Generator` with its draws as NumPy arrays."""

    def __init__(self):
        self._twister = None  # NumPy's, made on the first draw: importing numpy.random takes its time
        self._restart(DEFAULT_SEED)

    def _restart(self, seed: int) -> None:
        self._initial_seed = seed
        self._is_unseeded = True  # the twister has yet to be given the seed
        self._is_unused = True  # no word was drawn since
        self._spare: float | None = None

    def initial_seed(self) -> int:
        """The seed this stream started from."""
        return self._initial_seed

    def manual_seed(self, seed: int) -> "Generator":
        """Start the stream of `seed`, from -2**63 to 2**64 - 1; negative ones count from 2**64 down.

        Raises:
            RuntimeError: `seed` is not an int.
            ValueError: `seed` is out of range.
        """
        if type(seed) is not int:
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._restart(seed % 2**64)
        return self

    def seed(self) -> int:
        """Start a stream that cannot be foretold; returns its seed."""
        self._restart(int.from_bytes(os.urandom(8), "little"))
        return self._initial_seed

    # State

    def _ready(self):
        """NumPy's twister, in the state of this stream."""
        if self._twister is None:
            from numpy.random import MT19937, RandomState

            self._twister = MT19937(0)
            self._seeder = RandomState(self._twister)
        if self._is_unseeded:
            self._seeder.seed(self._initial_seed & 0xFFFFFFFF)
            self._is_unseeded = False
        return self._twister

    def get_state(self) -> np.ndarray:
        """The state as PyTorch lays it out: 5056 uint8."""
        state = np.zeros((), STATE)
        twister = self._ready().state["state"]
        state["seed"] = self._initial_seed
        state["seeded"] = 1
        state["next"] = 0 if self._is_unused else twister["pos"]
        state["left"] = 1 if self._is_unused else STATE_WORDS + 1 - twister["pos"]
        state["words"] = twister["key"]
        if self._spare is not None:
            state["has_spare"], state["spare"] = 1, self._spare
        return np.frombuffer(state.tobytes(), np.uint8).copy()

    def set_state(self, state: np.ndarray | bytes) -> None:
        """Go on from a state that `get_state` gave.

        Raises:
            RuntimeError: `state` has another size than 5056 bytes, or cannot be a state.
        """
        data = bytes(state)
        if len(data) != STATE.itemsize:
            expected = f"Expected a CPUGeneratorImplState of size {STATE.itemsize}"
            raise RuntimeError(f"{expected} but found the input RNG state size to be {len(data)}")
        fields = np.frombuffer(data, STATE)[0]
        left, following = int(fields["left"]), int(fields["next"])
        if fields["seeded"] != 1 or not 0 < left <= STATE_WORDS or following > STATE_WORDS:
            raise RuntimeError("Invalid mt19937 state")
        twister = self._ready()
        words = {"key": fields["words"].astype(np.uint32), "pos": STATE_WORDS + 1 - left}
        twister.state = {"bit_generator": "MT19937", "state": words}
        self._initial_seed = int(fields["seed"])
        self._is_unused = following == 0
        self._spare = float(fields["spare"]) if fields["has_spare"] else None

    # Words and uniform numbers

    def words(self, count: int) -> np.ndarray:
        """The next `count` words, as uint64."""
        twister = self._twister
        if twister is None or self._is_unseeded:
            twister = self._ready()
        if count:
            self._is_unused = False
        return twister.random_raw(count)

    def double_words(self, count: int) -> np.ndarray:
        """`count` numbers of 64 bits, the high word drawn first."""
        words = self.words(2 * count)
        return words[::2] << 32 | words[1::2]

    def singles(self, count: int) -> np.ndarray:
        """`count` float32 in [0, 1) with 24 random bits."""
        return (self.words(count) & 0xFFFFFF).astype(np.float32) * np.float32(2.0**-24)

    def doubles(self, count: int) -> np.ndarray:
        """`count` float64 in [0, 1) with 53 random bits."""
        return (self.double_words(count) & (2**53 - 1)).astype(np.float64) * 2.0**-53

    def uniform(self, count: int, dtype, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """Uniform numbers in [low, high), of a floating or complex dtype (`uniform_`, `rand`)."""
        dtype = np.dtype(dtype)
        if dtype.kind == "c":
            return self.uniform(2 * count, real_of(dtype), low, high).view(dtype)
        numbers = self.doubles(count) if dtype == np.float64 else self.singles(count)
        if (low, high) == (0.0, 1.0):
            if dtype.itemsize != 2:
                return numbers
        elif dtype == np.float64:
            numbers = fused_double(numbers, high - low, low)
        else:
            start = np.float32(low)
            numbers = fused(numbers, np.float32(high) - start, start)
        numbers = numbers.astype(dtype, copy=False)
        numbers[numbers == dtype.type(high)] = low  # rounding can reach the end, which does not belong
        return numbers

    # Integers

    def randint(self, count: int, low: int, high: int | None, dtype) -> np.ndarray:
        """Integers in [low, high), of any dtype (`randint`, `random_(low, high)`); None: the dtype's own."""
        dtype = np.dtype(dtype)
        span = (LARGEST[dtype.name] + 1 if high is None else high) - low
        words = self.words(count) if span < 2**28 else self.double_words(count)
        if span == 2**64:
            return words.view(np.int64)
        return (words % np.uint64(span) + np.uint64(low % 2**64)).view(np.int64).astype(dtype)

    def random(self, count: int, dtype) -> np.ndarray:
        """Integers from 0 to the largest that the dtype holds exactly (`random_()`)."""
        dtype = np.dtype(dtype)
        words = self.double_words(count) if dtype.itemsize == 8 else self.words(count)
        return (words % np.uint64(LARGEST[dtype.name] + 1)).astype(dtype)

    def randperm(self, count: int) -> np.ndarray:
        """The integers below `count`, shuffled, as int64."""
        order = list(range(count))
        if count > 1:
            starts = np.arange(count - 1, dtype=np.uint64)
            places = self.words(count - 1) % (np.uint64(count) - starts) + starts
            for here, there in enumerate(places.tolist()):
                order[here], order[there] = order[there], order[here]
        return np.array(order, np.int64)

    # Normal numbers

    def normal(
        self, count: int, dtype, mean: float = 0.0, std: float = 1.0, contiguous: bool = True
    ) -> np.ndarray:
        """Normal numbers of a floating or complex dtype (`normal_`, `randn`)."""
        dtype = np.dtype(dtype)
        if dtype.kind == "c":
            parts = self.normal(2 * count, real_of(dtype), mean, std / math.sqrt(2.0), contiguous)
            return parts.view(dtype)
        if count < 16 or not contiguous:
            return narrowed(fused_double(self.pairwise_normals(count), std, mean), dtype)
        draw, fill = (self.doubles, fill_double) if dtype == np.float64 else (self.singles, fill_single)
        body = count - count % 16
        if body == count:
            return fill(draw(count), mean, std).astype(dtype, copy=False)
        # The last 16 are drawn and made anew, over the end of the body. Half precision draws no remainder.
        draws = draw((body if dtype.itemsize == 2 else count) + 16)
        normals = fill(np.concatenate([draws[:body], draws[-16:]]), mean, std)
        return np.concatenate([normals[: count - 16], normals[body:]]).astype(dtype, copy=False)

    def pairwise_normals(self, count: int) -> np.ndarray:
        """Standard normals as float64: the spare if there is one, then pairs."""
        if count == 0:
            return np.empty(0)
        had_spare = self._spare is not None
        pairs = (count - had_spare + 1) // 2
        draws = self.doubles(2 * pairs)
        radius = np.sqrt(-2.0 * libm("log1p", -draws[1::2]))
        angle = 2.0 * math.pi * draws[::2]
        normals = np.empty(had_spare + 2 * pairs)
        if had_spare:
            normals[0] = self._spare
        normals[had_spare::2] = radius * libm("cos", angle)
        normals[had_spare + 1 :: 2] = radius * libm("sin", angle)
        self._spare = float(normals[count]) if len(normals) > count else None
        return normals[:count]

    def log_normal(self, count: int, dtype, mean: float = 1.0, std: float = 2.0) -> np.ndarray:
        """Numbers whose logarithm is normal (`log_normal_`)."""
        return narrowed(libm("exp", fused_double(self.pairwise_normals(count), std, mean)), dtype)

    # Other distributions

    def bernoulli_scalar(self, count: int, probability: float) -> np.ndarray:
        """Truth values, each True with one and the same probability (`bernoulli_(p)`, dropout)."""
        return self.doubles(count) < probability

    def bernoulli_tensor(self, probabilities: np.ndarray) -> np.ndarray:
        """Truth values in the shape of their probabilities (`bernoulli(tensor)`)."""
        draw = self.doubles if probabilities.dtype == np.float64 else self.singles
        return draw(probabilities.size).reshape(probabilities.shape) < probabilities

    def exponential(self, count: int, dtype, rate: float = 1.0) -> np.ndarray:
        """Exponential numbers (`exponential_`)."""
        return narrowed(-1.0 / rate * libm("log1p", -self.doubles(count)), dtype)

    def geometric(self, count: int, dtype, probability: float) -> np.ndarray:
        """How many trials it takes until one succeeds (`geometric_`)."""
        with np.errstate(divide="ignore"):
            return narrowed(np.ceil(libm("log", self.doubles(count)) / math.log(1.0 - probability)), dtype)

    def cauchy(self, count: int, dtype, median: float = 0.0, sigma: float = 1.0) -> np.ndarray:
        """Numbers of the Cauchy distribution (`cauchy_`)."""
        slopes = libm("tan", math.pi * (self.doubles(count) - 0.5))
        return narrowed(fused_double(slopes, sigma, median), dtype)

    def multinomial(self, weights: np.ndarray, samples: int, replacement: bool = False) -> np.ndarray:
        """Indices drawn by weight, as int64, from one distribution or from each row (`multinomial`)."""
        if replacement and samples > 1:
            rows = [self._with_replacement(row, samples) for row in np.atleast_2d(weights)]
            return np.array(rows, np.int64).reshape(*weights.shape[:-1], samples)
        with np.errstate(divide="ignore", invalid="ignore"):
            races = weights / self.exponential(weights.size, weights.dtype).reshape(weights.shape)
        if samples == 1:
            return races.argmax(-1, keepdims=True)
        return np.argsort(-races, axis=-1, kind="stable")[..., :samples]

    def _with_replacement(self, weights: np.ndarray, samples: int) -> np.ndarray:
        cumulative = np.cumsum(weights, dtype=np.result_type(weights, np.float32))
        cumulative /= cumulative[-1]
        cumulative[-1] = 1
        return np.searchsorted(cumulative.astype(np.float64), self.doubles(samples))


default_generator = Generator()


def real_of(dtype: np.dtype) -> np.dtype:
    """The dtype of the parts of a complex dtype."""
    return np.dtype(f"f{dtype.itemsize // 2}")


def narrowed(numbers: np.ndarray, dtype) -> np.ndarray:
    """Float64 numbers in another dtype; to half precision by way of float32, with two roundings."""
    if np.dtype(dtype).itemsize == 2:
        numbers = numbers.astype(np.float32)
    return numbers.astype(dtype, copy=False)


# Note [The C library's functions]
# PyTorch calls the C library for float64, one element at a time. NumPy does too on some processors and
# takes its own vectorised functions, which differ in the last bit, on others. `math` always calls the C
# library, but slowly.


def libm(name: str, values: np.ndarray) -> np.ndarray:
    """A function of the C library, element by element. See Note [The C library's functions]."""
    if numpy_calls_libm(name):
        with np.errstate(divide="ignore", over="ignore"):
            return getattr(np, name)(values)
    return np.array([one_by_one(name)(value) for value in values.tolist()], np.float64)


@cache
def numpy_calls_libm(name: str) -> bool:
    """Whether NumPy gives the C library's result for each of some thousand values."""
    values = np.linspace(-0.9999, -0.0001, 4096) if name == "log1p" else np.linspace(0.0001, 6.28, 4096)
    return getattr(np, name)(values).tolist() == list(map(getattr(math, name), values.tolist()))


@cache
def one_by_one(name: str) -> Callable[[float], float]:
    """The function of `math` with C's results where Python raises."""
    function = getattr(math, name)
    if name == "exp":
        return lambda value: function(value) if value < 709.782712893384 else math.inf
    if name == "log":
        return lambda value: function(value) if value else -math.inf
    return function


def fill_double(draws: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Float64 draws to normals: of each block of 16, the first 8 give radii and the last 8 angles."""
    blocks = draws.reshape(-1, 2, 8)
    radius = np.sqrt(-2.0 * libm("log", (1.0 - blocks[:, 0]).ravel()))
    angle = (2.0 * math.pi * blocks[:, 1]).ravel()
    directions = np.array([libm("cos", angle), libm("sin", angle)])
    normals = fused_double(radius * directions, std, mean)
    return normals.reshape(2, -1, 8).swapaxes(0, 1).ravel()


# Note [Single precision, step by step]
# PyTorch's float32 fill takes the logarithm, sine and cosine of the Cephes library in vector registers:
# the polynomials below, each step a multiplication and an addition with one rounding. `step` rounds the
# sum twice, to float64 first, which changes the last bit of about one step in 10**9. A chunk of draws
# stays in the cache.
CHUNK = 8192
SINGLE_TWO_PI = np.float32(2.0 * math.pi)
LOG_STEPS = (
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
COS_STEPS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
SIN_STEPS = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
QUARTER_PI_PARTS = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)


def singles_of(steps: Sequence) -> np.ndarray:
    """Coefficients rounded to float32, held as float64."""
    return np.array(steps, np.float32).astype(np.float64)


LOG_COEFFICIENTS = singles_of(LOG_STEPS)
COS_SIN_COEFFICIENTS = singles_of(list(zip(COS_STEPS, SIN_STEPS, strict=True)))[:, :, None]
LN_2_PARTS = (np.float32(-2.12194440e-4), np.float64(0.693359375))


def fill_single(draws: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Float32 draws to normals, as `fill_double`. See Note [Single precision, step by step]."""
    result = np.empty_like(draws)
    for start in range(0, len(draws), CHUNK):
        blocks = draws[start : start + CHUNK].reshape(-1, 2, 8)
        radius = np.sqrt(np.float32(-2) * log_single((np.float32(1) - blocks[:, 0]).ravel()))
        normals = radius * cosine_and_sine_single((SINGLE_TWO_PI * blocks[:, 1]).ravel())
        if (mean, std) != (0.0, 1.0):
            normals = fused(normals, np.float32(std), np.float32(mean))
        result[start : start + CHUNK] = normals.reshape(2, -1, 8).swapaxes(0, 1).ravel()
    return result


def step(first: np.ndarray, second, addend) -> np.ndarray:
    """float32 first * second + addend; `second` holds float32 numbers as float64."""
    return (first * second + addend).astype(np.float32)


def log_single(values: np.ndarray) -> np.ndarray:
    """The natural logarithm of positive float32 numbers."""
    bits = values.view(np.int32)
    exponent = ((bits >> 23) - 126).astype(np.float32)
    mantissa = ((bits & 0x7FFFFF) | 0x3F000000).view(np.float32)
    is_small = mantissa < np.float32(math.sqrt(0.5))
    exponent -= is_small
    point = (mantissa - np.float32(1)) + mantissa * is_small
    square = point * point
    wide_point, wide_square = point.astype(np.float64), square.astype(np.float64)
    result: np.ndarray = LOG_COEFFICIENTS[0]
    for coefficient in LOG_COEFFICIENTS[1:]:
        result = step(result, wide_point, coefficient)
    result = step(result * point, wide_square, exponent * LN_2_PARTS[0])
    result = step(result, 1.0, wide_square * -0.5)
    return step(exponent, LN_2_PARTS[1], point + result)


def cosine_and_sine_single(angles: np.ndarray) -> np.ndarray:
    """Cosine and sine, two rows, of float32 angles from 0 on."""
    octant = ((angles * np.float32(4.0 / math.pi)).astype(np.int32) + 1) & ~1
    wide_octant = octant.astype(np.float64)
    for part in QUARTER_PI_PARTS:
        angles = step(wide_octant, part, angles)
    square = angles * angles
    wide_square = square.astype(np.float64)
    result = COS_SIN_COEFFICIENTS[0]
    for coefficients in COS_SIN_COEFFICIENTS[1:]:
        result = step(result, wide_square, coefficients)
    half = square * np.float32(-0.5)
    result = step(result * square, np.array([wide_square, angles]), np.array([half, angles]))
    result[0] += np.float32(1)
    result = np.where((octant & 2) != 0, result[::-1], result)
    signs = np.array([octant + 2, octant]) & 4  # 4 where the result is negative
    return result * (np.float32(1) - signs.astype(np.float32) * np.float32(0.5))


def fused(first: np.ndarray, second: np.float32, addend: np.float32) -> np.ndarray:
    """float32 first * second + addend with one rounding."""
    product = np.multiply(first, second, dtype=np.float64)
    total = product + addend
    # The product is exact. The sum was rounded to float64, which matters only where it now looks like a tie.
    ties = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    if ties.any():
        total[ties] = odd_sum(product[ties], np.float64(addend))
    return total.astype(np.float32)


def two_sum(first, second) -> tuple[np.ndarray, np.ndarray]:
    """The rounded float64 sum and what the rounding left out."""
    total = first + second
    part = total - first
    return total, (first - (total - part)) + (second - part)


def odd_sum(first, second) -> np.ndarray:
    """The float64 sum, its last bit odd where it is inexact, so that a later rounding falls right."""
    total, rest = two_sum(first, second)
    bits = total.view(np.int64)
    is_even = (rest != 0) & ((bits & 1) == 0)
    away_from_zero = (rest > 0) == (total > 0)
    return np.where(is_even, bits + np.where(away_from_zero, 1, -1), bits).view(np.float64)


def fused_double(first: np.ndarray, second: float, addend: float) -> np.ndarray:
    """float64 first * second + addend with one rounding (the method of Boldo and Melquiond)."""
    if addend == 0.0:
        return first * second + addend
    if abs(second) > 2.0**960:  # splitting such numbers overflows; powers of two take nothing from them
        return fused_double(first, second * 2.0**-64, addend * 2.0**-64) * 2.0**64
    values, result = first.ravel(), np.empty(first.size)
    for start in range(0, len(values), CHUNK):
        high, low = two_product(values[start : start + CHUNK], second)
        sum_high, sum_low = two_sum(np.float64(addend), low)
        total, rest = two_sum(high, sum_high)
        result[start : start + CHUNK] = total + odd_sum(sum_low, rest)
    return result.reshape(first.shape)


def two_product(first: np.ndarray, second: float) -> tuple[np.ndarray, np.ndarray]:
    """The rounded float64 product and what the rounding left out (the method of Dekker)."""
    product = first * second
    first_high, first_low = halves(first)
    second_high, second_low = halves(np.float64(second))
    rest = first_high * second_high - product
    rest += first_high * second_low + first_low * second_high
    return product, rest + first_low * second_low


def halves(value):
    """A float64 as the sum of two of at most 26 bits."""
    scaled = value * 134217729.0
    high = scaled - (scaled - value)
    return high, value - high
