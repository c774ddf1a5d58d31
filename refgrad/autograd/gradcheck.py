"""`gradcheck` and `gradgradcheck`: gradients compared with differences of the function itself.

The checks stand in `gradient_checks.py`, which is loaded with the first call.

Source: `torch.autograd.gradcheck` in PyTorch's docs.
"""

import importlib
from collections.abc import Callable
from typing import Any

from refgrad.tensor import Tensor

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
OLD = ("get_numerical_jacobian", "get_analytical_jacobian", "get_numerical_jacobian_wrt_specific_input")


def __getattr__(name: str) -> Callable:
    if name not in OLD:
        raise AttributeError(f"module 'torch.autograd.gradcheck' has no attribute '{name}'")
    return getattr(importlib.import_module("refgrad.autograd.old_jacobians"), name)


class GradcheckError(RuntimeError):
    """What `gradcheck` raises when a check fails."""


GradcheckError.__module__ = "torch.autograd.gradcheck"


def gradcheck(
    func: Callable,
    inputs: Any,
    *,
    eps: float = 1e-06,
    atol: float = 1e-05,
    rtol: float = 1e-03,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of `func` at `inputs` with central differences of step `eps`.

    `fast_mode` compares one random product a pair instead of every element.

    Raises:
        AssertionError: the options contradict each other.
        GradcheckError: a check failed, unless `raise_exception` is off: then the result is False.
        ValueError: no input requires grad.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    checks = importlib.import_module("refgrad.autograd.gradient_checks")
    settings = checks.Settings(eps, rtol, atol, nondet_tol, check_grad_dtypes, fast_mode, bool(masked))
    try:
        checks.check(
            func,
            inputs,
            settings,
            forward=check_forward_ad,
            backward=check_backward_ad,
            undefined=check_undefined_grad,
            batched=check_batched_grad,
            batched_forward=check_batched_forward_grad,
        )
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-06,
    atol: float = 1e-05,
    rtol: float = 1e-03,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check with `gradcheck` the function that gives the gradients of `func` for `grad_outputs`, random if
    missing.

    Raises:
        AssertionError: the options contradict each other.
        GradcheckError: a check failed, unless `raise_exception` is off: then the result is False.
        ValueError: no input requires grad.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, wanted in (
        ("check_undefined_grad", check_undefined_grad),
        ("check_batched_grad", check_batched_grad),
    ):
        if wanted and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    points, gradients = listed(inputs), listed(grad_outputs)
    if grad_outputs is None:
        gradients = random_gradients(func, points, gen_non_contig_grad_outputs)
    return gradcheck(
        gradient_function(func, points, gradients),
        points + gradients,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def listed(value: Any) -> tuple:
    """A value as a tuple: lists and tuples as they are, anything else alone."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def differentiable(outputs: Any) -> tuple:
    """The outputs that require grad."""
    return tuple(output for output in listed(outputs) if output.requires_grad)


def random_gradients(func: Callable, points: tuple, noncontiguous: bool) -> tuple:
    """A gradient between -1 and 1 for every output that requires grad."""
    make_tensor = importlib.import_module("refgrad.testing").make_tensor
    return tuple(
        make_tensor(
            output.shape,
            dtype=output.dtype,
            device=output.device,
            low=-1,
            high=1,
            requires_grad=True,
            noncontiguous=noncontiguous,
        )
        for output in differentiable(func(*points))
    )


def gradient_function(func: Callable, points: tuple, gradients: tuple) -> Callable:
    """The function of points and gradients that gives the gradients of `func`, those that there are."""
    from refgrad.autograd import grad

    is_wanted = [isinstance(value, Tensor) and value.requires_grad for value in points]
    is_given = [value.requires_grad for value in gradients]

    def new_func(*args: Any) -> tuple:
        inputs = marked(args[: -len(gradients)], is_wanted)
        outputs = differentiable(func(*inputs))
        given = marked(args[-len(gradients) :], is_given)
        wanted = tuple(value for value, flag in zip(inputs, is_wanted, strict=False) if flag)
        found = grad(outputs, wanted, given, create_graph=True, allow_unused=True)
        return tuple(gradient for gradient in found if gradient is not None)

    return new_func


def marked(values: tuple, flags: list[bool]) -> tuple:
    """The values; those with a flag require grad."""
    return tuple(
        value.requires_grad_() if flag else value for value, flag in zip(values, flags, strict=False)
    )
