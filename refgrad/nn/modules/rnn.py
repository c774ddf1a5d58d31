"""Recurrent layers, and their cells as modules of their own."""

import math
import warnings
from typing import Any

from refgrad import _VF
from refgrad.nn import init
from refgrad.nn.modules.making import empty_parameter
from refgrad.nn.modules.module import Module
from refgrad.nn.parameter import Parameter
from refgrad.ops.copying import check_device
from refgrad.tensor import Tensor

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def check_options(dropout: Any, bias: Any, batch_first: Any, input_size: Any, sizes: tuple) -> None:
    """Refuse options that make no layer; `sizes` are those of hidden state and projection, and the layers.

    Raises:
        TypeError, ValueError: with PyTorch's text.
    """
    hidden_size, num_layers, proj_size = sizes
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being "
            "zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
            f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value, kind in (
        ("bias", bias, bool),
        ("batch_first", batch_first, bool),
        ("input_size", input_size, int),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    if input_size <= 0:
        raise ValueError("input_size must be greater than zero")
    if not isinstance(hidden_size, int):
        raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
    if hidden_size <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNNBase(Module):
    """Base of the recurrent layers.

    Raises:
        TypeError, ValueError: an option makes no layer.
    """

    title = ""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_device(device)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        check_options(dropout, bias, batch_first, input_size, (hidden_size, num_layers, proj_size))
        if mode not in GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._ways]:
                self._make_weights(layer, suffix, dtype)
        self.reset_parameters()

    @property
    def _ways(self) -> int:
        return 2 if self.bidirectional else 1

    def _make_weights(self, layer: int, suffix: str, dtype: Any) -> None:
        """Make the parameters of one direction of a layer."""
        rows = GATES[self.mode] * self.hidden_size
        given = self.proj_size or self.hidden_size
        shapes: dict[str, tuple] = {"weight_ih": (rows, given * self._ways if layer else self.input_size)}
        shapes["weight_hh"] = (rows, given)
        if self.bias:
            shapes["bias_ih"] = shapes["bias_hh"] = (rows,)
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = []
        for kind, shape in shapes.items():
            names.append(f"{kind}_l{layer}{suffix}")
            setattr(self, names[-1], empty_parameter(*shape, dtype=dtype))
        self._all_weights.append(names)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each direction of each layer."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [getattr(self, name) for name in self._flat_weights_names]

    def flatten_parameters(self) -> None:
        """Does nothing: only other devices have a use for parameters side by side in memory."""

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def check_input(self, input: Tensor, batch_sizes: Any) -> None:
        """Refuse inputs of another type or size.

        Raises:
            ValueError: the type is not the weights'.
            RuntimeError: the shape does not fit.
        """
        kind = self._flat_weights[0].dtype
        if input.dtype is not kind:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({kind}). Convert input: "
                f"input.to({kind}), or convert model: model.to({input.dtype})"
            )
        rank = 3 if batch_sizes is None else 2
        if input.dim() != rank:
            raise RuntimeError(f"input must have {rank} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.size(-1)}"
            )

    def _expected(self, input: Tensor, batch_sizes: Any, size: int) -> tuple[int, int, int]:
        batch = input.size(0 if self.batch_first else 1) if batch_sizes is None else int(batch_sizes[0])
        return self.num_layers * self._ways, batch, size

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape that the hidden state must have."""
        return self._expected(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Refuse a hidden state of another shape.

        Raises:
            RuntimeError: with the text.
        """
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Any) -> None:
        """Refuse what does not fit.

        Raises:
            ValueError, RuntimeError: with PyTorch's text.
        """
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}
        usual["bidirectional"] = False
        for name, value in usual.items():
            if getattr(self, name) != value:
                shown += f", {name}={getattr(self, name)}"
        return shown

    def _options(self) -> tuple:
        return (
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
        )

    def _zeros(self, input: Tensor, batch: int, size: int) -> Tensor:
        return input.detach().new_zeros((self.num_layers * self._ways, batch, size))

    def _packed(self, sequence: Any, hx: Any) -> tuple:
        """The layers over a packed sequence; hidden states follow the order of its sequences."""
        data, batch_sizes, order, back = sequence
        sizes = self._state_sizes()
        if hx is None:
            states = [self._zeros(data, int(batch_sizes[0]), size) for size in sizes]
        else:
            states = list(hx) if len(sizes) > 1 else [hx]
            states = states if order is None else [state.index_select(1, order) for state in states]
        several = len(sizes) > 1
        self.check_forward_args(data, tuple(states) if several else states[0], batch_sizes)
        given = states if several else states[0]
        layers = getattr(_VF, self.mode.lower())
        output, *hidden = layers(data, batch_sizes, given, *self._options())
        if back is not None:
            hidden = [state.index_select(1, back) for state in hidden]
        packed = type(sequence)(output, batch_sizes, order, back)
        return packed, tuple(hidden) if several else hidden[0]

    def _state_sizes(self) -> tuple:
        """The sizes of the hidden states."""
        return (self.hidden_size,)


class WithOneState(RNNBase):
    """Base of the layers whose hidden state is one tensor."""

    def forward(self, input: Any, hx: Any = None) -> tuple:
        if isinstance(input, tuple):
            return self._packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{self.title}: Expected input to be 2D or 3D, got {input.dim()}D{self.noun} instead"
            )
        batch_dim = 0 if self.batch_first else 1
        is_batched = input.dim() == 3
        if hx is not None and hx.dim() != input.dim():
            words = ("unbatched 2-D", "2-D") if not is_batched else ("batched 3-D", "3-D")
            raise RuntimeError(
                f"For {words[0]} input, hx should also be {words[1]} but got {hx.dim()}-D tensor"
            )
        if not is_batched:
            input = input.unsqueeze(batch_dim)
            hx = hx if hx is None else hx.unsqueeze(1)
        hx = self._zeros(input, input.size(batch_dim), self.hidden_size) if hx is None else hx
        self.check_forward_args(input, hx, None)
        layers = getattr(_VF, self.mode.lower())
        output, hidden = layers(input, hx, *self._options(), self.batch_first)
        return (output, hidden) if is_batched else (output.squeeze(batch_dim), hidden.squeeze(1))

    noun = ""


class RNN(WithOneState):
    """h' = tanh(W x + b + W' h + b'), or the rectified sum; (L, N, H), or (N, L, H) with `batch_first`.

    Raises:
        ValueError: an unknown nonlinearity, or a projection is asked for.
    """

    title, noun = "RNN", " tensor"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        nonlinearity = args[3] if len(args) > 3 else kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args[:3], *args[4:], **kwargs)
        self.nonlinearity = nonlinearity


class GRU(WithOneState):
    """Gated recurrent units (Cho and others); (L, N, H), or (N, L, H) with `batch_first`.

    Raises:
        ValueError: a projection is asked for.
    """

    title = "GRU"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber); (L, N, H), or (N, L, H) with `batch_first`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape that the cell state must have."""
        return self._expected(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Any) -> None:
        """Refuse what does not fit.

        Raises:
            ValueError, RuntimeError: with PyTorch's text.
        """
        self.check_input(input, batch_sizes)
        shapes = (
            self.get_expected_hidden_size(input, batch_sizes),
            self.get_expected_cell_size(input, batch_sizes),
        )
        for i, shape in enumerate(shapes):
            self.check_hidden_size(hidden[i], shape, f"Expected hidden[{i}] size {{}}, got {{}}")

    def _state_sizes(self) -> tuple:
        return self.proj_size or self.hidden_size, self.hidden_size

    def forward(self, input: Any, hx: Any = None) -> tuple:
        if isinstance(input, tuple):
            return self._packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"LSTM: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batch_dim = 0 if self.batch_first else 1
        is_batched = input.dim() == 3
        input = input if is_batched else input.unsqueeze(batch_dim)
        if hx is None:
            hx = tuple(self._zeros(input, input.size(batch_dim), size) for size in self._state_sizes())
        else:
            self._check_ranks(hx, is_batched)
            hx = tuple(hx) if is_batched else tuple(state.unsqueeze(1) for state in hx)
        self.check_forward_args(input, hx, None)
        output, *hidden = _VF.lstm(input, hx, *self._options(), self.batch_first)
        if not is_batched:
            output, hidden = output.squeeze(batch_dim), [state.squeeze(1) for state in hidden]
        return output, tuple(hidden)

    def _check_ranks(self, hx: Any, is_batched: bool) -> None:
        """Refuse states of another rank than the input's.

        Raises:
            RuntimeError: with PyTorch's text.
        """
        rank, word = (3, "batched 3-D") if is_batched else (2, "unbatched 2-D")
        if hx[0].dim() != rank or hx[1].dim() != rank:
            raise RuntimeError(
                f"For {word} input, hx and cx should also be {rank}-D but got ({hx[0].dim()}-D, "
                f"{hx[1].dim()}-D) tensors"
            )


# Cells ------------------------------------------------------------------------------------------------------


class RNNCellBase(Module):
    """Base of the cells: one step of a recurrent layer; (N, H), or (H,)."""

    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_device(device)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = empty_parameter(rows, input_size, dtype=dtype)
        self.weight_hh = empty_parameter(rows, hidden_size, dtype=dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, empty_parameter(rows, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        shown += "" if self.bias is True else f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return shown if nonlinearity == "tanh" else f"{shown}, nonlinearity={nonlinearity}"

    def _check_rank(self, value: Any, name: str) -> None:
        """Refuse what is neither a sample nor a batch.

        Raises:
            ValueError: with PyTorch's text.
        """
        if value.dim() not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {value.dim()}D instead"
            )

    def _step(self, name: str, input: Any, hx: Any) -> Any:
        """One step of a cell with one hidden tensor."""
        self._check_rank(input, "input")
        if hx is not None:
            self._check_rank(hx, "hidden")
        is_batched = input.dim() == 2
        input = input if is_batched else input.unsqueeze(0)
        if hx is None:
            hx = input.detach().new_zeros((input.size(0), self.hidden_size))
        elif not is_batched:
            hx = hx.unsqueeze(0)
        result = getattr(_VF, name)(input, hx, *self._weights())
        return result if is_batched else result.squeeze(0)

    def _weights(self) -> tuple:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


class RNNCell(RNNCellBase):
    """One step of `RNN`."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"rnn_{self.nonlinearity}_cell", input, hx)


class GRUCell(RNNCellBase):
    """One step of `GRU`."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._step("gru_cell", input, hx)


class LSTMCell(RNNCellBase):
    """One step of `LSTM`."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple:
        self._check_rank(input, "input")
        for i, state in enumerate(() if hx is None else hx):
            self._check_rank(state, f"hx[{i}]")
        if isinstance(hx, Tensor):
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
        is_batched = input.dim() == 2
        input = input if is_batched else input.unsqueeze(0)
        if hx is None:
            zeros = input.detach().new_zeros((input.size(0), self.hidden_size))
            hx = (zeros, zeros)
        elif not is_batched:
            hx = tuple(state.unsqueeze(0) for state in hx)
        result = _VF.lstm_cell(input, hx, *self._weights())
        return tuple(result) if is_batched else tuple(state.squeeze(0) for state in result)
