"""Images sampled at the points of a grid, and the grids of affine maps.

*Point*: a place in an image; each coordinate goes from -1 to 1, x first. *Taps*: what a sample is made of
along one dimension: places, weights, how the weights change with the coordinate, and how that changes, each
in elements; a change factor leads from there to the coordinate that was given.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np

from refgrad import dtypes
from refgrad.kernels.resampling import CUBIC, cubic_weights
from refgrad.op import calls, composite, op

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


# Affine grids


def base_points(size: tuple, align_corners: bool, kind: np.dtype) -> np.ndarray:
    """The points of the identity's grid, with a 1 behind, (points, coordinates + 1)."""
    axes = []
    for count in reversed(size[2:]):
        line = np.linspace(-1, 1, count).astype(kind) if count > 1 else np.zeros(count, kind)
        axes.append(line if align_corners else line * kind.type((count - 1) / count))
    grids = np.meshgrid(*axes[::-1], indexing="ij")[::-1]
    return np.stack([*grids, np.ones_like(grids[0])], -1).reshape(-1, len(axes) + 1)


@op(
    "affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
    theta=lambda grad, size, align_corners: affine_back(grad, size, align_corners),
)
def affine_grid_generator(theta, size, align_corners):
    count = len(size) - 2
    if theta.shape[0] != size[0]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {count + 1}] but "
            f"got: [{theta.shape[0]}, {count + 1}]."
        )
    points = np.matmul(base_points(size, align_corners, theta.dtype), theta.swapaxes(1, 2))
    return points.reshape(size[0], *size[2:], count)


def affine_back(grad: Any, size: tuple, align_corners: bool) -> Any:
    """The gradient of the maps."""
    from refgrad.tensor import wrap

    points = base_points(size, align_corners, grad._array.dtype)
    every = wrap(np.repeat(points[None], size[0], 0)).transpose(1, 2)
    flat = calls.reshape(grad, (size[0], -1, len(size) - 2))
    return calls.bmm(every, flat).transpose(1, 2)


# Coordinates


class Taps(NamedTuple):
    """What samples are made of along one dimension; each (taps, batch, *grid)."""

    places: np.ndarray
    inside: np.ndarray
    weights: np.ndarray
    slopes: np.ndarray
    bends: np.ndarray
    change: np.ndarray


def unnormalized(at: np.ndarray, size: int, align_corners: bool) -> tuple[np.ndarray, float]:
    """Coordinates in elements, and how they change with the given ones."""
    kind = at.dtype.type
    if align_corners:
        return (at + 1) / kind(2) * kind(size - 1), (size - 1) / 2
    return ((at + 1) * kind(size) - 1) / kind(2), size / 2


def clipped(at: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates held inside the image, and where they were; NaN goes to its start, or a volume's end."""
    inside = (at > 0) & (at < size - 1)
    if at.ndim == 4:
        return np.where(at <= 0, 0, np.where(at < size - 1, at, size - 1)).astype(at.dtype), inside
    return np.where(at >= size - 1, size - 1, np.where(at > 0, at, 0)).astype(at.dtype), inside


def reflected(at: np.ndarray, size: int, align_corners: bool) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates mirrored at the ends until they are inside, and the sign of their change."""
    kind = at.dtype.type
    low, high = (0, 2 * (size - 1)) if align_corners else (-1, 2 * size - 1)
    if low == high:
        return np.zeros_like(at), np.zeros_like(at)
    start, span = kind(low / 2), kind((high - low) / 2)
    sign = np.where(at - start < 0, kind(-1), kind(1))
    way = np.abs(at - start)
    extra = np.fmod(way, span)
    even = np.floor(way / span) % 2 == 0
    return np.where(even, extra + start, span - extra + start), np.where(even, sign, -sign)


def held(at: np.ndarray, size: int, padding: int, align_corners: bool) -> tuple[np.ndarray, Any]:
    """Coordinates as the padding mode has them, and how they change with the given ones."""
    if padding == ZEROS:
        return at, at.dtype.type(1)
    sign: Any = at.dtype.type(1)
    if padding == REFLECTION:
        at, sign = reflected(at, size, align_corners)
    at, inside = clipped(at, size)
    return at, sign * inside.astype(at.dtype)


def taps_of(at: np.ndarray, size: int, mode: int, padding: int, align_corners: bool) -> Taps:
    """What the samples at these coordinates are made of."""
    at, change = unnormalized(at, size, align_corners)
    kind = at.dtype.type
    if mode == BICUBIC:
        return cubic_taps(at, size, kind(change), padding, align_corners)
    at, sign = held(at, size, padding, align_corners)
    if mode == NEAREST:
        places = np.rint(at)[None]
        weights, slopes = np.ones_like(places), np.zeros_like(places)
    else:
        left = np.floor(at)
        places = np.stack([left, left + 1])
        weights = np.stack([left + 1 - at, at - left])
        slopes = np.stack([np.full(at.shape, kind(-1)), np.ones(at.shape, kind)])
    return with_places(places, weights, slopes, np.zeros_like(slopes), sign * kind(change), size)


def cubic_taps(at: np.ndarray, size: int, change: Any, padding: int, align_corners: bool) -> Taps:
    """The four neighbours; the padding mode is applied to each of them."""
    kind = at.dtype.type
    left = np.floor(at)
    share = at - left
    weights = np.moveaxis(cubic_weights(share.reshape(-1), kind), 1, 0).reshape(4, *at.shape)
    places = np.stack([held(left + kind(i), size, padding, align_corners)[0] for i in range(-1, 3)])
    return with_places(places, weights, cubic_slopes(share), cubic_bends(share), change, size)


def cubic_bends(share: np.ndarray) -> np.ndarray:
    """How the slopes of four neighbours change with the place between the middle two."""
    a, other = CUBIC, 1 - share

    def near(x):
        return 6 * (a + 2) * x - 2 * (a + 3)

    def far(x):
        return 6 * a * x - 10 * a

    return np.stack([far(share + 1), near(share), near(other), far(other + 1)]).astype(share.dtype)


def cubic_slopes(share: np.ndarray) -> np.ndarray:
    """How the weights of four neighbours change with the place between the middle two."""
    a = CUBIC

    def near(x):
        return (3 * (a + 2) * x - 2 * (a + 3)) * x

    def far(x):
        return (3 * a * x - 10 * a) * x + 8 * a

    other = 1 - share
    return np.stack([far(share + 1), near(share), -near(other), -far(other + 1)]).astype(share.dtype)


def with_places(
    places: np.ndarray, weights: np.ndarray, slopes: np.ndarray, bends: np.ndarray, change: Any, size: int
) -> Taps:
    """Taps with places as numbers, those outside marked."""
    whole = np.nan_to_num(places, nan=-1, posinf=-1, neginf=-1).clip(-2, size + 1).astype(np.int64)
    inside = (whole >= 0) & (whole < size)
    return Taps(
        whole.clip(0, size - 1), inside, weights, slopes, bends, np.broadcast_to(change, places.shape)
    )


# Samples


def all_taps(input: np.ndarray, grid: np.ndarray, mode: int, padding: int, align: bool) -> list[Taps]:
    """The taps of each dimension, first to last; a point has the last dimension first."""
    sizes = input.shape[2:]
    count = len(sizes)
    return [taps_of(grid[..., count - 1 - i], sizes[i], mode, padding, align) for i in range(count)]


def corners(taps: list[Taps]) -> Any:
    """Each choice of a tap per dimension: places, where all are inside, weights."""
    for choice in itertools.product(*(range(len(tap.places)) for tap in taps)):
        picked = [Taps(*(part[i] for part in tap)) for i, tap in zip(choice, taps, strict=True)]
        inside = np.logical_and.reduce([tap.inside for tap in picked])
        yield picked, inside


def product(factors: list[np.ndarray]) -> Any:
    """The factors multiplied, last dimension first, as PyTorch does."""
    result = factors[-1]
    for factor in factors[-2::-1]:
        result = result * factor
    return result


def sampled(input: np.ndarray, grid: np.ndarray, mode: int, padding: int, align: bool) -> np.ndarray:
    """The samples, (batch, channels, *grid)."""
    batch = np.arange(len(input)).reshape(-1, *[1] * (grid.ndim - 2))
    lines = np.moveaxis(input, 1, -1)
    result = np.zeros((*grid.shape[:-1], input.shape[1]), input.dtype)
    for picked, inside in corners(all_taps(input, grid, mode, padding, align)):
        values = lines[(batch, *(tap.places for tap in picked))]
        weight = product([tap.weights for tap in picked])
        if grid.shape[-1] == 2:  # PyTorch multiplies zeros by the weight, which may be NaN
            result += np.where(inside[..., None], values, 0) * weight[..., None]
        else:
            result += np.where(inside[..., None], values * weight[..., None], 0)
    return np.moveaxis(result, -1, 1).copy()


def sampled_back(grad, input, grid, mode, padding, align, mask) -> list[np.ndarray]:
    """The gradients of the image and of the grid."""
    batch = np.arange(len(input)).reshape(-1, *[1] * (grid.ndim - 2))
    lines, grads = np.moveaxis(input, 1, -1), np.moveaxis(grad, 1, -1)
    grad_lines, grad_grid = np.zeros(lines.shape, input.dtype), np.zeros_like(grid)
    count = input.ndim - 2
    taps = all_taps(input, grid, mode, padding, align)
    for picked, inside in corners(taps):
        index = (batch, *(tap.places for tap in picked))
        weights = [tap.weights for tap in picked]
        if mask[0]:
            part = grads * product(weights)[..., None]
            np.add.at(grad_lines, index, np.where(inside[..., None], part, 0))
        if mask[1] and mode != NEAREST:
            values = np.where(inside, (lines[index] * grads).sum(-1), 0)
            for i in range(count):
                factors = [*weights[:i], picked[i].slopes, *weights[i + 1 :]]
                grad_grid[..., count - 1 - i] += values * product(factors)
    for i in range(count):  # after the sum, as PyTorch does: a zero factor leaves the sign of the sum
        grad_grid[..., count - 1 - i] *= taps[i].change[0]
    return [np.moveaxis(grad_lines, -1, 1).copy(), grad_grid]


def changes(picked: list[Taps]) -> tuple[list, list]:
    """How the weight of a corner changes with each coordinate, and how that changes with each."""
    count = len(picked)
    weights = [tap.weights for tap in picked]
    slopes = [tap.slopes * tap.change for tap in picked]
    first = [product([*weights[:i], slopes[i], *weights[i + 1 :]]) for i in range(count)]
    second = []
    for i in range(count):
        row = []
        for j in range(count):
            factors = list(weights)
            factors[i], factors[j] = slopes[i], slopes[j]
            if i == j:
                factors[i] = picked[i].bends * picked[i].change * picked[i].change
            row.append(product(factors))
        second.append(row)
    return first, second


def sampled_twice_back(gg_input, gg_grid, grad, input, grid, mode, padding, align) -> list[np.ndarray]:
    """The gradients of `sampled_back` for its gradient, the image and the grid."""
    batch = np.arange(len(input)).reshape(-1, *[1] * (grid.ndim - 2))
    lines, grads, gg_lines = (np.moveaxis(array, 1, -1) for array in (input, grad, gg_input))
    out_grad, out_input, out_grid = (
        np.zeros_like(grads),
        np.zeros(lines.shape, input.dtype),
        np.zeros_like(grid),
    )
    count = input.ndim - 2
    along = [gg_grid[..., count - 1 - i] for i in range(count)]
    for picked, inside in corners(all_taps(input, grid, mode, padding, align)):
        index = (batch, *(tap.places for tap in picked))
        first, second = changes(picked)
        moved = sum(a * slope for a, slope in zip(along, first, strict=True))
        values, others = lines[index], gg_lines[index]
        weight = product([tap.weights for tap in picked])
        part = others * weight[..., None] + values * moved[..., None]
        out_grad += np.where(inside[..., None], part, 0)
        np.add.at(out_input, index, np.where(inside[..., None], grads * moved[..., None], 0))
        of_values, of_others = ((array * grads).sum(-1) for array in (values, others))
        for i in range(count):
            bend = sum(a * change for a, change in zip(along, second[i], strict=True))
            out_grid[..., count - 1 - i] += np.where(inside, of_others * first[i] + of_values * bend, 0)
    return [np.moveaxis(out_grad, -1, 1).copy(), np.moveaxis(out_input, -1, 1).copy(), out_grid]


def declare_sampler(dims: int) -> None:
    """Declare sampling of images with so many dimensions."""
    name = f"grid_sampler_{dims}d"
    options = "int interpolation_mode, int padding_mode, bool align_corners"

    def gradients(grad, input, grid, mode, padding, align, needed):
        found = getattr(calls, f"{name}_backward")(grad, input, grid, mode, padding, align, needed)
        return [one if wanted else None for one, wanted in zip(found, needed, strict=True)]

    def twice(grads, grad_output, input, grid, modes, needed):
        if modes[0] == NEAREST and grads[0] is None:  # nothing moves with the grid
            return [None] * 3
        gg_input = input.new_zeros(input.shape) if grads[0] is None else grads[0]
        gg_grid = grid.new_zeros(grid.shape) if grads[1] is None else grads[1]
        again = getattr(calls, f"{name}_backward_backward")
        found = list(again(gg_input, gg_grid, grad_output, input, grid, *modes))
        if grads[1] is None:  # the input's own gradient is linear in the output's, and free of the input
            found[1] = None
        return [one if wanted else None for one, wanted in zip(found, needed, strict=True)]

    @op(
        f"{name}(Tensor input, Tensor grid, {options}) -> Tensor",
        node=f"GridSampler{dims}DBackward0",
        jointly=(
            "input, grid",
            lambda grad, input, grid, interpolation_mode, padding_mode, align_corners, needs_input_grad: (
                gradients(
                    grad, input, grid, interpolation_mode, padding_mode, align_corners, needs_input_grad
                )
            ),
        ),
    )
    def sampler(input, grid, interpolation_mode, padding_mode, align_corners):
        if input.dtype.kind != "f":
            kind = dtypes.OF_NUMPY[input.dtype].scalar_type
            raise NotImplementedError(f"\"{name}_cpu_kernel_impl\" not implemented for '{kind}'")
        if grid.dtype != input.dtype:
            kinds = [dtypes.OF_NUMPY[array.dtype].scalar_type for array in (input, grid)]
            raise RuntimeError(f"expected scalar type {kinds[0]} but found {kinds[1]}")
        result = sampled(input, grid, interpolation_mode, padding_mode, align_corners)
        return result.astype(input.dtype, copy=False)

    @op(
        f"{name}_backward(Tensor grad_output, Tensor input, Tensor grid, {options}, bool[2] output_mask) -> "
        "(Tensor, Tensor)",
        reduced="own",
        node=f"GridSampler{dims}DBackwardBackward0",
        jointly=(
            "grad_output, input, grid",
            lambda grads, grad_output, input, grid, interpolation_mode, padding_mode, align_corners, needs_input_grad: (  # noqa: E501 - all that PyTorch saves
                twice(
                    grads,
                    grad_output,
                    input,
                    grid,
                    (interpolation_mode, padding_mode, align_corners),
                    needs_input_grad,
                )
            ),
        ),
    )
    def backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask):
        return sampled_back(
            grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask
        )

    @op(
        f"{name}_backward_backward(Tensor gg_input, Tensor gg_grid, Tensor grad_output, Tensor input, "
        f"Tensor grid, {options}) -> (Tensor, Tensor, Tensor)",
        refused=f"aten::{name}_backward",
    )
    def backward_backward(gg_input, gg_grid, grad_output, input, grid, *modes):
        return sampled_twice_back(gg_input, gg_grid, grad_output, input, grid, *modes)


declare_sampler(2)
declare_sampler(3)


@composite(
    "grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) "
    "-> Tensor"
)
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    shape, points = list(input._array.shape), list(grid._array.shape)
    if shape[:1] != points[:1]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{shape} and grid with sizes {points}"
        )
    dims = len(shape) - 2
    if points[-1] != dims:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {dims} in last dimension, but got grid with sizes "
            f"{points}"
        )
    for place, size in enumerate(shape[2:], 2):
        if size == 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{shape} with dimension {place} being empty"
            )
    if dims not in (2, 3) or len(points) != len(shape):
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input "
            f"with sizes {shape} and grid with sizes {points}"
        )
    if dims == 3 and interpolation_mode == BICUBIC:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    name = f"grid_sampler_{dims}d"
    return getattr(calls, name)(input, grid, interpolation_mode, padding_mode, align_corners)
