"""`torch._VF`: the functions as PyTorch's own Python code calls them, without what is written around some."""

from collections.abc import Callable

from refgrad.namespaces import front, overloads_of


def __getattr__(name: str) -> Callable:
    overloads = [] if name.startswith("__") else overloads_of(name)
    if not overloads:
        raise AttributeError(f"'torch._C._VariableFunctionsClass' object has no attribute '{name}'")
    made = globals()[name] = front(name, overloads, method=False)
    return made
