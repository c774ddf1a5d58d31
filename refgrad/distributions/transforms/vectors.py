"""Transforms of vectors and matrices."""

import math
from typing import Any

from refgrad import linalg
from refgrad.distributions import constraints
from refgrad.distributions.distribution import (
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)
from refgrad.distributions.transforms.base import TOO_FEW, Transform, _OneOfAKind
from refgrad.distributions.transforms.elementwise import clipped_sigmoid
from refgrad.nn import functional as F
from refgrad.op import calls
from refgrad.toplevel import finfo


class _OfVectors(Transform):
    """Base of the transforms of vectors, which must have a dimension for it."""

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError(TOO_FEW)
        return shape

    inverse_shape = forward_shape


class SoftmaxTransform(_OneOfAKind, _OfVectors):
    """From logits to probabilities, not bijective."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(_OneOfAKind, _OfVectors):
    """From numbers to probabilities, one more: each number says what share of the rest the next one gets."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _offset(self, x: Any) -> Any:
        return x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)

    def _call(self, x: Any) -> Any:
        share = clipped_sigmoid(x - self._offset(x).log())
        rest = (1 - share).cumprod(-1)
        return F.pad(share, [0, 1], value=1) * F.pad(rest, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        cropped = y[..., :-1]
        rest = (1 - cropped.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return cropped.log() - rest.log() + self._offset(cropped).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._offset(x).log()
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        shape = super().forward_shape(shape)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Any:
        shape = super().forward_shape(shape)
        return shape[:-1] + (shape[-1] - 1,)


class CorrCholeskyTransform(Transform):
    """From vectors to Cholesky factors of correlation matrices, row by row by stick breaking."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        x = x.tanh()
        eps = finfo(x.dtype).eps
        below = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        rest = (1 - below**2).sqrt().cumprod(-1)
        rows = below + calls.eye(below.shape[-1], below.dtype)
        return rows * F.pad(rest[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        rest = 1 - (y * y).cumsum(-1)
        before = tril_matrix_to_vec(F.pad(rest[..., :-1], [1, 0], value=1), diag=-1)
        share = tril_matrix_to_vec(y, diag=-1) / before.sqrt()
        return (share.log1p() - share.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        rest = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        of_sticks = 0.5 * rest.log().sum(-1)
        return of_sticks + -2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError(TOO_FEW)
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (size, size)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError(TOO_FEW)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


class LowerCholeskyTransform(_OneOfAKind):
    """From matrices to lower triangular ones with a positive diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_OneOfAKind):
    """From matrices to positive definite ones."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        x = LowerCholeskyTransform()(x)
        return x @ x.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(linalg.cholesky(y))
