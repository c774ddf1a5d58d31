"""Schedules in which the rate rises and falls, and momentum, where the optimizer has it, the other way."""

import functools
import math
import types
from collections.abc import Callable
from typing import Any

from refgrad.optim.scheduler import LRScheduler, check_optimizer, per_group, set_option


def uses_betas(optimizer: Any) -> bool:
    """Whether momentum is the first of `betas`.

    Raises:
        ValueError: the optimizer has no momentum.
    """
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def set_momentum(group: dict[str, Any], momentum: Any, as_beta: bool) -> None:
    """Give a group its momentum."""
    if as_beta:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def start_momentum(optimizer: Any, highest: list, lowest: list, as_beta: bool) -> None:
    """Begin with the highest momentum; the groups remember both ends."""
    for high, low, group in zip(highest, lowest, optimizer.param_groups, strict=True):
        set_momentum(group, high, as_beta)
        group["max_momentum"] = high
        group["base_momentum"] = low


class CyclicLR(LRScheduler):
    """Up from `base_lr` to `max_lr` and down again, in cycles that may shrink (Smith).

    Raises:
        TypeError: `optimizer` is none.
        ValueError: an unknown mode, or an optimizer without momentum to cycle.
    """

    def __init__(
        self,
        optimizer: Any,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_option(group, "lr", rate)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_betas(optimizer)
            self.base_momentums = per_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = per_group("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                start_momentum(optimizer, self.max_momentums, self.base_momentums, self.use_beta1)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        """Find the scale that belongs to the mode, and what it is a function of."""
        if self._scale_fn_custom is None:
            scales: dict[str, Callable] = {
                "triangular": constant_scale,
                "triangular2": halving_scale,
                "exp_range": functools.partial(power_scale, self.gamma),
            }
            self._scale_fn_ref: Callable = scales[self.mode]
            self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"

    def scale_fn(self, x: float) -> float:
        """The height of a cycle (or iteration), as a share of the first."""
        return (self._scale_fn_custom or self._scale_fn_ref)(x)

    def get_lr(self) -> list:
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        rising = place <= self.step_ratio
        height = place / self.step_ratio if rising else (place - 1) / (self.step_ratio - 1)
        at = cycle if self.scale_mode == "cycle" else self.last_epoch
        rates = [
            low + (high - low) * height * self.scale_fn(at)
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]
        if self.cycle_momentum:
            ends = list(zip(self.base_momentums, self.max_momentums, strict=True))
            momentums = [high - (high - low) * height * self.scale_fn(at) for low, high in ends]
            for group, momentum in zip(self.optimizer.param_groups, momentums, strict=True):
                set_momentum(group, momentum, self.use_beta1)
        return rates

    def state_dict(self) -> dict[str, Any]:
        """Attributes without the optimizer; of a scale that is an object, its attributes."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        function = state.pop("_scale_fn_custom")
        has_state = function is not None and not isinstance(function, types.FunctionType)
        state["_scale_fn_custom"] = function.__dict__.copy() if has_state else None
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        attributes = state_dict.pop("_scale_fn_custom")
        super().load_state_dict(state_dict)
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        self._init_scale_fn()


def constant_scale(x: float) -> float:
    """Every cycle as high as the first."""
    return 1.0


def halving_scale(x: float) -> float:
    """Every cycle half as high as the one before."""
    return 1 / 2.0 ** (x - 1)


def power_scale(gamma: float, x: float) -> float:
    """Every iteration lower by a factor."""
    return gamma**x


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down half a cosine, then at once up again, over `T_0` epochs, `T_mult` times as many, and so on.

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_outside_step()
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to a given one, which may be a fraction."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._find_period(epoch)
        self.last_epoch = math.floor(epoch)
        self._set_rates(self.get_lr)

    def _find_period(self, epoch: float) -> None:
        """Find the period that an epoch lies in, and the place in it."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            number = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**number - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**number


def phases_of(share: float, total: int, three: bool) -> list[dict[str, Any]]:
    """The parts of a `OneCycleLR` schedule: where each ends, and what leads to what in it."""
    legs = (
        [("initial", "max"), ("max", "initial"), ("initial", "min")]
        if three
        else [
            ("initial", "max"),
            ("max", "min"),
        ]
    )
    ends: list[float] = [float(share * total) - 1, total - 1]
    if three:
        ends.insert(1, float(2 * share * total) - 2)
    momentum = {"initial": "max_momentum", "max": "base_momentum", "min": "max_momentum"}
    return [
        {
            "end_step": end,
            "start_lr": f"{start}_lr",
            "end_lr": f"{goal}_lr",
            "start_momentum": momentum[start],
            "end_momentum": momentum[goal],
        }
        for end, (start, goal) in zip(ends, legs, strict=True)
    ]


def total_of(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    """The number of steps of a schedule.

    Raises:
        ValueError: it is not given, or no positive integer.
    """
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return epochs * steps_per_epoch


class OneCycleLR(LRScheduler):
    """Up to `max_lr` and then far down, once (Smith and Topin).

    Raises:
        TypeError: `optimizer` is none.
        ValueError: an option is out of range, or more steps are taken than were announced.
    """

    def __init__(
        self,
        optimizer: Any,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = total_of(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = phases_of(pct_start, self.total_steps, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        max_lrs = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for rate, group in zip(max_lrs, optimizer.param_groups, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_betas(optimizer)
            highest = per_group("max_momentum", optimizer, max_momentum)
            lowest = per_group("base_momentum", optimizer, base_momentum)
            if last_epoch == -1:
                start_momentum(optimizer, highest, lowest, self.use_beta1)
        super().__init__(optimizer, last_epoch)

    def _anneal_func(self, start: Any, end: Any, share: float) -> Any:
        """The value between two, a share of the way from the first to the second."""
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start

    def get_lr(self) -> list:
        self._warn_outside_step()
        number = self.last_epoch
        if number > self.total_steps:
            raise ValueError(
                f"Tried to step {number} times. The specified number of total steps is {self.total_steps}"
            )
        start: float = 0.0
        for phase in self._schedule_phases:
            if number <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        rates = []
        for group in self.optimizer.param_groups:
            share = (number - start) / (phase["end_step"] - start)
            rates.append(self._anneal_func(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                ends = (group[phase["start_momentum"]], group[phase["end_momentum"]])
                set_momentum(group, self._anneal_func(*ends, share), self.use_beta1)
        return rates
