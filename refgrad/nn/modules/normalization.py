"""Layers that normalize their input."""

import numbers
import warnings
from typing import Any

from refgrad import dtypes
from refgrad.nn import functional as F
from refgrad.nn import init
from refgrad.nn.modules.making import empty_parameter, made
from refgrad.nn.modules.module import Module


class _Affine(Module):
    """A module with a weight that starts at one and a bias that starts at zero, or without them."""

    weight: Any
    bias: Any

    def _make_affine(self, affine: bool, bias: bool, size: tuple, device: Any, dtype: Any) -> None:
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(
                name, empty_parameter(*size, device=device, dtype=dtype) if wanted else None
            )

    def _reset_affine(self) -> None:
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Affine):
    """Normalizes each example over its last dimensions."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._make_affine(elementwise_affine, bias, self.normalized_shape, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight and bias to their start."""
        self._reset_affine()

    def forward(self, input: Any) -> Any:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides each example by the root of its mean square over its last dimensions."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        size = self.normalized_shape
        parameter = empty_parameter(*size, device=device, dtype=dtype) if elementwise_affine else None
        self.register_parameter("weight", parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to its start."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Any) -> Any:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    """Normalizes each example over groups of channels."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._make_affine(affine, bias, (num_channels,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight and bias to their start."""
        self._reset_affine()

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class _NormBase(_Affine):
    """A norm per channel with running statistics."""

    _version = 2
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self._make_affine(affine, bias, (num_features,), device, dtype)
        tracked = track_running_stats
        self.register_buffer("running_mean", made("zeros", (num_features,), dtype) if tracked else None)
        self.register_buffer("running_var", made("ones", (num_features,), dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", made("zeros", (), dtypes.int64) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Set the running statistics to their start."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Set everything to its start."""
        self.reset_running_stats()
        self._reset_affine()

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        version = local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats:
            state_dict.setdefault(prefix + "num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    DIMENSIONS: tuple[int, ...] = ()

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in self.DIMENSIONS:
            raise ValueError(f"expected {shown_dimensions(self.DIMENSIONS)} input (got {input.dim()}D input)")

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or self.running_mean is None and self.running_var is None
        used = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if used else None,
            self.running_var if used else None,
            self.weight,
            self.bias,
            by_batch,
            factor,
            self.eps,
        )


def shown_dimensions(dimensions: tuple[int, ...]) -> str:
    """Numbers of dimensions as messages list them."""
    return " or ".join(f"{n}D" for n in dimensions)


class BatchNorm1d(_BatchNorm):
    """Normalizes each channel over the batch (and the sequence)."""

    DIMENSIONS = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalizes each channel over the batch and the image."""

    DIMENSIONS = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalizes each channel over the batch and the volume."""

    DIMENSIONS = (5,)


class _InstanceNorm(_NormBase):
    DIMENSIONS: tuple[int, int] = (0, 0)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in self.DIMENSIONS:
            raise ValueError(f"expected {shown_dimensions(self.DIMENSIONS)} input (got {input.dim()}D input)")

    def _normalized(self, input: Any) -> Any:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        unbatched = self.DIMENSIONS[0]
        place = input.dim() - unbatched
        if input.size(place) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={place} to match num_features ({self.num_features}), "
                    f"but got: {input.size(place)}."
                )
            warnings.warn(
                f"input's size at dim={place} does not match num_features. You can silence this warning by "
                "not passing in "
                "num_features, which is not used because affine=False",
                stacklevel=2,
            )
        if input.dim() == unbatched:
            return self._normalized(input.unsqueeze(0)).squeeze(0)
        return self._normalized(input)


class InstanceNorm1d(_InstanceNorm):
    """Normalizes each channel of each sequence."""

    DIMENSIONS = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalizes each channel of each image."""

    DIMENSIONS = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalizes each channel of each volume."""

    DIMENSIONS = (4, 5)


class LocalResponseNorm(Module):
    """Normalizes over neighbouring channels."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Any) -> Any:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
