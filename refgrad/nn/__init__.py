"""`torch.nn`: modules, parameters, and what they are made of."""

# ruff: noqa: F401, F403

import importlib
from typing import Any

from refgrad.nn import functional, init
from refgrad.nn.modules import *
from refgrad.nn.parameter import Buffer, Parameter


def __getattr__(name: str) -> Any:
    if name == "utils":
        return importlib.import_module("refgrad.nn.utils")
    raise AttributeError(f"module 'torch.nn' has no attribute '{name}'")
