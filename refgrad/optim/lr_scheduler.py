"""`torch.optim.lr_scheduler`: learning rates that change from epoch to epoch."""

from refgrad.optim.combined_schedules import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from refgrad.optim.cycle_schedules import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from refgrad.optim.decay_schedules import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from refgrad.optim.scheduler import LRScheduler


class _LRScheduler(LRScheduler):
    """The old name of `LRScheduler`."""


__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
