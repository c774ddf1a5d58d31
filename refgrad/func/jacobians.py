"""Jacobians and Hessians as functions of functions: a vjp for each row, or a jvp for each column. Source:
`torch.func` in PyTorch's docs."""

import functools
from collections.abc import Callable
from typing import Any

from refgrad.autograd.batched import windows_together
from refgrad.func import trees
from refgrad.func.derivatives import linear_at, vjp_at
from refgrad.func.levels import Level, check_argnums, chosen_arguments, is_batched
from refgrad.op import calls
from refgrad.tensor import Tensor


def check_real(name: str, kind: str, leaves: list) -> None:
    """Refuse complex tensors.

    Raises:
        RuntimeError: one is complex.
    """
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {kind} to be real but received complex tensor at flattened input idx: "
                f"{index}"
            )


def basis_of(tensor: Tensor, total: int, first: int) -> list[Tensor]:
    """Rows of this shape in one memory, `total` of them: from the one numbered `first` a single one, else
    zeros."""
    if is_batched(tensor):
        columns = zip(*[basis_of(sample, total, first) for sample in tensor.samples], strict=True)
        return [tensor.like(list(column)) for column in columns]
    rows = tensor.detach().new_zeros((total, tensor.numel()))
    if rows.numel():
        rows.diagonal(-first).fill_(1)
    return [row.view(tensor.shape) for row in rows]


def directions_of(tensors: list[Tensor]) -> list[list[Tensor]]:
    """For each element of each tensor: one there among zeros, for all tensors."""
    counts = [tensor.numel() for tensor in tensors]
    total = sum(counts)
    columns = [basis_of(tensor, total, sum(counts[:i])) for i, tensor in enumerate(tensors)]
    return [list(row) for row in zip(*columns, strict=True)]


UNKNOWN, MULTIPLIED = ["?"], ["MvBackward0:1"]


def uses_of(leaf: Tensor, outputs: list[Tensor]) -> list[str]:
    """What a function does with an argument: the nodes that pass it gradients, and the place in each."""
    if is_batched(leaf) or any(map(is_batched, outputs)) or any(leaf is output for output in outputs):
        return UNKNOWN
    entry = leaf._meta.accumulator()
    pending: list[Any] = [output.grad_fn for output in outputs if output.requires_grad]
    seen, found = set(pending), []
    while pending:
        user = pending.pop()
        for place, (node, _) in enumerate(user.next_functions):
            if node is entry:
                found.append(f"{user.name()}:{place}")
            elif node is not None and node not in seen:
                seen.add(node)
                pending.append(node)
    return found


def together(rows: list[Tensor], chunk_size: int | None, uses: list[str] = UNKNOWN) -> Tensor:
    """What a Jacobian is cut from: the rows where they lie if one batch gave them all, else a copy.

    PyTorch multiplies a transposed matrix by all cotangents at once, each a column; of an argument that
    nothing depends on there is but one row.
    """
    from refgrad import stack

    if chunk_size is None or chunk_size >= len(rows):
        whole = windows_together(rows)
        if whole is not None:
            return whole
        if not uses:
            return rows[0].expand(len(rows), *rows[0].shape)
        if uses == MULTIPLIED and not any(map(is_batched, rows)):
            return stack(rows, -1).movedim(-1, 0)
    return stack(rows)


def rows_of(
    rows: list[Tensor], outputs: list[Tensor], input: Tensor, chunk_size: int | None, uses: list[str]
) -> list[Tensor]:
    """The Jacobian with respect to one input, a block per output."""
    shapes = [(*output.shape, *input.shape) for output in outputs]
    if not rows:
        return [input.new_zeros(shape) for shape in shapes]
    parts = together(rows, chunk_size, uses).split([output.numel() for output in outputs])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def jacrev(
    func: Callable,
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable:
    """A function that returns the Jacobian of `func`, row by row: one vjp for each element of the output.

    Raises:
        ValueError: `chunk_size` is not positive.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        check_argnums(argnums, len(args))
        found = vjp_at(func, args, argnums, has_aux)
        output, pull = found[0], found[1]
        inputs, input_spec = trees.flatten(chosen_arguments(argnums, args))
        check_real("jacrev", "inputs", inputs)
        outputs, output_spec = trees.flatten(output)
        check_real("jacrev", "outputs", outputs)
        rows: list[list] = [[] for _ in inputs]
        for cotangents in directions_of(outputs):
            gradients = pull(trees.unflatten(cotangents, output_spec))
            for some, gradient in zip(rows, trees.flatten(gradients)[0], strict=True):
                some.append(gradient)
        leaves, inner = pull.inside
        by_input = [
            rows_of(some, outputs, x, chunk_size, uses)
            for some, x, uses in zip(rows, inputs, [uses_of(leaf, inner) for leaf in leaves], strict=True)
        ]
        blocks = [
            trees.unflatten([pull.level.leave(block) for block in some], input_spec)
            for some in zip(*by_input, strict=True)
        ]
        jacobian = trees.unflatten(blocks, output_spec)
        return (jacobian, found[2]) if has_aux else jacobian

    return wrapper


def jacfwd(
    func: Callable,
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable:
    """A function that returns the Jacobian of `func`, column by column: one jvp an element of the input.

    Raises:
        ValueError: `chunk_size` is not positive.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacfwd: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        if randomness not in ("error", "different", "same"):
            raise RuntimeError(
                f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
            )
        inputs, input_spec = trees.flatten(chosen_arguments(argnums, args))
        check_real("jacfwd", "inputs", inputs)
        with Level("jvp") as level:
            linear, outputs, output_spec, aux = linear_at(func, args, argnums, has_aux, level)
            check_real("jacfwd", "outputs", outputs)
            columns: list[list] = [[] for _ in outputs]
            for tangents in directions_of(inputs):
                for position, moved in enumerate(linear(tangents)):
                    columns[position].append(level.leave(moved))
            constant = [not output.requires_grad for output in outputs]
            aux = trees.mapped(level.leave, aux)
        blocks = [
            trees.unflatten(blocks_of(some, one, inputs, fixed, chunk_size), input_spec)
            for one, some, fixed in zip(outputs, columns, constant, strict=True)
        ]
        jacobian = trees.unflatten(blocks, output_spec)
        return (jacobian, trees.mapped(calls.alias, aux)) if has_aux else jacobian

    return wrapper


def blocks_of(
    columns: list[Tensor], output: Tensor, inputs: list[Tensor], constant: bool, chunk_size: int | None
) -> list[Tensor]:
    """The Jacobian of one output, a block per input; of an output that depends on nothing all columns are
    one."""
    if not columns:
        return [output.new_zeros((*output.shape, *x.shape)) for x in inputs]
    rows = columns[0].expand(len(columns), *output.shape) if constant else together(columns, chunk_size)
    parts = rows.movedim(0, -1).split([x.numel() for x in inputs], -1)
    return [part.reshape((*output.shape, *x.shape)) for part, x in zip(parts, inputs, strict=True)]


def hessian(func: Callable, argnums: Any = 0) -> Callable:
    """A function that returns the second derivatives of `func`, forward over reverse."""
    return jacfwd(jacrev(func, argnums), argnums)
