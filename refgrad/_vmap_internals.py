"""`torch._vmap_internals`: the older `vmap`, under which PyTorch runs batched gradients.

Unlike `torch.vmap` it takes tuples alone, wants no rules of custom Functions, and knows batched tangents.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any

from refgrad import modes
from refgrad.func import batched_tangents, trees  # noqa: F401 - batched tangents lie in memory
from refgrad.func.batched_tensor import BatchedTensor, of_whole
from refgrad.func.batching import BatchLevel, batch_size, checked_inputs
from refgrad.tensor import Tensor


class LegacyLevel(BatchLevel):
    """A running call of the older `vmap`."""

    IS_LEGACY = True
    NO_ITEM = "Batching rule not implemented for aten::item. We could not generate a fallback."
    NO_BRANCH = "Batching rule not implemented for aten::is_nonzero. We could not generate a fallback."
    NO_PRINT = NO_BRANCH
    IS_OLDER = True

    def __enter__(self) -> "LegacyLevel":
        super().__enter__()
        modes.state.transforms -= 1
        return self

    def __exit__(self, *exception: object) -> None:
        modes.state.transforms += 1
        super().__exit__(*exception)


def vmap(func: Callable, in_dims: Any = 0, out_dims: Any = 0) -> Callable:
    """The same as `_vmap`, with a warning."""
    warnings.warn(
        "Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.", FutureWarning, stacklevel=2
    )
    return _vmap(func, in_dims, out_dims)


def _vmap(
    func: Callable, in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable:
    """A function that applies `func` to each slice of its arguments along `in_dims` and stacks the results.

    Raises (when called):
        ValueError: `in_dims` or `out_dims` do not fit, or `func` returns something else than tensors.
        RuntimeError: `func` looks at values.
    """
    name = getattr(func, "__name__", None) or repr(func)

    @functools.wraps(func)
    def wrapped(*args: Any) -> Any:
        if not isinstance(out_dims, int) and not (
            isinstance(out_dims, tuple) and all(isinstance(dim, int) for dim in out_dims)
        ):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int or a tuple of int "
                "representing where in the outputs the vmapped dimension should appear."
            )
        leaves, dims, spec = checked_inputs(name, in_dims, args, negative=False)
        count = batch_size(leaves, dims) if any(dim is not None for dim in dims) else 0
        with LegacyLevel("never", count) as level:
            given = [
                leaf if dim is None else of_whole(level, leaf, dim)
                for leaf, dim in zip(leaves, dims, strict=True)
            ]
            outputs = func(*trees.unflatten(given, spec))
            if not allow_none_pass_through:
                check_outputs(name, outputs)
            return unwrapped(name, level, outputs, out_dims)

    return wrapped


def check_outputs(name: str, outputs: Any) -> None:
    """Refuse what is neither a tensor nor a tuple of tensors.

    Raises:
        ValueError: it is not.
    """
    if isinstance(outputs, Tensor):
        return
    where = f"vmap({name}, ...): `{name}` must only return Tensors, got type"
    if not isinstance(outputs, tuple):
        raise ValueError(f"{where} {type(outputs)} as the return.")
    for position, output in enumerate(outputs):
        if not isinstance(output, Tensor):
            raise ValueError(f"{where} {type(output)} for return {position}.")


def unwrapped(name: str, level: LegacyLevel, outputs: Any, out_dims: Any) -> Any:
    """The outputs with their batch dimensions.

    Raises:
        ValueError: there are not as many `out_dims`.
    """
    several = isinstance(outputs, tuple)
    count = len(outputs) if several else 1
    dims = out_dims if isinstance(out_dims, tuple) else (out_dims,) * count
    if len(dims) != count:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must have one dim per output (got {count} "
            f"outputs) of {name}."
        )
    made = tuple(
        None if output is None else whole_of(level, output, dim)
        for output, dim in zip(outputs if several else (outputs,), dims, strict=True)
    )
    return made if several else made[0]


def whole_of(level: LegacyLevel, output: Tensor, dim: int) -> Tensor:
    """One output with its batch dimension; of the same batched tensor always the same object."""
    if not (isinstance(output, BatchedTensor) and output.level is level):
        return output.unsqueeze(dim).expand(*output.shape[:dim], level.count, *output.shape[dim:])
    whole, place = output.together()
    return whole if place == dim else whole.movedim(place, dim)


# Batched gradients ------------------------------------------------------------------------------------------


class GradientsLevel(LegacyLevel):
    """A backward pass for a batch of gradients: its formulas run as ops of wholes."""

    IS_LEGACY = False


def run_batched(run: Callable[[list], list], gradients: list) -> list:
    """One backward pass, `run(gradients)`, for all samples of a batch: what each input got, None if nothing.

    Raises:
        ValueError: the gradients are no batches of one size.
    """
    name = "vjp"
    for gradient in gradients:
        if not isinstance(gradient, Tensor):
            raise ValueError(
                f"vmap({name}, in_dims=0, ...)(<inputs>): Got in_dim=0 for an input but the input is of type "
                f"{type(gradient)}. We cannot vmap over non-Tensor arguments, please use None as the "
                "respective in_dim"
            )
    leaves, dims, _ = checked_inputs(name, 0, tuple(gradients), negative=False)
    with GradientsLevel("never", batch_size(leaves, dims)) as level:
        given = [of_whole(level, gradient) for gradient in gradients]
        return [None if result is None else whole_of(level, result, 0) for result in run(given)]
