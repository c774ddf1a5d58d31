"""`torch.autograd`: running backward, and what surrounds it."""

import importlib.util
import warnings
from collections.abc import Callable, Sequence
from operator import index as as_index
from typing import Any

import numpy as np

from refgrad import dtypes, engine, modes
from refgrad.autograd import function, grad_mode, graph
from refgrad.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from refgrad.autograd.function import Function
from refgrad.autograd.grad_mode import (
    _force_original_view_tracking,  # noqa: F401
    enable_grad,
    inference_mode,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from refgrad.autograd.gradcheck import gradcheck, gradgradcheck
from refgrad.autograd.graph import GradientEdge
from refgrad.autograd.graph import (
    unsafe_preserve_version_counter as _unsafe_preserve_version_counter,  # noqa: F401
)
from refgrad.autograd.variable import Variable
from refgrad.edges import edge_of
from refgrad.layout import Size
from refgrad.saved import RawSaved as SavedTensor
from refgrad.tensor import Tensor, is_wrapper, wrap

__all__ = [
    "Function",
    "GradientEdge",
    "SavedTensor",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

IN_TRANSFORM = (
    "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
    "functorch.vjp instead or call backward() outside of functorch transforms."
)
UNUSED = "appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior."

_SUBMODULES = frozenset(["_functions", "forward_ad", "functional"])


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES and importlib.util.find_spec(f"refgrad.autograd.{name}") is not None:
        return importlib.import_module(f"refgrad.autograd.{name}")
    if name == "torch":  # as in every module that begins with `import torch`
        return importlib.import_module("refgrad")
    raise AttributeError(f"module 'torch.autograd' has no attribute '{name}'")


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulate the gradients of `tensors` into the leaves they came from, or into `inputs`.

    Source: `torch.autograd.backward` in PyTorch's docs.

    Raises:
        RuntimeError: a root does not require grad, a gradient is missing or does not fit, a saved tensor was
            freed or written since, or a formula fails; leaves that were reached before keep what they got.
    """
    if modes.state.transforms:
        raise RuntimeError(IN_TRANSFORM)
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                "Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if (
        inputs is None
        and grad_tensors.__class__ is Tensor
        and tensors.__class__ is Tensor
        and not create_graph
    ):
        # The common call, without the detours.
        check_root_gradient(grad_tensors, tensors._array.shape, tensors.dtype, lambda: (0, 0))
        engine.execute(root_edges((tensors,)), [grad_tensors], flag(retain_graph or False), False)
        return
    chosen = listed(inputs) if inputs is not None else None
    if chosen is not None and len(chosen) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)
    gradients = root_gradients(roots, as_gradients(grad_tensors, len(roots)), False)
    create = flag(create_graph)
    keep = create if retain_graph is None else flag(retain_graph)
    edges = root_edges(roots)
    targets = []
    for target in chosen or ():
        check_input(target)
        if isinstance(target, GradientEdge):
            targets.append(target.edge)
            continue
        target.retain_grad()
        targets.append(edge_of(target))
    engine.execute(edges, gradients, keep, create, targets)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of `outputs` with respect to `inputs`, a tuple (a dict for a dict); `.grad` stays as it
    is.

    Source: `torch.autograd.grad` in PyTorch's docs.

    Raises:
        RuntimeError: as `backward`; or an input was not reached and `allow_unused` is not set.
        ValueError: `materialize_grads` contradicts `allow_unused`.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            f"but got: allow_unused={allow_unused}."
        )
    if isinstance(inputs, dict) and type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `grad()` must be a dict, not {type(inputs).__name__}. Other Mapping types "
            "are not supported."
        )
    roots = (outputs,) if isinstance(outputs, (Tensor, GradientEdge)) else tuple(outputs)
    chosen = listed(inputs)
    if not chosen:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    gradients = root_gradients(roots, as_gradients(grad_outputs, len(roots)), is_grads_batched)
    create = flag(create_graph)
    keep = create if retain_graph is None else flag(retain_graph)

    def run(gradients: list, keep: bool) -> list:
        edges, targets = root_edges(roots), [input_edge(each) for each in chosen]
        batched = any(map(is_wrapper, gradients))
        return engine.execute(edges, gradients, keep, create, targets, False, batched)

    if is_grads_batched:  # by `vmap`, which stands on autograd
        internals = importlib.import_module("refgrad._vmap_internals")
        results = internals.run_batched(lambda some: run(some, keep), gradients)
    else:
        results = run(gradients, keep)
    allowed = materialize_grads if allow_unused is None else allow_unused
    for index, (result, target) in enumerate(zip(results, chosen, strict=True)):
        if result is None and not allowed:
            raise RuntimeError(f"The differentiated Tensor at index {index} {UNUSED}")
        if result is None and materialize_grads:
            if isinstance(target, GradientEdge):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
            results[index] = target.new_zeros(target.shape).requires_grad_(create)
    return dict(zip(inputs, results, strict=True)) if isinstance(inputs, dict) else tuple(results)


def listed(inputs: Any) -> tuple:
    """The inputs as a tuple, whatever they came in."""
    if isinstance(inputs, (Tensor, GradientEdge)):
        return (inputs,)
    return tuple(inputs.values()) if isinstance(inputs, dict) else tuple(inputs)


def flag(value: Any) -> bool:
    """A flag that is read as an integer.

    Raises:
        TypeError: it is none.
    """
    if not hasattr(value, "__index__"):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    return bool(value)


def as_gradients(gradients: Any, count: int) -> list:
    """The gradients as a list, None for those that are missing."""
    if gradients is None:
        return [None] * count
    return [gradients] if isinstance(gradients, Tensor) else list(gradients)


def root_shape(root: Any) -> tuple[tuple, dtypes.DType]:
    """Shape and dtype of a root."""
    if isinstance(root, GradientEdge):
        metadata = root.node._input_metadata[root.output_nr]
        return tuple(metadata.shape), metadata.dtype
    return root._array.shape, root.dtype


def _calculate_shape(output: Any, grad: Tensor, is_grads_batched: bool) -> tuple[Size, Size]:
    """The shape of a root, and that of the gradients given for it, less the dimension of the batch.

    Raises:
        RuntimeError: a batch is given for an edge.
    """
    if is_grads_batched and isinstance(output, GradientEdge):
        raise RuntimeError("Batched grads are not supported with GradientEdge")
    return Size(root_shape(output)[0]), Size(grad.shape[1:] if is_grads_batched else grad.shape)


def root_gradients(roots: Sequence, gradients: list, batched: bool) -> list:
    """The gradients to start with: what was given, checked, or ones for scalars.

    Raises:
        RuntimeError: a gradient has the wrong shape or kind, or is missing for a root that is no real scalar.
        TypeError: one is neither tensor nor None.
    """
    found: list[Tensor | None] = []
    for root, gradient in zip(roots, gradients, strict=False):
        if not isinstance(root, (Tensor, GradientEdge)):
            raise AssertionError("Expected output to be a torch.Tensor")
        shape, dtype = root_shape(root)
        if isinstance(gradient, Tensor):
            sample = gradient[0] if batched else gradient
            if batched and sample.shape != shape:
                refuse_batch(root, sample, gradients.index(gradient), roots.index(root))
            check_root_gradient(
                sample, shape, dtype, lambda at=(gradient, root): (gradients.index(at[0]), roots.index(at[1]))
            )
            found.append(gradient)
        elif gradient is not None:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
        elif isinstance(root, Tensor) and not root.requires_grad:
            found.append(None)
        else:
            found.append(ones_for(shape, dtype))
    if len(roots) > len(gradients):
        raise RuntimeError(f"got {len(roots)} tensors and {len(gradients)} gradients")
    return found


def refuse_batch(root: Any, sample: Tensor, at_gradient: int, at_root: int) -> None:
    """Refuse a batch of gradients whose samples do not fit their root.

    Raises:
        RuntimeError: in any case.
    """
    # PyTorch shows the shape that is left when a dimension of the sample, too, is taken for a batch.
    expected, given = _calculate_shape(root, sample, True)
    raise RuntimeError(
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
        "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
        f"output, but a mismatch was detected: grad_output[{at_gradient}] has a shape of "
        f"{given} and output[{at_root}] has a shape of {expected}. If you only want "
        "some tensors in `grad_output` to be considered batched, consider using vmap."
    )


def check_root_gradient(gradient: Tensor, shape: tuple, dtype: dtypes.DType, places: Callable) -> None:
    """Refuse a gradient that does not fit its root; `places` finds the two in the caller's lists.

    Raises:
        RuntimeError: another shape, or complex against real.
    """
    own = gradient.dtype
    if gradient._array.shape != shape:
        first, second = places()
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{first}] has a shape of {Size(gradient._array.shape)} and "
            f"output[{second}] has a shape of {Size(shape)}."
        )
    if own is not dtype and (own.category == dtypes.COMPLEX) != (dtype.category == dtypes.COMPLEX):
        first, second = places()
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{first}] has a dtype of {own} and output[{second}] has a "
            f"dtype of {dtype}."
        )


def ones_for(shape: tuple, dtype: dtypes.DType) -> Tensor:
    """The implicit gradient of a scalar root.

    Raises:
        RuntimeError: the root has not exactly one element, or is not real.
    """
    if Size(shape).numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not dtype.is_floating_point:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
    return wrap(np.ones(shape, dtype.numpy))


def root_edges(roots: Sequence) -> list:
    """The edges to start from.

    Raises:
        RuntimeError: a root does not require grad.
    """
    edges = []
    for index, root in enumerate(roots):
        edge = root.edge if isinstance(root, GradientEdge) else edge_of(root)
        if edge is None or edge.__class__ is tuple and edge[0] is None:
            raise RuntimeError(
                f"element {index} of tensors does not require grad and does not have a grad_fn"
            )
        edges.append(edge)
    return edges


def check_input(target: Any) -> None:
    """Refuse an input that is neither tensor nor edge.

    Raises:
        RuntimeError: it is neither, or an edge to what is no node.
        TypeError: it is an edge with a number that is none.
    """
    if isinstance(target, GradientEdge):
        as_index(target.output_nr)
        if not isinstance(target.node, graph.Node):
            raise RuntimeError(
                "GradientEdge's first object must be an autograd.graph.Node but got "
                f"{type(target.node).__name__}"
            )
    elif not isinstance(target, Tensor):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(target).__name__}")


def input_edge(target: Any) -> Any:
    """The edge at which an input's gradient is captured.

    Raises:
        RuntimeError: it is neither tensor nor edge, or does not require grad.
    """
    check_input(target)
    if isinstance(target, GradientEdge):
        return target.edge
    edge = edge_of(target)
    if edge is None or edge.__class__ is tuple and edge[0] is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return edge


def kineto_available() -> bool:
    """Whether the profiler that PyTorch is built with is there: never here."""
    return False


def _get_sequence_nr() -> int:
    """The sequence number that the next node will get."""
    return modes.peek_sequence()


def backward_of_tensor(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Accumulate this tensor's gradients into the leaves it came from; see `torch.autograd.backward`."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


backward_of_tensor.__name__, backward_of_tensor.__qualname__ = "backward", "Tensor.backward"
Tensor.backward = backward_of_tensor
