"""The fast mode of `gradcheck`: Jacobians are compared along one random direction `u` of each input and one
random combination `v` of each output.
"""

from collections.abc import Callable, Sequence
from typing import Any

import refgrad
from refgrad.autograd.gradcheck import GradcheckError, listed
from refgrad.autograd.jacobians import (
    analytical_jacobian,
    differentiated,
    forward_jacobians,
    is_continuous,
    numerical_directional,
    numerical_jacobians,
)
from refgrad.tensor import Tensor

SLOW_MAY_PASS = """Fast gradcheck failed but element-wise differences are small. This means that the
test might've passed in slow_mode!

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck:

If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `fast_mode=False` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_fast_mode=False`
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_fast_mode=False`"""


def compare(func: Callable, results: tuple, inputs: tuple, outputs: tuple, settings: Any, part: Any) -> None:
    """Compare the products `v J u` of every pair.

    Raises:
        GradcheckError: two disagree, or a function without gradient changes.
    """
    targets = differentiated(inputs)
    combinations, moves = directions(targets, () if part.forward else outputs)
    numerical = numerical_products(
        func, inputs, moves, results, None if part.forward else combinations, settings
    )
    if part.forward:
        forward = forward_jacobians(func, inputs, results, settings.check_grad_dtypes, moves)
    else:
        if not outputs:
            check_still(func, inputs, moves, settings)
        backward = backward_products(inputs, outputs, moves, combinations, settings)
    for at, products in enumerate(numerical):
        for number, difference in enumerate(products):
            analytical = forward[at][number] if part.forward else backward[number][at]
            weight = total(moves[at]) * (1.0 if part.forward else float(combinations[number].sum()))
            if close(analytical, difference, settings.rtol, settings.atol * weight):
                continue
            text = part.mismatch(analytical, difference, number, at)
            raise GradcheckError(text + slow_report(func, inputs, outputs, at, number, settings, part))


def directions(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> tuple[list, list]:
    """A random combination for each output, and a random direction for each input, a pair for a complex one.

    They come from a generator of their own with its default seed, so that every run takes the same.
    """
    generator = refgrad.Generator()

    def unit(tensor: Tensor, dtype: Any) -> Tensor:
        vector = refgrad.rand(tensor.numel(), generator=generator).to(dtype=dtype)
        vector /= vector.norm()
        return vector

    moves: list[Any] = []
    for input in inputs:
        real = input.dtype.to_real()
        moves.append((unit(input, real), unit(input, real)) if input.is_complex() else unit(input, real))
    return [unit(output, output.dtype) for output in outputs], moves


def numerical_products(
    func: Callable, inputs: tuple, moves: list, results: tuple, combinations: list | None, settings: Any
) -> list[list[Tensor]]:
    """For each input the products of each output, by differences; without combinations the whole `J u`."""
    products = []
    for input, move in zip(differentiated(inputs), moves, strict=True):
        found = numerical_directional(func, inputs, input, move, settings.eps)
        columns = [each for each, result in zip(found, results, strict=True) if is_continuous(result)]
        if combinations is not None:
            columns = [(v * column).sum() for v, column in zip(combinations, columns, strict=False)]
        products.append(columns)
    return products


def backward_products(
    inputs: tuple, outputs: tuple, moves: list, combinations: list, settings: Any
) -> list[list[Tensor]]:
    """For each output the products of each input, by backward."""
    products = []
    for output, combination in zip(outputs, combinations, strict=True):
        rows = analytical_jacobian(
            inputs, output, settings.nondet_tol, settings.check_grad_dtypes, combination
        )
        products.append([product_with(row.T.squeeze(0), move) for row, move in zip(rows, moves, strict=True)])
    return products


def product_with(row: Tensor, move: Any) -> Tensor:
    """The product of a gradient and a direction; of complex ones, each part with its own."""
    if not row.is_complex():
        return row.dot(move)
    parts = refgrad.view_as_real(row.resolve_conj())
    return parts.select(-1, 0).dot(move[0]) + 1j * parts.select(-1, 1).dot(move[1])


def check_still(func: Callable, inputs: tuple, moves: list, settings: Any) -> None:
    """A function without gradient does not change.

    Raises:
        GradcheckError: it does.
    """
    for input, move in zip(differentiated(inputs), moves, strict=True):
        for column in numerical_directional(func, inputs, input, move, settings.eps):
            if column.numel() and column.abs().max() > settings.nondet_tol:
                raise GradcheckError("Numerical gradient for function expected to be zero")


def total(move: Any) -> float:
    """The sum of a direction's elements, which scales the tolerance."""
    return sum(float(part.sum()) for part in move) if isinstance(move, tuple) else float(move.sum())


def close(analytical: Tensor, numerical: Tensor, rtol: float, atol: float) -> bool:
    """Whether two results agree in their common type."""
    dtype = refgrad.promote_types(analytical.dtype, numerical.dtype)
    return refgrad.allclose(analytical.to(dtype=dtype), numerical.to(dtype=dtype), rtol, atol)


def slow_report(
    func: Callable, inputs: tuple, outputs: tuple, at: int, number: int, settings: Any, part: Any
) -> str:
    """What slow mode finds for the pair that fast mode refused."""
    numerical = numerical_jacobians(func, inputs, outputs, settings.eps, part.forward)[at][number]
    if part.forward:

        def of_one(input: Tensor) -> Any:
            return listed(func(*inputs[:at], input, *inputs[at + 1 :]))[number]

        analytical = forward_jacobians(of_one, (inputs[at],), (outputs[number],), False)[0][0]
    else:
        analytical = analytical_jacobian(inputs, outputs[number], float("inf"), False)[at]
    report = (
        "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
        "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
        "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
        f"Numerical:\n {numerical}\nAnalytical:\n{analytical}\n\n"
        f"The max per-element difference (slow mode) is: {(numerical - analytical).abs().max()}.\n"
    )
    if refgrad.allclose(analytical, numerical, settings.rtol, settings.atol):
        report += SLOW_MAY_PASS
    return report
