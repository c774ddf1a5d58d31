"""`torch.optim`: optimizers, and the schedules of their learning rates."""

import importlib
from typing import Any

from refgrad.optim.adafactor import Adafactor
from refgrad.optim.adagrad import Adagrad
from refgrad.optim.adam import Adam, AdamW
from refgrad.optim.adaptive import Adadelta, Adamax, NAdam, RAdam
from refgrad.optim.averaged import ASGD, Rprop
from refgrad.optim.lbfgs import LBFGS
from refgrad.optim.optimizer import Optimizer
from refgrad.optim.rmsprop import RMSprop
from refgrad.optim.sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
]


def __getattr__(name: str) -> Any:
    if name in ("lr_scheduler", "swa_utils"):
        return importlib.import_module(f"refgrad.optim.{name}")
    raise AttributeError(f"module 'torch.optim' has no attribute '{name}'")
