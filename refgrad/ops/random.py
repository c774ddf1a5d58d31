"""Random numbers: writing them in place, and the tensors made of them. The stream itself is in generator.py.

*Memory order*: elements are drawn in the order in which they lie in memory, not in that of the dimensions.
"""

import warnings
from typing import Any

import numpy as np

from refgrad import dtypes, errors, modes
from refgrad.binding import TYPES
from refgrad.generator import Generator as Stream
from refgrad.layout import Layout
from refgrad.op import calls, op
from refgrad.ops.views import expand
from refgrad.samples import Batched
from refgrad.tensor import Tensor, type_name, wrap
from refgrad.types import CPU, Device

NO_NEGATIVE = errors.expected_true("p_in >= 0 && p_in <= 1")


class Generator(Stream):
    """A source of random numbers with a state of its own (`torch.Generator`)."""

    def __init__(self, device: Any = "cpu"):
        if Device(device).type != "cpu":
            raise RuntimeError(
                f"a generator for {device} needs a device that refgrad does not have; use 'cpu'"
            )
        super().__init__()

    @property
    def device(self) -> Device:
        """Always the CPU."""
        return CPU

    def get_state(self) -> Any:
        """The state as a tensor of 5056 bytes."""
        return wrap(super().get_state())

    def set_state(self, new_state: Any) -> None:
        """Go on from a state that `get_state` gave.

        Raises:
            TypeError: it is no tensor of bytes.
            RuntimeError: it is no state.
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type_name(new_state)}")
        if new_state.dtype is not dtypes.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        super().set_state(new_state._array.tobytes())

    def clone_state(self) -> "Generator":
        """Another generator that goes on from the same state."""
        other = Generator()
        other.set_state(self.get_state())
        return other


Generator.__module__ = "torch._C"
default_generator = Generator()
TYPES.register("Generator", Generator, "torch._C.Generator")


NO_RANDOMNESS = {
    "error": "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap",
    "never": "vmap: We do not yet support calling random operations inside of vmap. Please perform random "
    "operations outside of vmap as a workaround",
}


def draws_from(generator: Generator | None) -> Generator:
    """The generator to draw from.

    Raises:
        RuntimeError: inside a `vmap` that forbids random numbers.
        Batched: inside one that draws other numbers for each sample.
    """
    if modes.state.randomness == "different":
        raise Batched
    check_randomness()
    return default_generator if generator is None else generator


def check_randomness() -> None:
    """Refuse random numbers inside a `vmap` that forbids them.

    Raises:
        RuntimeError: it does.
    """
    refusal = NO_RANDOMNESS.get(modes.state.randomness)
    if refusal is not None:
        raise RuntimeError(refusal)


def refuse(kernel: str, dtype: np.dtype) -> Exception:
    """PyTorch's refusal of an element type by a kernel."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.OF_NUMPY[dtype].scalar_type}'")


def in_memory_order(array):
    """The same elements with the dimensions in the order in which they lie in memory."""
    if array.flags.c_contiguous:
        return array
    return array.transpose(np.argsort([-stride for stride in array.strides], kind="stable"))


def put(array, numbers):
    """Write numbers in memory order."""
    target = in_memory_order(array)
    target[...] = numbers.reshape(target.shape)


def zeros_for(grad):
    """The gradient of what was overwritten."""
    return calls.zeros_like(grad)


def filled_zeros(grad, sizes):
    """The gradient of a parameter: zeros that C++ makes and then fills, which counts as one write."""
    return grad.new_zeros(sizes).zero_()


def write_random(text, node, kernel, **formulas):
    """Declare an op that overwrites its first argument with random numbers."""
    return op(text, self=zeros_for, node=node, writes=True, reduced="own", **formulas)(kernel)


# Written in place -------------------------------------------------------------------------------------------


def check_bounds(low, high, dtype):
    """Refuse bounds that the type cannot hold.

    Raises:
        NotImplementedError: the type is no floating one.
        RuntimeError: with PyTorch's text.
    """
    if dtype.kind not in "fcV":
        raise refuse("check_uniform_bounds", dtype)
    if low == 0 and high == 1:
        return
    real = dtype if dtype.kind in "fV" else np.dtype(f"f{dtype.itemsize // 2}")
    name, largest = dtypes.OF_NUMPY[dtype].cpp_name, float(dtypes.finfo(dtypes.OF_NUMPY[real]).max)
    for word, bound in (("from", low), ("to", high)):
        if not -largest <= bound <= largest:
            raise RuntimeError(f"{word} is out of bounds for {name}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    if high - low > largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{dtypes.OF_NUMPY[dtype].scalar_type}>::max(), "
            f"but found to={high:g} and from={low:g} which result in to-from to exceed the limit"
        )


def uniform_kernel(self, low, high, generator):
    check_bounds(low, high, self.dtype)
    put(self, draws_from(generator).uniform(self.size, self.dtype, low, high))


uniform_ = write_random(
    "uniform_(Tensor(a!) self, float from=0., float to=1., *, Generator? generator=None) -> Tensor(a!)",
    "UniformBackward0",
    uniform_kernel,
)


def normal_kernel(self, mean, std, generator):
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if self.dtype.kind not in "fcV":
        raise refuse("normal_kernel_cpu", self.dtype)
    contiguous = bool(self.flags.c_contiguous)
    put(self, draws_from(generator).normal(self.size, self.dtype, mean, std, contiguous))


normal_ = write_random(
    "normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)",
    "NormalBackward0",
    normal_kernel,
)


def bernoulli_kernel(self, p, generator):
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if self.dtype.kind == "c":
        raise refuse("bernoulli_scalar_cpu_", self.dtype)
    put(self, draws_from(generator).bernoulli_scalar(self.size, p))


bernoulli_ = write_random(
    "bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
    "BernoulliBackward2",
    bernoulli_kernel,
)


def bernoulli_tensor_kernel(self, p, generator):
    if p.dtype.kind not in "fV":
        raise refuse("bernoulli_tensor_cpu_p_", p.dtype)
    if self.dtype.kind == "c":
        raise refuse("bernoulli_tensor_cpu_self_", self.dtype)
    probabilities = expanded(p, self.shape)
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise RuntimeError(NO_NEGATIVE)
    order = np.argsort([-stride for stride in self.strides], kind="stable")
    put(self, draws_from(generator).bernoulli_tensor(probabilities.transpose(order)))


def expanded(array, shape):
    """The array broadcast to a shape.

    Raises:
        RuntimeError: it does not broadcast, with the text of `expand`.
    """
    if array.shape == shape:
        return array
    strides = tuple(stride // array.itemsize for stride in array.strides)
    expand.kernel(Layout(array.shape, strides, 0), shape, False)
    return np.broadcast_to(array, shape)


bernoulli_tensor_ = write_random(
    "bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
    "BernoulliBackward1",
    bernoulli_tensor_kernel,
    p=lambda grad, p_info: filled_zeros(grad, p_info),
)


def check_integers(low, high, dtype):
    """Refuse a range of integers that the type cannot hold; warn where it holds them with gaps.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    kind = dtypes.OF_NUMPY[dtype]
    if dtype.kind == "c":
        raise refuse("random_kernel_cpu", dtype)
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype.kind in "fV":
        smallest, largest = float(dtypes.finfo(kind).min), float(dtypes.finfo(kind).max)
    elif dtype.kind == "b":
        smallest, largest = 0, 1
    else:
        smallest, largest = np.iinfo(dtype).min, np.iinfo(dtype).max
    for word, bound in (("from", low), ("to - 1", high - 1)):
        if not smallest <= bound <= largest:
            raise RuntimeError(f"{word} is out of bounds for {kind.cpp_name}")
    if dtype.kind in "fV":
        digits = dtypes.finfo(kind).nmant + 1
        for word, bound in (("from", low), ("to - 1", high - 1)):
            if not -(2**digits) <= bound <= 2**digits:
                warnings.warn(
                    f"{word} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations "
                    f"{kind.cpp_name} can support discrete uniform distribution only within this range. This "
                    "warning will become an error in version 1.7 release, please fix the code in advance",
                    UserWarning,
                    stacklevel=4,
                )


def representable(low, high, dtype):
    """A range of integers moved inwards to bounds that a floating type holds exactly."""
    digits = dtypes.finfo(dtypes.OF_NUMPY[dtype]).nmant + 1
    following, previous = int(dtype.type(low + 1)), int(dtype.type(high - 1))
    if following < low:
        low = following + (1 << (abs(low + 1).bit_length() - digits))
    if previous >= high:
        high = previous - (1 << (abs(high - 1).bit_length() - digits))
    return low, high


def random_from_kernel(self, low, high, generator):
    if high is not None:
        check_integers(low, high, self.dtype)
        if self.dtype.kind in "fV":
            low, high = representable(low, high, self.dtype)
    put(self, draws_from(generator).randint(self.size, low, high, self.dtype))


random_from_ = write_random(
    "random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)",
    "RandomBackward0",
    random_from_kernel,
)
random_to_ = write_random(
    "random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)",
    "RandomBackward1",
    lambda self, high, generator: random_from_kernel(self, 0, high, generator),
)


def random_kernel(self, generator):
    if self.dtype.kind == "c":
        raise refuse("random_kernel_cpu", self.dtype)
    put(self, draws_from(generator).random(self.size, self.dtype))


random_ = write_random(
    "random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)", "RandomBackward2", random_kernel
)


def exponential_kernel(self, lambd, generator):
    if self.dtype.kind not in "fV":
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating "
            "point but you "
            f"specified {dtypes.OF_NUMPY[self.dtype].scalar_type}"
        )
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    put(self, draws_from(generator).exponential(self.size, self.dtype, lambd))


exponential_ = write_random(
    "exponential_(Tensor(a!) self, float lambd=1., *, Generator? generator=None) -> Tensor(a!)",
    "ExponentialBackward0",
    exponential_kernel,
)


def geometric_kernel(self, p, generator):
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if self.dtype.kind in "cb":
        raise refuse("geometric_cpu", self.dtype)
    put(self, draws_from(generator).geometric(self.size, self.dtype, p))


geometric_ = write_random(
    "geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)",
    "GeometricBackward0",
    geometric_kernel,
)


def log_normal_kernel(self, mean, std, generator):
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if self.dtype.kind not in "fV":
        raise refuse("log_normal_cpu", self.dtype)
    put(self, draws_from(generator).log_normal(self.size, self.dtype, mean, std))


log_normal_ = write_random(
    "log_normal_(Tensor(a!) self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor(a!)",
    "LogNormalBackward0",
    log_normal_kernel,
)


def cauchy_kernel(self, median, sigma, generator):
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    if self.dtype.kind not in "fV":
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point "
            f"but you specified {dtypes.OF_NUMPY[self.dtype].cpp_name}"
        )
    put(self, draws_from(generator).cauchy(self.size, self.dtype, median, sigma))


cauchy_ = write_random(
    "cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor(a!)",
    "CauchyBackward0",
    cauchy_kernel,
)
