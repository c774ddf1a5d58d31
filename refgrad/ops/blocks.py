"""The blocks of an image as columns, and columns put together to an image (`unfold` and `fold`)."""

from math import prod

import numpy as np

from refgrad import dtypes
from refgrad.op import calls, op
from refgrad.ops.reductions import row_major


def check_pairs(**pairs: tuple) -> None:
    """Refuse options that are no pairs of sizes.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    for name, pair in pairs.items():
        if len(pair) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(pair)}")
    words = {"kernel_size": ("kernel size", "kernel"), "dilation": ("dilation", "dilation")}
    words |= {"padding": ("padding", "pad"), "stride": ("stride", "stride")}
    for name in ("kernel_size", "dilation", "padding", "stride"):
        pair, (word, short) = pairs[name], words[name]
        shown = f"but got {short}_height: {pair[0]} {short}_width: {pair[1]}"
        if name == "padding" and min(pair) < 0:
            raise RuntimeError(f"{word} should be non-negative, {shown}")
        if name != "padding" and min(pair) <= 0:
            raise RuntimeError(f"{word} should be greater than zero, {shown}")


def counts(size: tuple, kernel: tuple, dilation: tuple, padding: tuple, stride: tuple) -> tuple:
    """How many blocks fit, down and across."""
    options = zip(size, kernel, dilation, padding, stride, strict=True)
    return tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in options])


def window(image: np.ndarray, found: tuple, kernel: tuple, dilation: tuple, stride: tuple) -> np.ndarray:
    """The view (batch, channels, kernel, kernel, blocks, blocks) on a padded image."""
    batch, channels, down, across = image.strides
    shape = (*image.shape[:2], *kernel, *found)
    strides = [
        batch,
        channels,
        down * dilation[0],
        across * dilation[1],
        down * stride[0],
        across * stride[1],
    ]
    return np.lib.stride_tricks.as_strided(image, shape, strides)


def refuse_kind(array: np.ndarray, name: str) -> None:
    """Refuse types that are neither floating nor complex."""
    if array.dtype.kind not in "fcb":
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{dtypes.OF_NUMPY[array.dtype].scalar_type}'"
        )


@op(
    "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
    self=lambda grad, self_sym_argsize_minus_2, self_sym_argsize_minus_1, kernel_size, dilation, padding, stride: (  # noqa: E501 - all that PyTorch saves
        calls.col2im(
            grad,
            (self_sym_argsize_minus_2, self_sym_argsize_minus_1),
            kernel_size,
            dilation,
            padding,
            stride,
        )
    ),
)
def im2col(self, kernel_size, dilation, padding, stride):
    check_pairs(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    if self.ndim < 3:
        low, high = max(self.ndim, 1), max(self.ndim, 1) - 1
        raise IndexError(f"Dimension out of range (expected to be in range of [{-low}, {high}], but got 2)")
    if self.ndim not in (3, 4) or 0 in self.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
            f"for input, but got: {list(self.shape)}"
        )
    found = counts(self.shape[-2:], kernel_size, dilation, padding, stride)
    if min(found) < 1:
        shown = [tuple(pair) for pair in (self.shape[-2:], kernel_size, dilation, padding, found)]
        raise RuntimeError(
            f"Given input with spatial size {shown[0]}, kernel_size={shown[1]}, dilation={shown[2]}, "
            f"padding={shown[3]}, calculated shape of the array of sliding blocks as {shown[4]}, but its "
            "components must be at least one."
        )
    refuse_kind(self, "im2col_out_cpu")
    batch = self if self.ndim == 4 else self[None]
    (down, across) = padding
    padded = np.pad(batch, ((0, 0), (0, 0), (down, down), (across, across)))
    blocks = np.ascontiguousarray(window(padded, found, kernel_size, dilation, stride))
    columns = blocks.reshape(len(batch), batch.shape[1] * prod(kernel_size), prod(found))
    return columns if self.ndim == 4 else columns[0]


def check_columns(self, output_size, kernel_size, dilation, padding, stride) -> tuple:
    """How many blocks there are; refuses columns that are not so many.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if self.ndim not in (2, 3) or 0 in self.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
            f"dimensions for input, but got: {list(self.shape)}"
        )
    rows, columns = self.shape[-2:]
    if rows % prod(kernel_size):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={rows} and kernel_size={tuple(kernel_size)}."
        )
    found = counts(output_size, kernel_size, dilation, padding, stride)
    if prod(found) != columns:
        shown = [tuple(pair) for pair in (output_size, kernel_size, dilation, padding, stride)]
        raise RuntimeError(
            f"Given output_size={shown[0]}, kernel_size={shown[1]}, dilation={shown[2]}, padding={shown[3]}, "
            f"stride={shown[4]}, expected size of input's dimension 2 to match the calculated number of "
            f"sliding blocks {found[0]} * {found[1]} = {prod(found)}, but got input.size(2)={columns}."
        )
    return found


@op(
    "col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, "
    "int[2] stride) -> Tensor",
    self=lambda grad, kernel_size, dilation, padding, stride: calls.im2col(
        grad, kernel_size, dilation, padding, stride
    ),
)
def col2im(self, output_size, kernel_size, dilation, padding, stride):
    if len(output_size) != 2:
        raise RuntimeError(f"It is expected output_size equals to 2, but got size {len(output_size)}")
    check_pairs(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    found = check_columns(self, output_size, kernel_size, dilation, padding, stride)
    refuse_kind(self, "col2im_out_cpu")
    batch = self if self.ndim == 3 else self[None]
    channels = batch.shape[1] // prod(kernel_size)
    (height, width), (down, across) = output_size, padding
    padded = np.zeros((len(batch), channels, height + 2 * down, width + 2 * across), self.dtype)
    blocks = batch.reshape(len(batch), channels, *kernel_size, *found)
    target = window(padded, found, kernel_size, dilation, stride)
    for i in range(kernel_size[0]):
        for j in range(kernel_size[1]):
            target[:, :, i, j] += blocks[:, :, i, j]  # blocks overlap, but not the same place of two
    image = row_major(padded[:, :, down : down + height, across : across + width])
    return image if self.ndim == 3 else image[0]
