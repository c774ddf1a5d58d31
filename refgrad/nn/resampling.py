"""The functions of `torch.nn.functional` that change the size of images."""

import warnings
from typing import Any

from refgrad.nn import functional as F
from refgrad.op import calls

NOT_INTERPOLATING = ("nearest", "area", "nearest-exact")
OPS = {
    ("nearest", 3): "upsample_nearest1d",
    ("nearest", 4): "upsample_nearest2d",
    ("nearest", 5): "upsample_nearest3d",
    ("nearest-exact", 3): "_upsample_nearest_exact1d",
    ("nearest-exact", 4): "_upsample_nearest_exact2d",
    ("nearest-exact", 5): "_upsample_nearest_exact3d",
    ("linear", 3): "upsample_linear1d",
    ("bilinear", 4): "upsample_bilinear2d",
    ("trilinear", 5): "upsample_trilinear3d",
    ("bicubic", 4): "upsample_bicubic2d",
}
RANKS = {"linear": 3, "bilinear": 4, "trilinear": 5}


def sizes_of(input: Any, size: Any) -> list:
    """The new size of each dimension.

    Raises:
        ValueError, TypeError: with PyTorch's text.
    """
    dims = input.dim() - 2
    if not isinstance(size, (list, tuple)):
        return [size] * dims
    if len(size) != dims:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {list(input.shape[2:])} and output size of {size}. Please provide input tensor "
            "in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
        )
    if not all(isinstance(one, int) for one in size):
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but "
            f"got size with types {[type(one) for one in size]}"
        )
    return list(size)


def factors_of(input: Any, scale_factor: Any) -> list:
    """The factor of each dimension.

    Raises:
        ValueError: with PyTorch's text.
    """
    dims = input.dim() - 2
    if not isinstance(scale_factor, (list, tuple)):
        return [scale_factor] * dims
    if len(scale_factor) != dims:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(input.shape[2:])} and scale_factor of shape {scale_factor}. Please "
            "provide input tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) "
            "format."
        )
    return list(scale_factor)


def unknown(rank: int, mode: str) -> NotImplementedError:
    """The refusal of a mode that is none for so many dimensions."""
    if mode in RANKS and rank in RANKS.values():
        return NotImplementedError(f"Got {rank}D input, but {mode} mode needs {RANKS[mode]}D input")
    return NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {rank}D) for the modes: nearest | "
        f"linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """The images (N, C, …) in another size.

    Raises:
        ValueError, TypeError, NotImplementedError: options do not go together.
    """
    if mode in NOT_INTERPOLATING and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic "
            "| trilinear"
        )
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    sizes = None if size is None else sizes_of(input, size)
    factors = None if scale_factor is None else factors_of(input, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if factors is not None and (recompute_scale_factor or mode == "area"):
        sizes = [int(old * factor) for old, factor in zip(input.shape[2:], factors, strict=True)]
        factors = None
    rank = input.dim()
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and rank == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D "
            "tensor as input"
        )
    if mode == "area" and rank in (3, 4, 5):
        return getattr(F, f"adaptive_avg_pool{rank - 2}d")(input, sizes)
    if (mode, rank) not in OPS:
        raise unknown(rank, mode)
    name = f"_{OPS[mode, rank]}_aa" if antialias else OPS[mode, rank]
    options = () if mode in NOT_INTERPOLATING else (bool(align_corners),)
    return getattr(calls, f"{name}__vec")(input, sizes, *options, factors)


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    """The old name of `interpolate`."""
    warn_of("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """The old name of `interpolate` with mode "nearest"."""
    warn_of("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """The old name of `interpolate` with mode "bilinear" and aligned corners."""
    warn_of("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def warn_of(name: str) -> None:
    """Warn of an old name."""
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3
    )
