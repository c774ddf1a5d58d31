"""Autocast and GradScaler for one device type each, under the names of old, which warn."""

import warnings

from refgrad import dtypes
from refgrad.amp.autocast_mode import autocast
from refgrad.amp.grad_scaler import GradScaler


def warn(device: str, name: str) -> None:
    """Warn of an old name."""
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use "
        f"`torch.amp.{name}('{device}', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


def autocast_for(device: str, default: dtypes.DType) -> type[autocast]:
    """The class of regions for a device type."""

    class old_autocast(autocast):
        """A region for one device type."""

        def __init__(
            self, enabled: bool = True, dtype: dtypes.DType = default, cache_enabled: bool = True
        ) -> None:
            warn(device, "autocast")
            super().__init__(device, dtype, enabled, cache_enabled)

    old_autocast.__name__ = old_autocast.__qualname__ = "autocast"
    old_autocast.__module__ = f"refgrad.{device}.amp"
    return old_autocast


def scaler_for(device: str) -> type[GradScaler]:
    """The class of scalers for a device type."""

    class OldScaler(GradScaler):
        """A scaler for one device type."""

        def __init__(
            self,
            init_scale: float = 2.0**16,
            growth_factor: float = 2.0,
            backoff_factor: float = 0.5,
            growth_interval: int = 2000,
            enabled: bool = True,
        ) -> None:
            warn(device, "GradScaler")
            super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    OldScaler.__name__ = OldScaler.__qualname__ = "GradScaler"
    OldScaler.__module__ = f"refgrad.{device}.amp"
    return OldScaler
