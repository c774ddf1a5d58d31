"""`DataParallel` where there is no device to spread over: it calls its module."""

from typing import Any

from refgrad.nn.modules.module import Module


class DataParallel(Module):
    """Call a module on all devices at once; on the CPU that is one plain call."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0):
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module makes of its inputs."""
        return self.module(*inputs, **kwargs)
