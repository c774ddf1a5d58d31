"""*Batched tensor*: one value per sample, which a function under `vmap` sees as one tensor without the batch.

It holds a *whole*, the tensor with the batch dimension; ops run on wholes by batching rules (rules/). Where
an op has none it holds the *parts*, one tensor per sample, and the op runs once for each. A *shared* one
has no batch dimension: its whole is the same for all samples.

Its place in the graph is its own: a `grad` or `jvp` that runs within the `vmap` follows samples, while what
runs outside follows wholes. Neither graph leads into the other.
"""

import functools
import types
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from refgrad.duals import with_tangent_of
from refgrad.func.levels import stack
from refgrad.func.rules.refusals import REFUSED
from refgrad.func.slices import windows_together
from refgrad.layout import layout_of, strides_of
from refgrad.lazy import WithoutElements
from refgrad.op import calls
from refgrad.samples import PER_SAMPLE, Batched
from refgrad.storage import version_cell, version_of
from refgrad.tensor import Tensor, alias

NO_MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
    "indexing with a boolean mask."
)
NO_STORAGE = "Cannot access storage of BatchedTensorImpl"
NO_MEMORY = "Cannot access data pointer of Tensor that doesn't have storage"


# What can be known of a sample ------------------------------------------------------------------------------


class SampleArray(WithoutElements):
    """Shape, strides and type of one sample: whoever asks for elements meets `Batched`."""

    __slots__ = ("shape", "strides", "dtype", "flags", "offset")
    base = "the whole"  # it is no owner of memory

    def __init__(self, shape: tuple, strides: tuple, dtype: np.dtype, flags: Any, offset: int = 0):
        self.shape, self.strides, self.dtype, self.flags, self.offset = shape, strides, dtype, flags, offset

    @classmethod
    def of(cls, array: Any, dim: int | None) -> "SampleArray":
        """What is known of the samples of a whole's array."""
        steps = array.strides if array.size else [n * array.itemsize for n in strides_of(array)]
        shape, strides = tuple(array.shape), tuple(steps)
        if dim is not None:
            shape, strides = shape[:dim] + shape[dim + 1 :], strides[:dim] + strides[dim + 1 :]
        dense = as_strided(np.empty(1, array.dtype), shape, strides)
        return cls(shape, strides, array.dtype, dense.flags, layout_of(array).offset)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    def refuse(self, *args: Any, **kwargs: Any) -> Any:
        """Stop who asks for elements."""
        raise Batched

    plain = __getattr__ = __getitem__ = __setitem__ = __iter__ = __len__ = refuse
    __array__ = __array_ufunc__ = __array_function__ = refuse
    __bool__ = __int__ = __float__ = __complex__ = __index__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = __rmatmul__ = refuse
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __invert__ = __abs__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __mod__ = __rmod__ = refuse
    __floordiv__ = __rfloordiv__ = refuse


# The tensor -------------------------------------------------------------------------------------------------


class BatchedTensor(Tensor):
    """A tensor of which each sample has a value of its own."""

    IS_BATCHED = True

    def __init__(
        self, level: Any, whole: Tensor | None = None, dim: int | None = 0, parts: list | None = None
    ):
        own = self.__dict__
        own["level"], own["whole"], own["bdim"], own["parts"] = level, whole, dim, parts
        self._edge = self._meta = None

    @property
    def _array(self) -> Any:  # type: ignore[override]
        own = self.__dict__
        if own["whole"] is not None:
            return SampleArray.of(own["whole"]._array, own["bdim"])
        array = own["parts"][0]._array
        return SampleArray(array.shape, array.strides, array.dtype, array.flags)

    @property
    def samples(self) -> list:
        """One tensor per sample; of a whole, views of it."""
        own = self.__dict__
        if own["parts"] is None:
            own["parts"] = split(own["whole"], own["bdim"], self.level.count)
        return own["parts"]

    @property
    def is_shared(self) -> bool:
        """Whether it is the same for all samples."""
        own = self.__dict__
        return own["whole"] is not None and own["bdim"] is None

    @property
    def _version_cell(self) -> list:
        if self.level.IS_LEGACY:
            raise Batched
        return version_cell(self.together()[0])

    def again(self) -> "BatchedTensor":
        """The same samples outside the graph."""
        own = self.__dict__
        made = object.__new__(BatchedTensor)
        made.__init__(own["level"], own["whole"], own["bdim"], own["parts"])  # type: ignore[misc]
        return made

    def together(self) -> tuple[Tensor, int | None]:
        """The whole, made of the parts if need be, and its batch dimension."""
        own = self.__dict__
        if own["whole"] is None:
            own["whole"], own["bdim"] = put_together(own["parts"], not self.level.IS_LEGACY), 0
            own["parts"] = None
        return own["whole"], own["bdim"]

    def like(self, samples: list) -> "BatchedTensor":
        """Other samples of the same level."""
        return of_parts(self.level, samples)

    def map(self, function: Callable) -> "BatchedTensor":
        """The batched tensor of `function(sample)`.

        Raises:
            Batched: there are no samples.
        """
        if not self.samples:
            raise Batched
        return self.like([function(sample) for sample in self.samples])

    def map_whole(self, function: Callable) -> "BatchedTensor":
        """The batched tensor of `function(whole)`, which is the same as of its samples."""
        own = self.__dict__
        if own["whole"] is None or self.level.IS_LEGACY:
            return self.map(function)
        return of_whole(self.level, function(own["whole"]), own["bdim"])

    def item(self) -> Any:
        """Refused."""
        raise RuntimeError(self.level.NO_ITEM)

    __int__ = __float__ = __complex__ = __index__ = item

    def __bool__(self) -> bool:
        raise RuntimeError(self.level.NO_BRANCH)

    def tolist(self) -> Any:
        """Refused."""
        raise RuntimeError(NO_MEMORY)

    numpy = data_ptr = __array__ = apply_ = tolist

    def storage(self, *args: Any) -> Any:
        """Refused."""
        raise NotImplementedError(NO_STORAGE)

    untyped_storage = share_memory_ = set_ = __deepcopy__ = __reduce_ex__ = storage

    def resize_(self, *size: Any, **kwargs: Any) -> "BatchedTensor":
        """Give each sample another size, in the memory of all."""
        whole, dim = self.together()
        if dim != 0:
            self.storage()
        shape = size[0] if size and not isinstance(size[0], int) else size
        whole.resize_((self.level.count, *shape), **kwargs)
        self.__dict__["parts"] = None
        return self

    def nonzero(self, *args: Any, **kwargs: Any) -> Any:
        """Refused."""
        raise RuntimeError(REFUSED["nonzero"])

    @property  # type: ignore[misc]
    def requires_grad(self) -> bool:
        """Whether a `grad` that runs within the `vmap` follows it: what is outside does not show."""
        return self.samples[0].requires_grad if self.level.IS_LEGACY else TRACKED(self)

    @property
    def is_leaf(self) -> bool:
        """Whether no `grad` within the `vmap` recorded where it comes from."""
        return self.samples[0].is_leaf if self.level.IS_LEGACY else self.grad_fn is None

    @property
    def grad_fn(self) -> Any:
        """Its node in the graph of a `grad` that runs within the `vmap`."""
        return self.samples[0].grad_fn if self.level.IS_LEGACY else NODE(self)

    def _is_view(self) -> bool:
        return self.samples[0]._is_view() if self.level.IS_LEGACY else Tensor._is_view(self)

    def is_conj(self) -> bool:
        """Whether it shows conjugates of what lies in memory."""
        return self.together()[0].is_conj()

    def is_neg(self) -> bool:
        """Whether it shows negatives of what lies in memory."""
        return self.together()[0].is_neg()

    def detach(self) -> "BatchedTensor":
        """The same without history."""
        return self.map_whole(lambda tensor: tensor.detach())

    @property
    def data(self) -> Any:
        """Refused."""
        raise RuntimeError("accessing `data` under vmap transform is not allowed")

    def __getitem__(self, index: Any) -> Any:
        for each in index if isinstance(index, tuple) else (index,):
            if (
                isinstance(each, BatchedTensor)
                and not each.dtype.is_floating_point
                and str(each.dtype) == "torch.bool"
            ):
                raise RuntimeError(NO_MASK)
        return directly(Tensor.__getitem__, (self, index), {})

    def __repr__(self) -> str:
        own = self.__dict__
        if isinstance(self.level.NO_PRINT, str):
            raise RuntimeError(self.level.NO_PRINT)
        whole, dim = own["whole"], own["bdim"]
        if whole is None:
            whole, dim = calls.stack([sample.detach() for sample in own["parts"]]), 0
        lines = "\n".join("    " + line for line in repr(whole).split("\n"))
        return f"BatchedTensor(lvl={self.level.number}, bdim={dim}, value=\n{lines}\n)"

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)


TRACKED: Any = Tensor.requires_grad.fget
NODE: Any = Tensor.grad_fn.fget


def of_whole(level: Any, whole: Tensor, dim: int | None = 0) -> BatchedTensor:
    """The batched tensor of a whole and its batch dimension; without one it is the same for all samples."""
    made = object.__new__(BatchedTensor)
    made.__init__(level, whole, dim)  # type: ignore[misc]
    return made


def of_parts(level: Any, parts: list) -> BatchedTensor:
    """The batched tensor of one tensor per sample."""
    made = object.__new__(BatchedTensor)
    made.__init__(level, parts=parts)  # type: ignore[misc]
    return made


def is_covered(level: Any) -> bool:
    """Whether a `grad` or `jvp` runs inside this level, so that a graph of samples may be asked for."""
    return any(each.kind != "vmap" for each in stack.levels if each.number > level.number)


def split(whole: Any, dim: int | None, count: int) -> list:
    """One value per sample."""
    if dim is None:
        return [whole] * count
    if whole.requires_grad:
        whole = whole.permute(dim, *[i for i in range(whole.dim()) if i != dim])
        dim = 0
    return [whole.select(dim, i) for i in range(count)]


def put_together(samples: list, counts: bool = True) -> Tensor:
    """The samples as one tensor, which is a view, and unless told otherwise counts writes, as each does."""
    first = samples[0]
    if isinstance(first, BatchedTensor):
        return calls.stack(samples)
    if any(sample.requires_grad for sample in samples):
        stacked = calls.stack(samples)
        return calls.view(stacked, stacked.shape)
    if (whole := windows_together(samples)) is not None:
        return whole
    order = sorted(range(first.dim()), key=lambda dim: -first.stride(dim))  # as they lie in memory
    back = [0, *(1 + order.index(dim) for dim in range(first.dim()))]
    whole = calls.stack([sample.permute(order) for sample in samples]).permute(back)
    if first._is_view() and counts:
        return whole
    return with_tangent_of(whole, alias(whole, [version_of(first) if counts else 0]))


def delegate() -> None:
    """Give `BatchedTensor` what `Tensor` has: as it is where that is made of ops, else for each sample."""
    own = vars(BatchedTensor)
    keep = {
        "__init__",
        "__new__",
        "__getattr__",
        "__setattr__",
        "__hash__",
        "__init_subclass__",
        "__torch_function__",
    }
    for name, value in list(vars(Tensor).items()):
        if name in own or name in keep:
            continue
        if isinstance(value, property):
            setattr(BatchedTensor, name, property(sampled_getter(value.fget)))
        elif isinstance(value, types.FunctionType):
            setattr(BatchedTensor, name, sampled(value))


def sampled_getter(get: Any) -> Callable:
    """The getter of a property, of samples where it needs one."""
    return lambda self: directly(get, (self,), {})


def sampled(method: Callable) -> Callable:
    """A method, run for each sample where it needs one."""

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return directly(method, args, kwargs)

    return wrapper


def directly(function: Callable, args: tuple, kwargs: dict) -> Any:
    """A call that may come through as it is, because it only calls ops; otherwise run for each sample."""
    try:
        return function(*args, **kwargs)
    except Batched:
        return PER_SAMPLE[0](function, args, kwargs)


delegate()


def reflected(symbol: str) -> Callable:
    """An operator that Python asks of the right operand first: a tensor on the left answers all the same."""
    own, other_side = getattr(BatchedTensor, f"__r{symbol}__"), getattr(Tensor, f"__{symbol}__")

    def operator(self: BatchedTensor, other: Any) -> Any:
        return directly(other_side, (other, self), {}) if isinstance(other, Tensor) else own(self, other)

    return operator


for _symbol in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"):
    setattr(BatchedTensor, f"__r{_symbol}__", reflected(_symbol))
