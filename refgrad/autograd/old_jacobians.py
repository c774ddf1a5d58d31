"""The Jacobians that `torch.autograd.gradcheck` once gave to anybody; they warn and still work."""

import warnings
from collections.abc import Callable
from typing import Any

from refgrad.autograd.gradcheck import listed
from refgrad.autograd.jacobians import (
    assembled,
    differentiated,
    is_continuous,
    numerical_jacobian,
    rows,
)
from refgrad.tensor import Tensor


def warn_private(name: str) -> None:
    """Warn that a function will go away."""
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and "
        "it will be removed in a future version of PyTorch. If you have a specific use for this or feature "
        "request for this to be a stable API, please file us an issue at "
        "https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
        stacklevel=3,
    )


def check_grad_out(name: str, grad_out: float) -> None:
    """Refuse a factor that is no longer there.

    Raises:
        ValueError: it is not 1.
    """
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")


def refuse_complex(name: str, outputs: tuple) -> None:
    """Refuse complex outputs.

    Raises:
        ValueError: there are some.
    """
    if any(output.is_complex() for output in outputs if isinstance(output, Tensor)):
        raise ValueError(
            f"Expected output to be non-complex. {name} no longer supports functions that return complex "
            "outputs."
        )


def get_numerical_jacobian(
    fn: Callable, inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Tensor, ...]:
    """The Jacobian of the first output of `fn(inputs)` by each input, or by each tensor of `target`, from
    central differences; shape (input elements, output elements).

    Raises:
        ValueError: `grad_out` is not 1, or an output is complex.
    """
    warn_private("get_numerical_jacobian")
    check_grad_out("get_numerical_jacobian", grad_out)
    inputs = listed(inputs)

    def function(*values: Any) -> Any:
        return fn(values)

    outputs = listed(function(*inputs))
    refuse_complex("get_numerical_jacobian", outputs)
    moved = differentiated(inputs if target is None else listed(target))
    return tuple(numerical_jacobian(function, inputs, outputs, input, eps)[0] for input in moved)


def get_numerical_jacobian_wrt_specific_input(
    fn: Callable,
    input_idx: int,
    inputs: tuple,
    outputs: Any,
    eps: float,
    input: Tensor | None = None,
    is_forward_ad: bool = False,
) -> tuple[Tensor, ...]:
    """The Jacobian of each output by one input, from central differences."""
    moved = inputs[input_idx] if input is None else input
    return tuple(numerical_jacobian(fn, inputs, tuple(filter(is_continuous, listed(outputs))), moved, eps))


def get_analytical_jacobian(
    inputs: tuple, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """The Jacobian of an output by each input that requires grad, from backward; then whether a second run
    agrees, and whether all gradients have their input's size, and its type.

    Raises:
        ValueError: `grad_out` is not 1, or the output is complex.
    """
    warn_private("get_analytical_jacobian")
    check_grad_out("get_analytical_jacobian", grad_out)
    refuse_complex("get_analytical_jacobian", (output,))
    first, same_size, same_dtype = assembled(rows(inputs, output, None), inputs)
    second, _, _ = assembled(rows(inputs, output, None), inputs)
    is_repeatable = all(
        one.numel() == 0 or bool((one - other).abs().max() <= nondet_tol)
        for one, other in zip(first, second, strict=True)
    )
    return tuple(first), is_repeatable, same_size, same_dtype
