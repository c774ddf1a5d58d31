"""Engines that are PyTorch but for one lie each."""

from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch

from harness.engines.pytorch import TorchEngine
from harness.program import Program
from harness.trace import Trace


class Liar(TorchEngine):
    """PyTorch whose tensors have other attributes, or whose namespace has other functions (`torch_NAME`)."""

    name = "liar"

    def __init__(self, **lies: Any):
        super().__init__()
        self.lies = {name: lie for name, lie in lies.items() if not name.startswith("torch_")}
        self.functions = {
            name.removeprefix("torch_"): lie for name, lie in lies.items() if name not in self.lies
        }

    def run(self, program: Program, look: str = "full") -> Trace:
        # torch.Tensor is a Python class above the one that tells the truth: what is set on it goes first.
        with ExitStack() as stack:
            for owner, lies in ((torch.Tensor, self.lies), (torch, self.functions)):
                for name, lie in lies.items():
                    stack.enter_context(patch.object(owner, name, lie, create=True))
            return super().run(program, look)


def truth(name: str) -> Any:
    """The true getter of an attribute of a tensor."""
    return getattr(torch._C.TensorBase, name).__get__


def node_like(node: Any, name: str = "", **changes: Any) -> Any:
    """An object that passes for a node, with changes."""
    if node is None:
        return None
    kind = type(name or type(node).__name__, (SimpleNamespace,), {})
    return kind(**({"next_functions": node.next_functions} | changes))
