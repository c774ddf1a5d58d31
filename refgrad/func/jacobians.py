"""Jacobians and Hessians as functions of functions: a vjp for each row, or a jvp for each column. Source:
`torch.func` in PyTorch's docs."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from refgrad import modes
from refgrad.func import trees
from refgrad.func.batching import vmap
from refgrad.func.derivatives import linear_at, vjp_at
from refgrad.func.levels import DerivativeLevel, check_argnums, chosen_arguments
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


def basis_of(tensor: Tensor, total: int, first: int) -> Tensor:
    """Tensors of this shape in one, `total` of them: from the one numbered `first` a single one, else
    zeros."""
    rows = tensor.detach().new_zeros((total, tensor.numel()))
    if rows.numel():
        rows.diagonal(-first).fill_(1)
    return rows.view(total, *tensor.shape)


def bases_of(tensors: list[Tensor]) -> list[Tensor]:
    """For each element of each tensor: one there among zeros, for all tensors."""
    counts = [tensor.numel() for tensor in tensors]
    return [basis_of(tensor, sum(counts), sum(counts[:i])) for i, tensor in enumerate(tensors)]


def for_all(move: Callable, tensors: list[Tensor], chunk_size: int | None) -> list[Tensor] | None:
    """What `move` gives for each direction of the tensors' elements, behind one dimension for all; None if
    there are none. `move` gets tensors like these, and runs for `chunk_size` directions at once."""
    from refgrad import cat

    bases = bases_of(tensors)
    total = bases[0].shape[0]
    if not total:
        return None
    step = total if chunk_size is None else min(chunk_size, total)
    parts = (
        [
            vmap(lambda *some: tuple(move(list(some))))(*[base[at : at + step] for base in bases])
            for at in range(0, total, step)
        ]
        if step < total
        else [vmap(lambda *some: tuple(move(list(some))))(*bases)]
    )
    return list(parts[0]) if len(parts) == 1 else [cat(list(column)) for column in zip(*parts, strict=True)]


def rows_of(rows: Tensor | None, outputs: list[Tensor], input: Tensor) -> list[Tensor]:
    """The Jacobian with respect to one input, a block per output."""
    shapes = [(*output.shape, *input.shape) for output in outputs]
    if rows is None:
        return [input.new_zeros(shape) for shape in shapes]
    parts = rows.split([output.numel() for output in outputs])
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
        found_rows = for_all(
            lambda some: trees.flatten(pull(trees.unflatten(some, output_spec)))[0], outputs, chunk_size
        )
        by_input = [
            rows_of(None if found_rows is None else found_rows[i], outputs, x) for i, x in enumerate(inputs)
        ]
        blocks = [trees.unflatten(some, input_spec) for some in zip(*by_input, strict=True)]
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
        with DerivativeLevel("jvp", is_mapped=True) as level, refusing(randomness):
            linear, outputs, output_spec, aux = linear_at(func, args, argnums, has_aux, level)
            check_real("jacfwd", "outputs", outputs)
            columns = for_all(lambda some: [level.leave(moved) for moved in linear(some)], inputs, chunk_size)
            aux = trees.mapped(level.leave, aux)
        blocks = [
            trees.unflatten(blocks_of(None if columns is None else columns[i], one, inputs), input_spec)
            for i, one in enumerate(outputs)
        ]
        jacobian = trees.unflatten(blocks, output_spec)
        return (jacobian, trees.mapped(calls.alias, aux)) if has_aux else jacobian

    return wrapper


@contextmanager
def refusing(randomness: str) -> Iterator[None]:
    """Inside the block, random numbers are refused where the `vmap` over all directions does."""
    before = modes.state.randomness
    if randomness == "error":
        modes.state.randomness = randomness
    try:
        yield
    finally:
        modes.state.randomness = before


def blocks_of(rows: Tensor | None, output: Tensor, inputs: list[Tensor]) -> list[Tensor]:
    """The Jacobian of one output, a block per input."""
    if rows is None:
        return [output.new_zeros((*output.shape, *x.shape)) for x in inputs]
    parts = rows.movedim(0, -1).split([x.numel() for x in inputs], -1)
    return [part.reshape((*output.shape, *x.shape)) for part, x in zip(parts, inputs, strict=True)]


def hessian(func: Callable, argnums: Any = 0) -> Callable:
    """A function that returns the second derivatives of `func`, forward over reverse."""
    return jacfwd(jacrev(func, argnums), argnums)
