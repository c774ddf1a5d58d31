"""`torch.utils`: submodules are imported on first use."""

import importlib
from typing import Any

SUBMODULES = frozenset(["_python_dispatch", "_pytree", "checkpoint", "data", "hooks"])


def __getattr__(name: str) -> Any:
    if name == "swap_tensors":
        return importlib.import_module("refgrad.swapping").swap_tensors
    if name in SUBMODULES:
        return importlib.import_module(f"refgrad.utils.{name}")
    raise AttributeError(f"module 'torch.utils' has no attribute '{name}'")
