"""New tensors of random numbers: by shape, by example, and by the parameters of a distribution."""

import math

import numpy as np

from refgrad import dtypes
from refgrad.layout import broadcast_shapes, kept_strides, lies_oddly
from refgrad.op import composite, op
from refgrad.ops.copying import check_device, empty_strided
from refgrad.ops.creation import OPTIONS, checked_size, finished, kind_of
from refgrad.ops.random import (
    bernoulli_kernel,
    bernoulli_tensor_kernel,
    draws_from,
    filled_zeros,
    normal_kernel,
    random_from_kernel,
    refuse,
    uniform_kernel,
    zeros_for,
)
from refgrad.samples import stop_at_wrapper
from refgrad.types import contiguous_format

# New tensors by shape ---------------------------------------------------------------------------------------

RANDOM_OPTIONS = f"*, Generator? generator=None, {OPTIONS}"
LIKE_OPTIONS = f"{RANDOM_OPTIONS}, MemoryFormat? memory_format=None"


@composite(f"rand(SymInt[] size, {RANDOM_OPTIONS}) -> Tensor")
def rand(size, generator=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    array = np.empty(checked_size(size), kind_of(dtype))
    uniform_kernel(array, 0.0, 1.0, generator)
    return finished(array, requires_grad)


@composite(f"randn(SymInt[] size, {RANDOM_OPTIONS}) -> Tensor")
def randn(size, generator=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    array = np.empty(checked_size(size), kind_of(dtype))
    normal_kernel(array, 0.0, 1.0, generator)
    return finished(array, requires_grad)


@composite(f"randint(SymInt high, SymInt[] size, {RANDOM_OPTIONS}) -> Tensor")
def randint(
    high, size, generator=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    return randint_low(0, high, size, generator, dtype, layout, device, pin_memory, requires_grad)


@composite(f"randint.low(SymInt low, SymInt high, SymInt[] size, {RANDOM_OPTIONS}) -> Tensor")
def randint_low(
    low,
    high,
    size,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    check_device(device)
    array = np.empty(checked_size(size), (dtypes.int64 if dtype is None else dtype).numpy)
    random_from_kernel(array, low, high, generator)
    return finished(array, requires_grad)


@composite(f"randperm(SymInt n, {RANDOM_OPTIONS}) -> Tensor")
def randperm(n, generator=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    check_device(device)
    kind = dtypes.int64 if dtype is None else dtype
    checked_size((n,))
    if kind.category == dtypes.FLOATING and n > 2 ** (dtypes.finfo(kind).nmant + 1) + 1:
        raise RuntimeError(
            f"n cannot be greater than {2 ** (dtypes.finfo(kind).nmant + 1) + 1} for {kind.scalar_type} type."
        )
    if kind.category == dtypes.INTEGER and n > np.iinfo(kind.numpy).max:
        raise RuntimeError(f"value cannot be converted to type {kind.numpy.name}_t without overflow")
    if kind.category in (dtypes.BOOL, dtypes.COMPLEX):
        raise refuse("randperm", kind.numpy)
    return finished(draws_from(generator).randperm(n).astype(kind.numpy, copy=False), requires_grad)


def empty_as(tensor, dtype=None, memory_format=None):
    """New memory in the shape of a tensor, laid out alike unless it shall be contiguous."""
    stop_at_wrapper(tensor)
    array = tensor._array
    kind = array.dtype if dtype is None else dtype.numpy
    if memory_format is contiguous_format or (array.flags.c_contiguous and not lies_oddly(array)):
        return np.empty(array.shape, kind)
    return empty_strided(array.shape, kept_strides(array), kind)


@composite(f"rand_like(Tensor self, {LIKE_OPTIONS}) -> Tensor")
def rand_like(
    self,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    check_device(device)
    array = empty_as(self, dtype, memory_format)
    uniform_kernel(array, 0.0, 1.0, generator)
    return finished(array, requires_grad)


@composite(f"randn_like(Tensor self, {LIKE_OPTIONS}) -> Tensor")
def randn_like(
    self,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    check_device(device)
    array = empty_as(self, dtype, memory_format)
    normal_kernel(array, 0.0, 1.0, generator)
    return finished(array, requires_grad)


@composite(f"randint_like(Tensor self, SymInt high, {LIKE_OPTIONS}) -> Tensor")
def randint_like(
    self,
    high,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    check_device(device)
    array = empty_as(self, dtype, memory_format)
    random_from_kernel(array, 0, high, generator)
    return finished(array, requires_grad)


@composite(f"randint_like.low_dtype(Tensor self, SymInt low, SymInt high, {LIKE_OPTIONS}) -> Tensor")
def randint_like_low(
    self,
    low,
    high,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    check_device(device)
    array = empty_as(self, dtype, memory_format)
    random_from_kernel(array, low, high, generator)
    return finished(array, requires_grad)


# New tensors by parameters ----------------------------------------------------------------------------------


@op(
    "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
    self=zeros_for,
)
def bernoulli(self, generator):
    result = np.empty(self.shape, self.dtype)
    bernoulli_tensor_kernel(result, self, generator)
    return result


@op("bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", refused="aten::bernoulli")
def bernoulli_p(self, p, generator):
    result = np.empty(self.shape, self.dtype)
    bernoulli_kernel(result, p, generator)
    return result


def standard_normals(shape, dtype, generator, std=1.0):
    """New memory with normal numbers around 0."""
    array = np.empty(shape, dtype)
    normal_kernel(array, 0.0, std, generator)
    return array


def check_deviations(std):
    """Refuse standard deviations that are complex or negative.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if std.dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if not (std >= 0).all():
        raise RuntimeError("normal expects all elements of std >= 0.0")


@op(
    "normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
    reduced="own",
    mean=lambda grad, mean_sym_sizes: filled_zeros(grad, mean_sym_sizes),
    node="NormalBackward1",
)
def normal_means(mean, std, generator):
    return standard_normals(mean.shape, mean.dtype, generator, std) + mean


@op(
    "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
    reduced="own",
    std=lambda grad, std_sym_sizes: filled_zeros(grad, std_sym_sizes),
    node="NormalBackward2",
)
def normal_deviations(mean, std, generator):
    check_deviations(std)
    return standard_normals(std.shape, std.dtype, generator) * std + std.dtype.type(mean)


@op(
    "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
    reduced="own",
    mean=lambda grad, mean_sym_sizes: filled_zeros(grad, mean_sym_sizes),
    std=lambda grad, std_sym_sizes: filled_zeros(grad, std_sym_sizes),
    node="NormalBackward3",
)
def normal_both(mean, std, generator):
    check_deviations(std)
    shape = broadcast_shapes(mean.shape, std.shape)
    normals = standard_normals(shape, mean.dtype, generator)
    return (normals * std + mean).astype(mean.dtype, copy=False)


@composite(f"normal.float_float(float mean, float std, SymInt[] size, {RANDOM_OPTIONS}) -> Tensor")
def normal_size(
    mean,
    std,
    size,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    check_device(device)
    array = np.empty(checked_size(size), kind_of(dtype))
    normal_kernel(array, mean, std, generator)
    return finished(array, requires_grad)


@op(
    "multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) "
    "-> Tensor",
    reduced="own",
)
def multinomial(self, num_samples, replacement, generator):
    if not 1 <= self.ndim <= 2:
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if self.dtype.kind not in "fV":
        kind = dtypes.OF_NUMPY[self.dtype].scalar_type
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {kind}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > self.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    check_weights(self, replacement and num_samples > 1)
    if not self.size:
        return np.empty((*self.shape[:-1], num_samples), np.int64)
    weights = np.ascontiguousarray(self)
    return np.ascontiguousarray(draws_from(generator).multinomial(weights, num_samples, replacement))


def check_weights(weights, replacement):
    """Refuse weights that make no distribution.

    Raises:
        RuntimeError: with PyTorch's text, which differs for draws with replacement.
    """
    if replacement:
        if not (weights >= 0).all():
            raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
        if not np.isfinite(weights).all():
            raise RuntimeError(
                "invalid multinomial distribution (encountering probability entry = infinity or NaN)"
            )
    elif not (np.isfinite(weights) & (weights >= 0)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if weights.size and not (weights.sum(-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


@op(
    "poisson(Tensor self, Generator? generator=None) -> Tensor",
    self=lambda grad, self_info: filled_zeros(grad, self_info),
)
def poisson(self, generator):
    if self.dtype.kind != "f":
        raise refuse("poisson_cpu", self.dtype)
    if not (self >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    source = draws_from(generator)
    result = np.zeros(self.shape, self.dtype)
    result.ravel()[...] = [one_poisson(rate, source) for rate in self.ravel().tolist()]
    return result


def one_poisson(rate, source):
    """One Poisson number: by multiplying uniform numbers; from 10 on by transformed rejection (Hörmann)."""

    def draw():
        return float(source.doubles(1)[0])

    if rate < 10:
        limit, product, count = math.exp(-rate), 1.0, 0
        if rate == 0:
            return 0
        while (product := product * draw()) > limit:
            count += 1
        return count
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u, v = draw() - 0.5, draw()
        distance = 0.5 - abs(u)
        count = math.floor((2 * a / distance + b) * u + rate + 0.43)
        if distance >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return count
        if count < 0 or (distance < 0.013 and v > distance):
            continue
        bound = -rate + count * log_rate - math.lgamma(count + 1)
        if math.log(v) + math.log(inverse_alpha) - math.log(a / (distance * distance) + b) <= bound:
            return count
