"""The reference autograd of this repository."""

from types import ModuleType
from typing import Any

import refgrad
from harness.engines.base import Engine
from refgrad.storage import storage_key


class RefgradEngine(Engine):
    """refgrad: the rules of torch.autograd in Python and NumPy; tests hand in wrong versions of it."""

    name = "refgrad"

    def __init__(self, module: ModuleType = refgrad) -> None:
        self._module = module
        module.set_warn_always(True)  # as for torch: else some warnings come once per process

    @property
    def module(self) -> ModuleType:
        return self._module

    @property
    def tensor_type(self) -> type:
        return self._module.Tensor

    def memory_of(self, tensor: Any) -> int:
        return storage_key(tensor._array)  # NumPy takes 2 us to tell an address
