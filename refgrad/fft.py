"""`torch.fft`: the ops whose names begin with `fft_`, made on first use."""

from typing import Any

from refgrad.namespaces import make_front


def __getattr__(name: str) -> Any:
    made = None if name.startswith("__") else make_front(f"fft_{name}", method=False)
    if made is None:
        raise AttributeError(f"module 'torch.fft' has no attribute '{name}'")
    globals()[name] = made
    return made
