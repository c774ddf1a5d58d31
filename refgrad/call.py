"""What every op call needs, whatever the op: promotion, wrapping, the checks of a write, and the rare modes.

The functions that users call are generated (see compiler.py); they run straight through the common case and
come here for the rest. *Number*: a Python number as operand, a "wrapped number" in PyTorch's words.
"""

import os
import threading
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from refgrad import binding, dtypes, duals, errors, modes
from refgrad.graph import (
    FREED,
    SHOW_SAVED,
    AccumulateGrad,
    NotImplementedNode,
    Packed,
    make_edge,
    node_hooks,
    split_edge,
    start,
    version_error,
)
from refgrad.layout import (
    Layout,
    broadcast_shapes,
    cast,
    contiguous_strides,
    expands_to,
    is_dense,
    iterated_strides,
    lies_oddly,
    overlaps_itself,
    root_of,
    strides_of,
    window,
)
from refgrad.lazy import plain
from refgrad.samples import Batched
from refgrad.samples import edges_of as edges_of
from refgrad.samples import requires as requires
from refgrad.samples import stop_at_wrapper as stop_at_wrapper
from refgrad.storage import INFERENCE, count_write, version_of
from refgrad.tensor import REMEMBER, Tensor, wrap

PACKAGE = os.path.dirname(__file__)
NUMBERS = (int, float, complex, np.generic)


class WrappedInt(int):
    """A number inside a formula that users wrote as operand: not one of the formula's own."""

    def conj(self) -> "WrappedInt":
        """The number itself."""
        return self


class WrappedFloat(float):
    """A number inside a formula that users wrote as operand: not one of the formula's own."""

    def conj(self) -> "WrappedFloat":
        """The number itself."""
        return self


class WrappedComplex(complex):
    """A number inside a formula that users wrote as operand: not one of the formula's own."""

    def conj(self) -> "WrappedComplex":
        """Its conjugate."""
        return WrappedComplex(self.conjugate())


WRAPPED = {bool: WrappedInt, int: WrappedInt, float: WrappedFloat, complex: WrappedComplex}
WRAPPED |= {kind: kind for kind in (WrappedInt, WrappedFloat, WrappedComplex)}
NOT_PACKED = frozenset((*WRAPPED, Packed))  # what hooks on saved tensors pass over


def number_of(value: Any) -> Any:
    """A NumPy scalar as the Python number that it counts as."""
    return value.item() if isinstance(value, np.generic) else value


# Promotion --------------------------------------------------------------------------------------------------


def result_type(operands: Sequence[Any]) -> dtypes.DType:
    """The common type of tensors and numbers."""
    dimensioned: list[dtypes.DType] = []
    zero_dim: list[dtypes.DType] = []
    numbers = []
    for operand in operands:
        if isinstance(operand, Tensor):
            (dimensioned if operand._array.ndim else zero_dim).append(operand.dtype)
        else:
            numbers.append(operand)
    return dtypes.result_of(dimensioned, zero_dim, numbers)


def promoted(word: str, *operands: Any) -> list:
    """The operands as arrays (numbers as 0-dim arrays) of the type that an op with this promotion word
    computes in.

    `arithmetic`: the common type. `float`: the same, integers become the default floating type. `same`: no
        promotion.
    """
    if word == "same":
        return [operand._array if isinstance(operand, Tensor) else operand for operand in operands]
    common = result_type(operands)
    if word == "float" and common.category < dtypes.FLOATING:
        common = dtypes.default()
    target = common.numpy
    arrays = []
    for operand in operands:
        if isinstance(operand, Tensor):
            array = plain(operand._array)
            arrays.append(array if array.dtype is target else cast(array, target))
        else:
            arrays.append(np.asarray(number_of(operand)).astype(target))
    return arrays


def arranged(result: np.ndarray, *given: Any) -> np.ndarray:
    """The result of a pointwise op laid out as PyTorch does; None is no operand."""
    operands = [operand for operand in given if operand is not None]
    arrays = [operand for operand in operands if isinstance(operand, np.ndarray)]
    shape = result.shape
    if any(array.ndim > len(shape) for array in arrays):
        return result  # the op reduces what it computed
    strides = iterated_strides(shape, arrays)
    if len(arrays) == len(operands) and all(array.shape == shape for array in arrays):
        own = strides_of(arrays[0])
        if all(array.flags.c_contiguous for array in arrays):
            strides = contiguous_strides(shape)
        elif is_dense(shape, own) and all(strides_of(array) == own for array in arrays):
            strides = own
    if strides == strides_of(result):
        return result
    size = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True)) if result.size else 0
    moved = window(np.empty(size, result.dtype), result.dtype, Layout(shape, strides, 0))
    moved[...] = result
    return moved


def lie_apart(first: np.ndarray, gradient: np.ndarray) -> bool:
    """Whether NumPy may lay out a result of these two, whose strides differ, otherwise than PyTorch."""
    if not first.flags.c_contiguous or first.shape != gradient.shape or lies_oddly(first):
        return True
    return any(gradient.strides) and not gradient.flags.c_contiguous


def broadcast_failure(error: ValueError, *operands: Any) -> Exception:
    """PyTorch's refusal of shapes that do not broadcast; the given error where that is not the reason."""
    shapes = [operand._array.shape for operand in operands if isinstance(operand, Tensor)]
    try:
        for other in shapes[1:]:
            shapes[0] = broadcast_shapes(shapes[0], other)
    except RuntimeError as refusal:
        return refusal
    return error


# Saved tensors ----------------------------------------------------------------------------------------------


def unpack(node: Any, name: str, for_formula: bool = True) -> Any:
    """A saved tensor for use in a formula: checked, and made into a tensor when it is a saved result.

    Raises:
        RuntimeError: it was freed, written since, or detached in place.
    """
    value = getattr(node, "s_" + name)
    if value is None or type(value) in WRAPPED:
        return value
    if value is FREED:
        raise RuntimeError(errors.FREED)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Packed):
        return value.unpack(Tensor, node)
    if isinstance(value, tuple):
        return unpack_list(node, getattr(node, "v_" + name), value)
    saved = getattr(node, "v_" + name)
    if isinstance(value, Tensor) and name not in node.RESULTS:
        position = node.EDGES.get(name) if for_formula else None
        return check_saved(value, saved, None if position is None else node._next_edges[position])
    cell = getattr(node, "c_" + name)
    number = node.RESULTS[name]
    # What an in-place op on a view saved belongs to the view's node, above the written op's, while it lives.
    of_view = getattr(node, "w_" + name, None)
    view_node = None if of_view is None else of_view()
    if cell[0] != saved:
        shown, maker = at_result(value, None), node if view_node is None else view_node
        kind, shape = type_text(shown.dtype), shown._array.shape
        raise version_error(kind, shape, maker if number >= 0 else None, max(number, 0), cell[0], saved)
    tensor = at_result(value, cell)
    if number >= 0:
        tensor._edge = make_edge(node, number) if view_node is None else view_node
        if modes.DUALS:
            duals.restore_result(node, number, tensor)
    return tensor


def at_result(value: Any, cell: list | None) -> Tensor:
    """A tensor that shows what was saved of a result; of a batched one that was the tensor."""
    if isinstance(value, Tensor):
        return value.again()
    tensor = wrap(value)
    tensor._version_cell = cell
    return tensor


def unpack_list(node: Any, versions: Sequence, tensors: tuple) -> list:
    """A saved list of tensors, each checked, or unpacked by its hook."""
    found: list = []
    for tensor, version in zip(tensors, versions):
        if isinstance(tensor, Packed):
            found.append(tensor.unpack(Tensor, node))
        else:
            found.append(None if tensor is None else check_saved(tensor, version))
    return found


def check_saved(tensor: Tensor, saved: int, edge: Any = None) -> Tensor:
    """A saved input, if it is still what was saved; `edge` is where its gradient goes."""
    now = version_of(tensor)
    if now != saved:
        raise version_error(type_text(tensor.dtype), tensor._array.shape, tensor.grad_fn, 0, now, saved)
    node = None if edge is None else split_edge(edge)[0]
    if node is not None and not isinstance(node, AccumulateGrad) and tensor.grad_fn is None:
        raise RuntimeError(errors.DETACHED_IN_PLACE)
    return tensor


def type_text(dtype: dtypes.DType) -> str:
    """A tensor type as error messages name it."""
    plain = dtype.category in (dtypes.INTEGER, dtypes.FLOATING) and dtype is not dtypes.bfloat16
    return dtype.tensor_type if plain else f"CPU{dtype.scalar_type}Type"


def show_saved(node: Any, name: str) -> Any:
    """A saved tensor as users see it: a number comes out as a 0-dim tensor."""
    value = unpack(node, name, for_formula=False)
    if value is None or isinstance(value, Tensor):
        return value
    if isinstance(value, list):
        return tuple(value)
    kind: type[np.generic] = np.bool_ if isinstance(value, bool) else np.int64
    if isinstance(value, (float, complex)):
        kind = np.float64 if isinstance(value, float) else np.complex128
    return wrap(np.asarray(value, kind))


SHOW_SAVED.append(show_saved)


# Rare modes -------------------------------------------------------------------------------------------------


def rare_result(node: Any, *results: Tensor) -> Sequence[Tensor]:
    """Apply this thread's rare modes to a call that just made `results` and, if it was recorded, `node`;
    returns what stands for the results."""
    rare = modes.state.rare
    if threading.get_ident() not in modes.RARE and not rare.anomaly:
        return results
    if rare.inference:
        for result in results:
            if result._meta is None or result._meta.base is None:
                result._edge, result._version_cell = None, INFERENCE
    elif node is not None:
        rare_node(node, results)
    return results if rare.track is None else tuple([rare.track(result) for result in results])


def as_tracked(tensor: Tensor) -> Tensor:
    """A new tensor as the transforms that run show it."""
    if modes.RARE and modes.state.rare.track is not None:
        return modes.state.rare.track(tensor)
    return tensor


def count_raw_writes(results: Sequence[Tensor], count: int) -> None:
    """Count the writes that filled results computed from inference tensors alone, outside inference mode."""
    for result in results:
        if result._version_cell is None:
            result._version_cell = [count]


def rare_node(node: Any, results: Sequence[Tensor]) -> None:
    """Apply anomaly mode and saved-tensor hooks, which see the very results, to a node that was just made."""
    rare = modes.state.rare
    if rare.anomaly:
        remember_forward(node)
    if rare.saved_tensor_hooks:
        pack_hook, unpack_hook = rare.saved_tensor_hooks[-1]
        for name in node.SAVED:
            value = getattr(node, "s_" + name)
            if isinstance(value, tuple):
                if not any(isinstance(t, Packed) for t in value):
                    packed = [t if t is None else Packed(pack_hook, unpack_hook, t, node) for t in value]
                    setattr(node, "s_" + name, tuple(packed))
            elif value is not None and type(value) not in NOT_PACKED and not isinstance(value, np.generic):
                seen = next((result for result in results if result._array is value), None)
                setattr(node, "s_" + name, Packed(pack_hook, unpack_hook, unpack(node, name), node, seen))


def remember_forward(node: Any) -> None:
    """Anomaly mode: note where in the user's program the node was made, and for which running node."""
    import traceback

    frames = traceback.extract_stack()
    while frames and (frames[-1].filename.startswith((PACKAGE, "<refgrad"))):
        frames.pop()
    metadata = node_hooks(node).metadata
    metadata["traceback_"] = traceback.format_list(frames)
    if modes.state.node is not None:
        metadata["parent_"] = modes.state.node


REMEMBER.append(remember_forward)


# Writes -----------------------------------------------------------------------------------------------------


def check_write(target: Tensor, sources: Sequence[Any] = (), shared: bool = False) -> None:
    """Refuse a write that memory forbids; `shared` allows elements that share memory.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if modes.RARE and modes.state.rare.before_write is not None:
        modes.state.rare.before_write(target)
    if modes.RARE and modes.state.rare.track is not None and modes.state.rare.track(target) is not target:
        raise Batched
    array = target._array
    if not shared and overlaps_itself(array.shape, array.strides):
        raise RuntimeError(errors.SELF_OVERLAP)
    for source in sources:
        if isinstance(source, Tensor) and source is not target and partly_overlaps(array, source._array):
            raise RuntimeError(errors.PARTIAL_OVERLAP)


def partly_overlaps(written: np.ndarray, read: np.ndarray) -> bool:
    """Whether two windows share memory without being the same window; only dense ones are looked at."""
    same_place = written.__array_interface__["data"] == read.__array_interface__["data"]
    if same_place and (written.shape, written.strides) == (read.shape, read.strides):
        return False
    return overlaps(written, read)


def overlaps(written: np.ndarray, read: np.ndarray) -> bool:
    """Whether two windows share memory; only dense ones are looked at."""
    if written.size == 0 or read.size == 0 or root_of(written) is not root_of(read):
        return False
    if not all(is_dense(array.shape, strides_of(array)) for array in (written, read)):
        return False
    first, second = (array.__array_interface__["data"][0] for array in (written, read))
    return first < second + read.nbytes and second < first + written.nbytes


def write(target: Tensor, result: np.ndarray, cast_any: bool = False) -> None:
    """Put the result of an in-place call into the tensor's memory and count the version up.

    Raises:
        RuntimeError: its shape differs, or its type cannot be cast to the target's.
    """
    array = target._array
    if result.shape != array.shape and not expands_to(result.shape, array.shape):
        shape = broadcast_shapes(array.shape, result.shape)
        raise RuntimeError(
            f"output with shape {list(array.shape)} doesn't match the broadcast shape {list(shape)}"
        )
    if result.dtype is not array.dtype and not cast_any:
        check_cast(dtypes.OF_NUMPY[result.dtype], target.dtype)
    array[...] = result
    count_write(target)


def warn_resized(shape: tuple, wanted: tuple) -> None:
    """Warn that an output with elements is resized."""
    warnings.warn(
        f"An output with one or more elements was resized since it had shape {list(shape)}, which does not "
        f"match the required output shape {list(wanted)}. This behavior is deprecated, and in a future "
        "PyTorch release outputs will not be resized unless they have zero elements. You can explicitly "
        "reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
        UserWarning,
        stacklevel=5,
    )


def check_cast(source: dtypes.DType, target: dtypes.DType) -> None:
    """Refuse a result type that would lose its category.

    Raises:
        RuntimeError: for instance a floating result for an integer target.
    """
    if not dtypes.can_cast(source, target):
        raise RuntimeError(
            f"result type {source.scalar_type} can't be cast to the desired output type {target.scalar_type}"
        )


def refused(op_name: str, edges: tuple, *outputs: tuple) -> NotImplementedNode:
    """The node of an op that has no derivative."""
    node = object.__new__(NotImplementedNode)
    start(node, edges, *outputs)
    node.op_name = op_name
    return node


def refuse_gradient(tensor: Tensor, argument: str, function_name: str) -> None:
    """Refuse an argument that requires grad and has no derivative.

    Raises:
        RuntimeError: grad mode is on and it requires grad.
    """
    if tensor.requires_grad and modes.grad_enabled():
        raise RuntimeError(
            f"The function '{function_name}' is not differentiable with respect to argument '{argument}'. "
            "This input cannot have requires_grad True."
        )


def no_gradient_of(array: np.ndarray) -> RuntimeError:
    """The refusal of a result that was asked for in a type that gradients do not have."""
    return RuntimeError(f"Autograd not support dtype: {dtypes.OF_NUMPY[array.dtype].scalar_type}")


def no_complex_gradient(name: str) -> RuntimeError:
    """PyTorch's refusal of an op whose derivative is for real numbers alone."""
    return RuntimeError(f"{name} does not support automatic differentiation for outputs with complex dtype.")


def check_target(target: Tensor, sources: Sequence[Any]) -> None:
    """Refuse operands that an in-place call would have to broadcast its target to.

    Raises:
        RuntimeError: the shapes do not match, or their common shape is not the target's.
    """
    shape = target._array.shape
    for source in sources:
        if isinstance(source, Tensor):
            shape = broadcast_shapes(shape, source._array.shape)
    if shape != target._array.shape:
        raise RuntimeError(
            f"output with shape {list(target._array.shape)} doesn't match the broadcast shape {list(shape)}"
        )


def operand(value: Any) -> tuple:
    """What a pointwise kernel computes with, and the edge: of a number, the number itself and None.

    For what is neither tensor nor number it is NotImplemented, so that operators leave it to Python.
    """
    if isinstance(value, Tensor):
        return value._array, value._edge
    if isinstance(value, NUMBERS):
        if value.__class__ is int:
            binding.check_width(value)
        return number_of(value), None
    return NotImplemented, None


def in_formula() -> bool:
    """Whether this thread runs a gradient formula whose own steps are recorded."""
    # Note [Numbers in formulas]
    # Where a Python program meets a tensor with a number, PyTorch makes a tensor of the number: MulBackward0.
    # Its own formulas are C++, where that is an overload of its own: MulBackward1. Both show in graphs of
    # second order.
    return bool(modes.FORMULA) and threading.get_ident() in modes.FORMULA


def enter_formula() -> None:
    """Begin to run a gradient formula whose own steps are recorded."""
    modes.FORMULA.add(threading.get_ident())


def leave_formula() -> None:
    """End what `enter_formula` began."""
    modes.FORMULA.discard(threading.get_ident())


# Views ------------------------------------------------------------------------------------------------------


def place_view(view: Tensor, edge: Any) -> None:
    """Set a new view's place in the graph; one made of an inference tensor has none."""
    if view._meta is not None:
        view._meta.edge = edge


# Generated code ---------------------------------------------------------------------------------------------


def takes_part(edge: Any, needed: dict) -> bool:
    """Whether the node at the end of an edge takes part in a run with chosen inputs."""
    return split_edge(edge)[0] in needed
