"""`torch.autograd.forward_ad`: tensors that carry a tangent. Source: "Forward-mode AD" in PyTorch's docs."""

from typing import Any, NamedTuple

from refgrad import duals, modes
from refgrad.autograd import tangents
from refgrad.autograd.grad_mode import ContextDecorator
from refgrad.op import calls
from refgrad.overriding import hand_on, overriding_in
from refgrad.tensor import Tensor, is_batched, type_name

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_current_level = -1


class UnpackedDualTensor(NamedTuple):
    """A dual tensor in two: a view of its value, and its tangent or None."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Open a level; returns its number.

    Raises:
        RuntimeError: a level is open.
    """
    global _current_level
    opened = duals.open_level()
    if opened != _current_level + 1:
        raise RuntimeError("Entering a new forward AD level but the current level is not valid.")
    _current_level = opened
    return opened


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level; the tangents of all tensors are gone.

    Raises:
        RuntimeError: no level is open, or it is another.
    """
    global _current_level
    if level is None:
        level = _current_level
        if level == -1:
            raise RuntimeError("Dual level must be a positive number.")
    if level != _current_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not "
            "supported."
        )
    duals.close_level(level)
    _current_level = level - 1


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` that carries `tangent`, of the same shape.

    Raises:
        RuntimeError: no level is open, the sizes differ, or one of the two has a tangent.
        ValueError: one of the two is neither floating nor complex.
    """
    if level is None:
        level = _current_level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, given in (("primal", tensor), ("tangent", tangent)):
        if not (given.is_floating_point() or given.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {given.dtype}")
        if is_batched(given) and not given.level.IS_LEGACY:
            raise RuntimeError(
                "Batching rule not implemented for aten::_make_dual; the fallback path doesn't work on out= "
                "or view ops."
            )
    asked = overriding_in((tensor, tangent))
    if asked:
        made: Tensor = hand_on(_make_dual, "torch._make_dual", asked, (tensor, tangent), {"level": level})
        return made
    return _make_dual(tensor, tangent, level)


def _make_dual(tensor: Tensor, tangent: Tensor, level: int) -> Tensor:
    """A view of `tensor` that carries `tangent`.

    Raises:
        RuntimeError: it has a tangent, or the level is not open.
    """
    check_level(level, "_make_dual")
    if duals.tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level "
            f"{level} is not supported."
        )
    dual = calls.view(tensor, tensor._array.shape)
    if not modes.inference_enabled():  # in which nothing follows views
        duals.meta_of(dual).whole = duals.APART
        duals.set_tangent(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A tensor in two: outside a level itself and None.

    Raises:
        TypeError: it is no tensor.
    """
    if level is None:
        level = _current_level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type_name(tensor)}"
        )
    asked = overriding_in((tensor,))
    if asked:
        pair = hand_on(_unpack_dual, "torch._unpack_dual", asked, (tensor,), {"level": level})
    else:
        pair = _unpack_dual(tensor, level)
    return UnpackedDualTensor(*pair)


def _unpack_dual(tensor: Tensor, level: int) -> tuple[Tensor, Tensor | None]:
    """A tensor without its tangent, and the tangent."""
    check_level(level, "_fw_primal")
    tangent = duals.tangent_of(tensor)
    return tangents.fw_primal(tensor), tangent


def check_level(level: int, function: str) -> None:
    """Refuse the number of a level that is none.

    Raises:
        RuntimeError: it is not open.
    """
    if level != 0:
        raise RuntimeError(f"Invalid level given to {function}")
    if not duals.LEVELS:
        raise RuntimeError(
            "Trying to access a forward AD level with an invalid index. This index was either not created or "
            "is already deleted."
        )


class dual_level(ContextDecorator):
    """Opens a level, and closes it at the end. Source: `torch.autograd.forward_ad.dual_level`."""

    def __enter__(self) -> int:  # type: ignore[override]
        return enter_dual_level()

    def __exit__(self, *exception: object) -> None:
        exit_dual_level()


def _is_fwd_grad_enabled() -> bool:
    """Whether operations of this thread carry tangents along."""
    return duals.is_enabled()


class _set_fwd_grad_enabled(ContextDecorator):
    """Sets whether tangents are carried along; as a context manager it restores the former mode at its end.

    Raises:
        TypeError: `mode` is no bool.
    """

    def __init__(self, mode: bool):
        self.previous = modes.state.forward
        set_forward(mode)
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        modes.state.forward = self.previous

    def clone(self) -> "_set_fwd_grad_enabled":
        """A fresh manager with the same mode."""
        return type(self)(self.mode)


def set_forward(mode: Any) -> None:
    """Choose whether operations of this thread carry tangents along.

    Raises:
        TypeError: `mode` is no bool.
    """
    if not isinstance(mode, bool):
        raise TypeError(f"enabled must be a bool (got {type(mode).__name__})")
    modes.state.forward = mode
