"""Elements put around a tensor: a constant, its mirror image, its border, or its other end.

*Padding*: pairs of counts, before and after, which begin with the last dimension; a negative count cuts off.
"""

from typing import Any

import numpy as np

from refgrad.op import calls, composite, op
from refgrad.ops.checks import written_zeros
from refgrad.ops.copying import number_in
from refgrad.ops.formats import in_format_of
from refgrad.ops.reductions import row_major

UNSUPPORTED = (
    "Padding size {} is not supported for {}D input tensor.\n"
    "Supported combinations for non-constant padding:\n"
    "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
    "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
    "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
)

MODES = {"constant": "constant", "reflect": "reflection", "replicate": "replication", "circular": "circular"}
"""The word for each mode in the names of the ops."""


def pairs_of(padding: Any, ndim: int) -> list[tuple[int, int]]:
    """The counts before and after, for each dimension from the first."""
    pairs = [(padding[i], padding[i + 1]) for i in range(0, len(padding), 2)]
    return [(0, 0)] * (ndim - len(pairs)) + pairs[::-1]


# A constant


@op(
    "constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
    reduced="own",
    self=lambda grad, pad: calls.constant_pad_nd(grad, [-count for count in pad], 0),
)
@in_format_of(0)
def constant_pad_nd(self, pad, value):
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * self.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)}while the input has {self.ndim}dimensions."
        )
    pairs = pairs_of(pad, self.ndim)
    shape = [size + before + after for size, (before, after) in zip(self.shape, pairs, strict=True)]
    for size, (before, after) in zip(self.shape, pairs, strict=True):
        # PyTorch cuts the front off first, and refuses what is then too short.
        if max(size + min(before, 0), 0) + min(after, 0) < 0 or size + min(before, 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    result = np.full(shape, number_in(value, self.dtype), self.dtype)
    inner = tuple([slice(max(b, 0), n - max(a, 0)) for n, (b, a) in zip(shape, pairs, strict=True)])
    source = tuple([slice(max(-b, 0), n - max(-a, 0)) for n, (b, a) in zip(self.shape, pairs, strict=True)])
    result[inner] = self[source]
    return result


# What is there already


def places(size: int, before: int, after: int, mode: str) -> np.ndarray:
    """Where each element of a padded dimension comes from."""
    at = np.arange(-before, size + after)
    if mode == "edge":
        return at.clip(0, size - 1)
    at = np.abs(at)
    return np.where(at >= size, 2 * (size - 1) - at, at)


def check_reflection(self: np.ndarray, padding: Any, dims: int, mode: str) -> None:
    """Refuse padding that the input is too small for.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if self.ndim not in (dims + 1, dims + 2) or 0 in self.shape[-dims - 1 :]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(self.shape)}"
        )
    for i in range(dims):
        axis = self.ndim - 1 - i
        before, after = padding[2 * i], padding[2 * i + 1]
        if mode == "reflect" and max(before, after) >= self.shape[axis]:
            raise RuntimeError(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({before}, {after}) at dimension {axis} of input {list(self.shape)}"
            )
        if self.shape[axis] + before + after < 1:
            name = "WHD"[i]
            raise RuntimeError(
                f"input ({name}: {self.shape[axis]}) is too small. Calculated output {name}: "
                f"{self.shape[axis] + before + after}"
            )


def indexes(shape: tuple, padding: Any, mode: str) -> tuple:
    """An index, for each dimension, that picks the padded elements."""
    pairs = pairs_of(padding, len(shape))
    return np.ix_(*[places(size, b, a, mode) for size, (b, a) in zip(shape, pairs, strict=True)])


def declare_padding(name: str, title: str, mode: str, dims: int) -> None:
    """Declare the op that pads so many dimensions, and its backward."""
    text = f"(Tensor self, SymInt[{2 * dims}] padding) -> Tensor"
    back_name = f"{name}_backward"

    def back(grad, self, padding):
        return getattr(calls, back_name)(grad, self, padding)

    def forward_again(grad, padding):
        return getattr(calls, name)(grad, padding)

    @op(f"{name}{text}", node=f"{title}Backward0", self=lambda grad, self, padding: back(grad, self, padding))
    @in_format_of(0)
    def padded(self, padding):
        check_reflection(self, padding, dims, mode)
        return row_major(self[indexes(self.shape, padding, mode)])

    @op(
        f"{back_name}(Tensor grad_output, Tensor self, SymInt[{2 * dims}] padding) -> Tensor",
        node=f"{title}BackwardBackward0",
        grad_output=lambda grad, padding: forward_again(grad, padding),
        self=lambda grad: written_zeros(grad, grad.shape),
    )
    @in_format_of(1)
    def unpadded(grad_output, self, padding):
        result = np.zeros(self.shape, self.dtype)
        np.add.at(result, indexes(self.shape, padding, mode), grad_output)
        return result


for count in (1, 2, 3):
    declare_padding(f"reflection_pad{count}d", f"ReflectionPad{count}D", "reflect", count)
    declare_padding(f"replication_pad{count}d", f"ReplicationPad{count}D", "edge", count)


def circular(self: Any, padding: Any) -> Any:
    """The tensor continued with its other end: slices of the result are copied in order."""
    ndim, sizes = self._array.ndim, self._array.shape
    dims = [ndim - 1 - i for i in range(len(padding) // 2)]
    counts = {dim: (padding[2 * i], padding[2 * i + 1]) for i, dim in enumerate(dims)}
    shape = list(sizes)
    for dim, (before, after) in counts.items():
        if before > sizes[dim] or after > sizes[dim]:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        shape[dim] += before + after
        if shape[dim] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    out = self.new_zeros(shape)
    inner, source = out, self
    for dim, (before, after) in counts.items():
        inner = calls.slice(inner, dim, max(before, 0), shape[dim] - max(after, 0))
        source = calls.slice(source, dim, max(-before, 0), sizes[dim] - max(-after, 0))
    calls.copy_(inner, source)
    for dim, (before, after) in counts.items():
        size = shape[dim]
        front, back = max(before, 0), max(after, 0)
        if before > 0:
            end = calls.slice(out, dim, size - front - back, size - back)
            calls.copy_(calls.slice(out, dim, 0, before), end)
        if after > 0:
            start = calls.slice(out, dim, front, front + after)
            calls.copy_(calls.slice(out, dim, size - after, size), start)
    return out


@composite('pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor')
def pad(self, pad, mode="constant", value=None):
    if mode not in MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    ndim = self._array.ndim
    if len(pad) > 2 * ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of dimension {ndim}"
        )
    if mode == "constant":
        return calls.constant_pad_nd(self, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    dims = len(pad) // 2
    if 1 <= dims <= 3 and ndim in (dims + 1, dims + 2):
        if mode == "circular":
            return circular(self, pad)
        return getattr(calls, f"{MODES[mode]}_pad{dims}d")(self, pad)
    raise NotImplementedError(UNSUPPORTED.format(len(pad), ndim))
