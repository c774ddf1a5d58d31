"""The functions of `torch.nn.functional` for blocks of images and for sampling them."""

import warnings
from typing import Any

from refgrad.nn.native import native
from refgrad.op import calls

MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}
CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
    "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
    "details."
)
UNIT_SIZE = (
    "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
    "is not an intended use case of affine_grid. See the documentation of affine_grid for details."
)


def pair(value: Any) -> tuple:
    """A number as a pair; a sequence as it is."""
    return (value, value) if isinstance(value, int) else tuple(value)


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The blocks of images (N, C, H, W) as columns (N, C * kernel, blocks)."""
    return calls.im2col(input, pair(kernel_size), pair(dilation), pair(padding), pair(stride))


def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Columns (N, C * kernel, blocks) as images (N, C, H, W); where blocks overlap they are added."""
    options = (pair(kernel_size), pair(dilation), pair(padding), pair(stride))
    return calls.col2im(input, pair(output_size), *options)


def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """The grid (N, H, W, 2) of affine maps (N, 2, 3), or the same with one dimension more.

    Raises:
        ValueError, NotImplementedError: shapes do not fit.
    """
    if align_corners is None:
        warnings.warn(CHANGED, stacklevel=2)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got "
            f"size {size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(UNIT_SIZE, stacklevel=2)
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return calls.affine_grid_generator(theta, size, bool(align_corners))


def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """The images (N, C, H, W) at the points of a grid (N, H', W', 2), or the same with one dimension more.

    Raises:
        ValueError: an unknown mode.
    """
    if mode not in MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(CHANGED, stacklevel=2)
    modes = (MODES[mode], PADDINGS[padding_mode])
    return native("grid_sampler")(input, grid, *modes, bool(align_corners))
