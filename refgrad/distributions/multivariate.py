"""Distributions of vectors and of matrices that are given by a covariance."""

import math
import warnings
from typing import Any

import numpy as np

from refgrad import linalg
from refgrad.distributions import constraints
from refgrad.distributions.constraints import require
from refgrad.distributions.distribution import (
    NO_SHAPE,
    Distribution,
    ExponentialFamily,
    broadcast_all,
    lazy_property,
    standard_normal,
)
from refgrad.distributions.gamma import Beta, Chi2
from refgrad.functional import einsum
from refgrad.layout import Size
from refgrad.op import calls
from refgrad.ops import from_data
from refgrad.tensor import Tensor, wrap
from refgrad.toplevel import broadcast_shapes, broadcast_tensors, finfo

MATRICES = ("covariance_matrix", "precision_matrix", "scale_tril")
ONLY_ONE = "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."


# Matrices ---------------------------------------------------------------------------------------------------


def batch_mv(matrix: Any, vector: Any) -> Any:
    """Products of matrices and vectors."""
    return matrix.matmul(vector.unsqueeze(-1)).squeeze(-1)


def batch_mahalanobis(factor: Any, x: Any) -> Any:
    """The squared lengths of vectors by Cholesky factors, which may be fewer than the vectors."""
    size, batch = x.size(-1), x.shape[:-1]
    inner = factor.dim() - 2
    outer = len(batch) - inner
    shape = list(x.shape[:outer])
    for of_factor, of_x in zip(factor.shape[:-2], x.shape[outer:-1], strict=False):
        shape += [of_x // of_factor, of_factor]
    x = x.reshape((*shape, size))
    end = outer + 2 * inner
    x = x.permute([*range(outer), *range(outer, end, 2), *range(outer + 1, end, 2), end])
    flat = factor.reshape(-1, size, size)
    vectors = x.reshape(-1, flat.size(0), size).permute(1, 2, 0)
    squares = linalg.solve_triangular(flat, vectors, upper=False).pow(2).sum(-2).t()
    places = [place for step in range(inner) for place in (outer + step, outer + inner + step)]
    return squares.reshape(x.shape[:-1]).permute([*range(outer), *places]).reshape(batch)


def precision_to_scale_tril(precision: Any) -> Any:
    """The Cholesky factor of the inverse."""
    flipped = linalg.cholesky(precision.flip((-2, -1)))
    inverse = flipped.flip((-2, -1)).transpose(-2, -1)
    return linalg.solve_triangular(inverse, calls.eye(precision.shape[-1], precision.dtype), upper=False)


def log_of_diagonal(factor: Any) -> Any:
    """Half the logarithm of the determinant, by a Cholesky factor."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class _WithCovariance(Distribution):
    """Base of the distributions given by one of three matrices."""

    def _given_matrix(self, *matrices: Any) -> tuple[str, Any]:
        """Which of the three is given, and the matrix."""
        return next((n, m) for n, m in zip(MATRICES, matrices, strict=True) if m is not None)

    def _keep_factor(self, name: str, matrix: Any) -> None:
        """Keep the Cholesky factor as it is without the batch."""
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)

    def _matrix_shape(self) -> Size:
        """The shape of the matrices with the batch."""
        return Size((*self._batch_shape, *2 * self._event_shape[-1:]))

    def _expand_matrices(self, new: Any) -> None:
        """Give another instance the matrices expanded."""
        for name in MATRICES:
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand(new._matrix_shape()))

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(self._matrix_shape())

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return factor.matmul(factor.mT).expand(self._matrix_shape())


# Vectors ----------------------------------------------------------------------------------------------------


class MultivariateNormal(_WithCovariance):
    """Vectors of normal numbers that vary together.

    Raises:
        ValueError: a parameter has too few dimensions, or not just one of the matrices is given.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = (covariance_matrix, precision_matrix, scale_tril)
        if sum(matrix is not None for matrix in matrices) != 1:
            raise ValueError(ONLY_ONE)
        name, matrix = self._given_matrix(*matrices)
        if matrix.dim() < 2:
            told = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{told} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._keep_factor(name, matrix)

    def _parameter_event(self) -> tuple:
        return self.event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> "MultivariateNormal":
        kept = ("_unbroadcasted_scale_tril",)
        new = self._expanded(MultivariateNormal, batch_shape, _instance, ("loc",), kept)
        self._expand_matrices(new)
        return new

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return calls.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._matrix_shape())

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        noise = standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        square = batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        level = log_of_diagonal(self._unbroadcasted_scale_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + square) - level

    def entropy(self) -> Any:
        level = log_of_diagonal(self._unbroadcasted_scale_tril)
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + level
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


def with_ones_added(matrix: Any) -> Any:
    """Square matrices, in memory of their own, with 1 added along the diagonal."""
    size = matrix.size(-1)
    matrix = matrix.contiguous()
    matrix.view(-1, size * size)[:, :: size + 1] += 1
    return matrix


def batch_capacitance_tril(factor: Any, diagonal: Any) -> Any:
    """The Cholesky factor of 1 + W^T D^-1 W."""
    return linalg.cholesky(with_ones_added((factor.mT / diagonal.unsqueeze(-2)).matmul(factor)))


def batch_lowrank_logdet(normal: Any) -> Any:
    """The logarithm of the determinant of the covariance."""
    return 2 * log_of_diagonal(normal._capacitance_tril) + normal._unbroadcasted_cov_diag.log().sum(-1)


def batch_lowrank_mahalanobis(normal: Any, x: Any) -> Any:
    """The squared lengths of vectors by the covariance."""
    factor, diagonal = normal._unbroadcasted_cov_factor, normal._unbroadcasted_cov_diag
    inner = batch_mv(factor.mT / diagonal.unsqueeze(-2), x)
    return (x.pow(2) / diagonal).sum(-1) - batch_mahalanobis(normal._capacitance_tril, inner)


class LowRankMultivariateNormal(Distribution):
    """Vectors of normal numbers whose covariance is W W^T and a diagonal.

    Raises:
        ValueError: the parameters have too few dimensions, or do not fit together.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        check_parts(loc, cov_factor, cov_diag)
        try:
            parts = broadcast_tensors(loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_factor, self.cov_diag = parts[0][..., 0], parts[1], parts[2][..., 0]
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(self.loc.shape[:-1], loc.shape[-1:], validate_args=validate_args)

    def _parameter_event(self) -> tuple:
        return self.event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> "LowRankMultivariateNormal":
        kept = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")
        names = ("loc", "cov_diag")
        new = self._expanded(LowRankMultivariateNormal, batch_shape, _instance, names, kept)
        new.cov_factor = self.cov_factor.expand(new.loc.shape + self.cov_factor.shape[-1:])
        return new

    def _matrix_shape(self) -> Size:
        return self._batch_shape + self._event_shape + self._event_shape

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """The variance of each number."""
        squares = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return squares.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        factor = root * linalg.cholesky(with_ones_added(scaled.matmul(scaled.mT)))
        return factor.expand(self._matrix_shape())

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        result = factor.matmul(factor.mT) + self._unbroadcasted_cov_diag.diag_embed()
        return result.expand(self._matrix_shape())

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        diagonal = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
        solved = linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return (diagonal.reciprocal().diag_embed() - solved.mT @ solved).expand(self._matrix_shape())

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Any:
        shape, kind = self._extended_shape(sample_shape), self.loc.dtype
        of_factor = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], kind)
        of_diagonal = standard_normal(shape, kind)
        moved = self.loc + batch_mv(self._unbroadcasted_cov_factor, of_factor)
        return moved + self._unbroadcasted_cov_diag.sqrt() * of_diagonal

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        square = batch_lowrank_mahalanobis(self, value - self.loc)
        level = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (level + batch_lowrank_logdet(self) + square)

    def entropy(self) -> Any:
        level = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        entropy = 0.5 * (level + batch_lowrank_logdet(self))
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


def check_parts(loc: Any, cov_factor: Any, cov_diag: Any) -> None:
    """Refuse what does not fit together."""
    if loc.dim() < 1:
        raise ValueError("loc must be at least one-dimensional.")
    event_shape = loc.shape[-1:]
    if cov_factor.dim() < 2:
        raise ValueError(
            "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
        )
    if cov_factor.shape[-2:-1] != event_shape:
        raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
    if cov_diag.shape[-1:] != event_shape:
        raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")


# Matrices as samples ----------------------------------------------------------------------------------------


def numbers(count: int, like: Any) -> Any:
    """The whole numbers from 0, of the dtype of a tensor."""
    return wrap(np.arange(count).astype(like.dtype.numpy))


def mvdigamma(x: Any, p: int) -> Any:
    """The derivative of the logarithm of the multivariate gamma function."""
    require(x.gt((p - 1) / 2).all(), "Wrong domain for multivariate digamma function.")
    steps = numbers(p, x).div(2).expand((*x.shape, -1))
    return (x.unsqueeze(-1) - steps).digamma().sum(-1)


class Wishart(ExponentialFamily, _WithCovariance):
    """Sums of the outer products of `df` normal vectors with themselves.

    Raises:
        AssertionError: not just one of the matrices is given.
        ValueError: a parameter has too few dimensions, or there are too few degrees of freedom.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> dict:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = (covariance_matrix, precision_matrix, scale_tril)
        require(sum(matrix is not None for matrix in matrices) == 1, ONLY_ONE)
        name, matrix = self._given_matrix(*matrices)
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = Size(matrix.shape[:-2])
        if isinstance(df, Tensor):
            batch_shape = broadcast_shapes(batch_shape, df.shape)
            self.df = df.expand(batch_shape)
        else:
            self.df = from_data.tensor(df, dtype=matrix.dtype)
        self._check_df(df, matrix.shape[-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        self._keep_factor(name, matrix)
        self._keep_chi2()

    def _check_df(self, df: Any, size: int) -> None:
        if self.df.le(size - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        if self.df.lt(size).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for "
                "ndim - 1 < df < ndim.",
                stacklevel=3,
            )

    def _keep_chi2(self) -> None:
        """Keep the distributions of the squares on the diagonal of a factor of a sample."""
        self._batch_dims = [-(place + 1) for place in range(len(self._batch_shape))]
        below = numbers(self._event_shape[-1], self._unbroadcasted_scale_tril)
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - below.expand((*self._batch_shape, -1)))

    def expand(self, batch_shape: Any, _instance: Any = None) -> "Wishart":
        new = self._expanded(Wishart, batch_shape, _instance, ("df",))
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(new._matrix_shape())
        self._expand_matrices(new)
        new._keep_chi2()
        return new

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        factor = self._unbroadcasted_scale_tril
        identity = calls.eye(self._event_shape[-1], factor.dtype)
        return identity.cholesky_solve(factor).expand(self._matrix_shape())

    def _column(self, values: Any) -> Any:
        """One number for each matrix."""
        return values.view((*self._batch_shape, 1, 1))

    @property
    def mean(self) -> Any:
        return self._column(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor[factor <= 0] = math.nan
        return self._column(factor) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        products = einsum("...i,...j->...ij", diagonal, diagonal)
        return self._column(self.df) * (covariance.pow(2) + products)

    def _bartlett_sampling(self, sample_shape: Any = NO_SHAPE) -> Any:
        size = self._event_shape[-1]
        root = self._dist_chi2.rsample(sample_shape).sqrt()
        root = root.clamp(min=finfo(root.dtype).eps)
        noise = root.diag_embed(dim1=-2, dim2=-1)
        i, j = calls.tril_indices(size, size, -1)
        shape = (*sample_shape, *self._batch_shape, size * (size - 1) // 2)
        noise[..., i, j] = calls.randn(shape, None, noise.dtype)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.transpose(-2, -1)

    def _over_batch(self, is_singular: Any) -> Any:
        return is_singular.amax(self._batch_dims) if self._batch_shape else is_singular

    def rsample(self, sample_shape: Any = NO_SHAPE, max_try_correction: int | None = None) -> Any:
        """Samples as functions of the parameters; PyTorch draws again where the first are regular."""
        sample = self._bartlett_sampling(Size(sample_shape))
        is_singular = self._over_batch(self.support.check(sample))
        if is_singular.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(10 if max_try_correction is None else max_try_correction):
                again = self._bartlett_sampling(is_singular[is_singular].shape)
                sample[is_singular] = again
                is_singular[is_singular.clone()] = self._over_batch(~self.support.check(again))
                if not is_singular.any():
                    break
        return sample

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        df, size, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        level = -df * (size * math.log(2) / 2 + log_of_diagonal(factor)) - (df / 2).mvlgamma(p=size)
        level = level + (df - size - 1) / 2 * linalg.slogdet(value).logabsdet
        return level - value.cholesky_solve(factor).diagonal(dim1=-2, dim2=-1).sum(dim=-1) / 2

    def entropy(self) -> Any:
        df, size = self.df, self._event_shape[-1]
        level = size * math.log(2) / 2 + log_of_diagonal(self._unbroadcasted_scale_tril)
        level = (size + 1) * level + (df / 2).mvlgamma(p=size)
        return level - (df - size - 1) / 2 * mvdigamma(df / 2, p=size) + df * size / 2

    @property
    def _natural_params(self) -> tuple:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        size = self._event_shape[-1]
        half = (size + 1) / 2
        level = -linalg.slogdet(-2 * x).logabsdet + math.log(2) * size
        return (y + half) * level + (y + half).mvlgamma(p=size)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices, by the onion method.

    Raises:
        ValueError: the matrices are smaller than 2 by 2.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = numbers(dim - 1, self.concentration)
        offset = calls.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "LKJCholesky":
        new = self._expanded(LKJCholesky, batch_shape, _instance, ("concentration",), ("dim",))
        new._beta = self._beta.expand(Size((*batch_shape, self.dim)))
        return new

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        square = self._beta.sample(sample_shape).unsqueeze(-1)
        normal = calls.randn(tuple(self._extended_shape(sample_shape)), None, square.dtype).tril(-1)
        direction = normal / normal.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)
        rows = square.sqrt() * direction
        rest = (1 - (rows**2).sum(-1)).clamp(min=finfo(rows.dtype).tiny)
        rows += rest.sqrt().diag_embed()
        return rows

    def log_prob(self, value: Any) -> Any:
        self._checked(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = wrap(np.arange(2, self.dim + 1))
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        density = (order * diagonal.log()).sum(-1)
        count = self.dim - 1
        alpha = self.concentration + 0.5 * count
        level = 0.5 * count * math.log(math.pi) + (alpha - 0.5).mvlgamma(count)
        return density - (level - alpha.lgamma() * count)
