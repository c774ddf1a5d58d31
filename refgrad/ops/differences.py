"""Differences of neighbours and integrals by trapezoids, as PyTorch composes them of slices."""

from refgrad import dtypes
from refgrad.layout import wrap_dim
from refgrad.op import calls, composite


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
        if len(x._array) != size:
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
    return y.new_zeros(y._array.shape[:axis] + y._array.shape[axis + 1 :])


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
