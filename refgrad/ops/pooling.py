"""Pooling: the maximum or the mean of patches, over two or three dimensions; over one by way of two.

*Window*: the view of shape (…, places of the output, places of the kernel) on the padded input.
"""

import itertools
from math import prod
from typing import Any

import numpy as np

from refgrad import dtypes, duals, modes
from refgrad.layout import wrap_dim
from refgrad.op import calls, composite, op
from refgrad.ops.checks import written_zeros
from refgrad.ops.formats import in_format_of
from refgrad.ops.reductions import row_major
from refgrad.storage import count_write
from refgrad.tensor import wrap

# Shapes


def repeated(values: Any, count: int) -> tuple:
    """An option with a value for each dimension."""
    values = tuple(values)
    return values * count if len(values) == 1 else values


def output_size(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many patches fit; the last one may not begin in the padding behind."""
    reach = size + 2 * padding - dilation * (kernel - 1) - 1
    count = -(-reach // stride) + 1 if ceil_mode else reach // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + padding else count


class Patches:
    """The patches of a pooling of `count` dimensions: sizes, options and the errors they may be."""

    def __init__(
        self,
        shape: tuple,
        count: int,
        kernel: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        ceil: bool,
        mean: bool = False,
    ):
        self.count = count
        self.shape = shape
        self.mean = mean
        self.check_rank()
        self.sizes = shape[-count:]
        self.kernel = repeated(kernel, count)
        self.stride = repeated(stride, count) if len(stride) else self.kernel
        self.padding, self.dilation = repeated(padding, count), repeated(dilation, count)
        self.check_options()
        if mean and count == 3:
            self.check_kernel()
        self.output = tuple(
            output_size(*values, ceil)
            for values in zip(self.sizes, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        )
        self.check_output()

    def check_options(self) -> None:
        """Refuse options that make no patches.

        Raises:
            RuntimeError: with PyTorch's text.
        """
        if min(self.stride) == 0:
            raise RuntimeError("stride should not be zero")
        self.check_padding()
        letters = "THW"[-self.count :]
        for name, short, values in (
            ("kernel size", "k", self.kernel),
            ("stride", "d", self.stride),
            ("dilation", "dilation", self.dilation),
        ):
            if min(values) <= 0:
                listed = " ".join(f"{short}{letter}: {n}" for letter, n in zip(letters, values, strict=True))
                raise RuntimeError(f"{name} should be greater than zero, but got {listed}")
        self.check_sizes()

    def check_rank(self) -> None:
        """Refuse too few or too many dimensions, but for those that mean-pooling looks at after its options.

        Raises:
            RuntimeError, IndexError: with PyTorch's text.
        """
        ndim = len(self.shape)
        if ndim in (self.count + 1, self.count + 2):
            return
        if not self.mean or self.count == 3:
            raise RuntimeError(
                f"non-empty {self.count + 1}D or {self.count + 2}D (batch mode) tensor expected for input"
            )
        wrap_dim(-self.count - 1, ndim)

    def check_sizes(self) -> None:
        """Refuse an input without channels or without an image.

        Raises:
            RuntimeError: with PyTorch's text.
        """
        is_empty = 0 in self.shape[-self.count - 1 :]
        if self.count == 3 and is_empty:
            name = "avg_pool3d()" if self.mean else "max_pool3d_with_indices_out_cpu_template()"
            raise RuntimeError(
                f"{name}: Expected input's non-batch dimensions to have positive length, but input has a "
                f"shape of {list(self.shape)} and non-batch dimension 0 has length zero!"
            )
        if is_empty or len(self.shape) > self.count + 2:
            raise RuntimeError(
                f"Expected {self.count + 1}D or {self.count + 2}D (batch mode) tensor with optional 0 dim "
                f"batch size for input, but got:{list(self.shape)}"
            )

    def check_padding(self) -> None:
        """Refuse padding that is negative, or wider than half a patch.

        Raises:
            RuntimeError: with PyTorch's text.
        """
        for padding, kernel, dilation in zip(self.padding, self.kernel, self.dilation, strict=True):
            if padding < 0:
                raise RuntimeError(f"pad must be non-negative, but got pad: {padding}")
            if padding > int((dilation * (kernel - 1) + 1) / 2):  # towards zero, as C++ divides
                raise RuntimeError(
                    f"pad should be at most half of effective kernel size, but got pad={padding}, "
                    f"kernel_size={kernel} and dilation={dilation}"
                )

    def check_kernel(self) -> None:
        """Refuse a kernel larger than the image, padded or not, as mean-pooling in three dimensions does.

        Raises:
            RuntimeError: with PyTorch's text.
        """
        if any(k > size for k, size in zip(self.kernel, self.sizes, strict=True)):
            image = " ".join(f"{letter}: {size}" for letter, size in zip("THW", self.sizes, strict=True))
            kernel = " ".join(f"k{letter}: {k}" for letter, k in zip("THW", self.kernel, strict=True))
            raise RuntimeError(f"input image ({image}) smaller than kernel size ({kernel})")

    def check_output(self) -> None:
        """Refuse an output without elements.

        Raises:
            RuntimeError: with PyTorch's text.
        """
        if min(self.output) < 1:
            channels = self.shape[-self.count - 1]
            given, found = ("x".join(map(str, (channels, *sizes))) for sizes in (self.sizes, self.output))
            raise RuntimeError(
                f"Given input size: ({given}). Calculated output size: ({found}). Output size is too small"
            )

    def window(self, array: np.ndarray, fill: Any) -> np.ndarray:
        """The window on the padded array."""
        ends = [
            (n - 1) * s + d * (k - 1) + 1
            for n, s, d, k in zip(self.output, self.stride, self.dilation, self.kernel, strict=True)
        ]
        behind = [max(end - size - p, 0) for end, size, p in zip(ends, self.sizes, self.padding, strict=True)]
        lead = array.ndim - self.count
        pads = [(0, 0)] * lead + list(zip(self.padding, behind, strict=True))
        padded = np.pad(array, pads, constant_values=fill)
        steps = padded.strides[lead:]
        strides = [step * s for step, s in zip(steps, self.stride, strict=True)]
        strides += [step * d for step, d in zip(steps, self.dilation, strict=True)]
        shape = (*padded.shape[:lead], *self.output, *self.kernel)
        return np.lib.stride_tricks.as_strided(
            padded, shape, (*padded.strides[:lead], *strides), writeable=False
        )

    def divisor(self, count_include_pad: bool, override: int | None) -> np.ndarray:
        """By what the sum of each patch is divided to give its mean."""
        if override is not None:
            return np.full(self.output, override, np.float64)
        result = np.ones(())
        for n, size, k, s, p in zip(
            self.output, self.sizes, self.kernel, self.stride, self.padding, strict=True
        ):
            start = np.arange(n) * s - p
            end = np.minimum(start + k, size + p)
            if not count_include_pad:
                start, end = np.maximum(start, 0), np.minimum(end, size)
            result = np.multiply.outer(result, end - start)
        return result


def no_patches(name: str, array: np.ndarray) -> Exception:
    """PyTorch's refusal of an element type."""
    return NotImplementedError(f"\"{name}\" not implemented for '{dtypes.OF_NUMPY[array.dtype].scalar_type}'")


# Maximum


def largest_in(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest value of each row and its place: the first of equal ones, but the last NaN."""
    chosen = flat.argmax(-1)
    values = np.take_along_axis(flat, chosen[..., None], -1)[..., 0]
    if values.dtype.kind == "f" and np.isnan(values).any():
        last = flat.shape[-1] - 1 - np.isnan(flat)[..., ::-1].argmax(-1)
        chosen = np.where(np.isnan(values), last, chosen)
    return values, chosen


def maximum_of(array: np.ndarray, patches: Patches) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of each patch, and its place in the flattened spatial dimensions."""
    floating = array.dtype.kind == "f"
    lowest = -np.inf if floating else np.iinfo(array.dtype).min
    window = patches.window(array, lowest)
    flat = window.reshape(*window.shape[: -patches.count], -1)
    values, chosen = largest_in(flat)
    place = np.zeros((), np.int64)
    offsets = np.unravel_index(chosen, patches.kernel)
    for axis in range(patches.count):
        start = np.arange(patches.output[axis]) * patches.stride[axis] - patches.padding[axis]
        start = start.reshape([-1 if i == axis else 1 for i in range(patches.count)])
        place = place * patches.sizes[axis] + start + offsets[axis] * patches.dilation[axis]
    return row_major(values), place


def put_at(grad: np.ndarray, indices: np.ndarray, shape: tuple, count: int) -> np.ndarray:
    """Each gradient added at the place that its index says."""
    lead = prod(shape[:-count])
    result = np.zeros((lead, prod(shape[-count:])), grad.dtype)
    rows = np.arange(lead)[:, None]
    np.add.at(result, (rows, indices.reshape(lead, -1)), grad.reshape(lead, -1))
    return result.reshape(shape)


def picked(grad: Any, indices: Any, count: int) -> Any:
    """The elements of a gradient at the places that the indices say."""
    lead = grad._array.shape[:-count]
    flat = calls.reshape(grad, (*lead, -1))
    return calls.reshape(calls.gather(flat, -1, calls.reshape(indices, (*lead, -1))), indices._array.shape)


def declare_max_pool(count: int) -> None:
    """Declare max-pooling over so many dimensions."""
    name, title = f"max_pool{count}d_with_indices", f"MaxPool{count}DWithIndices"
    options = (
        f"int[{count}] kernel_size, int[{count}] stride=[], int[{count}] padding=0, int[{count}] "
        "dilation=1, bool ceil_mode=False"
    )

    def back(grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1):
        function = getattr(calls, f"{name}_backward")
        return function(grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1)

    @op(
        f"{name}(Tensor self, {options}) -> (Tensor, Tensor)",
        node=f"{title}Backward0",
        nondifferentiable=(1,),
        self=back,
    )
    @in_format_of(0)
    def pooled(self, kernel_size, stride, padding, dilation, ceil_mode):
        check_options(f"max_pool{count}d", count, kernel_size, stride, padding, dilation)
        patches = Patches(self.shape, count, kernel_size, stride, padding, dilation, ceil_mode)
        if self.dtype.kind in "bc":
            raise no_patches(f"max_pool{count}d", self)
        return maximum_of(self, patches)

    @op(
        f"{name}_backward(Tensor grad_output, Tensor self, int[{count}] kernel_size, int[{count}] stride, "
        f"int[{count}] padding, int[{count}] dilation, bool ceil_mode, Tensor indices) -> Tensor",
        node=f"{title}BackwardBackward0",
        grad_output=lambda grad, indices: picked(grad, indices, count),
        self=lambda grad: written_zeros(grad, grad.shape),
    )
    @in_format_of(1)
    def spread(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
        return put_at(grad_output, indices, self.shape, count)

    @composite(f"max_pool{count}d(Tensor self, {options}) -> Tensor")
    def plain(self, kernel_size, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
        return getattr(calls, name)(self, kernel_size, stride, padding, dilation, ceil_mode)[0]


def check_options(name: str, count: int, *options: tuple) -> None:
    """Refuse kernel size, stride, padding or dilation with another number of values than dimensions.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    number = {2: "two", 3: "three"}[count]
    for kind, values in zip(("kernel_size", "stride", "padding", "dilation"), options):
        if len(values) == 1 or len(values) == count or kind == "stride" and not len(values):
            continue
        words = "must be either" if kind == "dilation" else "must either be"
        if name == "avg_pool3d":
            words = "must be"
        if kind == "stride":
            words += " omitted,"
        raise RuntimeError(f"{name}: {kind} {words} a single int, or a tuple of {number} ints")


# Mean


def declare_avg_pool(count: int) -> None:
    """Declare mean-pooling over so many dimensions."""
    name, title = f"avg_pool{count}d", f"AvgPool{count}D"

    def back(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        options = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return getattr(calls, f"{name}_backward")(grad, self, *options)

    def again(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        options = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return getattr(calls, name)(grad, *options)

    @op(
        f"{name}(Tensor self, int[{count}] kernel_size, int[{count}] stride=[], int[{count}] padding=0, "
        "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
        reduced="own" if count == 3 else "",  # where they are refused
        node=f"{title}Backward0",
        self=back,
    )
    @in_format_of(*(0,) * (count == 2))
    def pooled(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        check_options(f"avg_pool{count}d", count, kernel_size, stride, padding)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        patches = Patches(self.shape, count, kernel_size, stride, padding, (1,), ceil_mode, True)
        kind = self.dtype
        if kind in dtypes.REDUCED or kind.kind not in "fi" or kind.kind == "i" and kind != np.int64:
            raise no_patches(f"avg_pool{count}d_out_frame" if count == 3 else "avg_pool2d", self)
        axes = tuple(range(-count, 0))
        total = patches.window(self, 0).sum(axes)
        divisor = patches.divisor(count_include_pad, divisor_override)
        if self.dtype.kind == "i":
            return (total / divisor).astype(self.dtype)
        return (total / divisor.astype(total.dtype)).astype(self.dtype, copy=False)

    @op(
        f"{name}_backward(Tensor grad_output, Tensor self, int[{count}] kernel_size, int[{count}] stride, "
        f"int[{count}] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
        reduced="own",
        node=f"{title}BackwardBackward0",
        grad_output=again,
        self=lambda grad: written_zeros(grad, grad.shape),
    )
    @in_format_of(*(1,) * (count == 2))
    def spread(
        grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    ):
        patches = Patches(self.shape, count, kernel_size, stride, padding, (1,), ceil_mode, True)
        divisor = patches.divisor(count_include_pad, divisor_override).astype(self.dtype)
        return add_patches(grad_output / divisor, patches)


def add_patches(shares: Any, patches: Patches) -> Any:
    """An array of the input's shape in which each element of a patch was given the patch's share."""
    lead = shares.ndim - patches.count
    ends = [(n - 1) * s + k for n, s, k in zip(patches.output, patches.stride, patches.kernel, strict=True)]
    sizes = [max(end, size + p) for end, size, p in zip(ends, patches.sizes, patches.padding, strict=True)]
    sizes = [n + p for n, p in zip(sizes, patches.padding, strict=True)]
    result: Any = np.zeros((*shares.shape[:lead], *sizes), shares.dtype)
    for offset in itertools.product(*map(range, patches.kernel)):
        target = [
            slice(k, k + s * (n - 1) + 1, s)
            for k, s, n in zip(offset, patches.stride, patches.output, strict=True)
        ]
        result[(..., *target)] += shares
    inner = [slice(p, p + size) for p, size in zip(patches.padding, patches.sizes, strict=True)]
    return row_major(result[(..., *inner)])


for spatial in (2, 3):
    declare_max_pool(spatial)
    declare_avg_pool(spatial)


# One dimension, as two of which the first has size 1


def check_rank(self: Any, name: str, text: str, may_be_empty: bool = True) -> None:
    """Refuse inputs without a dimension of channels."""
    if self._array.ndim not in (2, 3) or not may_be_empty and 0 in self._array.shape[-2:]:
        raise RuntimeError(text.format(name=name, ndim=self._array.ndim, shape=list(self._array.shape)))


MAX_RANK = (
    "{name}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{shape}"
)
MEAN_RANK = (
    "Expected 2 to 3 dimensions, but got {ndim}-dimensional tensor for argument #1 'self' (while checking "
    "arguments for {name})"
)


def check_max_pool1d(self, kernel, stride, padding, dilation, ceil_mode):
    """Refuse options that make no patches.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    for name, value in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    if not 0 <= padding <= kernel // 2:
        low = "must be non-negative" if padding < 0 else "should be at most half of kernel size"
        shown = f"{padding}" if padding < 0 else f"padding={padding} and kernel_size={kernel}"
        raise RuntimeError(f"max_pool1d() padding {low}, but got {shown}")
    size = output_size(self._array.shape[-1], kernel, stride, padding, dilation, ceil_mode)
    if size <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {size}")


def single_options(kernel_size, stride, padding, dilation):
    """The options of max-pooling in one dimension as numbers.

    Raises:
        RuntimeError: one of them has several values.
    """
    options = {
        "kernel_size": ("an int, list of ints or", kernel_size),
        "stride": ("None, an int, list of ints, or", stride or kernel_size),
        "padding": ("an int, list of ints, or", padding),
        "dilation": ("an int, list of ints or", dilation),
    }
    for name, (kinds, values) in options.items():
        if len(values) != 1:
            raise RuntimeError(
                f"max_pool1d() {name} must be {kinds} tuple of ints of size 1 but got size {len(values)}"
            )
    return [values[0] for _, values in options.values()]


def check_single(name, **options):
    """Refuse options of a pooling in one dimension that have not just one value.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    for option, values in options.items():
        if len(values) != 1:
            raise RuntimeError(f"{name}() argument '{option}' should contain one int (got {len(values)})")


@composite(
    "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, "
    "int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"
)
def max_pool1d_with_indices(self, kernel_size, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
    check_rank(self, "max_pool1d", MAX_RANK, may_be_empty=False)
    kernel, step, pad, gap = single_options(kernel_size, stride, padding, dilation)
    check_max_pool1d(self, kernel, step, pad, gap, ceil_mode)
    found = calls.max_pool2d_with_indices(
        calls.unsqueeze(self, -2), (1, kernel), (1, step), (0, pad), (1, gap), ceil_mode
    )
    return tuple([calls.squeeze__dim(tensor, -2) for tensor in found])


@composite(
    "max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, "
    "bool ceil_mode=False) -> Tensor"
)
def max_pool1d(self, kernel_size, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
    array = self._array
    if array.dtype.kind not in "fV":
        raise no_patches("max_pool1d_impl", array)
    if modes.grad_enabled() and self.requires_grad or modes.DUALS and duals.tangent_of(self) is not None:
        return max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]
    # Without a graph PyTorch takes a direct way, whose result is no view.
    values = max_pool1d_with_indices(wrap(array), kernel_size, stride, padding, dilation, ceil_mode)[0]
    result = wrap(values._array.copy())
    if array.ndim == 2:
        count_write(result)
    return result


@composite(
    "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True) -> Tensor"
)
def avg_pool1d(self, kernel_size, stride=(), padding=(0,), ceil_mode=False, count_include_pad=True):
    check_rank(self, "avg_pool1d", MEAN_RANK)
    check_single("avg_pool1d", kernel_size=kernel_size, stride=stride or kernel_size, padding=padding)
    kernel, step, pad = ((1, *kernel_size), (1, *(stride or kernel_size)), (0, *padding))
    result = calls.avg_pool2d(calls.unsqueeze(self, -2), kernel, step, pad, ceil_mode, count_include_pad)
    return calls.squeeze__dim(result, -2)
