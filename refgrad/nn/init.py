"""`torch.nn.init`: filling parameters with numbers."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad.autograd import no_grad
from refgrad.tensor import wrap
from refgrad.watchable import watchable

LINEAR_NAMES = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
)


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """How much a nonlinearity shrinks its input: the factor that the weights before it make up for.

    Raises:
        ValueError: the nonlinearity is unknown, or its parameter is no number.
    """
    if nonlinearity in LINEAR_NAMES or nonlinearity == "sigmoid":
        return 1
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Fill with numbers between `a` and `b`."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Fill with normal numbers."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Any, val: float) -> Any:
    """Fill with one value."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Any) -> Any:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Fill with zeros."""
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Any) -> Any:
    """Make a matrix the identity.

    Raises:
        ValueError: it is no matrix.
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(wrap(np.eye(*tensor.shape, dtype=tensor._array.dtype)))


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Make the weight of a convolution keep as many channels as possible as they are.

    Raises:
        ValueError: it is no such weight, or the groups do not divide it.
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups:
        raise ValueError("dim 0 must be divisible by groups")
    channels = tensor.size(0) // groups
    center = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(channels, tensor.size(1))):
                tensor[(group * channels + channel, channel, *center)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """How many inputs and outputs a weight connects to each element.

    Raises:
        ValueError: it has less than 2 dimensions.
    """
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    """The fan that a mode names.

    Raises:
        ValueError: there is no such mode.
    """
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Fill uniformly so that variance is kept in both directions (Glorot and Bengio)."""
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor)))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Fill with normal numbers so that variance is kept in both directions (Glorot and Bengio)."""
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    return normal_(tensor, 0.0, std, generator)


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Fill uniformly so that variance is kept through a rectifier (He et al.)."""
    std = kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else uniform_(tensor, -math.sqrt(3.0) * std, math.sqrt(3.0) * std, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Fill with normal numbers so that variance is kept through a rectifier (He et al.)."""
    std = kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


def kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float | None:
    """The standard deviation of He et al.; None, with a warning, for a tensor without elements."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Any:
    """Fill with normal numbers, drawing those outside of `a` to `b` again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values "
            "may be incorrect.",
            stacklevel=2,
        )

    def below(x: float) -> float:
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    with no_grad():
        if below((b - mean) / std) - below((a - mean) / std) > 0.3:
            return redrawn(tensor, mean, std, a, b, generator)
        return rejected(tensor, mean, std, a, b, generator)


def redrawn(tensor: Any, mean: float, std: float, a: float, b: float, generator: Any) -> Any:
    """Draw all elements, and those outside again, until none is; each round draws for every element."""
    low, high = tensor._array.dtype.type(a), tensor._array.dtype.type(b)
    tensor.normal_(mean, std, generator=generator)
    array, drawn_again = tensor._array, None
    while True:
        outside = (array < low) | (array > high)
        if not outside.any():
            break
        drawn_again = tensor.new_zeros(tensor.shape).normal_(mean, std, generator=generator)
        array = np.where(outside, drawn_again._array, array)
    if drawn_again is not None:
        drawn_again._array[...] = array
        tensor.copy_(drawn_again)
    return tensor


def rejected(tensor: Any, mean: float, std: float, a: float, b: float, generator: Any) -> Any:
    """Draw uniform numbers and accept each by its density, for ranges that normal numbers rarely hit."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    candidates, chance = tensor.new_zeros(tensor.shape), tensor.new_zeros(tensor.shape)
    tensor.uniform_(a, b, generator=generator)
    result = tensor._array

    def refused(values: np.ndarray) -> np.ndarray:
        scaled = (values - values.dtype.type(mean)) / values.dtype.type(std)
        density = scaled**2 * values.dtype.type(-0.5) - values.dtype.type(peak)
        return np.log(chance.uniform_(generator=generator)._array) > density

    pending = refused(result)
    if not pending.any():
        return tensor
    while pending.any():
        candidates.uniform_(a, b, generator=generator)
        result = np.where(pending, candidates._array, result)
        pending = pending & refused(candidates._array)
    candidates._array[...] = result
    return tensor.copy_(candidates)


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """Make the rows (or columns, the fewer ones) orthonormal, times `gain`.

    Raises:
        ValueError: it has less than 2 dimensions.
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    normals = tensor.new_zeros((rows, columns)).normal_(0, 1, generator=generator)._array
    q, r = np.linalg.qr(normals.T if rows < columns else normals)
    q = q * np.sign(np.diagonal(r))
    with no_grad():
        matrix = tensor.new_zeros((rows, columns))
        matrix._array[...] = q.T if rows < columns else q
        tensor.copy_(matrix.reshape(tensor.shape))
        tensor.mul_(gain)
    return tensor


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Fill a matrix with normal numbers and set a fraction of each column to zero.

    Raises:
        ValueError: it is no matrix.
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    import refgrad

    rows, columns = tensor.shape
    count = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[refgrad.randperm(rows)[:count], column] = 0
    return tensor


watchable([uniform_, normal_, constant_, kaiming_uniform_], "torch.nn.init", asked=("tensor",), by_name=True)


def deprecated(function: Any) -> Callable:
    """The function under its old name without underscore, with a warning."""
    name = function.__name__[:-1]

    def old(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    old.__name__ = name
    return old


uniform, normal, constant, eye, dirac, xavier_uniform, xavier_normal = map(
    deprecated, (uniform_, normal_, constant_, eye_, dirac_, xavier_uniform_, xavier_normal_)
)
kaiming_uniform, kaiming_normal, orthogonal, sparse = map(
    deprecated, (kaiming_uniform_, kaiming_normal_, orthogonal_, sparse_)
)
