"""Recurrent layers over packed sequences: at each step only the sequences that are still running."""

import functools
from collections.abc import Callable
from typing import Any

from refgrad.op import calls, composite
from refgrad.ops.recurrent import (
    gru_step,
    lstm_step,
    output_of,
    relu_step,
    stacked_layers,
    tanh_step,
    weights_of,
)


def sliced(hidden: Any, start: int, end: int) -> Any:
    """The hidden state of some of the sequences."""
    if isinstance(hidden, tuple):
        return tuple(sliced(part, start, end) for part in hidden)
    return calls.narrow(hidden, 0, start, end - start)


def joined(states: list) -> Any:
    """Hidden states of several groups of sequences as one."""
    if isinstance(states[0], tuple):
        return tuple(joined(list(parts)) for parts in zip(*states, strict=True))
    return calls.cat(states, 0)


def forwards(step: Callable, sizes: list, input: Any, hidden: Any, weights: Any) -> tuple:
    """All outputs and last hidden states: sequences that have ended leave from behind."""
    projected = weights.of_input(input)
    outputs, ended, start, running = [], [], 0, sizes[0]
    for size in sizes:
        part = calls.narrow(projected, 0, start, size)
        start += size
        if size < running:
            ended.append(sliced(hidden, size, running))
            hidden = sliced(hidden, 0, size)
        running = size
        hidden = step(part, hidden, weights)
        outputs.append(output_of(hidden))
    return calls.cat(outputs, 0), joined([hidden, *ended[::-1]])


def backwards(step: Callable, sizes: list, input: Any, hidden: Any, weights: Any) -> tuple:
    """The same from the last step on: sequences join in where they end."""
    projected = weights.of_input(input)
    outputs, end, running = [], input._array.shape[0], sizes[-1]
    first, hidden = hidden, sliced(hidden, 0, sizes[-1])
    for size in reversed(sizes):
        if size > running:
            hidden = joined([hidden, sliced(first, running, size)])
        part = calls.narrow(projected, 0, end - size, size)
        end -= size
        running = size
        hidden = step(part, hidden, weights)
        outputs.append(output_of(hidden))
    return calls.cat(outputs[::-1], 0), hidden


def direction(
    step: Callable, sizes: list, input: Any, hidden: Any, weights: Any, is_backwards: bool
) -> tuple:
    """One direction of a layer."""
    return (backwards if is_backwards else forwards)(step, sizes, input, hidden, weights)


def declare(name: str, step: Callable) -> None:
    """Declare the layers of a cell with one hidden tensor."""

    @composite(
        f"{name}.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, "
        "int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)"
    )
    def layers(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
        run = functools.partial(direction, step, batch_sizes._array.tolist())
        weights = weights_of(params, has_biases, False)
        hidden = list(calls.unbind(hx, 0))
        output, ends = stacked_layers(run, data, hidden, weights, dropout, train, bidirectional, -1)
        return output, calls.stack(ends, 0)


declare("rnn_tanh", tanh_step)
declare("rnn_relu", relu_step)
declare("gru", gru_step)


@composite(
    "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, "
    "int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)"
)
def lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
    if len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    run = functools.partial(direction, lstm_step, batch_sizes._array.tolist())
    weights = weights_of(params, has_biases, hx[0]._array.shape[2] != hx[1]._array.shape[2])
    hidden = list(zip(calls.unbind(hx[0], 0), calls.unbind(hx[1], 0), strict=True))
    output, ends = stacked_layers(run, data, hidden, weights, dropout, train, bidirectional, -1)
    return output, calls.stack([h for h, _ in ends], 0), calls.stack([c for _, c in ends], 0)
