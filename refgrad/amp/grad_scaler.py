"""`torch.amp.GradScaler`: losses are scaled up, so that small gradients do not vanish in half precision.

*Found*: a tensor that says whether any gradient of an optimizer was infinite or NaN; its step is left out
then. *Stage*: what was done with an optimizer since the last `update`.
"""

import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any

import numpy as np

from refgrad import dtypes
from refgrad.layout import widened
from refgrad.op import calls
from refgrad.tensor import Tensor
from refgrad.types import CPU

NOT_SCALED = (
    "Attempted {} but {} is None.  This may indicate your script did not use scaler.scale(loss or outputs) "
    "earlier in the iteration."
)
NEW_SCALE = (
    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
    "requires_grad=False."
)


class OptState(Enum):
    """The stage of an optimizer."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def fresh_state() -> dict[str, Any]:
    """What is known of an optimizer after an `update`."""
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales losses, and the gradients back, by a factor that follows what it meets.

    Raises:
        AssertionError: a factor would not grow, or not shrink.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda":
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                UserWarning,
                stacklevel=2,
            )
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._scale: Tensor | None = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker: Tensor | None = None
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(fresh_state)

    def _started(self, name: str) -> tuple[Tensor, Tensor]:
        """The factor and the count of good steps.

        Raises:
            AssertionError: nothing was scaled yet.
        """
        if self._scale is None:
            raise AssertionError(NOT_SCALED.format(name, "_scale"))
        if self._growth_tracker is None:
            raise AssertionError(NOT_SCALED.format(name, "_growth_tracker"))
        return self._scale, self._growth_tracker

    def scale(self, outputs: Any) -> Any:
        """A tensor, or the tensors of an iterable, times the factor.

        Raises:
            ValueError: it is neither.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = calls.full((), self._init_scale, dtype=dtypes.float32)
                self._growth_tracker = calls.full((), self._init_growth_tracker, dtype=dtypes.int32)
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale_grads_(self, optimizer: Any, inverse: Tensor, found: Tensor, allow_fp16: bool) -> dict:
        """Multiply the gradients by a number, and note whether one is infinite or NaN."""
        gradients = []
        for parameter in (each for group in optimizer.param_groups for each in group["params"]):
            if parameter.grad is not None:
                if not allow_fp16 and parameter.grad.dtype is dtypes.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                gradients.append(parameter.grad)
        # Into the memory itself: PyTorch does not count these writes.
        for array in (gradient._array for gradient in gradients):
            if not np.isfinite(array).all():
                found.fill_(1.0)
            array[...] = widened(array) * inverse._array
        return {CPU: found} if gradients else {}

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer by the factor.

        Raises:
            RuntimeError: that was done since the last `update`.
            ValueError: a gradient has half precision.
        """
        if not self._enabled:
            return
        scale, _ = self._started("unscale_")
        known = self._per_optimizer_states[id(optimizer)]
        if known["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if known["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = scale.double().reciprocal().float()
        found = calls.full((), 0.0, dtype=dtypes.float32)
        known["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, found, False)
        known["stage"] = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Step the optimizer with gradients scaled back, unless one is infinite or NaN.

        Raises:
            RuntimeError: it was stepped since the last `update`, or a closure is given.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._started("step")
        known = self._per_optimizer_states[id(optimizer)]
        if known["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if known["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not known["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        is_good = not sum(found.item() for found in known["found_inf_per_device"].values())
        result = optimizer.step(*args, **kwargs) if is_good else None
        known["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Set the factor, or let it shrink where a step was left out, and grow after many that were not.

        Raises:
            AssertionError: no gradients were looked at, or the new factor is no single number.
        """
        if not self._enabled:
            return
        scale, tracker = self._started("update")
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
        elif new_scale is not None:
            is_of_device = new_scale.device.type == self._device
            if not is_of_device or new_scale.numel() != 1 or new_scale.requires_grad:
                raise AssertionError(NEW_SCALE)
            scale.copy_(new_scale)
        else:
            states = self._per_optimizer_states.values()
            found = [each for known in states for each in known["found_inf_per_device"].values()]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._follow(scale, tracker, any(each.item() for each in found))
        self._per_optimizer_states = defaultdict(fresh_state)

    def _follow(self, scale: Tensor, tracker: Tensor, was_bad: bool) -> None:
        """Move the factor and the count by what was found."""
        count = 0 if was_bad else tracker.item() + 1
        if was_bad:
            scale.fill_(scale.item() * self._backoff_factor)
        elif count == self._growth_interval:
            grown, count = scale * self._growth_factor, 0
            if calls.isfinite(grown).item():
                scale.fill_(grown.item())
        tracker.fill_(count)

    def get_scale(self) -> float:
        """The factor; 1 where scaling is off."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """By what the factor grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Choose by what the factor grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """By what the factor shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Choose by what the factor shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many good steps the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Choose after how many good steps the factor grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else self._growth_tracker.item()

    def is_enabled(self) -> bool:
        """Whether it scales at all."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The factor, how it moves, and how many good steps there were; empty where scaling is off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take up what `state_dict` gave.

        Raises:
            RuntimeError: it is that of a scaler that was off.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of "
                "GradScaler."
            )
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, or at the "
                    "end after scaler.update()."
                )
            kept["_init_scale"], kept["_init_growth_tracker"] = self.get_scale(), self._get_growth_tracker()
            kept["_scale"] = kept["_growth_tracker"] = None
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
