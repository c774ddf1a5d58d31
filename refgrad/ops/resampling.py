"""Resampling images: nearest, linear and cubic, over one, two or three dimensions.

All of these work one dimension after the other; which elements take part is in kernels/resampling.py.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.kernels import resampling as kernels
from refgrad.op import calls, composite, op
from refgrad.ops.formats import suggests_channels_last, with_channels_last

NAMES = "DHW"


def check_sizes(shape: tuple, output: tuple, dims: int) -> None:
    """Refuse images without elements.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if len(output) != dims:
        raise RuntimeError(f"It is expected output_size equals to {dims}, but got size {len(output)}")
    if len(shape) != dims + 2:
        raise RuntimeError(f"It is expected input_size equals to {dims + 2}, but got size {len(shape)}")
    if min(*shape[2:], *output) <= 0:
        names = NAMES[-dims:]
        given, wanted = (
            ", ".join(f"{name}: {size}" for name, size in zip(names, sizes, strict=True))
            for sizes in (shape[2:], output)
        )
        joint = "and output" if dims == 1 else "output"
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({given}) {joint} ({wanted})"
        )
    if 0 in shape[1:]:
        raise RuntimeError(
            f"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes {list(shape)}"
        )


def taps_for(mode: str, size: int, new: int, align: bool, scale: float | None, kind: type) -> kernels.Taps:
    """What the elements of one dimension are made of."""
    if mode.startswith("nearest"):
        return kernels.nearest(size, new, scale, mode == "nearest_exact", kind)
    if mode.endswith("_aa"):
        return kernels.antialiased(size, new, align, scale, kind, mode == "cubic_aa")
    return (kernels.cubic if mode == "cubic" else kernels.linear)(size, new, align, scale, kind)


def resampled(self: np.ndarray, mode: str, output: tuple, align: bool, scales: tuple) -> np.ndarray:
    """The image in its new size, laid out in memory as the old one."""
    kind = np.float64 if self.dtype == np.float64 else np.float32
    moves = mode.startswith("nearest")
    result = self if moves else self.astype(kind, copy=False)
    dims = len(output)
    for i in range(dims - 1, -1, -1):  # the last dimension first: sums are rounded as PyTorch rounds them
        taps = taps_for(mode, self.shape[2 + i], output[i], align, scales[i], kind)
        result = kernels.along(result, 2 + i, taps)
    if self.dtype.kind == "u" and not moves:
        result = np.rint(result).clip(0, 255)
    return laid_out(result.astype(self.dtype, copy=False), self)


def laid_out(result: np.ndarray, like: np.ndarray) -> np.ndarray:
    """The result with channels last if another image has them so, else row by row."""
    return with_channels_last(result) if suggests_channels_last(like) else np.ascontiguousarray(result)


def back(grad: np.ndarray, mode: str, output: tuple, sizes: tuple, align: bool, scales: tuple) -> np.ndarray:
    """The gradient of the image before it was resampled."""
    kind = np.float64 if grad.dtype == np.float64 else np.float32
    result = grad.astype(kind, copy=False)
    for i, new in enumerate(output):
        taps = taps_for(mode, sizes[2 + i], new, align, scales[i], kind)
        result = kernels.back_along(result, 2 + i, taps, sizes[2 + i])
    return laid_out(result.astype(grad.dtype, copy=False), grad)


def check_kind(self: np.ndarray, refusal: str, bytes_too: bool) -> None:
    """Refuse types that are not computed.

    Raises:
        NotImplementedError: with PyTorch's text.
    """
    if self.dtype.kind != "f" and not (bytes_too and self.dtype == np.uint8):
        raise NotImplementedError(
            f"\"{refusal}\" not implemented for '{dtypes.OF_NUMPY[self.dtype].scalar_type}'"
        )


def formulas(name: str, dims: int, has_align: bool) -> tuple[Callable, Callable]:
    """The gradient of an op, and that of its backward; their parameters are what PyTorch saves."""
    scales = ["scales"] if dims == 1 else [f"scales_{letter}" for letter in "dhw"[-dims:]]
    options = ", ".join((["align_corners"] if has_align else []) + scales)
    sources = (
        f"lambda grad, self_sym_sizes, output_size, {options}: "
        f"calls.{name}_backward(grad, output_size, self_sym_sizes, {options})",
        f"lambda grad, output_size, {options}: calls.{name}(grad, output_size, {options})",
    )
    first, second = (eval(source, {"calls": calls}) for source in sources)
    return first, second


def declare(name: str, node: str, mode: str, dims: int, refusal: str) -> None:
    """Declare the op for so many dimensions, its backward, and the form that takes scale factors."""
    has_align = not mode.startswith("nearest")
    align = ", bool align_corners" if has_align else ""
    names = ["scales"] if dims == 1 else [f"scales_{letter}" for letter in "dhw"[-dims:]]
    scales = "".join(f", float? {scale}=None" for scale in names)
    first, second = formulas(name, dims, has_align)

    def options(rest: tuple) -> tuple:
        return (rest[0], rest[1:]) if has_align else (False, rest)

    @op(
        f"{name}(Tensor self, SymInt[{dims}] output_size{align}{scales}) -> Tensor",
        node=f"{node}Backward0",
        self=first,
    )
    def upsample(self, output_size, *rest):
        check_sizes(self.shape, output_size, dims)
        check_kind(self, refusal, mode != "cubic")
        return resampled(self, mode, output_size, *options(rest))

    @op(
        f"{name}_backward(Tensor grad_output, SymInt[{dims}] output_size, SymInt[{dims + 2}] input_size"
        f"{align}{scales}) -> Tensor",
        node=f"{node}BackwardBackward0",
        grad_output=second,
    )
    def upsample_backward(grad_output, output_size, input_size, *rest):
        return back(grad_output, mode, output_size, input_size, *options(rest))

    @composite(f"{name}.vec(Tensor input, SymInt[]? output_size{align}, float[]? scale_factors) -> Tensor")
    def upsample_by_scale(input, output_size, *rest):
        factors = rest[-1]
        size = new_size(input, output_size, factors)
        each = [None] * dims if factors is None else [float(factor) for factor in factors]
        return getattr(calls, name)(input, size, *rest[:-1], *each)


def new_size(input: Any, output_size: Any, factors: Any) -> tuple:
    """The size that is asked for, directly or by factors.

    Raises:
        RuntimeError: by both or none.
    """
    if (output_size is None) == (factors is None):
        raise RuntimeError("Must specify exactly one of output_size and scale_factors")
    if output_size is not None:
        return tuple(output_size)
    sizes = input._array.shape[2:]
    return tuple([math.floor(size * factor) for size, factor in zip(sizes, factors, strict=True)])


for count, linear in ((1, "linear"), (2, "bilinear"), (3, "trilinear")):
    last = "upsample_nearest2d_channels_last" if count == 2 else "compute_indices_weights_nearest"
    declare(f"upsample_nearest{count}d", f"UpsampleNearest{count}D", "nearest", count, last)
    exact = f"_upsample_nearest_exact{count}d"
    declare(exact, f"UpsampleNearestExact{count}D", "nearest_exact", count, last)
    last = "upsample_bilinear2d_channels_last" if count == 2 else "compute_indices_weights_linear"
    declare(f"upsample_{linear}{count}d", f"Upsample{linear.title()}{count}D", "linear", count, last)
declare("upsample_bicubic2d", "UpsampleBicubic2D", "cubic", 2, "compute_indices_weights_cubic")
declare("_upsample_bilinear2d_aa", "UpsampleBilinear2DAa", "linear_aa", 2, "upsample_bilinear2d_aa")
declare("_upsample_bicubic2d_aa", "UpsampleBicubic2DAa", "cubic_aa", 2, "upsample_bicubic2d_aa")
