"""Functions that PyTorch writes in Python: their arguments are Python's to check, defaults included."""

from typing import Any

from refgrad.tensor import Tensor


def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: Any = None,
) -> Tensor:
    """The norm of a vector over dimensions, or for `p="nuc"` of matrices."""
    from refgrad import linalg

    dims = [dim] if isinstance(dim, int) else dim
    options = {"keepdim": keepdim, "dtype": dtype} | ({} if out is None else {"out": out})
    if p == "fro" and (dims is None or len(dims) <= 2):
        return linalg.vector_norm(input, 2, dims, **options)
    if isinstance(p, str):
        return linalg.matrix_norm(input, p, list(range(input.ndim)) if dims is None else dims, **options)
    return linalg.vector_norm(input, 2.0 if p is None else p, dims, **options)


def tensor_norm(self: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The norm of this tensor, see `norm`."""
    return norm(self, p, dim, keepdim, dtype=dtype)


tensor_norm.__name__ = "norm"
tensor_norm.__qualname__ = "Tensor.norm"
Tensor.norm = tensor_norm  # type: ignore[attr-defined]
