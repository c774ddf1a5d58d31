"""`torch.autograd.Variable`: the old name of tensors, kept for old scripts."""

import warnings
from operator import index
from typing import Any

import numpy as np

from refgrad import modes
from refgrad.autograd.function import BackwardCFunction, Function
from refgrad.tensor import Tensor, type_name, wrap


class _EngineBase:
    """The engine as an object, for those who queue callbacks."""

    def queue_callback(self, callback: Any) -> None:
        """Call `callback()` after the last node of the run under way.

        Raises:
            RuntimeError: no run is under way.
        """
        if modes.state.task is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        modes.state.task.callbacks.append(callback)

    def is_checkpoint_valid(self) -> bool:
        """Whether a reentrant checkpoint may run its function again: not in a run with chosen inputs."""
        return modes.state.task is None or modes.state.task.needed is None


class VariableMeta(type):
    """Makes every tensor a Variable."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """Makes a tensor outside the graph on the memory and counter of another; all tensors are instances."""

    _execution_engine = _EngineBase()

    def __new__(
        cls,
        data: Tensor | None = None,
        requires_grad: bool = False,
        volatile: bool = False,
        _grad_fn: Any = None,
        name: Any = None,
    ) -> Any:
        """A leaf on the memory of `data`, or an empty one.

        Raises:
            TypeError: an argument is of the wrong kind.
            RuntimeError: `_grad_fn` is given, or `data` holds no numbers that can require grad.
        """
        if name is not None and not isinstance(name, str):
            raise TypeError(f"argument 5 must be str or None, not {type_name(name)}")
        if _grad_fn is not None:
            if not isinstance(_grad_fn, (Function, BackwardCFunction)):
                raise TypeError(
                    f"_grad_fn has to be a Function object or None, but got {type_name(_grad_fn)}"
                )
            raise RuntimeError(
                "_grad_fn argument to legacy Variable constructor is no longer supported.  Instead, please "
                "invoke your _grad_fn to produce a variable with it as the _grad_fn."
            )
        if index(volatile):
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        if data is not None and not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(data)}")
        made = wrap(np.empty(0, np.float32)) if data is None else data.detach()
        required = bool(index(requires_grad))
        if required and not made._can_require_grad():
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made._set_requires_grad(required)
        return made
