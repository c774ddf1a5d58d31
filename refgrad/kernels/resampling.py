"""Resampling along one dimension: which elements each new element is made of, and with what weights.

*Taps*: for each new element the places it is made of, (new size, taps), and their weights; no weights where
there is one tap of weight 1. All weights are computed in the type that the elements are computed in.
"""

from typing import NamedTuple

import numpy as np

CUBIC, SMOOTH_CUBIC = -0.75, -0.5  # the free parameter of the cubic kernel, without and with anti-aliasing


class Taps(NamedTuple):
    """What the new elements of one dimension are made of."""

    places: np.ndarray
    weights: np.ndarray | None

    def matrix(self, size: int, kind: np.dtype) -> np.ndarray:
        """The same as a matrix, (new size, old size)."""
        result = np.zeros((len(self.places), size), kind)
        rows = np.arange(len(self.places))[:, None]
        np.add.at(result, (rows, self.places), 1 if self.weights is None else self.weights)
        return result


def nearest(size: int, new: int, scale: float | None, exact: bool, kind: type) -> Taps:
    """The nearest element; `exact` measures from the middle of an element."""
    at = np.arange(new)
    if not exact and new == size:
        return Taps(at[:, None], None)
    if not exact and new == 2 * size:
        return Taps(at[:, None] >> 1, None)
    step = np.float32(1.0 / scale if scale is not None and scale > 0 else np.float32(size) / np.float32(new))
    places = np.floor((at + np.float32(0.5 if exact else 0)).astype(np.float32) * step).astype(np.int64)
    return Taps(np.minimum(places, size - 1)[:, None], None)


def step_of(size: int, new: int, align_corners: bool, scale: float | None, kind: type):
    """How far apart new elements lie, in old ones."""
    if align_corners:
        return kind(size - 1) / kind(new - 1) if new > 1 else kind(0)
    return kind(1.0 / scale) if scale is not None and scale > 0 else kind(size) / kind(new)


def sources(size: int, new: int, align_corners: bool, scale: float | None, kind: type) -> np.ndarray:
    """Where the new elements lie among the old ones."""
    step = step_of(size, new, align_corners, scale, kind)
    at: np.ndarray = np.arange(new).astype(kind)
    return step * at if align_corners else step * (at + kind(0.5)) - kind(0.5)


def linear(size: int, new: int, align_corners: bool, scale: float | None, kind: type) -> Taps:
    """The two neighbours, by distance."""
    if size == new:
        return Taps(np.arange(new)[:, None], None)
    at = np.maximum(sources(size, new, align_corners, scale, kind), kind(0))
    left = np.minimum(at.astype(np.int64), size - 1)
    right = left + (left < size - 1)
    share = np.clip(at - left.astype(kind), kind(0), kind(1))
    return Taps(np.stack([left, right], 1), np.stack([kind(1) - share, share], 1))


def cubic_weights(share: np.ndarray, kind: type) -> np.ndarray:
    """The weights of four neighbours of a place that lies a share of the way between the middle two."""
    a = kind(CUBIC)

    def near(x):
        return ((a + kind(2)) * x - (a + kind(3))) * x * x + kind(1)

    def far(x):
        return ((a * x - kind(5) * a) * x + kind(8) * a) * x - kind(4) * a

    other = kind(1) - share
    return np.stack([far(share + kind(1)), near(share), near(other), far(other + kind(1))], 1)


def cubic(size: int, new: int, align_corners: bool, scale: float | None, kind: type) -> Taps:
    """Four neighbours; places beyond the ends count as the ends."""
    if size == new:
        return Taps(np.arange(new)[:, None], None)
    at = sources(size, new, align_corners, scale, kind)
    left = np.floor(at)
    places = (left.astype(np.int64)[:, None] + np.arange(-1, 3)).clip(0, size - 1)
    return Taps(places, cubic_weights(at - left, kind))


def triangle(x: np.ndarray) -> np.ndarray:
    """The kernel of linear interpolation."""
    return np.maximum(1 - np.abs(x), 0)


def smooth_cubic(x: np.ndarray) -> np.ndarray:
    """The kernel of cubic interpolation as image libraries have it."""
    a, x = SMOOTH_CUBIC, np.abs(x)
    inner = ((a + 2) * x - (a + 3)) * x * x + 1
    outer = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, inner, np.where(x < 2, outer, 0))


def antialiased(
    size: int, new: int, align_corners: bool, scale: float | None, kind: type, is_cubic: bool
) -> Taps:
    """All elements under a kernel that is as wide as the step."""
    step = step_of(size, new, align_corners, scale, kind)
    reach = kind(4 if is_cubic else 2) * kind(0.5)
    wide = step >= 1
    support = reach * step if wide else reach
    inverse = kind(1) / step if wide else kind(1)
    center = step * (np.arange(new).astype(kind) + kind(0.5))
    first = np.maximum((center - support + kind(0.5)).astype(np.int64), 0)
    last = np.minimum((center + support + kind(0.5)).astype(np.int64), size)
    taps = np.arange(int((last - first).max(initial=1)))
    places = first[:, None] + taps
    inside = places < last[:, None]
    kernel = smooth_cubic if is_cubic else triangle
    weights = kernel((places.astype(kind) - center[:, None] + kind(0.5)) * inverse).astype(kind) * inside
    total = weights.sum(1, keepdims=True)
    return Taps(places.clip(0, size - 1), weights / np.where(total == 0, kind(1), total))


def along(array: np.ndarray, axis: int, taps: Taps) -> np.ndarray:
    """The array with one dimension resampled."""
    if taps.weights is None:
        return array.take(taps.places[:, 0], axis)
    shape = [1] * array.ndim
    shape[axis] = -1
    parts = (
        array.take(taps.places[:, i], axis) * taps.weights[:, i].reshape(shape)
        for i in range(taps.places.shape[1])
    )
    result = next(parts)
    for part in parts:
        result = result + part
    return result


def mixed(array: np.ndarray, axis: int, matrix: np.ndarray) -> np.ndarray:
    """One dimension multiplied by a matrix, (new size, old size), whose zeros let not even NaN pass."""
    if np.isfinite(array).all():
        return np.moveaxis(np.tensordot(array, matrix, ([axis], [1])), -1, axis)
    rows = np.moveaxis(array, axis, -1)
    parts = [(rows[..., row != 0] * row[row != 0]).sum(-1) for row in matrix]
    return np.stack(parts, axis)


def back_along(grad: np.ndarray, axis: int, taps: Taps, size: int) -> np.ndarray:
    """The gradient of one dimension before it was resampled."""
    return mixed(grad, axis, taps.matrix(size, grad.dtype).T)
