"""Batching rules of views, and of ops that move elements: the same behind the batch dimension."""

from collections.abc import Callable, Sequence
from typing import Any

from refgrad.func.rules.operands import Moved, Operand, count_of, rank_of, rule, spread
from refgrad.layout import view_strides, wrap_dim
from refgrad.op import OPS, calls
from refgrad.tensor import Tensor


@rule("transpose.int", "transpose_.int")
def transpose(function: Callable, self: Operand, dim0: int, dim1: int) -> Tensor:
    """Two dimensions of each sample exchanged."""
    if not self.rank:
        return self.front()
    return function(self.front(), self.axis(dim0), self.axis(dim1))


@rule("t", "t_")
def t(function: Callable, self: Operand) -> Tensor:
    """Each matrix transposed."""
    if not self.rank:
        return self.front()
    entry: Any = OPS["transpose.int"]
    run = entry.call_inplace if function.__name__.endswith("_") else entry.call
    return run(self.front(), 1, 2 if self.rank == 2 else 1)


@rule("permute")
def permute(function: Callable, self: Operand, dims: Sequence[int]) -> Tensor:
    """The dimensions of each sample in another order."""
    return function(self.front(), [0, *map(self.axis, dims)])


@rule("view", "_unsafe_view")
def view(function: Callable, self: Operand, size: Sequence[int]) -> Tensor:
    """Each sample in another shape."""
    value = self.front()
    return function(value, (value.size(0), *size))


@rule("_reshape_alias")
def reshape_alias(function: Callable, self: Operand, size: Sequence[int], stride: Any) -> Tensor:
    """Each sample in another shape; as a view, if one of the whole is possible."""
    value = self.front()
    shape = (value.size(0), *size)
    strides = tuple(value.stride())
    fits = view_strides(tuple(value.shape), strides, shape) is not None
    return calls.view(value, shape) if fits else calls.reshape(value, shape)


@rule("expand")
def expand(function: Callable, self: Operand, size: Sequence[int], implicit: bool = False) -> Tensor:
    """Each sample stretched."""
    value, more = self.front(), max(len(size) - self.rank, 0)
    value = calls.view(value, (value.size(0), *[1] * more, *value.shape[1:]))
    return function(value, (value.size(0), *size), implicit=implicit)


@rule("select.int")
def select(function: Callable, self: Operand, dim: int, index: int) -> Tensor:
    """One slice of each sample."""
    return function(self.front(), self.axis(dim), index)


@rule("slice.Tensor")
def slice_(function: Callable, self: Operand, dim: int = 0, *ends: Any) -> Tensor:
    """A part of a dimension of each sample."""
    return function(self.front(), self.axis(dim), *ends)


@rule("unsqueeze", "unsqueeze_")
def unsqueeze(function: Callable, self: Operand, dim: int) -> Tensor:
    """One more dimension of size 1."""
    return function(self.front(), dim + 1 if dim >= 0 else dim)


@rule("squeeze", "squeeze_")
def squeeze(function: Callable, self: Operand) -> Moved:
    """Each sample without its dimensions of size 1: the batch may have that size, and stays."""
    kept = [i for i, size in enumerate(self.whole.shape) if size != 1 or i == self.dim]
    if function.__name__.endswith("_"):
        gone = [i for i in range(self.whole.dim()) if i not in kept]
        entry: Any = OPS["squeeze.dims"]
        return Moved(entry.call_inplace(self.whole, gone), kept.index(self.dim))
    return Moved(calls.view(self.whole, [self.whole.size(i) for i in kept]), kept.index(self.dim))


@rule("squeeze.dim", "squeeze.dims", "squeeze_.dim", "squeeze_.dims")
def squeeze_dims(function: Callable, self: Operand, dim: Any) -> Any:
    """Each sample without some dimensions, where their size is 1."""
    if not self.rank:
        return calls.alias(self.front())
    dims = [self.axis(d) - 1 for d in ([dim] if isinstance(dim, int) else dim)]
    gone = sum(d < self.dim and self.shape[d] == 1 for d in dims)
    dims = [d + (d >= self.dim) for d in dims]
    entry: Any = OPS["squeeze.dims"]
    result = (entry.call_inplace if function.__name__.endswith("_") else entry.call)(self.whole, dims)
    return Moved(result, self.dim - gone)


@rule("split.Tensor", "split_with_sizes", "unsafe_split.Tensor", "unsafe_split_with_sizes")
def split(function: Callable, self: Operand, sizes: Any, dim: int = 0) -> Any:
    """Each sample in parts."""
    return function(self.front(), sizes, self.axis(dim))


@rule("unbind.int")
def unbind(function: Callable, self: Operand, dim: int = 0) -> Any:
    """Each sample in slices."""
    return function(self.front(), self.axis(dim))


@rule("diagonal")
def diagonal(function: Callable, self: Operand, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of each sample."""
    return function(self.front(), offset, self.axis(dim1), self.axis(dim2))


@rule("unfold")
def unfold(function: Callable, self: Operand, dimension: int, size: int, step: int) -> Tensor:
    """The windows along a dimension of each sample."""
    if not self.rank:
        return calls.squeeze__dim(function(self.front().unsqueeze(-1), 1, size, step), -1)
    return function(self.front(), self.axis(dimension), size, step)


@rule("as_strided")
def as_strided(
    function: Callable, self: Operand, size: Sequence[int], stride: Sequence[int], storage_offset: Any = None
) -> Tensor:
    """Another view of each sample's memory."""
    value = self.front()
    offset = value.storage_offset() if storage_offset is None else storage_offset
    return function(value, (value.size(0), *size), (value.stride(0), *stride), offset)


@rule("view_as_complex")
def view_as_complex(function: Callable, self: Operand) -> Tensor:
    """Pairs as complex numbers."""
    return function(self.front())


@rule("select_backward", "slice_backward", "diagonal_backward", "unfold_backward")
def view_backward(function: Callable, grad: Operand, sizes: Sequence[int], *places: int) -> Tensor:
    """The gradient of a view of each sample: zeros where it did not reach."""
    value, rank = grad.front(), len(sizes)
    shift = {"diagonal_backward": (1, 2)}.get(function.__name__, (0,))  # which of the places are dimensions
    moved = [place % rank + 1 if i in shift else place for i, place in enumerate(places)]
    return function(value, (value.size(0), *sizes), *moved)


# Moved elements ---------------------------------------------------------------------------------------------


@rule("flip")
def flip(function: Callable, self: Operand, dims: Sequence[int]) -> Tensor:
    """Some dimensions of each sample backwards."""
    result = function(self.at_least_vector(), [self.axis(d) for d in dims])
    return result if self.rank else result.squeeze(-1)


@rule("roll")
def roll(function: Callable, self: Operand, shifts: Sequence[int], dims: Sequence[int] = ()) -> Tensor:
    """Elements of each sample moved along dimensions."""
    if dims:
        return function(self.front(), shifts, [self.axis(d) for d in dims])
    value = self.front()
    row = value if self.rank == 1 else value.reshape(value.size(0), -1)
    return calls.view(function(row, shifts, [1]), value.shape)


@rule("rot90")
def rot90(function: Callable, self: Operand, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Each sample turned."""
    return function(self.front(), k, [self.axis(d) for d in dims])


@rule("diagonal_scatter")
def diagonal_scatter(
    function: Callable, self: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Any:
    """Each sample with another diagonal."""
    if not isinstance(self, Operand):
        return NotImplemented
    return function(self.front(), spread(src, self.count), offset, self.axis(dim1), self.axis(dim2))


@rule("tril", "triu", "tril_", "triu_")
def triangle(function: Callable, self: Operand, diagonal: int = 0) -> Tensor:
    """One triangle of each matrix."""
    return function(self.front(), diagonal)


@rule("diag_embed")
def diag_embed(function: Callable, self: Operand, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Diagonals as matrices."""
    rank = self.rank + 1
    return function(self.front(), offset, dim1 % rank + 1, dim2 % rank + 1)


@rule("trace")
def trace(function: Callable, self: Operand) -> Tensor:
    """The sum of each diagonal."""
    return calls.sum__dim_IntList(calls.diagonal(self.front(), 0, 1, 2), [-1])


@rule("repeat")
def repeat(function: Callable, self: Operand, repeats: Sequence[int]) -> Tensor:
    """Each sample several times."""
    value = self.front()
    for _ in range(len(repeats) - self.rank):
        value = calls.unsqueeze(value, 1)
    return function(value, (1, *repeats))


@rule("constant_pad_nd")
def pad(function: Callable, self: Operand, *others: Any) -> Tensor:
    """Each sample with a margin."""
    return function(self.front(), *others)


@rule("_fft_c2c", "_fft_r2c", "_fft_c2r")
def transform(function: Callable, self: Operand, dim: Sequence[int], *others: Any) -> Tensor:
    """A Fourier transform along dimensions."""
    return function(self.front(), [self.axis(d) for d in dim], *others)


@rule("glu_backward")
def glu_backward(function: Callable, grad: Any, self: Any, dim: int) -> Any:
    """The gradient of halves that gate each other."""
    if not (isinstance(grad, Operand) and isinstance(self, Operand)):
        return NotImplemented
    return function(grad.front(), self.front(), self.axis(dim))


@rule("glu")
def glu(function: Callable, self: Operand, dim: int = -1) -> Tensor:
    """A gated linear unit along a dimension."""
    return function(self.front(), self.axis(dim))


# Joined -----------------------------------------------------------------------------------------------------


@rule("cat")
def cat(function: Callable, tensors: list, dim: int = 0) -> Tensor:
    """Samples joined along a dimension."""
    count = count_of(tensors)
    kept = [t for t in tensors if not is_nothing(t)] or tensors
    axis = wrap_dim(dim, max(map(rank_of, kept))) + 1
    return function([spread(t, count) for t in kept], axis)


def is_nothing(argument: Any) -> bool:
    """Whether a sample is a vector without elements, which `cat` leaves out."""
    return tuple(argument.shape) == (0,)


@rule("stack")
def stack(function: Callable, tensors: list, dim: int = 0) -> Tensor:
    """Samples joined along a new dimension."""
    first = next(t for t in tensors if isinstance(t, Operand))
    rank = first.rank + 1
    values = [
        t.in_front() if isinstance(t, Operand) else calls.unsqueeze(t, 0).expand(first.count, *t.shape)
        for t in tensors
    ]
    return function(values, dim % rank + 1 if -rank <= dim < rank else dim)
