"""Normalizing modules that learn the number of their features from a first call."""

from typing import Any

from refgrad import dtypes
from refgrad.nn.modules.lazy import LazyModule
from refgrad.nn.modules.making import made
from refgrad.nn.modules.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from refgrad.nn.uninitialized import UninitializedBuffer, UninitializedParameter


class LazyNorm(LazyModule):
    """What the lazy normalizing modules share."""

    num_features: int
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(dtype=dtype)
            self.running_var = UninitializedBuffer(dtype=dtype)
            self.num_batches_tracked = made("zeros", (), dtypes.int64)
        self._listen()

    def reset_parameters(self) -> None:
        """Set parameters and running statistics to their start, if they have shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any) -> None:
        """Give parameters and running statistics their shapes, by the first input."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        shape = (self.num_features,)
        if self.affine:
            self.weight.materialize(shape)
            if self.bias is not None:
                self.bias.materialize(shape)
        if self.track_running_stats:
            self.running_mean.materialize(shape)
            self.running_var.materialize(shape)
        self.reset_parameters()


class LazyBatchNorm1d(LazyNorm, BatchNorm1d):
    """A `BatchNorm1d` that learns `num_features` from its first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(LazyNorm, BatchNorm2d):
    """A `BatchNorm2d` that learns `num_features` from its first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(LazyNorm, BatchNorm3d):
    """A `BatchNorm3d` that learns `num_features` from its first input."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(LazyNorm, InstanceNorm1d):
    """An `InstanceNorm1d` that learns `num_features` from its first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(LazyNorm, InstanceNorm2d):
    """An `InstanceNorm2d` that learns `num_features` from its first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(LazyNorm, InstanceNorm3d):
    """An `InstanceNorm3d` that learns `num_features` from its first input."""

    cls_to_become = InstanceNorm3d
