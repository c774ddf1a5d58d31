"""Modules that learn the number of their inputs from a first call; until then parameters have no shape."""

from typing import Any

from refgrad.nn.modules.convolution import Conv1d, Conv2d, Conv3d
from refgrad.nn.modules.linear import Linear
from refgrad.nn.modules.module import Module
from refgrad.nn.parameter import is_lazy
from refgrad.nn.uninitialized import UninitializedParameter
from refgrad.tensor import Tensor


class LazyModule(Module):
    """What lazy modules share; each becomes an ordinary module of `cls_to_become` at its first call."""

    cls_to_become: type = Module
    weight: Any
    bias: Any

    def _wait(self, bias: bool) -> None:
        """Replace the parameters by ones without shape, and listen for the first call."""
        kind = self.weight.dtype
        self.weight = UninitializedParameter(dtype=kind)
        if bias:
            self.bias = UninitializedParameter(dtype=kind)
        self._listen()

    def _listen(self) -> None:
        """Wait for the first call."""
        self._initialize_hook = self.register_forward_pre_hook(first_call, with_kwargs=True)

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        return any(map(is_lazy, [*self._parameters.values(), *self._buffers.values()]))

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes, by the first input."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Give parameters the shapes of those that are loaded, and load."""
        for name, own in [*self._parameters.items(), *self._buffers.items()]:
            loaded = state_dict.get(prefix + name)
            if isinstance(loaded, Tensor) and is_lazy(own) and not is_lazy(loaded):
                own.materialize(loaded.shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put this module's own state into `destination`; what has no shape yet is put there itself."""
        for name, own in [*self._parameters.items(), *self._buffers.items()]:
            if own is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = own if keep_vars or is_lazy(own) else own.detach()

    def _give_shape(self, shape: tuple) -> None:
        """Give weight and bias their shapes, and draw them."""
        self.weight.materialize(shape)
        if self.bias is not None:
            self.bias.materialize((shape[0],))
        self.reset_parameters()


def first_call(module: Any, args: tuple, kwargs: dict) -> None:
    """Let a lazy module become an ordinary one."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {type(module).__name__} has not been fully initialized")
    module._initialize_hook.remove()
    del module._initialize_hook
    module.__class__ = module.cls_to_become


class LazyLinear(LazyModule, Linear):
    """A `Linear` that learns `in_features` from its first input."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False, dtype=dtype)
        self.out_features = out_features
        self._wait(bias)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, if they have shapes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Give the parameters their shapes, by the first input."""
        if self.has_uninitialized_params():
            self.in_features = input.size(-1)
            self._give_shape((self.out_features, self.in_features))


class LazyConvolution(LazyModule):
    """What the lazy convolutions share: they learn `in_channels` from their first input."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = (kernel_size, stride, padding, dilation, groups, False, padding_mode)
        super().__init__(0, 0, *options, dtype=dtype)
        self.out_channels = out_channels
        self._wait(bias)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, if they have shapes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any) -> None:
        """Give the parameters their shapes, by the first input.

        Raises:
            RuntimeError: the input has another number of dimensions.
            ValueError: its channels cannot be divided among the groups.
        """
        if not self.has_uninitialized_params():
            return
        rank = len(self.kernel_size)
        if input.dim() not in (rank + 1, rank + 2):
            raise RuntimeError(
                f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {input.shape}"
            )
        self.in_channels = input.shape[-rank - 1]
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        self._give_shape((self.out_channels, self.in_channels // self.groups, *self.kernel_size))


class LazyConv1d(LazyConvolution, Conv1d):
    """A `Conv1d` that learns `in_channels` from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(LazyConvolution, Conv2d):
    """A `Conv2d` that learns `in_channels` from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(LazyConvolution, Conv3d):
    """A `Conv3d` that learns `in_channels` from its first input."""

    cls_to_become = Conv3d
