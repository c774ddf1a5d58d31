"""`torch.nn`: modules, parameters, and what they are made of. `functional`, `init` and `utils` are imported on first use."""

import importlib
from typing import Any

from refgrad.nn.modules import *  # noqa: F403
from refgrad.nn.parameter import Buffer, Parameter

LAZY = frozenset(["functional", "init", "utils"])


def __getattr__(name: str) -> Any:
    if name in LAZY:
        return importlib.import_module(f"refgrad.nn.{name}")
    raise AttributeError(f"module 'torch.nn' has no attribute '{name}'")
