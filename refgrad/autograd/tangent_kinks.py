"""Formulas for tangents at kinks and singular points, where the derivative of the backward is none.

They are those of PyTorch, which do not always take the side that its backward takes: of two equal operands
`fmax` sends its gradient to the first, and has the tangent of the second.
"""

import math
from typing import Any

import numpy as np

from refgrad.autograd.tangent_rules import added, is_void, product, rule, still
from refgrad.op import calls
from refgrad.ops.binary import pow_exponent_back, pow_self_back
from refgrad.ops.complex_numbers import angle_back
from refgrad.ops.matrices import adjoint, matmul
from refgrad.ops.unary import sgn_back
from refgrad.tensor import Tensor

# Choices ----------------------------------------------------------------------------------------------------


@rule("clamp.Tensor")
def clamp(self_p, self_t, min_p, min_t, max_p, max_t):
    """The bound's where it was reached, even if the element is equal to it."""
    if max_p is None:
        return calls.where__self(self_p > min_p, self_t, min_t)
    if min_p is None:
        return calls.where__self(self_p < max_p, self_t, max_t)
    below = calls.where__self(self_p > max_p, max_t, self_t)
    within = calls.where__self(self_p < min_p, min_t, below)
    return calls.where__self(min_p > max_p, max_t, within)


rule("fmax")(
    lambda self_p, self_t, other_p, other_t: calls.where__self(
        (self_p > other_p).logical_or_(other_p.isnan()), self_t, other_t
    )
)
rule("fmin")(
    lambda self_p, self_t, other_p, other_t: calls.where__self(
        (self_p <= other_p).logical_or_(other_p.isnan()), self_t, other_t
    )
)


@rule("copysign.Tensor")
def copysign(self_p, self_t, result):
    """None from the sign alone, nor at zero."""
    return None if is_void(self_t) else self_t * (result / self_p).masked_fill_(self_p == 0, 0)


@rule("nextafter")
def nextafter(self_p, self_t, other_p):
    """None from the direction alone."""
    return None if is_void(self_t) else self_t.masked_fill(self_p == other_p, 0)


# Norms ------------------------------------------------------------------------------------------------------


@rule("linalg_vector_norm")
def linalg_vector_norm(self_p, self_t, ord, dim, keepdim, result):
    """See `of_norm`."""
    return of_norm(self_p, self_t, ord, dim or (), keepdim, result)


@rule("norm.ScalarOpt_dim")
def norm(self_p, self_t, p, dim, keepdim, result):
    """See `of_norm`."""
    return of_norm(self_p, self_t, 2 if p is None else p, dim, keepdim, result)


def of_norm(self_p, self_t, power, dim, keepdim, result):
    """The tangent of a norm of vectors: an angle, or signs; other powers differentiate their backward."""
    if power == 2:
        products = self_p * self_t.conj()
        slope = (products.real if products.is_complex() else products).sum(dim, keepdim)
        return slope.div_(result).masked_fill_(result == 0, 0)
    if power == 1 and not self_p.is_complex():
        return self_p.sgn().mul_(self_t).sum(dim, keepdim)
    if 1 < power < math.inf:
        direction = self_p.sgn() if power < 2 else self_p
        products = self_p.abs().pow(power - (1 if power < 2 else 2)) * (direction * self_t.conj())
        slope = (products.real if products.is_complex() else products).sum(dim, keepdim)
        return (slope / result.pow(power - 1)).masked_fill_(result == 0, 0)
    return NotImplemented


@rule("dist")
def dist(self_p, self_t, other_p, other_t, p, result):
    """That of the norm of the difference."""
    dims = tuple(range(result.dim(), max(self_p.dim(), other_p.dim())))
    return of_norm(self_p - other_p, self_t - other_t, p, dims, False, result)


# Powers and complex numbers ---------------------------------------------------------------------------------


@rule("pow.Tensor_Tensor")
def pow(self_p, self_t, exponent_p, exponent_t, result):
    """The formulas of the gradients, applied to the tangents of base and exponent."""
    of_base = pow_self_back(self_t.conj(), self_p, exponent_p)
    of_exponent = pow_exponent_back(exponent_t.conj(), self_p, exponent_p, result)
    for tangent, term in ((self_t, of_base), (exponent_t, of_exponent)):
        still(term, tangent)
    return (of_base + of_exponent).conj()


@rule("polar")
def polar(abs_p: Tensor, abs_t: Any, angle_p: Tensor, angle_t: Any) -> Tensor:
    """Both parts of the product with a turning number."""
    return calls.complex(
        product(abs_t, angle_p.cos()) - product(product(angle_t, abs_p), angle_p.sin()),
        added(product(abs_t, angle_p.sin()), product(product(angle_t, abs_p), angle_p.cos()), 1),
    )


@rule("angle")
def angle(self_p: Tensor, self_t: Any) -> Tensor:
    """The real part of the formula of the gradient, applied to the tangent."""
    turned = angle_back(self_t.conj(), self_p).conj()
    return turned.real if turned.is_complex() else turned


rule("sgn")(lambda self_p, self_t, result: sgn_back(self_t, self_p, result))


# Factors of matrices ----------------------------------------------------------------------------------------
# A derivative of the backward would ask for a loss that does not depend on the phase of the vectors.


def shares(turned: Tensor, eigenvalues: Tensor) -> Tensor:
    """How much of each eigenvector the others take on."""
    apart = eigenvalues.unsqueeze(-2) - eigenvalues.unsqueeze(-1)
    np.einsum("...ii->...i", apart._array)[...] = 1
    result = turned / apart
    calls.diagonal(result, 0, -2, -1).zero_()
    return result


@rule("_linalg_eigh")
def eigh(A_t: Any, eigenvalues: Tensor, eigenvectors: Tensor) -> Any:
    """Those of the eigenvalues and eigenvectors of Hermitian matrices."""
    if not eigenvectors.is_complex() or not eigenvectors.numel():
        return NotImplemented
    turned = matmul(matmul(adjoint(eigenvectors), A_t), eigenvectors)
    return turned.diagonal(0, -2, -1).real, matmul(eigenvectors, shares(turned, eigenvalues))


@rule("linalg_eig")
def eig(self_t: Any, eigenvalues: Tensor, eigenvectors: Tensor) -> Any:
    """Those of the eigenvalues, and of eigenvectors that keep their length."""
    turned = calls.linalg_solve(eigenvectors, matmul(self_t.to(eigenvectors.dtype), eigenvectors))
    moved = matmul(eigenvectors, shares(turned, eigenvalues))
    lengthened = calls.diagonal(matmul(adjoint(eigenvectors), moved), 0, -2, -1).real
    return turned.diagonal(0, -2, -1), moved - eigenvectors * lengthened.unsqueeze(-2)


@rule("linalg_cholesky_ex")
def cholesky(self_t: Any, upper: bool, L: Tensor) -> Tensor:
    """That of the factor; of the tangent only the lower triangle counts."""
    lower = adjoint(L) if upper else L
    inner = calls.linalg_solve_triangular(lower, self_t, False)
    inner = calls.linalg_solve_triangular(adjoint(lower), inner, True, False)
    half = calls.diag_embed(calls.mul__Scalar(calls.diagonal(inner, 0, -2, -1), 0.5))
    moved = matmul(lower, calls.tril(inner) - half)
    return adjoint(moved) if upper else moved
