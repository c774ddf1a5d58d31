"""`torch.nn.utils.parametrizations`: weights with a length of their own, or of largest singular value 1."""

from typing import Any

from refgrad import _VF
from refgrad.autograd import no_grad
from refgrad.nn import functional as F
from refgrad.nn.modules.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from refgrad.nn.modules.module import Module
from refgrad.nn.utils import parametrize
from refgrad.nn.utils.orthogonal import orthogonal as orthogonal
from refgrad.tensor import Tensor


class _WeightNorm(Module):
    """A weight as a direction times a length."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return _VF._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple:
        """The length of a weight, and itself as the direction."""
        return _VF.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Let a weight have a length of its own for each index of a dimension (for None, one for all)."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def take_old_names(module: Any, state_dict: dict, prefix: str, *rest: Any) -> None:
        """Load states that the old `weight_norm` gave."""
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(take_old_names)
    return module


class _SpectralNorm(Module):
    """A weight divided by an estimate of its largest singular value (Miyato and others).

    Raises:
        IndexError, ValueError: an option is out of range.
    """

    _u: Any
    _v: Any

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            sides = [matrix.new_empty(size).normal_(0, 1) for size in matrix.size()]
            for name, side in zip(("_u", "_v"), sides, strict=True):
                self.register_buffer(name, F.normalize(side, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Any) -> Any:
        if self.dim != 0:
            others = [dim for dim in range(weight.dim()) if dim != self.dim]
            weight = weight.permute(self.dim, *others)
        return weight.flatten(1)

    def _power_method(self, weight_mat: Any, n_power_iterations: int) -> None:
        """Bring the two vectors closer to the singular ones."""
        with no_grad():
            for _ in range(n_power_iterations):
                self._u = F.normalize(weight_mat.mv(self._v), dim=0, eps=self.eps, out=self._u)
                self._v = F.normalize(weight_mat.H.mv(self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the graph must not see the next iteration
        return weight / u.vdot(matrix.mv(v))

    def right_inverse(self, value: Any) -> Any:
        """The value itself: it is taken to have the norm already."""
        return value


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Let a weight have the largest singular value 1.

    Raises:
        ValueError: there is no such weight.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    norm = _SpectralNorm(weight, n_power_iterations, dim, eps)
    parametrize.register_parametrization(module, name, norm)
    return module
