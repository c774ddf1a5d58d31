"""Tangents that are batched: how they lie in memory, beside a primal that is the same for all samples.

Of a batched tensor that came from one tensor (its *whole*) or was put into one, the samples are slices of it;
of others each sample has memory of its own.
"""

from typing import Any

from refgrad.func.batched_tensor import BatchedTensor, of_whole
from refgrad.layout import layout_of, root_of
from refgrad.op import calls
from refgrad.tensor import Tensor


def as_strided(self: BatchedTensor, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """Another view of the memory of each sample, which must not reach beyond it.

    Raises:
        RuntimeError: it does.
    """
    if not self.level.IS_LEGACY:
        return by_op(self, size, stride, storage_offset)
    whole, dim = self.__dict__["whole"], self.__dict__["bdim"]
    first = layout_of(self.first._array)
    offset = first.offset if storage_offset is None else storage_offset
    check_reach(first, size, stride, offset)
    if whole is not None and not isinstance(whole, BatchedTensor):
        count, step = whole.shape[dim], whole.stride(dim)
        again = whole.as_strided((count, *size), (step, *stride), offset)
        return of_whole(self.level, again)
    shared = root_of(self.first._array)
    return self.map(
        lambda sample: sample.as_strided(
            size,
            stride,
            offset + (sample.storage_offset() - first.offset if root_of(sample._array) is shared else 0),
        )
    )


def check_reach(layout: Any, size: Any, stride: Any, offset: int) -> None:
    """Refuse a view that leaves the memory of one sample.

    Raises:
        RuntimeError: it does.
    """
    allowed = reach(layout.shape, layout.strides, layout.offset)
    wanted = reach(size, stride, offset)
    if wanted[0] < allowed[0] or wanted[1] > allowed[1]:
        raise RuntimeError(
            f"result = tensor.as_strided({list(size)},{list(stride)},{offset})can access memory outside of "
            f"`tensor`. `result` can access somememory in range [{wanted[0]}, {wanted[1]}], but `tensor` can "
            f"only access some memory in range [{allowed[0]}, {allowed[1]}]. This is not supported inside of "
            "vmap, please try torewrite the `as_strided` call as a sequence of PyTorch view operations"
        )


def reach(shape: Any, strides: Any, offset: int) -> tuple[int, int]:
    """Where the elements begin, and where they end."""
    return offset, offset + 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))


def lies_like(self: BatchedTensor, tensor: Tensor) -> bool:
    """Whether each sample lies in its memory as the tensor does in its own, whatever the sizes of memory."""
    one, other = layout_of(self.first._array), layout_of(tensor._array)
    if self.first._array.__class__ is not tensor._array.__class__ or one.shape != other.shape:
        return False
    if one.offset != other.offset and tensor._array.size:
        return False
    return all(n == 1 or a == b for n, a, b in zip(one.shape, one.strides, other.strides, strict=True))


def zeros_for(self: BatchedTensor, tensor: Tensor) -> BatchedTensor:
    """Zeros for each sample, laid out as the tensor, in one memory."""
    count = len(self.samples)
    lead = self.first.new_zeros((count,))
    whole = calls._new_zeros_with_same_feature_meta(lead, tensor, 1)
    return of_whole(self.level, whole)


by_op = BatchedTensor.as_strided
for method in (as_strided, lies_like, zeros_for):
    setattr(BatchedTensor, method.__name__, method)
BatchedTensor.OWN_VIEWS = {"as_strided": as_strided}  # not sample by sample
