"""`torch.special`: functions made on first use of the ops named `special_…`, or of those that it renames."""

from typing import Any

from refgrad.namespaces import front, overloads_of
from refgrad.op import LOAD

RENAMED = {
    "expit": "sigmoid",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "gammaln": "lgamma",
    "multigammaln": "mvlgamma",
    "psi": "digamma",
}


def __getattr__(name: str) -> Any:
    LOAD[0]()
    found = overloads_of(f"special_{name}") or overloads_of(RENAMED.get(name, name))
    if name.startswith("_") or not found:
        raise AttributeError(f"module 'torch.special' has no attribute '{name}'")
    made = globals()[name] = front(f"special_{name}", found, method=False)
    return made
