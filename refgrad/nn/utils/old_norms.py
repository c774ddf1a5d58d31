"""`weight_norm` and `spectral_norm` as they were: the weight is computed before each call of the module."""

import warnings
from typing import Any

from refgrad.autograd import no_grad
from refgrad.nn import functional as F
from refgrad.nn.modules.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from refgrad.nn.parameter import Parameter
from refgrad.op import calls


def find_hook(module: Any, kind: type, name: str) -> Any:
    """The number of the hook of this kind for this parameter, or None."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return number
    return None


def remove_hook(module: Any, kind: type, name: str, title: str) -> Any:
    """Take a norm away; the weight stays as it is.

    Raises:
        ValueError: there is none.
    """
    number = find_hook(module, kind, name)
    if number is None:
        raise ValueError(f"{title} of '{name}' not found in {module}")
    module._forward_pre_hooks[number].remove(module)
    del module._forward_pre_hooks[number]
    return module


class WeightNorm:
    """Computes a weight from its length `name_g` and its direction `name_v`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """The weight."""
        length, direction = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return calls._weight_norm(direction, length, self.dim)

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"], module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Let a weight have a length of its own for each index of a dimension (for None, one for all).

    Raises:
        RuntimeError: it has already.
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if find_hook(module, WeightNorm, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(calls.norm_except_dim(weight, 2, hook.dim).data))
    module.register_parameter(f"{name}_v", Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Take the norm away.

    Raises:
        ValueError: there is none.
    """
    return remove_hook(module, WeightNorm, name, "weight_norm")


class SpectralNorm:
    """Computes a weight from `name_orig`, divided by an estimate of its largest singular value."""

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12):
        self.name = name
        self.dim = dim
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """The weight with all dimensions but one as columns."""
        if self.dim != 0:
            others = [dim for dim in range(weight.dim()) if dim != self.dim]
            weight = weight.permute(self.dim, *others)
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """The weight; the vectors are brought closer to the singular ones if asked for."""
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v = F.normalize(matrix.t().mv(u), dim=0, eps=self.eps, out=v)
                    u = F.normalize(matrix.mv(v), dim=0, eps=self.eps, out=u)
                u, v = u.clone(), v.clone()  # the graph must not see the next iteration
        return weight / u.dot(matrix.mv(v))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for name in (self.name, f"{self.name}_u", f"{self.name}_v", f"{self.name}_orig"):
            delattr(module, name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Let a weight have the largest singular value 1.

    Raises:
        RuntimeError: it has already.
        ValueError: an option is out of range, or the parameter is None.
    """
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    if find_hook(module, SpectralNorm, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    with no_grad():
        sizes = hook.reshape_weight_to_matrix(weight).size()
        u, v = (F.normalize(weight.new_empty(size).normal_(0, 1), dim=0, eps=eps) for size in sizes)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Take the norm away.

    Raises:
        ValueError: there is none.
    """
    return remove_hook(module, SpectralNorm, name, "spectral_norm")
