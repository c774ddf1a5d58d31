"""Jacobians for `gradcheck`: by central differences, by backward, and by forward mode.

*Column*: the derivative along one element of an input, or along a direction, for every output, flat. *Row*:
the gradients of one element of an output. A Jacobian has a line for each element of the input and a column
for each element of the output.

For a complex input the derivative along the imaginary axis is added as the imaginary part, which is PyTorch's
conjugate convention for real outputs.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any

import refgrad
from refgrad import autograd
from refgrad.autograd.gradcheck import GradcheckError, listed
from refgrad.tensor import Tensor

NONDETERMINISTIC = """

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""


def requires_grad(value: Any) -> bool:
    """Whether a value is a tensor that requires grad."""
    return isinstance(value, Tensor) and value.requires_grad


def is_continuous(value: Any) -> bool:
    """Whether a value is a tensor of floating or complex numbers."""
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


def differentiated(inputs: Iterable) -> list[Tensor]:
    """The inputs that require grad, in lists and tuples too."""
    found: list[Tensor] = []
    for value in inputs:
        if isinstance(value, (list, tuple)):
            found += differentiated(value)
        elif requires_grad(value):
            found.append(value)
    return found


def places(tensor: Tensor) -> Iterator[tuple[int, ...]]:
    """The indices of all elements."""
    return product(*(range(size) for size in tensor.size()))


# Central differences ----------------------------------------------------------------------------------------


def numerical_jacobians(
    func: Callable, inputs: tuple, outputs: tuple, eps: float, forward: bool = False
) -> list[list[Tensor]]:
    """For each input that requires grad, the Jacobian of each output.

    Raises:
        AssertionError: the function returns other shapes or types nearby.
        ValueError: an output is complex, and it is not for forward mode.
    """
    if not forward and any(output.is_complex() for output in outputs):
        raise ValueError(
            "Expected output to be non-complex. get_numerical_jacobian no longer supports functions that "
            "return complex outputs."
        )
    return [numerical_jacobian(func, inputs, outputs, input, eps) for input in differentiated(inputs)]


def numerical_jacobian(
    func: Callable, inputs: tuple, outputs: tuple, input: Tensor, eps: float
) -> list[Tensor]:
    """The Jacobian of each output by one input, whose elements are moved one at a time."""
    data = input.data
    columns = []
    for place in places(data):
        same = partial(check_same_kind, eps=eps, place=place)
        columns.append(numerical_column(func, inputs, data[place], eps, eps, same))
    dtype = input.dtype if input.is_complex() else None
    jacobians = []
    for position, output in enumerate(filter(is_continuous, outputs)):
        jacobian = output.new_zeros((input.numel(), output.numel()), dtype=dtype)
        for line, column in enumerate(columns):
            jacobian[line] = column[position]
        jacobians.append(jacobian)
    return jacobians


def numerical_column(
    func: Callable, inputs: tuple, entry: Tensor, step: Any, eps: float, check: Callable
) -> list[Tensor]:
    """The derivatives of the outputs along a step of an entry, a pair of steps for a complex one."""
    real_step, imaginary_step = step if isinstance(step, tuple) else (step, step)
    column = central_differences(func, inputs, entry, real_step, eps, check)
    if not entry.is_complex():
        return column
    across = central_differences(func, inputs, entry, imaginary_step * 1j, eps, check)
    return [along + sideways * 1j for along, sideways in zip(column, across, strict=True)]


def central_differences(
    func: Callable, inputs: tuple, entry: Tensor, step: Any, eps: float, check: Callable
) -> list[Tensor]:
    """How the outputs differ between a step back and a step on, for each unit of `eps`; the entry moves "
    "back."""

    def outputs() -> list[Tensor]:
        return [output.clone() for output in listed(func(*inputs))]

    origin = entry.clone()
    entry.copy_(origin - step)
    before = outputs()
    entry.copy_(origin + step)
    after = outputs()
    entry.copy_(origin)
    found = []
    for lower, upper in zip(before, after, strict=False):
        check(lower, upper)
        found.append(((upper - lower) / (2 * eps)).detach().reshape(-1))
    return found


def check_same_kind(lower: Tensor, upper: Tensor, eps: float, place: tuple | None = None) -> None:
    """Refuse a function whose outputs change shape or type under a small step.

    Raises:
        AssertionError: they do.
    """
    at = "" if place is None else f"on index {place} "
    for what, one, other in (
        ("shape", lower.shape, upper.shape),
        ("dtype", lower.dtype, upper.dtype),
    ):
        if one != other:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {what} when inputs are perturbed {at}by "
                f"{eps}, but got: {what}s {one} and {other}."
            )


def numerical_directional(func: Callable, inputs: tuple, input: Tensor, direction: Any, eps: float) -> list:
    """The derivatives of the outputs along a direction of one input."""
    data = input.data
    if isinstance(direction, tuple):
        step: Any = tuple(eps * part.reshape(data.shape) for part in direction)
    else:
        step = eps * direction.reshape(data.shape)
    return numerical_column(func, inputs, data, step, eps, partial(check_same_kind, eps=eps))


# Backward ---------------------------------------------------------------------------------------------------


def analytical_jacobian(
    inputs: tuple, output: Tensor, nondet_tol: float, check_dtypes: bool, direction: Tensor | None = None
) -> list[Tensor]:
    """The Jacobian of one output by each input from backward, run twice; along `direction` only, if given.

    Raises:
        GradcheckError: gradients have a wrong type or shape, or differ from run to run.
    """
    first, same_size, same_dtype = assembled(rows(inputs, output, direction), inputs)
    second, _, _ = assembled(rows(inputs, output, direction), inputs)
    if check_dtypes and not same_dtype:
        raise GradcheckError("Gradient has dtype mismatch")
    if not same_size:
        raise GradcheckError("Analytical gradient has incorrect size")
    for one, other in zip(first, second, strict=True):
        if one.numel() != 0 and (one - other).abs().max() > nondet_tol:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                "times gives different values, although analytical gradient matches numerical gradient.The "
                f"tolerance for nondeterminism was {nondet_tol}.{NONDETERMINISTIC}"
            )
    return first


def rows(inputs: tuple, output: Tensor, direction: Tensor | None) -> list[tuple]:
    """The inputs' gradients for each unit vector of the output, or for one direction."""
    targets = differentiated(inputs)

    def vjp(gradient: Tensor) -> tuple:
        found = autograd.grad(output, targets, gradient, retain_graph=True, allow_unused=True)
        return tuple(None if each is None else each.clone() for each in found)

    sample = output.clone()
    if direction is not None:
        return [vjp(direction.reshape(sample.shape))]
    unit = refgrad.zeros_like(sample, memory_format=refgrad.contiguous_format)
    flat = unit.view(-1)
    found = []
    for element in range(flat.numel()):
        flat.zero_()
        flat[element] = 1.0
        found.append(vjp(unit))
    return found


def assembled(found: list[tuple], inputs: tuple) -> tuple[list[Tensor], bool, bool]:
    """Rows as Jacobians, and whether all gradients have their input's size, and its dtype."""
    jacobians = []
    same_size = same_dtype = True
    for position, input in enumerate(differentiated(inputs)):
        jacobian = input.new_zeros((input.numel(), len(found)))
        for column, row in enumerate(found):
            gradient = row[position]
            if gradient is None:
                continue
            if gradient.size() != input.size():
                same_size = False
            elif gradient.dtype != input.dtype:
                same_dtype = False
            jacobian[:, column] = gradient.reshape(-1)
        jacobians.append(jacobian)
    return jacobians, same_size, same_dtype


# Forward mode -----------------------------------------------------------------------------------------------


def forward_mode() -> Any:
    """The module for dual tensors.

    Raises:
        NotImplementedError: there is none.
    """
    try:
        return importlib.import_module("refgrad.autograd.forward_ad")
    except ModuleNotFoundError:
        raise NotImplementedError("torch.autograd.forward_ad") from None


def forward_jacobians(
    func: Callable, inputs: tuple, outputs: tuple, check_dtypes: bool, directions: list | None = None
) -> list[list[Tensor]]:
    """For each input that requires grad, the Jacobian of each output from forward mode; along
    `directions` only, flat, if given.

    Raises:
        GradcheckError: a tangent is complex where the output is not, or the other way round.
        ValueError: an input is complex.
    """
    forward_ad = forward_mode()
    if any(input.is_complex() for input in inputs if requires_grad(input)):
        raise ValueError("Expected inputs to be non-complex for _get_analytical_jacobian_forward_ad.")
    jacobians = []
    with forward_ad.dual_level():
        duals = [with_zero_tangent(forward_ad, input) if requires_grad(input) else input for input in inputs]
        tangents = [
            forward_ad.unpack_dual(dual).tangent
            for dual, input in zip(duals, inputs, strict=True)
            if requires_grad(input)
        ]
        for position, tangent in enumerate(tangents):
            direction = None if directions is None else directions[position]
            columns = []
            for _ in each_direction(tangent, direction):
                columns.append(tangents_of(forward_ad, listed(func(*duals)), check_dtypes))
            jacobians.append(lines(columns, outputs, direction is not None))
    return jacobians


def with_zero_tangent(forward_ad: Any, input: Tensor) -> Tensor:
    """The input as a dual tensor that does not move yet."""
    return forward_ad.make_dual(input.detach(), refgrad.zeros_like(input))


def each_direction(tangent: Tensor, direction: Tensor | None) -> Iterator[None]:
    """Let the tangent be one unit vector after the other, or the direction, and at last zero."""
    if direction is not None:
        tangent.copy_(direction.view_as(tangent))
        yield
        tangent.zero_()
        return
    for place in places(tangent):
        tangent[place] = 1.0
        yield
        tangent[place] = 0.0


def tangents_of(forward_ad: Any, outputs: tuple, check_dtypes: bool) -> list:
    """The tangents of the continuous outputs, flat; None for those that do not move.

    Raises:
        GradcheckError: a tangent is complex where the output is not, or the other way round.
    """
    found = []
    for output in filter(is_continuous, outputs):
        value, tangent = forward_ad.unpack_dual(output)
        if check_dtypes and tangent is not None and value.is_complex() != tangent.is_complex():
            raise GradcheckError("Forward AD gradient has dtype mismatch.")
        found.append(None if tangent is None else tangent.reshape(-1).clone())  # a view may change
    return found


def lines(columns: list[list], outputs: tuple, flat: bool) -> list[Tensor]:
    """The tangents of each output as the lines of its Jacobian; one of them alone if `flat`."""
    jacobians = []
    for position, output in enumerate(filter(is_continuous, outputs)):
        jacobian = output.new_zeros((len(columns), output.numel()))
        for line, column in enumerate(columns):
            if column[position] is not None:
                jacobian[line].copy_(column[position])
        jacobians.append(jacobian.squeeze(0) if flat else jacobian)
    return jacobians
