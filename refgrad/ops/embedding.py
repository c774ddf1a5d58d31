"""Rows of a table picked by number, and numbers as rows of a table."""

import numpy as np

from refgrad import dtypes
from refgrad.call import type_text
from refgrad.op import calls, composite, op
from refgrad.storage import count_write
from refgrad.tensor import wrap


def check_indices(indices: np.ndarray, name: str, number: int) -> None:
    """Refuse indices, argument `number` of an op, of another type than int64 and int32.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if indices.dtype not in (np.int64, np.int32):
        kind = type_text(dtypes.OF_NUMPY[indices.dtype])
        raise RuntimeError(
            f"Expected tensor for argument #{number} 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {kind} instead (while checking arguments for {name})"
        )


@op(
    "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, "
    "bool sparse=False) -> Tensor",
    weight=lambda grad, indices, weight_sym_argsize_0, padding_idx, scale_grad_by_freq, sparse: (
        calls.embedding_dense_backward(grad, indices, weight_sym_argsize_0, padding_idx, scale_grad_by_freq)
    ),
)
def embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse):
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    check_indices(indices, "embedding", 1)
    if indices.size and not weight.shape[0]:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if indices.size and not 0 <= indices.min() <= indices.max() < weight.shape[0]:
        raise IndexError("index out of range in self")
    return weight[indices]


@op(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, "
    "bool scale_grad_by_freq) -> Tensor",
    reduced="own",
    node="EmbeddingDenseBackwardBackward0",
    grad_output=lambda grad, indices, padding_idx: picked_rows(grad, indices, padding_idx),
)
def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    result = np.zeros((num_weights, grad_output.shape[-1]), grad_output.dtype)
    flat = indices.reshape(-1)
    rows = grad_output.reshape(-1, grad_output.shape[-1])
    if padding_idx >= 0:
        rows, flat = rows[flat != padding_idx], flat[flat != padding_idx]
    if scale_grad_by_freq:
        rows = rows / np.bincount(flat, minlength=num_weights)[flat][:, None].astype(rows.dtype)
    np.add.at(result, flat, rows)
    return result


def picked_rows(grad, indices, padding_idx):
    """The gradient of `embedding_dense_backward`: the rows of the gradient of the table."""
    rows = calls.index_select(grad, 0, calls.reshape(indices, (-1,)))
    if padding_idx >= 0:
        rows = calls.masked_fill(rows, wrap((indices._array == padding_idx).reshape(-1, 1)), 0)
    return calls.view(rows, (*indices._array.shape, *grad._array.shape[1:]))


@op(
    "embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
    self=lambda grad: not_differentiable(),
    node="EmbeddingRenormBackward0",
    writes=True,
)
def embedding_renorm_(self, indices, max_norm, norm_type):
    if self.ndim != 2:
        raise RuntimeError(
            f"Expected 2-dimensional tensor, but got {self.ndim}-dimensional tensor for argument #1 'self' "
            "(while checking arguments for embedding_renorm_)"
        )
    check_indices(indices, "embedding_renorm_", 2)
    rows = np.unique(indices)
    outside = rows[(rows < -len(self)) | (rows >= len(self))]
    if outside.size:
        rows = rows[rows < outside[0]]  # those before it are written all the same
    norms = np.linalg.norm(self[rows], norm_type, axis=1)
    scale = np.where(norms > max_norm, max_norm / (norms + 1e-7), 1).astype(self.dtype)
    self[rows] = self[rows] * scale[:, None]
    if outside.size:
        raise IndexError(
            f"select(): index {outside[0]} out of range for tensor of size {list(self.shape)} at dimension 0"
        )


def not_differentiable():
    """Refuse.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("derivative for aten::embedding_renorm_ is not implemented")


@composite("one_hot(Tensor self, int num_classes=-1) -> Tensor")
def one_hot(self, num_classes=-1):
    numbers = self._array
    if numbers.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not numbers.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return wrap(np.zeros((*numbers.shape, num_classes), np.int64))
    if numbers.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(numbers.max()) + 1
    elif numbers.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    result = np.zeros((*numbers.shape, num_classes), np.int64)
    np.put_along_axis(result, numbers[..., None], 1, -1)
    tensor = wrap(result)
    for _ in range(2):  # PyTorch writes the zeros and then the ones, and the version shows it
        count_write(tensor)
    return tensor
