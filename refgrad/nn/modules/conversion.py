"""How a module converts its parameters and buffers: `to`, `double`, `share_memory` and their kin."""

import warnings
from collections.abc import Callable
from itertools import chain
from typing import Any, Self

from refgrad import __future__, dtypes
from refgrad.autograd import no_grad
from refgrad.nn.parameter import Parameter
from refgrad.op import calls
from refgrad.swapping import swap_tensors
from refgrad.tensor import Tensor

FLOATING = (dtypes.float32, dtypes.float64)
COMPLEX_MODULES = (
    "Complex modules are a new feature under active development whose design may change, and some modules "
    "might not work as expected when using complex tensors as parameters or buffers. Please file an issue "
    "at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not "
    "work as expected."
)


def convert_parameter(module: Any, name: str, parameter: Any, fn: Callable) -> None:
    """Convert a parameter and its gradient: by new memory, or as `torch.__future__` says.

    Raises:
        RuntimeError: it cannot be swapped with a new one.
    """
    swap = __future__.get_swap_module_params_on_conversion()
    overwrite = not swap and __future__.get_overwrite_module_params_on_conversion()
    with no_grad():
        new = fn(parameter)
    grad = parameter.grad
    if swap:
        swap_parameter(module, name, parameter, new)
    elif overwrite:
        parameter = module._parameters[name] = Parameter(new, parameter.requires_grad)
    else:
        parameter.data = new
    if grad is None:
        return
    with no_grad():
        new = fn(grad)
    if swap:
        swap_tensors(grad, new.requires_grad_(grad.requires_grad))
        parameter.grad = grad
    elif overwrite:
        parameter.grad = new.requires_grad_(grad.requires_grad)
    else:
        grad.data = new


def swap_parameter(module: Any, name: str, parameter: Any, new: Any) -> None:
    """Swap a parameter with a new one; its gradient is taken from it.

    Raises:
        RuntimeError: they cannot be swapped.
    """
    grad, parameter.grad = parameter.grad, None
    try:
        swap_tensors(parameter, Parameter(new, requires_grad=parameter.requires_grad))
    except Exception as error:
        parameter.grad = grad
        raise RuntimeError(f"_apply(): Couldn't swap {type(module).__name__}.{name}") from error


class Convertible:
    """The part of `Module` that replaces the memory of its tensors."""

    children: Callable
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the memory of every parameter, its gradient, and every buffer by what `fn` makes of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                convert_parameter(self, name, parameter, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating and complex parameters and buffers to a dtype; only the CPU exists here.

        Raises:
            TypeError: the dtype is neither floating nor complex, or the arguments are none of `Tensor.to`.
            AssertionError: the device is another than the CPU.
        """
        layout = kwargs.pop("memory_format", None)  # which is for images alone
        dtype = dtype_asked_for(self, args, kwargs)
        if dtype is not None:
            if dtype.category < dtypes.FLOATING:
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, but "
                    f"got desired dtype={dtype}"
                )
            if dtype.is_complex:
                warnings.warn(COMPLEX_MODULES, stacklevel=2)

        def converted(tensor: Tensor) -> Tensor:
            if dtype is not None and tensor._can_require_grad():
                tensor = tensor.to(dtype)
            if layout is not None and tensor.dim() in (4, 5):
                tensor = tensor.to(memory_format=layout)
            return tensor

        return self._apply(converted)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Convert floating parameters and buffers to float32."""
        return self._apply(lambda t: t.to(dtypes.float32) if t.is_floating_point() else t)

    def double(self) -> Self:
        """Convert floating parameters and buffers to float64."""
        return self._apply(lambda t: t.to(dtypes.float64) if t.is_floating_point() else t)

    def half(self) -> Self:
        """Convert floating parameters and buffers to float16."""
        return self._apply(lambda t: t.to(dtypes.float16) if t.is_floating_point() else t)

    def bfloat16(self) -> Self:
        """Convert floating parameters and buffers to bfloat16."""
        return self._apply(lambda t: t.to(dtypes.bfloat16) if t.is_floating_point() else t)

    def cpu(self) -> Self:
        """Nothing to do here."""
        return self

    def cuda(self, device: Any = None) -> Self:
        """Refused, as the tensors refuse it: there is no such device here."""
        return self._apply(lambda t: t.cuda(device))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Give parameters and buffers new memory with no particular values."""
        return self._apply(lambda t: calls.empty_like(t, device=device), recurse)

    def share_memory(self) -> Self:
        """Move the memory of parameters and buffers to where other processes may see it."""
        return self._apply(lambda t: t.share_memory_())


def dtype_asked_for(module: Any, args: tuple, kwargs: dict) -> dtypes.DType | None:
    """The dtype among the arguments of `Module.to`; these are those of `Tensor.to`, which checks them."""
    try:
        single, double = (calls.zeros((), dtype=kind).to(*args, **kwargs) for kind in FLOATING)
    except AssertionError:  # a device that there is not: to modules without tensors all the same
        if next(chain(module.parameters(), module.buffers()), None) is not None:
            raise
        return None
    return single.dtype if single.dtype is double.dtype else None
