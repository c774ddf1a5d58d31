"""Checking what a node returned: each gradient is brought to the shape and type its receiver recorded."""

import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from refgrad import dtypes, errors, modes
from refgrad.graph import AccumulateGrad, Node
from refgrad.layout import broadcast_shapes, expands_to, widened
from refgrad.tensor import SAME_DTYPE, Tensor, wrap

ndarray = np.ndarray
PACKAGE = __name__.partition(".")[0]
MISFIT = "operands could not be broadcast together with shapes"
"""How NumPy's refusal begins."""


# Note [Undefined gradients]
# None stands for a gradient that nobody made. It adds nothing to a sum, and a node that got nothing else runs
# all the same, as do its hooks, which see None: formulas give None for every input, a custom Function is
# given zeros unless it asked not to be. A leaf that only None reached keeps `.grad` as it was.

# Note [The gradient of a real tensor is real]
# A gradient is brought to what its receiver's forward was: summed to its shape, cast to its dtype. Of a
# complex gradient for a real tensor only the real part goes on.


def validated(edges: Sequence[Any], results: Any, node: Any) -> list:
    """The gradients as tensors of the shape and type that each receiver recorded: summed, cast, and wrapped.

    Raises:
        RuntimeError: a gradient cannot be brought to its receiver's shape or type.
    """
    gradients = list(results)
    for i, target in enumerate(edges):
        gradient = gradients[i]
        if gradient is not None:
            if target.__class__ is tuple:
                gradients[i] = fitted_later(gradient, target, node, i)
            elif target is None:
                if gradient.__class__ is ndarray:
                    gradients[i] = None  # a custom Function's stays: its hooks see it
            elif gradient.__class__ is ndarray:
                gradients[i] = fitted_array(gradient, target, 0, node, i)
            else:
                array = gradient._array
                if array.shape != target._output_shape or array.dtype is not target._output_dtype:
                    gradients[i] = fitted(gradient, target, 0, node, i)
    return gradients


def wrapped(results: Any) -> list:
    """What a formula gave, as tensors."""
    return [wrap(result) if result.__class__ is ndarray else result for result in results]


def fitted_later(gradient: Any, edge: tuple, node: Any, index: int) -> Tensor | None:
    """A gradient for one of several outputs, or for nowhere, brought to its receiver's shape and type."""
    target, number = edge
    if target is None:  # a custom Function's stays: its hooks see it; other nodes do not compute it
        return gradient if not isinstance(node, Node) or node.IS_FUNCTION else None
    if gradient.__class__ is ndarray:
        return fitted_array(gradient, target, number, node, index)
    return fitted(gradient, target, number, node, index)


def fitted_array(gradient: np.ndarray, target: Node, number: int, node: Any, index: int) -> Tensor:
    """A raw gradient brought to its receiver's shape and type, as a tensor."""
    shape, dtype = target.forward_outputs[number]
    if gradient.shape != shape or gradient.dtype.kind == "c" != dtype.kind:
        if gradient.ndim != len(shape) or gradient.dtype.kind == "c" != dtype.kind:
            return fitted(wrap(gradient), target, number, node, index)
        axes = tuple([i for i, n in enumerate(shape) if n == 1 != gradient.shape[i]])
        given, gradient = gradient, widened(gradient).sum(axis=axes, keepdims=True)
        if gradient.shape != shape:
            return fitted(wrap(given), target, number, node, index)  # which refuses it
    if gradient.dtype is not dtype:
        gradient = gradient.astype(dtype)
    return wrap(gradient)


def fitted(gradient: Tensor, target: Node, number: int, node: Any, index: int) -> Tensor:
    """A gradient brought to its receiver's shape and type by differentiable steps."""
    shape, numpy_dtype = target.forward_outputs[number]
    dtype = dtypes.OF_NUMPY[numpy_dtype]
    if gradient.dtype.category == dtypes.COMPLEX != dtype.category and not keeps_type(target):
        if not isinstance(node, Node) or node.IS_FUNCTION:
            raise RuntimeError(complex_mismatch())
        gradient = gradient.real
    got = gradient._array.shape
    if got != shape:
        if not expands_to(shape, got):
            raise RuntimeError(
                f"{returner(node)}invalid gradient at index {index} - got {list(got)} but "
                f"expected shape compatible with {list(shape)}"
            )
        gradient = gradient.sum_to_size(shape)
    if gradient.dtype is not dtype:
        if keeps_type(target):
            return gradient
        if gradient.dtype.category < dtypes.FLOATING and dtype.category == dtypes.COMPLEX:
            raise RuntimeError(complex_mismatch())
        if gradient.dtype is not dtype:
            gradient = gradient.to(dtype)
    return gradient


def keeps_type(node: Node) -> bool:
    """Whether this is a leaf whose `grad_dtype` overrides its own dtype."""
    return type(node) is AccumulateGrad and node.variable._meta.grad_dtype is not SAME_DTYPE


def complex_mismatch() -> str:
    """The text for a gradient whose kind of number does not fit its receiver's."""
    return errors.expected_true("isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex)")


def returner(node: Any) -> str:
    """How an error begins that names who returned a gradient; nobody did if it was given to the run."""
    return f"Function {node.name()} returned an " if isinstance(node, Node) else ""


NO_FORWARD = (
    "Error detected in {}. No forward pass information available. Enable detect anomaly during forward pass "
    "for more information."
)


def check_nan(node: Node, gradients: list) -> None:
    """In anomaly mode, search what a node returned for NaN.

    Raises:
        RuntimeError: a gradient is NaN.
    """
    rare = modes.state.rare
    if rare.anomaly and rare.check_nan:
        for i, gradient in enumerate(gradients):
            if gradient is not None and np.isnan(gradient._array).any():
                raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def report_anomaly(node: Node) -> None:
    """Anomaly mode: say which node failed, where the forward made it, and what induced that."""
    metadata = {} if node._node_hooks is None else node._node_hooks.metadata
    name = node.name()
    if "traceback_" not in metadata:
        tell(NO_FORWARD.format(name))
        return
    stack = "".join(metadata["traceback_"])
    text = f"Error detected in {name}. Traceback of forward call that caused the error:\n{stack}"
    tell(text)
    while (parent := metadata.get("parent_")) is not None:
        metadata = {} if parent._node_hooks is None else parent._node_hooks.metadata
        if "traceback_" not in metadata:
            tell(NO_FORWARD.format(parent.name()))
            return
        stack = "".join(metadata.get("traceback_", ()))
        tell(
            f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call that "
            f"induced the previous calculation:\n{stack}"
        )


def tell(text: str) -> None:
    """Warn about an error that is under way, and let it go on where warnings are errors."""
    try:
        warnings.warn(text, UserWarning, stacklevel=5)
    except UserWarning as raised:
        print(f"UserWarning: {raised}", file=sys.stderr)


def shapes_refused(error: ValueError) -> Exception:
    """PyTorch's refusal in place of NumPy's where a formula's arrays do not broadcast, else the error itself.

    That happens where a saved tensor was given other memory through `.data`, which no version tells.
    """
    trace: Any = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        given = re.findall(r"\(([\d,]*)\)", str(error))
        shapes = [tuple(map(int, re.findall(r"\d+", sizes))) for sizes in given]
        try:
            broadcast_shapes(*shapes[:2])
        except RuntimeError as refusal:
            return refusal.with_traceback(None)
    return error
