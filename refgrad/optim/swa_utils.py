"""`torch.optim.swa_utils`: averages of weights over steps of training, and the schedule that goes with it."""

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from refgrad import dtypes
from refgrad.autograd import no_grad
from refgrad.nn.modules.module import Module
from refgrad.nn.modules.normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d
from refgrad.ops import from_data
from refgrad.optim.scheduler import LRScheduler, per_group


def check_decay(decay: float) -> None:
    """Refuse what is no share.

    Raises:
        ValueError: with PyTorch's text.
    """
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """An average that forgets: of each parameter."""
    check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """An average that forgets: of all parameters of a type at once."""
    check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, 1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_avg_fn() -> Callable:
    """An average in which all steps count alike: of each parameter."""

    @no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_swa_multi_avg_fn() -> Callable:
    """An average in which all steps count alike: of all parameters of a type at once."""

    @no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        for average, current in zip(averaged_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, 1 / (num_averaged + 1))
            else:
                average.addcdiv_(current - average, num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's.

    Raises:
        AssertionError: both kinds of functions are given.
    """

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable | None = None,
        multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        self.register_buffer("n_averaged", from_data.tensor(0, dtype=dtypes.int64))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Let the present parameters of a model into the average."""
        own: Iterable = self.module.parameters()
        others: Iterable = model.parameters()
        if self.use_buffers:
            own = itertools.chain(own, self.module.buffers())
            others = itertools.chain(others, model.buffers())
        pairs = [(a.detach(), b.detach()) for a, b in zip(own, others, strict=False)]
        if self.n_averaged == 0:
            for average, current in pairs:
                average.copy_(current)
        else:
            self._average(pairs)
        if not self.use_buffers:
            for average, current in zip(self.module.buffers(), model.buffers(), strict=True):
                average.detach().copy_(current.detach())
        self.n_averaged += 1

    def _average(self, pairs: list) -> None:
        """Bring the averages up to date."""
        count = self.n_averaged
        if self.multi_avg_fn is not None:
            for kind in dict.fromkeys(average.dtype for average, _ in pairs):
                same = [pair for pair in pairs if pair[0].dtype is kind]
                self.multi_avg_fn([a for a, _ in same], [b for _, b in same], count)
            return
        function = self.avg_fn or get_swa_avg_fn()
        for average, current in pairs:
            average.copy_(function(average, current, count))


@no_grad()
def update_bn(loader: Iterable, model: Any, device: Any = None) -> None:
    """Compute the running statistics of batch normalisations anew, over a pass through some data."""
    kinds = (BatchNorm1d, BatchNorm2d, BatchNorm3d)
    momenta = {module: module.momentum for module in model.modules() if isinstance(module, kinds)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None
    for batch in loader:
        model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the present rate to `swa_lr` within `anneal_epochs` epochs.

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        optimizer: Any,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """How far the rate has come at a share of the epochs."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list:
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (
            self.anneal_func(max(0, min(1, at / max(1, self.anneal_epochs)))) for at in (step - 1, step)
        )
        rates = []
        for group in self.optimizer.param_groups:
            rate, goal = group["lr"], group["swa_lr"]
            start = goal if before == 1 else (rate - before * goal) / (1 - before)
            rates.append(goal * now + start * (1 - now))
        return rates
