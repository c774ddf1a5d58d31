"""Functions that PyTorch writes in Python: their arguments are Python's to check, defaults included."""

from importlib import import_module
from typing import Any

from refgrad import _VF
from refgrad.op import calls
from refgrad.outputs import write_out
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
    linalg: Any = import_module("refgrad.linalg")
    dims = [dim] if isinstance(dim, int) else dim
    options = {"keepdim": keepdim, "dtype": dtype} | ({} if out is None else {"out": out})
    if p == "fro" and (dims is None or len(dims) <= 2):
        return linalg.vector_norm(input, 2, dims, **options)
    if isinstance(p, str):
        return linalg.matrix_norm(input, p, list(range(input.ndim)) if dims is None else dims, **options)
    return linalg.vector_norm(input, 2.0 if p is None else p, dims, **options)


def tensor_norm(
    self: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """The norm of this tensor, see `norm`."""
    return norm(self, p, dim, keepdim, dtype=dtype)


tensor_norm.__name__ = "norm"
tensor_norm.__qualname__ = "Tensor.norm"
Tensor.norm = tensor_norm


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """The sum of products over so many last and first dimensions, or over two lists of dimensions.

    Raises:
        RuntimeError: `dims` asks for what the tensors do not have.
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else dims.item()
    if isinstance(dims, (tuple, list)):
        dims_a, dims_b = dims
    elif isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got {dims=}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got {dims=}")
        dims_a, dims_b = list(range(-dims, 0)), list(range(dims))
    else:
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing "
            f"two lists, but got dims={dims}"
        )
    product = cpp_function("tensordot")
    result = product(a, b, dims_a, dims_b)
    return result if out is None else write_out("tensordot", product, [a, b, dims_a, dims_b], result, out)


def einsum(*args: Any) -> Tensor:
    """The sum of products that an equation describes; lists of numbers may follow the operands instead.

    Raises:
        ValueError: the equation or the operands are missing, or a number is no label.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand "
            "and its subscripts list"
        )
    if isinstance(args[0], Tensor):
        labels = [labels_of(numbers) for numbers in args[1::2]]
        output = "->" + labels_of(args[-1]) if len(args) % 2 else ""
        equation = ",".join(labels) + output
        operands = args[: len(args) // 2 * 2 : 2]
    else:
        equation, operands = args[0], args[1:]
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        return einsum(equation, *operands[0])
    return cpp_function("einsum")(equation, list(operands))


def labels_of(numbers: Any) -> str:
    """The labels that a list of numbers stands for.

    Raises:
        ValueError: a number is out of range.
    """
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    if any(number is not Ellipsis and not 0 <= number < len(letters) for number in numbers):
        raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return "".join("..." if number is Ellipsis else letters[number] for number in numbers)


def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of a chain of matrices, in the cheapest order."""
    from refgrad.modes import warn_once

    warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather "
        "than multiple parameters."
    )
    if len(matrices) == 1:
        return matrices[0].clone()
    return cpp_function("linalg_multi_dot")(list(matrices), **({} if out is None else {"out": out}))


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """The factors of an elimination in one matrix, its pivots, and with `get_infos` where it broke off."""
    factors = cpp_function("_lu_with_info")(A, pivot=pivot, check_errors=not get_infos)
    results = factors if get_infos else tuple(factors)[:2]
    if out is None:
        return results
    if len(out) != len(results):
        raise TypeError(f"expected tuple of {len(results)} elements but got {len(out)}")
    for target, result in zip(out, results, strict=True):
        target.resize_as_(result).copy_(result)
    return out


def tensor_lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """The elimination of this tensor, see `lu`."""
    factors = cpp_function("_lu_with_info")(self, pivot=pivot, check_errors=not get_infos)
    return tuple(factors) if get_infos else tuple(factors)[:2]


tensor_lu.__name__ = "lu"
tensor_lu.__qualname__ = "Tensor.lu"
Tensor.lu = tensor_lu


def cpp_function(name: str) -> Any:
    """The function that PyTorch's Python code calls here."""
    from refgrad.namespaces import make_front

    return make_front(name, method=False)


COMPUTE_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """The distances of all pairs of rows of two batches of matrices."""
    if compute_mode not in COMPUTE_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _VF.cdist(x1, x2, p, COMPUTE_MODES[compute_mode])


def chosen(results: tuple, return_inverse: bool, return_counts: bool) -> Any:
    """The results that were asked for; one of them alone is no tuple."""
    wanted = [
        result for result, flag in zip(results, (True, return_inverse, return_counts), strict=True) if flag
    ]
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements, or slices along `dim`, in ascending order."""
    if dim is None:
        results = calls._unique2(input, sorted, return_inverse, return_counts)
    else:
        results = calls.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return chosen(results, return_inverse, return_counts)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first of each run of equal elements, or of equal slices along `dim`."""
    results = calls.unique_consecutive(input, return_inverse, return_counts, dim)
    return chosen(results, return_inverse, return_counts)


Tensor.unique = unique
Tensor.unique_consecutive = unique_consecutive
