"""How the Python functions of `torch.nn.functional` reach the ops behind them.

*Native*: a function that PyTorch writes in C++; it checks its own arguments and words its own errors.
"""

from collections.abc import Callable
from typing import Any

from refgrad.namespaces import make_front
from refgrad.op import calls
from refgrad.tensor import Tensor

PLAIN = (float, int, bool)
FRONTS: dict[str, Callable] = {}


def native(name: str) -> Callable:
    """The native function of this name, made on first use.

    Raises:
        NotImplementedError: no such op is declared.
    """
    function = FRONTS.get(name)
    if function is None:
        function = make_front(name, method=False)
        if function is None:
            raise NotImplementedError(f"torch.nn.functional needs the op {name}, which is not declared")
        FRONTS[name] = function
    return function


def call_native(name: str, input: Any, *numbers: Any) -> Any:
    """Call a native function of one tensor and numbers; what does not plainly fit is left to it to refuse."""
    if input.__class__ is Tensor and all(number.__class__ in PLAIN for number in numbers):
        return getattr(calls, name)(input, *numbers)
    return native(name)(input, *numbers)
