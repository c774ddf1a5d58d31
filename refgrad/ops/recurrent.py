"""Recurrent layers of plain ops, and the one op that PyTorch has for a layer of LSTM in single precision.

*Hidden*: what a cell hands on to its next step: one tensor, or for LSTM the pair (h, c). *Projected input*:
the input times its weight, for all steps at once. *Direction*: forwards, or backwards from the last step.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from refgrad import modes
from refgrad.modes import warn_once
from refgrad.op import calls, composite, op

EMPTY = "Expected sequence length to be larger than 0 in RNN"


class Weights(NamedTuple):
    """The parameters of one direction of a layer; biases and projection may be None."""

    input: Any
    hidden: Any
    input_bias: Any = None
    hidden_bias: Any = None
    projection: Any = None

    def of_input(self, input: Any) -> Any:
        """The projected input."""
        return calls.linear(input, self.input, self.input_bias)

    def of_hidden(self, hidden: Any) -> Any:
        """The hidden state times its weight."""
        return calls.linear(hidden, self.hidden, self.hidden_bias)


def weights_of(params: list, has_biases: bool, is_projected: bool) -> list[Weights]:
    """The flat list of parameters, by layer and direction."""
    count = 2 + 2 * has_biases + is_projected
    found = []
    for start in range(0, len(params), count):
        part = list(params[start : start + count])
        projection = part.pop() if is_projected else None
        part += [None] * (4 - len(part))
        found.append(Weights(part[0], part[1], part[2], part[3], projection))
    return found


# Cells: from the projected input and the hidden state to the next hidden state


def tanh_step(projected: Any, hidden: Any, weights: Weights) -> Any:
    """One step of a plain cell."""
    return weights.of_hidden(hidden).add_(projected).tanh()


def relu_step(projected: Any, hidden: Any, weights: Weights) -> Any:
    """One step of a plain cell with rectified units."""
    return weights.of_hidden(hidden).add_(projected).relu()


def lstm_step(projected: Any, hidden: tuple, weights: Weights) -> tuple:
    """One step of LSTM."""
    gates = weights.of_hidden(hidden[0]).add_(projected)
    enter, keep, new, leave = calls.unsafe_chunk(gates, 4, 1)
    enter, keep, new, leave = enter.sigmoid_(), keep.sigmoid_(), new.tanh_(), leave.sigmoid_()
    cell = (keep * hidden[1]).add_(enter * new)
    result = leave * cell.tanh()
    if weights.projection is not None:
        result = calls.linear(result, weights.projection, None)
    return result, cell


def gru_step(projected: Any, hidden: Any, weights: Weights) -> Any:
    """One step of GRU."""
    from_input = calls.unsafe_chunk(projected, 3, 1)
    from_hidden = calls.unsafe_chunk(weights.of_hidden(hidden), 3, 1)
    reset = from_hidden[0].add_(from_input[0]).sigmoid_()
    keep = from_hidden[1].add_(from_input[1]).sigmoid_()
    new = from_input[2].add(from_hidden[2].mul_(reset)).tanh_()
    return (hidden - new).mul_(keep).add_(new)


# Layers


def output_of(hidden: Any) -> Any:
    """What a step gives out."""
    return hidden[0] if isinstance(hidden, tuple) else hidden


def direction(step: Callable, input: Any, hidden: Any, weights: Weights, backwards: bool) -> tuple:
    """All outputs, stacked, and the last hidden state.

    Raises:
        RuntimeError: there are no steps.
    """
    steps = list(calls.unbind(weights.of_input(input), 0)) if input._array.shape[0] else []
    if not steps:
        raise RuntimeError(EMPTY)
    outputs = []
    for projected in reversed(steps) if backwards else steps:
        hidden = step(projected, hidden, weights)
        outputs.append(output_of(hidden))
    return calls.stack(outputs[::-1] if backwards else outputs, 0), hidden


def stacked_layers(
    run: Callable,
    input: Any,
    hidden: list,
    weights: list,
    dropout: float,
    train: bool,
    two_ways: bool,
    last_dim: int = 2,
) -> tuple[Any, list]:
    """One layer after the other; `run(input, hidden, weights, backwards)` runs a direction of one."""
    ends = []
    ways = 2 if two_ways else 1
    layers = len(weights) // ways
    for layer in range(layers):
        outputs = []
        for way in range(ways):
            place = layer * ways + way
            output, end = run(input, hidden[place], weights[place], way == 1)
            outputs.append(output)
            ends.append(end)
        input = calls.cat(outputs, last_dim) if two_ways else outputs[0]
        if dropout != 0 and train and layer < layers - 1:
            input = calls.dropout(input, dropout, True)
    return input, ends


def declare_layers(name: str, step: Callable) -> None:
    """Declare the layers of a cell with one hidden tensor."""

    @composite(
        f"{name}.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
        "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"
    )
    def layers(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
        weights = weights_of(params, has_biases, False)
        run = functools.partial(direction, step)
        input = input.transpose(0, 1) if batch_first else input
        hidden = list(calls.unbind(hx, 0))
        output, ends = stacked_layers(run, input, hidden, weights, dropout, train, bidirectional)
        if batch_first:
            output = output.transpose_(0, 1)
        return output, calls.stack(ends, 0)


declare_layers("rnn_tanh", tanh_step)
declare_layers("rnn_relu", relu_step)
declare_layers("gru", gru_step)


@composite(
    "lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
    "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)"
)
def lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    if len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    is_projected = hx[0]._array.shape[2] != hx[1]._array.shape[2]
    weights = weights_of(params, has_biases, is_projected)
    tensors = (input, *hx, *params)
    is_single = all(tensor._array.dtype == np.float32 for tensor in tensors) and input._array.size
    if is_single and is_projected:
        warn_once("LSTM with projections is not supported with oneDNN. Using default implementation.")
    input = input.transpose(0, 1) if batch_first else input
    if is_single and not is_projected:
        input, h, c = (calls.contiguous(tensor) for tensor in (input, *hx))
        hidden = [(h[place], c[place]) for place in range(len(weights))]

        run: Callable = functools.partial(one_op, (num_layers, bidirectional, batch_first, train))
    else:
        hidden = list(zip(calls.unbind(hx[0], 0), calls.unbind(hx[1], 0), strict=True))

        run = functools.partial(direction, lstm_step)

    last_dim = -1 if is_single and not is_projected else 2
    output, ends = stacked_layers(run, input, hidden, weights, dropout, train, bidirectional, last_dim)
    output = output.transpose(0, 1) if batch_first else output
    return output, calls.stack([h for h, _ in ends], 0), calls.stack([c for _, c in ends], 0)


# Cells as functions


def check_cell(input: Any, hidden: Any, weights: Weights, gates: int = 0) -> None:
    """Refuse shapes that do not fit.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    shape, size = input._array.shape, hidden._array.shape
    rows = weights.input._array.shape
    if gates and rows[0] != gates * size[1]:
        raise RuntimeError(
            f"weight_ih first dim must be {gates} * hidden_size = {gates * size[1]}, but got {rows[0]}"
        )
    if shape[1] != rows[1]:
        raise RuntimeError(f"input has inconsistent input_size: got {shape[1]} expected {rows[1]}")
    if shape[0] != size[0]:
        raise RuntimeError(f"Input batch size {shape[0]} doesn't match hidden0 batch size {size[0]}")
    if size[1] != weights.hidden._array.shape[1]:
        expected = weights.hidden._array.shape[1]
        raise RuntimeError(f"hidden0 has inconsistent hidden_size: got {size[1]}, expected {expected}")


def declare_cell(name: str, step: Callable) -> None:
    """Declare one step of a cell as a function."""

    @composite(
        f"{name}(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) "
        "-> Tensor"
    )
    def cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        weights = Weights(w_ih, w_hh, b_ih, b_hh)
        check_cell(input, hx, weights)
        return step(weights.of_input(input), hx, weights)


declare_cell("rnn_tanh_cell", tanh_step)
declare_cell("rnn_relu_cell", relu_step)
declare_cell("gru_cell", gru_step)


@composite(
    "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) "
    "-> (Tensor, Tensor)"
)
def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    weights = Weights(w_ih, w_hh, b_ih, b_hh)
    check_cell(input, hx[0], weights, 4)
    return lstm_step(weights.of_input(input), tuple(hx), weights)


# One op for a layer of LSTM


def one_op(options: tuple, input: Any, hidden: tuple, weights: Weights, backwards: bool) -> tuple:
    """A direction of a layer, by the one op."""
    num_layers, bidirectional, batch_first, train = options
    has_biases = weights.input_bias is not None
    biases: Any = weights[2:4]
    if not has_biases:  # PyTorch hands in zeros of the weight's shape
        biases = [weights.input.new_zeros(weights.input._array.shape) for _ in range(2)]
    size = weights.hidden._array.shape[1]
    output, h, c, _ = calls.mkldnn_rnn_layer(
        input,
        weights.input,
        weights.hidden,
        *biases,
        *hidden,
        backwards,
        (),
        2,
        size,
        num_layers,
        has_biases,
        bidirectional,
        batch_first,
        train,
    )
    return output, (h, c)


def sigmoid(array: np.ndarray) -> np.ndarray:
    """The logistic function."""
    return 1 / (1 + np.exp(-array))


def gradients_of_layer(
    grads, input, weight0, weight1, weight2, weight3, hx_, cx_, result0, result3, reverse, has_biases, wanted
):
    """The gradients of a layer; with a graph of their own by way of plain ops."""
    inputs = (input, weight0, weight1, weight2, weight3, hx_, cx_)
    if modes.grad_enabled():
        return differentiable_gradients(grads, inputs, reverse, has_biases, wanted)
    grads = [grad if grad is None else grad._array for grad in grads[:3]]
    arrays = [tensor._array for tensor in inputs]
    found = backward_arrays(grads, arrays, result0._array, result3._array, reverse, has_biases)
    from refgrad.tensor import wrap

    return [wrap(array) if asked else None for array, asked in zip(found, wanted, strict=True)]


def steps_of(inputs: tuple, reverse: bool) -> list[tuple]:
    """The steps of a layer, run by plain ops: place, hidden state before, gates and cell."""
    input, weight0, weight1, weight2, weight3, h, c = inputs
    count = input._array.shape[0]
    steps = []
    for t in range(count - 1, -1, -1) if reverse else range(count):
        projected = calls.linear(input.select(0, t), weight0, weight2)
        enter, keep, new, leave = calls.unsafe_chunk(projected + calls.linear(h, weight1, weight3), 4, 1)
        gates = (enter.sigmoid(), keep.sigmoid(), new.tanh(), leave.sigmoid())
        before, c = (h, c), gates[1] * c + gates[0] * gates[2]
        h = gates[3] * c.tanh()
        steps.append((t, before, gates, c))
    return steps


def differentiable_gradients(grads, inputs, reverse, has_biases, wanted):
    """The gradients with a graph of their own: the layer is run again, and back, by plain ops."""
    input, weight0, weight1, *biases, h, c = inputs
    count, one = input._array.shape[0], input.new_ones(())
    if not has_biases:
        biases = [weight0.new_zeros(weight0._array.shape[:1])] * 2
    steps = steps_of((input, weight0, weight1, *biases, h, c), reverse)
    shape = (count, *h._array.shape)
    grad_output, dh, dc = (
        h.new_zeros(size) if grad is None else grad
        for grad, size in zip(grads, (shape, shape[1:], shape[1:]))
    )
    lines: list = [None] * count
    sums: list = [None, None, None]  # the gradients of the weights and of a bias
    for t, (h_before, c_before), (enter, keep, new, leave), c in reversed(steps):
        dh = grad_output.select(0, t) + dh
        dc = dc + dh * leave * calls.sub(one, c.tanh() * c.tanh())
        slopes = calls.cat(
            [
                dc * new * enter * calls.sub(one, enter),
                dc * c_before * keep * calls.sub(one, keep),
                dc * enter * calls.sub(one, new * new),
                dh * c.tanh() * leave * calls.sub(one, leave),
            ],
            1,
        )
        dh, dc = calls.mm(slopes, weight1), dc * keep
        lines[t] = calls.mm(slopes, weight0).unsqueeze(0)
        parts = [calls.mm(slopes.transpose(0, 1), operand) for operand in (input.select(0, t), h_before)]
        parts.append(slopes.sum(0))
        sums = [part if whole is None else whole.add_(part) for whole, part in zip(sums, parts, strict=True)]
    found = [calls.cat(lines, 0), sums[0], sums[1], sums[2], sums[2], dh, dc]
    return [gradient if asked else None for gradient, asked in zip(found, wanted, strict=True)]


@op(
    "mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, "
    "Tensor hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, int hidden_size, int num_layers, "
    "bool has_biases, bool bidirectional, bool batch_first, bool train) -> (Tensor, Tensor, Tensor, Tensor)",
    node="MkldnnRnnLayerBackward0",
    nondifferentiable=(3,),
    jointly=(
        "input, weight0, weight1, weight2, weight3, hx_, cx_",
        lambda grads, input, weight0, weight1, weight2, weight3, hx_, cx_, result0, result1, result2, result3, reverse, batch_sizes, mode, hidden_size, num_layers, has_biases, bidirectional, batch_first, train, needs_input_grad: (  # noqa: E501 - all that PyTorch saves
            gradients_of_layer(
                grads,
                input,
                weight0,
                weight1,
                weight2,
                weight3,
                hx_,
                cx_,
                result0,
                result3,
                reverse,
                has_biases,
                needs_input_grad,
            )
        ),
    ),
)
def mkldnn_rnn_layer(
    input,
    weight0,
    weight1,
    weight2,
    weight3,
    hx_,
    cx_,
    reverse,
    batch_sizes,
    mode,
    hidden_size,
    num_layers,
    has_biases,
    bidirectional,
    batch_first,
    train,
):
    steps, batch = input.shape[:2]
    projected = np.matmul(input, weight0.T)
    if has_biases:
        projected += weight2 + weight3
    # What the backward needs again, as bytes: the four gates and the cell of each step.
    kept = np.empty((5, steps, batch, hidden_size), np.float32)
    output = np.empty((steps, batch, hidden_size), np.float32)
    h, c = hx_, cx_
    for t in range(steps - 1, -1, -1) if reverse else range(steps):
        gates = projected[t] + np.matmul(h, weight1.T)
        enter, keep, new, leave = np.split(gates, 4, axis=-1)
        enter, keep, new, leave = sigmoid(enter), sigmoid(keep), np.tanh(new), sigmoid(leave)
        c = keep * c + enter * new
        h = leave * np.tanh(c)
        kept[:, t] = enter, keep, new, leave, c
        output[t] = h
    return output, np.array(h, order="C"), np.array(c, order="C"), kept.reshape(-1).view(np.uint8)


def backward_arrays(grads, inputs, output, workspace, reverse, has_biases) -> list[np.ndarray]:
    """The gradients of a layer, step by step from its last one."""
    input, weight0, weight1, weight2, weight3, hx_, cx_ = inputs
    kept = workspace.view(np.float32).reshape(5, *output.shape)
    steps = range(output.shape[0]) if reverse else range(output.shape[0] - 1, -1, -1)
    first, before = (output.shape[0] - 1, 1) if reverse else (0, -1)
    grad_output, grad_h, grad_c = grads
    dh = np.zeros_like(hx_) if grad_h is None else grad_h
    dc = np.zeros_like(cx_) if grad_c is None else grad_c
    slopes = np.empty((*output.shape[:2], weight0.shape[0]), np.float32)
    earlier = np.empty_like(output)
    for t in steps:
        enter, keep, new, leave, c = kept[:, t]
        earlier[t] = hx_ if t == first else output[t + before]
        c_before = cx_ if t == first else kept[4, t + before]
        dh = dh if grad_output is None else dh + grad_output[t]
        level = np.tanh(c)
        dc = dc + dh * leave * (1 - level * level)
        parts = (
            dc * new * enter * (1 - enter),
            dc * c_before * keep * (1 - keep),
            dc * enter * (1 - new * new),
            dh * level * leave * (1 - leave),
        )
        slopes[t] = np.concatenate(parts, axis=-1)
        dc = dc * keep
        dh = np.matmul(slopes[t], weight1)
    flat = slopes.reshape(-1, slopes.shape[-1])
    d_input = np.matmul(slopes, weight0)
    d_weight0 = np.matmul(flat.T, input.reshape(-1, input.shape[-1]))
    d_weight1 = np.matmul(flat.T, earlier.reshape(-1, earlier.shape[-1]))
    bias = flat.sum(0)
    biases = [bias, bias.copy()] if has_biases else [np.zeros_like(weight2), np.zeros_like(weight3)]
    return [d_input, d_weight0, d_weight1, *biases, dh, dc]
