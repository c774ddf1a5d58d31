"""Orthogonal matrices as products of reflections.

*Reflector*: a column v with a one on top, and a scale tau: it stands for `I - tau * v @ v.mH`.
"""

import numpy as np

from refgrad.op import calls, composite, op
from refgrad.ops.checks import kind_name
from refgrad.ops.matrices import adjoint, check_kernel, column_major, matmul
from refgrad.return_types import named


def check_reflectors(input, tau):
    """Refuse columns and scales that do not fit.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    name = "torch.linalg.householder_product"
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if input.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if input.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{tau.ndim} and input.ndim is equal to {input.ndim}"
        )
    if input.shape[:-2] != tau.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )
    if input.dtype is not tau.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {kind_name(tau)} does not match input dtype {kind_name(input)}"
        )


@op(
    "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    reduced="own",
    jointly=(
        "input, tau",
        lambda grad, input, tau, result: householder_back(grad, input, tau, result),
    ),
)
def householder_product(input, tau):
    check_reflectors(input, tau)
    check_kernel(input, "orgqr_cpu")
    columns = np.tril(input, -1) + np.eye(*input.shape[-2:], dtype=input.dtype)
    product = np.array(np.broadcast_to(np.eye(*input.shape[-2:], dtype=input.dtype), input.shape))
    for i in range(tau.shape[-1] - 1, -1, -1):
        column = columns[..., i, None]
        product -= tau[..., i, None, None] * column * (column.swapaxes(-2, -1).conj() @ product)
    return column_major(product)


def householder_back(grad, input, tau, result):
    """The gradients for columns and scales: reflections are taken off on one side and put on on the other."""
    count, rows = tau._array.shape[-1], input._array.shape[-2]
    if not count:
        return None, None
    columns = calls.tril(input, -1)
    calls.diagonal(columns, 0, -2, -1).fill_(1)
    kept = columns.narrow(-1, 0, count)
    # With these scales the reflectors give the inverses.
    inverse = tau / (tau * calls.sum__dim_IntList(kept * kept.conj(), (-2,)) - 1)
    grad_input, grad_tau = calls.zeros_like(input), calls.zeros_like(tau)
    middle = matmul(result, adjoint(grad))
    middle = from_left(columns, inverse, 0, middle)
    for i in range(count):
        column = columns.narrow(-1, i, 1).narrow(-2, i, rows - i)
        scale = tau.narrow(-1, i, 1).unsqueeze(-1)
        across = matmul(adjoint(column), middle.narrow(-2, i, rows - i))
        of_scale = -matmul(across.narrow(-1, i, rows - i), column).conj()
        grad_tau.select(-1, i).copy_(of_scale.squeeze(-1).squeeze(-1))
        across = (-scale * matmul(adjoint(column), middle.narrow(-2, i, rows - i))).conj()
        along = scale * matmul(middle.narrow(-1, i, rows - i), column)
        of_column = across.squeeze(-2) - along.squeeze(-1)
        grad_input.select(-1, i).copy_(of_column.unsqueeze(-1).squeeze(-1))
        if i < count - 1:
            middle = from_left(columns, inverse, i + 1, middle)
            middle = from_right(columns, tau, i, middle)
    return calls.tril_(grad_input, -1), grad_tau


def from_left(columns, scales, i, matrix):
    """The matrix reflected by one of the reflectors."""
    column = columns.narrow(-1, i, 1)
    return matrix - scales.narrow(-1, i, 1).unsqueeze(-1) * column * matmul(adjoint(column), matrix)


def from_right(columns, scales, i, matrix):
    """The matrix reflected from the right."""
    column = columns.narrow(-1, i, 1)
    return matrix - matmul(matrix, scales.narrow(-1, i, 1).unsqueeze(-1) * column) * adjoint(column)


@composite("orgqr(Tensor self, Tensor input2) -> Tensor")
def orgqr(self, input2):
    return calls.linalg_householder_product(self, input2)


@op(
    "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    reduced="own",
    wrapper=named("geqrf", "a", "tau"),
    self=lambda grads: refuse_derivative(),
)
def geqrf(self):
    if self.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_kernel(self, "geqrf_cpu")
    turned, scales = np.linalg.qr(self, "raw")
    return column_major(turned.swapaxes(-2, -1)), scales


def refuse_derivative():
    """Refuse to differentiate the raw decomposition.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("the derivative for 'geqrf' is not implemented.")
