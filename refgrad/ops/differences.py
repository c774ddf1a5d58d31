"""Differences of neighbours, integrals by trapezoids and slopes, as PyTorch composes them of slices."""

from refgrad import dtypes
from refgrad.layout import wrap_dim
from refgrad.op import calls, composite
from refgrad.ops.checks import written_zeros
from refgrad.tensor import Tensor


def part(tensor, dim, start, end):
    """A slice along a dimension."""
    return calls.slice__Tensor(tensor, dim, start, end, 1)


def check_beside(self, other, axis):
    """Refuse what cannot stand before or after the input.

    Raises:
        RuntimeError: its shape differs from the input's but along the dimension.
    """
    shape, own = other._array.shape, self._array.shape
    if len(shape) != len(own):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for i, (n, wanted) in enumerate(zip(shape, own, strict=True)):
        if n != wanted and i != axis:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along "
                f"the differencing dimension; input.size({i}) = {wanted}, but got tensor.size({i}) = {n}"
            )


@composite("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor")
def diff(self, n=1, dim=-1, prepend=None, append=None):
    ndim = self._array.ndim
    if not ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    axis = wrap_dim(dim, ndim)
    for other in (prepend, append):
        if other is not None:
            check_beside(self, other, axis)
    if not n:
        return calls.copy_(calls.zeros_like(self), self)
    pieces = [tensor for tensor in (prepend, self, append) if tensor is not None]
    if len(pieces) > 1:
        self = calls.cat(pieces, dim)
    for _ in range(min(n, self._array.shape[axis])):
        count = self._array.shape[axis] - 1
        # In this order, which decides the one in which gradients are added.
        earlier, later = self.narrow(dim, 0, count), self.narrow(dim, 1, count)
        self = later.logical_xor(earlier) if self.dtype is dtypes.bool_ else later - earlier
    return self


# Trapezoids -------------------------------------------------------------------------------------------------


def ends(y, dim):
    """The left and the right end of each trapezoid."""
    return part(y, dim, 0, -1), part(y, dim, 1, None)


def widths(y, x, dim, name):
    """The distances of sample points along a dimension.

    Raises:
        RuntimeError: there are not as many points as samples.
    """
    ndim, size = y._array.ndim, y._array.shape[dim]
    if x._array.ndim == 1:
        if x._array.shape[0] != size:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = calls.view(x, [size if i == dim else 1 for i in range(ndim)])
    elif x._array.ndim < ndim:
        x = calls.view(x, (1,) * (ndim - x._array.ndim) + x._array.shape)
    # In this order, which decides the one in which gradients are added.
    before, after = part(x, dim, 0, -1), part(x, dim, 1, None)
    return after - before


def checked_dim(y, dim, name):
    """The dimension counted from the front.

    Raises:
        IndexError: there is no such dimension.
        RuntimeError: the samples are bool.
    """
    if not y._array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = wrap_dim(dim, y._array.ndim)
    if y.dtype is dtypes.bool_:
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    return axis


def nothing(y, axis):
    """The sums over a dimension of size 0."""
    return written_zeros(y, y._array.shape[:axis] + y._array.shape[axis + 1 :])


def trapezoid_dx(y, dx=1, dim=-1):
    axis = checked_dim(y, dim, "trapezoid")
    if not y._array.shape[axis]:
        return nothing(y, axis)
    last, first = calls.select(y, dim, -1), calls.select(y, dim, 0)
    outer = calls.mul__Scalar(first + last, 0.5)
    return calls.mul__Scalar(y.sum((dim,)) - outer, float(dx))


def trapezoid_x(y, x, dim=-1):
    axis = checked_dim(y, dim, "trapezoid")
    if not y._array.shape[axis]:
        return nothing(y, axis)
    steps = widths(y, x, axis, "trapezoid")
    left, right = ends(y, axis)
    return calls.div__Scalar(((left + right) * steps).sum((axis,)), 2.0)


@composite("cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor")
def cumulative_trapezoid_dx(y, dx=1, dim=-1):
    checked_dim(y, dim, "cumulative_trapezoid")
    left, right = ends(y, dim)
    return calls.mul__Scalar(left + right, float(dx) / 2.0).cumsum(dim)


@composite("cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor")
def cumulative_trapezoid_x(y, x, dim=-1):
    axis = checked_dim(y, dim, "cumulative_trapezoid")
    steps = widths(y, x, axis, "cumulative_trapezoid")
    left, right = ends(y, axis)
    return calls.div__Scalar(((left + right) * steps).cumsum(axis), 2.0)


for name, step in (("trapezoid", "Scalar"), ("trapz", "float")):
    composite(f"{name}.dx(Tensor y, *, {step} dx=1, int dim=-1) -> Tensor")(trapezoid_dx)
    composite(f"{name}.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor")(trapezoid_x)


# Slopes at sample points ------------------------------------------------------------------------------------

NAME = "torch.gradient"
NO_COUNT = f"{NAME} expected spacing to be unspecified, a scalar"


def checked_axes(self, spacing, dim, edge_order):
    """The dimensions to go along, counted from the front, and the spacing of each (1 where none is given).

    Raises:
        RuntimeError: spacings and dimensions do not fit together, or a dimension is too short.
    """
    ndim = self._array.ndim
    if self.dtype is dtypes.uint8:
        raise RuntimeError(f"{NAME} does not support uint8 input.")
    dims = list(range(ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    spacings = list(spacing) if isinstance(spacing, (list, tuple)) else None
    if spacings is not None and dim is None and len(spacings) != ndim:
        raise RuntimeError(
            f"{NO_COUNT}, or a list of length equal to 'self.dim() = {ndim}', since dim argument was not "
            f"given, but got a list of length {len(spacings)}"
        )
    if spacings is not None and len(spacings) != len(dims):
        raise RuntimeError(
            f"{NO_COUNT} or it's spacing and dim arguments to have the same length, but got a spacing "
            f"argument of length {len(spacings)} and a dim argument of length {len(dims)}."
        )
    if edge_order not in (1, 2):
        raise RuntimeError(f"{NAME} only supports edge_order=1 and edge_order=2.")
    axes = [wrap_dim(each, ndim) for each in dims]
    for axis in axes:
        if axes.count(axis) > 1:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
    if any(self._array.shape[axis] <= edge_order for axis in axes):
        raise RuntimeError(f"{NAME} expected each dimension size to be at least edge_order+1")
    return axes, [1 if spacing is None else spacing] * len(axes) if spacings is None else spacings


def minus(second, first):
    """`first - second`; the second operand comes first, as PyTorch's compiler has it: the order shows."""
    return first - second


def plus(second, first):
    """`first + second`, as `minus`."""
    return first + second


def even_slope(self, axis, step, edge_order):
    """The slope along a dimension at points that are `step` apart: before, between and behind."""

    def at(start, end=None, factor=None):
        piece = part(self, axis, start, end)
        return piece if factor is None else calls.mul__Scalar(piece, factor)

    def per_step(difference):
        return calls.div__Scalar(difference, step)

    between = per_step(minus(at(0, -2), at(2)))
    if edge_order == 1:
        before = per_step(minus(at(0, 1), at(1, 2)))
        after = per_step(minus(at(-2, -1), at(-1)))
    else:
        before = per_step(minus(at(2, 3, 0.5), plus(at(1, 2, 2), at(0, 1, -1.5))))
        after = per_step(plus(at(-1, None, 1.5), minus(at(-2, -1, 2), at(-3, -2, 0.5))))
    return before, calls.div__Scalar(between, 2), after


def uneven_slope(self, axis, points, edge_order):
    """The slope along a dimension at points with these coordinates: before, between and behind."""
    if points._array.ndim != 1:
        raise RuntimeError(
            f"{NAME} expected each element of spacing to have one dimension, but got an element with "
            f"{points._array.ndim} dimensions!"
        )

    def at(start, end=None):
        return part(self, axis, start, end)

    steps = calls.diff(points, 1, 0)
    left, right = part(steps, 0, 0, -1), part(steps, 0, 1, None)
    shape = [-1 if i == axis else 1 for i in range(self._array.ndim)]
    weights = (
        -right / (left * (left + right)),
        (right - left) / (left * right),
        left / (right * (left + right)),
    )
    a, b, c = (weight.reshape(shape) for weight in weights)
    between = plus(c * at(2), plus(b * at(1, -1), a * at(0, -2)))
    if edge_order == 1:
        return (at(1, 2) - at(0, 1)) / steps[0], between, (at(-1) - at(-2, -1)) / steps[-1]
    before, after = curved_ends(at, steps)
    return before, between, after


def curved_ends(at, steps):
    """The slopes at both ends of a parabola through the three points there."""

    def step(i):
        return calls.select(steps, 0, i)  # PyTorch, too, takes it out anew each time

    def twice(i):
        return calls.mul__Scalar(step(i), 2)

    a = -(twice(0) + step(1)) / (step(0) * (step(0) + step(1)))
    b, c = (step(0) + step(1)) / (step(0) * step(1)), -step(0) / (step(1) * (step(0) + step(1)))
    before = a * at(0, 1) + b * at(1, 2) + c * at(2, 3)
    a = step(-1) / (step(-2) * (step(-2) + step(-1)))
    b = -(step(-1) + step(-2)) / (step(-2) * step(-1))
    c = (twice(-1) + step(-2)) / (step(-1) * (step(-2) + step(-1)))
    return before, a * at(-3, -2) + b * at(-2, -1) + c * at(-1)


def gradient(self, spacing=None, dim=None, edge_order=1):
    axes, spacings = checked_axes(self, spacing, dim, edge_order)
    found = []
    for axis, step in zip(axes, spacings, strict=True):
        slope = uneven_slope if isinstance(step, Tensor) else even_slope
        found.append(calls.cat(list(slope(self, axis, step, edge_order)), axis))
    return tuple(found)


@composite("gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]")
def gradient_array(self, dim, edge_order=1):
    return gradient(self, None, dim, edge_order)


for overload, options in (
    ("scalarint", "Scalar? spacing=None, int? dim=None"),
    ("scalararray", "Scalar spacing, int[] dim"),
    ("scalarrayint", "Scalar[] spacing, int? dim=None"),
    ("scalarrayarray", "Scalar[] spacing, int[] dim"),
    ("tensorarrayint", "Tensor[] spacing, int? dim=None"),
    ("tensorarray", "Tensor[] spacing, int[] dim"),
):
    composite(f"gradient.{overload}(Tensor self, *, {options}, int edge_order=1) -> Tensor[]")(gradient)
