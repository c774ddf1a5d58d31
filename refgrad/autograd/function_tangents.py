"""Forward mode through custom Functions: the user's `jvp`, and the rules for what it returns.

Source of the rules: "Forward mode AD" in "Extending torch.autograd" in PyTorch's docs.
"""

from collections.abc import Callable, Sequence
from typing import Any

from refgrad import dtypes
from refgrad.duals import Apart, is_enabled, remember_result, set_tangent, tangent_of
from refgrad.graph import split_edge
from refgrad.storage import version_of
from refgrad.tensor import Tensor, is_wrapper, type_name

NOT_DIFFERENTIABLE = (
    "(new_grad_base.is_floating_point() || new_grad_base.is_complex()) && (self_base.is_floating_point() || "
    "self_base.is_complex()) INTERNAL ASSERT FAILED at "
    '"/__w/pytorch/pytorch/torch/csrc/autograd/autograd_meta.cpp":159, please report a bug to PyTorch. '
    "Expected both tensor and its forward grad to be floating point or complex"
)
NOT_IN_PLACE = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
    "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
)
NOT_AS_IS = (
    "An inplace custom Function is not returning the forward mode gradients as-is. If the forward is "
    "modifying an input inplace, then the jvp function must modify the gradient inplace and return it as-is."
)
NO_VIEW = (
    "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
)
OTHER_VIEW = (
    "A custom Function is returning a view but the jvp is not returning a view of the given grad input."
)
OTHER_BASE = (
    "A custom Function is returning a view but the jvp is not returning a view of the same base as the given "
    "grad input."
)


def prepare(ctx: Any, arguments: tuple) -> Callable | None:
    """What gives the outputs their tangents, once `forward` has run; None when no argument has one."""
    given = [tangent_of(each) if isinstance(each, Tensor) else None for each in arguments]
    if not is_enabled() or all(tangent is None for tangent in given):
        return None

    def carry(outputs: Sequence, dirty: Sequence, fixed: Sequence) -> None:
        versions = [None if tangent is None else writes_of(tangent) for tangent in given]
        with Apart():
            tangents = checked(run(ctx, arguments, given), len(outputs))
        for number, (output, tangent) in enumerate(zip(outputs, tangents, strict=True)):
            if not movable(output, fixed):
                if tangent is not None:
                    raise RuntimeError(
                        f"Function's jvp returned a gradient at position {number}, but  the corresponding "
                        "forward output is not a differentiable Tensor.You should return None at that "
                        "position instead."
                    )
                continue
            is_dirty = any(output is each for each in dirty)
            own = next((i for i, t in enumerate(given) if t is not None and arguments[i] is output), None)
            if is_dirty and own is not None:
                check_written(tangent, given[own], versions[own])
            else:
                place(output, tangent, arguments, given, is_dirty)
            edge = output._edge if output._meta.base is None else output._meta.edge
            if isinstance(edge, type(ctx)) or isinstance(edge, tuple) and split_edge(edge)[0] is ctx:
                remember_result(ctx, number, output._meta.tangent)

    return carry


def writes_of(tangent: Tensor) -> int:
    """How often a tangent was written to."""
    return tangent._version if is_wrapper(tangent) else version_of(tangent)


def run(ctx: Any, arguments: tuple, given: list) -> Any:
    """What the user's `jvp` returns for the tangents: zeros for tensors without, unless that was declined."""
    filled = list(given)
    for position, (value, tangent) in enumerate(zip(arguments, given, strict=True)):
        if tangent is None and ctx._fills_in_zeros and movable(value, ()):
            filled[position] = value.detach().new_zeros(value.shape)
    return ctx._forward_cls.jvp(ctx, *filled)


def movable(value: Any, fixed: Sequence) -> bool:
    """Whether an argument or output can have a tangent."""
    is_number = isinstance(value, Tensor) and value.dtype.category >= dtypes.FLOATING
    return is_number and not any(value is each for each in fixed)


def checked(returned: Any, count: int) -> tuple:
    """The tangents that `jvp` returned.

    Raises:
        RuntimeError: they are not as many as the outputs, or one is neither tensor nor None.
    """
    tangents = returned if isinstance(returned, tuple) else (returned,)
    for position, tangent in enumerate(tangents):
        if tangent is not None and not isinstance(tangent, Tensor):
            raise RuntimeError(
                f"expected Variable or None (got {type_name(tangent)}) for grad output {position}."
            )
    if len(tangents) != count:
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {count} but got "
            f"{len(tangents)})"
        )
    return tangents


def check_written(returned: Tensor | None, own: Any, before: Any) -> None:
    """Refuse what `jvp` returned for an input that `forward` wrote to, unless it is its tangent, written too.

    Raises:
        RuntimeError: it is another tensor, or has the version that the tangent had.
    """
    if (0 if returned is None else writes_of(returned)) == before:
        raise RuntimeError(NOT_IN_PLACE)
    if returned is not own:
        raise RuntimeError(NOT_AS_IS)


def place(output: Tensor, tangent: Tensor | None, arguments: tuple, given: list, is_dirty: bool) -> None:
    """Give one output its tangent.

    Raises:
        RuntimeError: there is none, or it is no view where the output is one.
    """
    if tangent is None:
        raise RuntimeError(NOT_DIFFERENTIABLE)
    if not is_dirty and not is_wrapper(tangent) and output._is_view():
        if not tangent._is_view():
            raise RuntimeError(NO_VIEW)
        sources = [t for t in given if t is not None]
        same = [t for t in sources if tangent._base is t or tangent._base is t._base]
        shown = [t for a, t in zip(arguments, given) if t is not None and shares_base(output, a)]
        if not same and shown:
            raise RuntimeError(OTHER_VIEW if shown[0]._base is None else OTHER_BASE)
    set_tangent(output, tangent, written=is_dirty)


def shares_base(output: Tensor, argument: Any) -> bool:
    """Whether an output is a view of an argument, or of what that is a view of."""
    return output._base is argument or argument._base is not None and output._base is argument._base
