"""Sums of products over chosen dimensions, made of matrix products: `tensordot`, `einsum`, `kron`.

*Label*: the letter of a dimension in an equation. *Contracted*: summed over, and so absent from the result.
"""

from math import prod
from typing import Any

import numpy as np

from refgrad.layout import wrap_dim
from refgrad.op import calls, composite, op

ELLIPSIS = "..."


# Two tensors


@composite("inner(Tensor self, Tensor other) -> Tensor")
def inner(self, other):
    first, second = self._array.shape, other._array.shape
    if not first or not second:
        return calls.mul(self, other)
    if first[-1] != second[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(first)} and {list(second)}"
        )
    return tensordot(self, other, [-1], [-1])


@composite("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor")
def tensordot(self, other, dims_self, dims_other):
    if len(dims_self) != len(dims_other):
        raise RuntimeError("both dimension lists should have same length")
    if self._array.dtype is not other._array.dtype:
        raise RuntimeError("both inputs should have same dtype")
    pairs = []
    for i, j in zip(dims_self, dims_other, strict=True):
        p, q = wrap_dim(i, self._array.ndim), wrap_dim(j, other._array.ndim)
        size, other_size = self._array.shape[p], other._array.shape[q]
        if other_size == 1:
            self = calls.sum__dim_IntList(self, [p], True)
        elif size == 1:
            other = calls.sum__dim_IntList(other, [q], True)
        elif size != other_size:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {size} in dim {i} and second has "
                f"size {other_size} in dim {j}"
            )
        pairs.append((p, q))
    left, rows = arranged(self, dims_self, last=True)
    right, columns = arranged(other, dims_other, last=False)
    size = prod(self._array.shape[p] for p, _ in pairs)
    if prod(rows) == 1 == prod(columns):
        return calls.reshape(total_product(left, right), (*rows, *columns))
    left = calls.reshape(left, (prod(rows), size))
    right = calls.reshape(right, (size, prod(columns)))
    return calls.reshape(calls.mm(left, right), (*rows, *columns))


def total_product(left: Any, right: Any) -> Any:
    """The sum of all products: of vectors where that costs no copy, else one by one."""
    if left._array.flags.c_contiguous and right._array.flags.c_contiguous:
        vectors = [t if t._array.ndim == 1 else calls.reshape(t, (t._array.size,)) for t in (left, right)]
        return calls.dot(*vectors)
    return calls.sum(calls.squeeze(left) * calls.squeeze(right))


def arranged(tensor: Any, contracted: list[int], last: bool) -> tuple[Any, list[int]]:
    """The tensor with the contracted dimensions last, or first, and the sizes of the others.

    Raises:
        RuntimeError: a dimension is named twice.
    """
    places = [wrap_dim(dim, tensor._array.ndim) for dim in contracted]
    for n, dim in enumerate(places):
        if dim in places[:n]:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    kept = [i for i in range(tensor._array.ndim) if i not in places]
    order = [*kept, *contracted] if last else [*contracted, *kept]
    return calls.permute(tensor, order), [tensor._array.shape[i] for i in kept]


@composite("kron(Tensor self, Tensor other) -> Tensor")
def kron(self, other):
    ndim = max(self._array.ndim, other._array.ndim)
    first = (1,) * (ndim - self._array.ndim) + self._array.shape
    second = (1,) * (ndim - other._array.ndim) + other._array.shape
    left = calls._unsafe_view(self, [n for size in first for n in (size, 1)])
    right = calls._unsafe_view(other, [n for size in second for n in (1, size)])
    return calls._unsafe_view(calls.mul(left, right), [m * n for m, n in zip(first, second, strict=True)])


# Three tensors


def factor(array: np.ndarray, expanded: Any) -> np.ndarray:
    """An operand with dimensions of size 1 put in."""
    for dim in sorted(expanded):
        array = np.expand_dims(array, dim)
    return array


def trilinear_gradients(grad, i1, i2, i3, expand1, expand2, expand3, sumdim, needs_input_grad):
    """The gradients of `_trilinear` for its three factors, each of which is such a product again."""
    first, second, third = needs_input_grad
    return [
        calls._trilinear(grad, i2, i3, sumdim, expand2, expand3, expand1) if first else None,
        calls._trilinear(i1, grad, i3, expand1, sumdim, expand3, expand2) if second else None,
        calls._trilinear(i1, i2, grad, expand1, expand2, sumdim, expand3) if third else None,
    ]


@op(
    "_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, "
    "int unroll_dim=1) -> Tensor",
    node="TrilinearBackward0",
    jointly=("i1, i2, i3", trilinear_gradients),
)
def trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim):
    product = factor(i1, expand1) * factor(i2, expand2) * factor(i3, expand3)
    return np.array(product.sum(tuple(sumdim), dtype=i1.dtype), order="C")


@composite("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor")
def bilinear(input1, input2, weight, bias=None):
    first, second, sizes = input1._array.shape, input2._array.shape, weight._array.shape
    if len(first) != len(second):
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {len(first)} and {len(second)}")
    for i, (n, m) in enumerate(zip(first[:-1], second[:-1], strict=True)):
        if n != m:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {n} and {m}")
    for name, found, wanted in (("input1", first[-1], sizes[1]), ("input2", second[-1], sizes[2])):
        if found != wanted:
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {found} but expected {wanted}"
            )
    if bias is not None and bias._array.shape[0] != sizes[0]:
        raise RuntimeError(
            "bilinear(): bias size does not match weight size: got "
            f"{bias._array.shape[0]} but expected {sizes[0]}"
        )
    left = calls.reshape(input1, (prod(first[:-1]), first[-1]))
    right = calls.reshape(input2, (prod(second[:-1]), second[-1]))
    product = calls._trilinear(left, weight, right, (1, 3), (0,), (1, 2), (2, 3))
    result = calls.reshape(product, (*first[:-1], sizes[0]))
    return result if bias is None else calls.add(result, bias)


# Chains of matrices


@composite("linalg_multi_dot(Tensor[] tensors) -> Tensor")
def linalg_multi_dot(tensors):
    matrices, shape = chain_of(tensors)
    sizes = [matrix._array.shape[0] for matrix in matrices] + [matrices[-1]._array.shape[1]]
    splits = cheapest_splits(sizes)

    def product(first: int, last: int) -> Any:
        if first == last:
            return matrices[first]
        middle = splits[first, last]
        return calls.mm(product(first, middle), product(middle + 1, last))

    return calls.view(product(0, len(matrices) - 1), shape)


def chain_of(tensors: Any) -> tuple[list, tuple]:
    """The factors as matrices, and the shape of their product.

    Raises:
        RuntimeError: they do not form a chain.
    """
    count = len(tensors)
    if count < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {count}")
    matrices = list(tensors)
    shape = []
    for i, end in ((0, "first"), (count - 1, "last")):
        ndim = tensors[i]._array.ndim
        if ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {end} tensor must be 1D or 2D but got {ndim}D")
        if ndim == 1:
            matrices[i] = calls.unsqueeze(tensors[i], 0 if i == 0 else -1)
        else:
            shape.append(tensors[i]._array.shape[0 if i == 0 else 1])
    kind = tensors[0].dtype
    for i in range(count):
        if matrices[i]._array.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {matrices[i]._array.ndim}D")
        if tensors[i].dtype is not kind:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{kind.cpp_name} and tensor {i} {tensors[i].dtype.cpp_name}"
            )
    for i in range(count - 1):
        left, right = matrices[i]._array.shape, matrices[i + 1]._array.shape
        if left[1] != right[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(left)} and {list(right)} "
                "cannot be multiplied"
            )
    return matrices, tuple(shape)


def cheaper(option: tuple[int, int]) -> tuple[int, int]:
    """The order in which a later split is preferred to an earlier one of equal cost."""
    return option[0], -option[1]


def cheapest_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each stretch of a chain of matrices so that the fewest multiplications are needed."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    splits = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            # On equal cost three matrices are multiplied from the left, longer chains from the right.
            options = [
                (cost[first, k] + cost[k + 1, last] + sizes[first] * sizes[k + 1] * sizes[last + 1], k)
                for k in range(first, last)
            ]
            cost[first, last], splits[first, last] = min(options, key=cheaper if count == 3 else None)
    return splits


# Equations


@composite("einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor")
def einsum(equation, tensors, path=None):
    terms, output = parsed(equation)
    if len(terms) < len(tensors):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    if len(terms) > len(tensors):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    labels = [labels_of(term, tensor, i) for i, (term, tensor) in enumerate(zip(terms, tensors, strict=True))]
    check_sizes(labels, tensors)
    result = output_labels(output, labels)
    everything = result + [label for label in order_of(labels) if label not in result]
    operands = [spread_out(tensor, own, everything) for tensor, own in zip(tensors, labels, strict=True)]
    return contracted(operands, len(result))


def parsed(equation: str) -> tuple[list[list[str]], list[str] | None]:
    """The labels of each operand, and those of the output where the equation names them.

    Raises:
        RuntimeError: the equation is malformed, with the place.
    """
    arrow = equation.find("->")
    inputs = equation if arrow < 0 else equation[:arrow]
    terms, start = [], 0
    for number, text in enumerate(inputs.split(",")):
        terms.append(term_of(text, start, f"operand {number}"))
        start += len(text) + 1
    if arrow < 0:
        return terms, None
    output = term_of(equation[arrow + 2 :], arrow + 2, "output")
    repeated = next((label for i, label in enumerate(output) if label in output[:i]), None)
    if repeated is not None:
        raise RuntimeError(f"einsum(): output subscript {repeated} appears more than once in the output")
    return terms, output


def term_of(text: str, start: int, owner: str) -> list[str]:
    """The labels in one term of an equation; `start` is its place there.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    labels: list[str] = []
    i = 0
    while i < len(text):
        letter = text[i]
        if letter == ".":
            if ELLIPSIS in labels:
                raise RuntimeError(f"einsum(): found '.' for {owner} for which an ellipsis was already found")
            if text[i : i + 3] != ELLIPSIS:
                note = " (...)" if owner == "output" else ""
                raise RuntimeError(f"einsum(): found '.' for {owner} that is not part of any ellipsis{note}")
            labels.append(ELLIPSIS)
            i += 2
        elif letter.isascii() and letter.isalpha():
            labels.append(letter)
        elif letter != " ":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {start + i} in the equation string, subscripts "
                "must be in [a-zA-Z]"
            )
        i += 1
    return labels


def labels_of(term: list[str], tensor: Any, number: int) -> list:
    """A label for each dimension; those under an ellipsis are numbers, counted from the last one.

    Raises:
        RuntimeError: their count does not fit the tensor.
    """
    ndim, named = tensor._array.ndim, len(term) - (ELLIPSIS in term)
    if ELLIPSIS in term:
        if named > ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) is more than the number of "
                f"dimensions ({ndim}) for operand {number}"
            )
        at = term.index(ELLIPSIS)
        covered = list(range(ndim - named - 1, -1, -1))
        return [*term[:at], *covered, *term[at + 1 :]]
    if named != ndim:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) does not match the number of "
            f"dimensions ({ndim}) for operand {number} and no ellipsis was given"
        )
    return list(term)


def check_sizes(labels: list[list], tensors: Any) -> None:
    """Refuse a label that stands for different sizes.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    seen: dict = {}
    for number, (own, tensor) in enumerate(zip(labels, tensors, strict=True)):
        here: dict = {}
        for label, size in zip(own, tensor._array.shape, strict=True):
            if here.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {number} but the sizes don't "
                    f"match, {size} != {here[label]}"
                )
        for label, size in here.items():
            if size != 1 and seen.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {size} for operand {number} which does not "
                    f"broadcast with previously seen size {seen[label]}"
                )


def order_of(labels: list[list]) -> list:
    """All labels: the dimensions under an ellipsis, then the letters, capitals first."""
    found = {label for own in labels for label in own}
    covered = sorted((label for label in found if isinstance(label, int)), reverse=True)
    return covered + sorted(label for label in found if isinstance(label, str))


def output_labels(output: list[str] | None, labels: list[list]) -> list:
    """The labels of the result; by default those that occur once, in order.

    Raises:
        RuntimeError: a label of the output occurs in no operand.
    """
    everything = order_of(labels)
    covered = [label for label in everything if isinstance(label, int)]
    if output is None:
        flat = [label for own in labels for label in own]
        return covered + [label for label in everything if isinstance(label, str) and flat.count(label) == 1]
    result: list = []
    for label in output:
        if label == ELLIPSIS:
            result += covered
        elif label not in everything:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input operand"
            )
        else:
            result.append(label)
    return result


def spread_out(tensor: Any, own: list, everything: list) -> Any:
    """The tensor with one dimension for every label of the equation, in order; of size 1 for those it has "
    "not."""
    own = list(own)
    for label in dict.fromkeys(own):
        while own.count(label) > 1:
            first = own.index(label)
            second = own.index(label, first + 1)
            diagonal = calls.diagonal(tensor, 0, first, second)
            del own[second]
            tensor = moved_from_end(diagonal, first)
    missing = [label for label in everything if label not in own]
    for label in missing:
        tensor = calls.unsqueeze(tensor, tensor._array.ndim)
        own.append(label)
    return calls.permute(tensor, [own.index(label) for label in everything])


def moved_from_end(tensor: Any, to: int) -> Any:
    """The tensor with its last dimension moved."""
    order = list(range(tensor._array.ndim - 1))
    order.insert(to, tensor._array.ndim - 1)
    return calls.permute(tensor, order)


def contracted(operands: list, kept: int) -> Any:
    """Multiply the operands from left to right, summing over each dimension beyond `kept` when it is last "
    "used."""
    result, *rest = operands
    dims = range(kept, result._array.ndim)
    for i, operand in enumerate(rest):
        sums = []
        for dim in dims:
            if any(later._array.shape[dim] != 1 for later in rest[i + 1 :]):
                continue
            if result._array.shape[dim] != 1 and operand._array.shape[dim] != 1:
                sums.append(dim)
            elif result._array.shape[dim] != 1:
                result = calls.sum__dim_IntList(result, [dim], True)
            elif operand._array.shape[dim] != 1:
                operand = calls.sum__dim_IntList(operand, [dim], True)
        result = pair_product(result, operand, sums) if sums else calls.mul(result, operand)
    if not dims:
        return result
    if rest:
        return calls.view(result, result._array.shape[:kept])
    return calls.sum__dim_IntList(result, list(dims))


def pair_product(left: Any, right: Any, sums: list[int]) -> Any:
    """The product of two tensors of one rank, summed over dimensions that stay with size 1, as a batched "
    "product."""
    first, second = left._array.shape, right._array.shape
    kept = [i for i in range(len(first)) if i not in sums]
    both = [i for i in kept if first[i] != 1 and second[i] != 1]
    only_left = [i for i in kept if first[i] != 1 and second[i] == 1]
    only_right = [i for i in kept if first[i] == 1]
    batches, size = prod(first[i] for i in both), prod(first[i] for i in sums)
    rows, columns = prod(first[i] for i in only_left), prod(second[i] for i in only_right)
    left = calls.reshape(calls.permute(left, both + only_left + sums + only_right), (batches, rows, size))
    right = calls.reshape(
        calls.permute(right, both + sums + only_right + only_left), (batches, size, columns)
    )
    shape = [first[i] for i in both + only_left] + [1 for _ in sums] + [second[i] for i in only_right]
    order = both + only_left + sums + only_right
    product = calls.view(calls.bmm(left, right), shape)
    return calls.permute(product, [int(i) for i in np.argsort(order)])
