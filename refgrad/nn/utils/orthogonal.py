"""`parametrizations.orthogonal`: a weight whose columns, or rows, stay orthonormal.

*Map*: how a matrix without constraint becomes an orthogonal one: `matrix_exp`, `cayley` or `householder`.
*Trivialized*: the orthogonal matrix is multiplied with a fixed one (`base`), so that any can be assigned.
"""

from importlib import import_module
from typing import Any

from refgrad.autograd import no_grad
from refgrad.nn.modules.module import Module
from refgrad.nn.utils.parametrize import register_parametrization
from refgrad.tensor import Tensor

torch: Any = import_module("refgrad")
MAPS = ("matrix_exp", "cayley", "householder")


def is_orthogonal(matrix: Any) -> bool:
    """Whether the columns of a matrix are orthonormal, up to rounding."""
    rows, columns = matrix.size(-2), matrix.size(-1)
    unit = torch.eye(columns, dtype=matrix.dtype)
    tolerance = 10.0 * rows * torch.finfo(matrix.dtype).eps
    close: bool = torch.allclose(matrix.mH @ matrix, unit, atol=tolerance)
    return close


def made_orthogonal(matrix: Any) -> Any:
    """The orthogonal factor of a matrix whose other factor has a positive diagonal."""
    reflectors, tau = torch.geqrf(matrix)
    factor = torch.linalg.householder_product(reflectors, tau)
    factor *= reflectors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return factor


class _Orthogonal(Module):
    """Makes an orthogonal matrix of any."""

    base: Any

    def __init__(self, weight: Any, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        is_wide = X.size(-2) < X.size(-1)
        tall = X.mT if is_wide else X
        made = self._reflected(tall) if self.orthogonal_map == "householder" else self._rotated(tall)
        if hasattr(self, "base"):
            made = self.base @ made
        return made.mT if is_wide else made

    def _rotated(self, tall: Any) -> Any:
        """The exponential, or the Cayley map, of the skew part of the lower triangle."""
        rows, columns = tall.size(-2), tall.size(-1)
        tall = tall.tril()
        if rows != columns:
            zeros = tall.new_zeros(rows, rows - columns).expand(*tall.shape[:-2], -1, -1)
            tall = torch.cat([tall, zeros], dim=-1)
        skew = tall - tall.mH
        if self.orthogonal_map == "matrix_exp":
            made = torch.matrix_exp(skew)
        else:
            unit = torch.eye(rows, dtype=skew.dtype)
            made = torch.linalg.solve(torch.add(unit, skew, alpha=-0.5), torch.add(unit, skew, alpha=0.5))
        return made if rows == columns else made[..., :columns]

    def _reflected(self, tall: Any) -> Any:
        """The product of the reflections that stand below the diagonal, with the signs that stand on it."""
        reflectors = tall.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (reflectors * reflectors).sum(dim=-2))
        made = torch.linalg.householder_product(reflectors, tau)
        return made * tall.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    @no_grad()
    def right_inverse(self, Q: Any) -> Any:
        """What becomes this matrix, or the orthogonal one nearest to it.

        Raises:
            ValueError: it has another shape.
            NotImplementedError: the map cannot be inverted, and is not trivialized.
        """
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. "
                f"Got a tensor of shape {Q.shape}."
            )
        is_wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if is_wide else Q
        if not hasattr(self, "base"):
            return self._reflections_of(tall, is_wide)
        rows, columns = tall.size(-2), tall.size(-1)
        if rows == columns:
            self.base = tall.clone() if is_orthogonal(tall) else made_orthogonal(tall)
        else:
            others = torch.randn(*tall.size()[:-2], rows, rows - columns, dtype=Q.dtype)
            self.base = made_orthogonal(torch.cat([tall, others], dim=-1))
        minus_one = torch.zeros_like(Q)
        minus_one.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return minus_one

    def _reflections_of(self, tall: Any, is_wide: bool) -> Any:
        """The reflections of which a matrix is the product.

        Raises:
            NotImplementedError: the map is another.
        """
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        reflectors, tau = torch.geqrf(tall)
        reflectors.diagonal(dim1=-2, dim2=-1).sign_()
        reflectors.diagonal(dim1=-2, dim2=-1)[tau == 0.0] *= -1
        return reflectors.mT if is_wide else reflectors


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keep a parameter of a module orthogonal, or a batch of matrices; returns the module.

    Raises:
        ValueError: there is no such parameter, it is no matrix, or there is no such map.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        is_square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if is_square or weight.is_complex() else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module
