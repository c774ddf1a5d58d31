"""Schedules in which the rate of an epoch is that of the epoch before, times a factor.

*Closed form*: the rate computed from the initial one, for a step to a given epoch.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from refgrad.optim.scheduler import LRScheduler, functions_out, rates_of


class Decay(LRScheduler):
    """Base of the schedules whose factor is the same for all groups."""

    def get_lr(self) -> list:
        self._warn_outside_step()
        factor = self._factor()
        if factor is None:
            return rates_of(self.optimizer)
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list:
        return [base * self._closed_factor() for base in self.base_lrs]

    def _factor(self) -> float | None:
        """From the last epoch's rate to this one's; None when it stays."""
        raise NotImplementedError

    def _closed_factor(self) -> float:
        """From the initial rate to this epoch's."""
        raise NotImplementedError


class StepLR(Decay):
    """Times `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        is_due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.gamma if is_due else None

    def _closed_factor(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(Decay):
    """Times `gamma` at each of the milestones."""

    def __init__(
        self, optimizer: Any, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        times = self.milestones[self.last_epoch]
        return self.gamma**times if self.last_epoch in self.milestones else None

    def _closed_factor(self) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)


class ConstantLR(Decay):
    """A share `factor` of the rate until epoch `total_iters`, then all of it.

    Raises:
        ValueError: `factor` is no share.
    """

    def __init__(
        self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else None

    def _closed_factor(self) -> float:
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(Decay):
    """A share of the rate that goes evenly from one value to another over `total_iters` epochs.

    Raises:
        ValueError: a factor is no share.
    """

    def __init__(
        self,
        optimizer: Any,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        way = self.end_factor - self.start_factor
        return 1.0 + way / (self.total_iters * self.start_factor + (self.last_epoch - 1) * way)

    def _get_closed_form_lr(self) -> list:
        way, passed = self.end_factor - self.start_factor, min(self.total_iters, self.last_epoch)
        return [base * (self.start_factor + way * passed / self.total_iters) for base in self.base_lrs]


class ExponentialLR(Decay):
    """Times `gamma` every epoch."""

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return None if self._is_initial else self.gamma

    def _closed_factor(self) -> float:
        return self.gamma**self.last_epoch


class PolynomialLR(Decay):
    """The share of epochs left of `total_iters`, to a power."""

    def __init__(
        self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        left, left_before = (
            1.0 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1)
        )
        return (left / left_before) ** self.power

    def _closed_factor(self) -> float:
        return (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power


class CosineAnnealingLR(LRScheduler):
    """Half a period of a cosine from the initial rate down to `eta_min` over `T_max` epochs."""

    def __init__(self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_outside_step()
        if self._is_initial:
            return rates_of(self.optimizer)
        epoch, period, low = self.last_epoch, self.T_max, self.eta_min
        groups = self.optimizer.param_groups
        if self._step_count == 1 and epoch > 0:
            height = 1 + math.cos(epoch * math.pi / period)
            return [low + (base - low) * height / 2 for base in self.base_lrs]
        if (epoch - 1 - period) % (2 * period) == 0:  # the last rate was the lowest: no factor leads up again
            rise = 1 - math.cos(math.pi / period)
            return [
                group["lr"] + (base - low) * rise / 2
                for base, group in zip(self.base_lrs, groups, strict=True)
            ]
        factor = (1 + math.cos(math.pi * epoch / period)) / (1 + math.cos(math.pi * (epoch - 1) / period))
        return [factor * (group["lr"] - low) + low for group in groups]

    def _get_closed_form_lr(self) -> list:
        height = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]


class WithFunctions(LRScheduler):
    """Base of the schedules that are given functions, one for all groups or one for each.

    Raises:
        ValueError: there are more or fewer functions than groups.
    """

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        several = isinstance(lr_lambda, (list, tuple))
        if several and len(lr_lambda) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas: list[Callable] = list(lr_lambda) if several else [lr_lambda] * count
        self._check_functions()
        super().__init__(optimizer, last_epoch)

    def _check_functions(self) -> None:
        """Refuse what cannot be called."""

    def state_dict(self) -> dict[str, Any]:
        """Attributes without the optimizer; of functions that are objects, their attributes."""
        state = {key: value for key, value in super().state_dict().items() if key != "lr_lambdas"}
        return functions_out(state, "lr_lambdas", self.lr_lambdas)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=False):
            if attributes is not None:
                function.__dict__.update(attributes)


class LambdaLR(WithFunctions):
    """The initial rate times what a function gives for the epoch."""

    def get_lr(self) -> list:
        self._warn_outside_step()
        pairs = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [base * function(self.last_epoch) for function, base in pairs]


class MultiplicativeLR(WithFunctions):
    """The last rate times what a function gives for the epoch.

    Raises:
        TypeError: it is no function.
    """

    def _check_functions(self) -> None:
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")

    def get_lr(self) -> list:
        self._warn_outside_step()
        if self._is_initial:
            return rates_of(self.optimizer)
        pairs = zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        return [group["lr"] * function(self.last_epoch) for function, group in pairs]
