"""Eager PyTorch on the CPU."""

import gc
import sys

import torch

from harness.engines.base import Engine
from harness.program import Program
from harness.trace import Trace


class TorchEngine(Engine):
    """PyTorch itself: what every other engine is compared with."""

    name = "torch"
    module = torch
    tensor_type = torch.Tensor

    def __init__(self) -> None:
        torch.set_num_threads(1)  # sums are then added in the same order every time
        gc.freeze()  # what torch's modules hold lives as long as the process: no need to look there
        torch.set_warn_always(True)  # else some warnings come once per process
        torch.storage._set_always_warn_typed_storage_removal(True)  # as this one does all the same

    def memory_of(self, tensor: torch.Tensor) -> int:
        try:
            return tensor.untyped_storage().data_ptr()
        except RuntimeError:
            if tensor._is_zerotensor():  # zeros that are not in memory yet
                return 0
            raise

    def reset(self) -> None:
        torch.default_generator.manual_seed(0)  # the CPU's alone: torch.manual_seed asks every device, 0.3 ms
        self.restore()

    def restore(self) -> None:
        if not torch.is_grad_enabled():
            torch.set_grad_enabled(True)
        if torch.get_default_dtype() is not torch.float32:
            torch.set_default_dtype(torch.float32)
        if torch.is_anomaly_enabled():
            torch.autograd.set_detect_anomaly(False)
        if torch.are_deterministic_algorithms_enabled():
            torch.use_deterministic_algorithms(False)
        self.close_dual_level()

    def run(self, program: Program, look: str = "full") -> Trace:
        torch.set_warn_always(True)
        dynamo = sys.modules.get("torch._dynamo")
        if dynamo is not None and program.mentions("torch.compile"):
            dynamo.reset()  # it keeps compiled code by code object, and the globals that code named are gone
        return super().run(program, look)
