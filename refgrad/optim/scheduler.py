"""`LRScheduler`: sets the learning rates of an optimizer's groups, epoch by epoch."""

import contextlib
import functools
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from refgrad.optim.optimizer import Optimizer, number_or_scalar
from refgrad.tensor import Tensor

EPOCH_GIVEN = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from "
    "None, the closed form is used instead of the new chainable form, where available. Please open an issue "
    "if you are unable to replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
DETAILS = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
STEP_REPLACED = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, "
    "make sure to call `optimizer.step()` before `lr_scheduler.step()`. " + DETAILS
)
WRONG_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
    "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do "
    "this will result in PyTorch skipping the first value of the learning rate schedule. " + DETAILS
)
ASKED_OUTSIDE = "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."
NOT_RESUMABLE = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with last_epoch >= 0.\n"
    "This typically happens when:\n"
    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
)


def copied(value: Any) -> Any:
    """A tensor as a copy, a number as it is."""
    return value.clone() if isinstance(value, Tensor) else value


def rates_of(optimizer: Any, key: str = "lr") -> list:
    """The value of an option in each group."""
    return [copied(group[key]) for group in optimizer.param_groups]


def set_option(group: dict[str, Any], key: str, value: Any) -> None:
    """Give a group's option a value; an option that is a tensor is filled with it."""
    if isinstance(group[key], Tensor):
        group[key].fill_(number_or_scalar(value))
    else:
        group[key] = value


def per_group(name: str, optimizer: Any, value: Any) -> list:
    """One value for each group.

    Raises:
        ValueError: a sequence of another length than the number of groups.
    """
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {count}."
        )
    return [copied(one) for one in value]


def check_optimizer(optimizer: Any) -> None:
    """Refuse what is no optimizer.

    Raises:
        TypeError: with PyTorch's text.
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def note_steps(optimizer: Any) -> None:
    """Let an optimizer remember that its `step` was called, so that a wrong order can be told."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    function = optimizer.step.__func__
    held = weakref.ref(optimizer)  # a strong reference would keep the optimizer alive in a circle

    @functools.wraps(function)
    def step(*args: Any, **kwargs: Any) -> Any:
        owner: Any = held()
        owner._opt_called = True
        return function(owner, *args, **kwargs)

    step._wrapped_by_lr_sched = True
    optimizer.step = step


class LRScheduler:
    """Base of all schedulers: subclasses give `get_lr`, the rate of each group at `last_epoch`.

    Raises:
        TypeError: `optimizer` is none.
        KeyError: a schedule is resumed whose groups do not know the rate they started with.
    """

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for place, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(NOT_RESUMABLE.format(place))
        self.base_lrs = rates_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        note_steps(optimizer)
        self._initial_step()

    @contextlib.contextmanager
    def _while(self, flag: str) -> Iterator[None]:
        """Raise one of the two flags for a while."""
        setattr(self, flag, True)
        try:
            yield
        finally:
            setattr(self, flag, False)

    def _initial_step(self) -> None:
        self._step_count = 0
        with self._while("_is_initial"):
            self.step()

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the attributes that `state_dict` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list:
        """The rates that were set last."""
        return self._last_lr

    def get_lr(self) -> list:
        """The rate of each group at `last_epoch`."""
        raise NotImplementedError

    def _warn_outside_step(self) -> None:
        """Warn who asks `get_lr` for a rate: recursive schedules give the one after the next."""
        if not self._get_lr_called_within_step:
            warnings.warn(ASKED_OUTSIDE, stacklevel=3)

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to a given one, and set its rates."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(STEP_REPLACED, stacklevel=2)
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(WRONG_ORDER, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_GIVEN, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed: Callable | None = getattr(self, "_get_closed_form_lr", None)
        self._set_rates(self.get_lr if epoch is None or closed is None else closed)

    def _set_rates(self, rates: Callable) -> None:
        """Set what `rates()` gives for each group."""
        with self._while("_get_lr_called_within_step"):
            values = rates()
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_option(group, "lr", value)
        self._last_lr = rates_of(self.optimizer)


def functions_out(state: dict[str, Any], key: str, functions: list) -> dict[str, Any]:
    """A state with, for each of some functions, its attributes if it is an object, else None."""
    state[key] = [
        None if isinstance(function, types.FunctionType) else function.__dict__.copy()
        for function in functions
    ]
    return state
