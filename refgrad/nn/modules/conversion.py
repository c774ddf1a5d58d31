"""How a module converts its parameters and buffers: `to`, `double`, `share_memory` and their kin."""

import warnings
from collections.abc import Callable
from typing import Any, Self

from refgrad import dtypes
from refgrad.autograd import no_grad
from refgrad.op import calls
from refgrad.tensor import Device, Tensor

COMPLEX_MODULES = (
    "Complex modules are a new feature under active development whose design may change, and some modules "
    "might not work as expected when using complex tensors as parameters or buffers. Please file an issue "
    "at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not "
    "work as expected."
)


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
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                new = fn(parameter)
            grad = parameter.grad
            parameter.data = new
            if grad is not None:
                with no_grad():
                    new = fn(grad)
                grad.data = new
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating and complex parameters and buffers to a dtype; only the CPU exists here.

        Raises:
            TypeError: the dtype is neither floating nor complex.
        """
        dtype = dtype_asked_for(args, kwargs)
        if dtype is not None:
            if dtype.category < dtypes.FLOATING:
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, but "
                    f"got desired dtype={dtype}"
                )
            if dtype.is_complex:
                warnings.warn(COMPLEX_MODULES, stacklevel=2)
        return self._apply(lambda t: t.to(dtype) if dtype is not None and t._can_require_grad() else t)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.to(dst_type))

    def float(self) -> Self:
        """Convert floating parameters and buffers to float32."""
        return self._apply(lambda t: t.to(dtypes.float32) if t.is_floating_point() else t)

    def double(self) -> Self:
        """Convert floating parameters and buffers to float64."""
        return self._apply(lambda t: t.to(dtypes.float64) if t.is_floating_point() else t)

    def half(self) -> Self:
        """Convert floating parameters and buffers to float16."""
        return self._apply(lambda t: t.to(dtypes.float16) if t.is_floating_point() else t)

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


def dtype_asked_for(args: tuple, kwargs: dict) -> dtypes.DType | None:
    """The dtype among the arguments of `Module.to`: a dtype, or that of a tensor."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, dtypes.DType):
            return value
        if isinstance(value, Tensor):
            return value.dtype
        if isinstance(value, (str, Device)) and Device(value).type != "cpu":
            raise RuntimeError(f"refgrad has no device but the CPU, got {value!r}; use 'cpu'")
    return None
