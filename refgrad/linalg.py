"""`torch.linalg`: the ops whose names begin with `linalg_`, made on first use."""

from typing import Any

from refgrad.namespaces import make_front
from refgrad.ops.matrices import _LinAlgError as LinAlgError  # noqa: F401 - a public name


def __getattr__(name: str) -> Any:
    made = None if name.startswith("__") else make_front(f"linalg_{name}", method=False)
    if made is None:
        raise AttributeError(f"module 'torch.linalg' has no attribute '{name}'")
    globals()[name] = made
    return made
