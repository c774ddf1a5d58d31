"""`torch.special`: the ops whose names begin with `special_`, made on first use."""

from typing import Any

from refgrad.namespaces import make_front


def __getattr__(name: str) -> Any:
    made = None if name.startswith("__") else make_front(f"special_{name}", method=False)
    if made is None:
        raise AttributeError(f"module 'torch.special' has no attribute '{name}'")
    globals()[name] = made
    return made
