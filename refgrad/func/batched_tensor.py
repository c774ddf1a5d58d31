"""*Batched tensor*: one value per sample, which a function under `vmap` sees as one tensor without the batch.

It holds a *whole*, the tensor with the batch dimension; ops run on wholes by batching rules (rules/). Where
an op has none it holds the *parts*, one tensor per sample, and the op runs once for each. It has no place in
a graph: a `grad` outside the `vmap` follows wholes, one inside follows tensors that wrap it.
"""

from collections.abc import Callable
from typing import Any

from refgrad.duals import with_tangent_of
from refgrad.func.rules.refusals import REFUSED
from refgrad.func.slices import windows_together
from refgrad.func.wrappers import FormArray, delegate, directly
from refgrad.op import calls
from refgrad.samples import Batched
from refgrad.storage import version_cell, version_of
from refgrad.tensor import Tensor, alias

NO_MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
    "indexing with a boolean mask."
)
NO_STORAGE = "Cannot access storage of BatchedTensorImpl"
NO_MEMORY = "Cannot access data pointer of Tensor that doesn't have storage"


class BatchedTensor(Tensor):
    """A tensor of which each sample has a value of its own."""

    IS_WRAPPER = is_batch = True

    def __init__(self, level: Any, whole: Tensor | None = None, dim: int = 0, parts: list | None = None):
        own = self.__dict__
        own["level"], own["whole"], own["bdim"], own["parts"] = level, whole, dim, parts
        self._edge = self._meta = None

    @property
    def _array(self) -> Any:  # type: ignore[override]
        own = self.__dict__
        if own["whole"] is not None:
            return FormArray.of_samples(own["whole"]._array, own["bdim"])
        return FormArray.of(own["parts"][0]._array)

    @property
    def wrapped(self) -> Tensor:
        """The whole."""
        return self.together()[0]

    @property
    def samples(self) -> list:
        """One tensor per sample; of a whole, views of it."""
        own = self.__dict__
        if own["parts"] is None:
            own["parts"] = split(own["whole"], own["bdim"], self.level.count)
        return own["parts"]

    @property
    def first(self) -> Tensor:
        """The first sample; where there is none, zeros of the same shape."""
        if self.samples:
            return self.samples[0]
        whole, dim = self.together()
        return whole.new_zeros(whole.shape[:dim] + whole.shape[dim + 1 :])

    @property
    def _version_cell(self) -> list:
        if self.level.IS_LEGACY:
            raise Batched
        return version_cell(self.together()[0])

    def again(self) -> "BatchedTensor":
        """The same samples as another tensor."""
        own = self.__dict__
        return made_of(own["level"], own["whole"], own["bdim"], own["parts"])

    def together(self) -> tuple[Tensor, int]:
        """The whole, made of the parts if need be, and its batch dimension."""
        own = self.__dict__
        if own["whole"] is None:
            own["whole"], own["bdim"] = put_together(own["parts"], not self.level.IS_LEGACY), 0
            own["parts"] = None
        return own["whole"], own["bdim"]

    def like(self, samples: list) -> "BatchedTensor":
        """Other samples of the same level."""
        return of_parts(self.level, samples)

    def none_of(self, tensor: Tensor) -> "BatchedTensor":
        """No samples at all, where a tensor says what one would be."""
        return of_whole(self.level, tensor.new_empty((0, *tensor.shape)))

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
        """False: what is outside does not show."""
        return self.level.IS_LEGACY and self.first.requires_grad

    @property
    def is_leaf(self) -> bool:
        """True, likewise."""
        return not self.level.IS_LEGACY or self.first.is_leaf

    @property
    def grad_fn(self) -> Any:
        """None, likewise."""
        return self.first.grad_fn if self.level.IS_LEGACY else None

    def _is_view(self) -> bool:
        return self.first._is_view() if self.level.IS_LEGACY else Tensor._is_view(self)

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

    @data.setter
    def data(self, value: Any) -> None:
        raise RuntimeError("mutating directly with `.data` under vmap transform is not allowed.")

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


def of_whole(level: Any, whole: Tensor, dim: int = 0) -> BatchedTensor:
    """The batched tensor of a whole and its batch dimension."""
    return made_of(level, whole, dim, None)


def of_parts(level: Any, parts: list) -> BatchedTensor:
    """The batched tensor of one tensor per sample."""
    return made_of(level, None, 0, parts)


def made_of(level: Any, whole: Tensor | None, dim: int, parts: list | None) -> BatchedTensor:
    """A batched tensor of what it holds."""
    made = object.__new__(BatchedTensor)
    made.__init__(level, whole, dim, parts)  # type: ignore[misc]
    return made


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


delegate(BatchedTensor)
