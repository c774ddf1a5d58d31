"""*Tracked tensor*: what a function sees of a tensor inside a `grad`, `vjp` or `jvp`.

It wraps a *value*, the tensor one level further out, and has its own place in the graph of its level: the
value's history does not show, and what the level records does not reach the value. Once the level has ended
it counts as its value.
"""

from typing import Any

from refgrad.func.wrappers import FormArray, delegate
from refgrad.storage import version_cell
from refgrad.tensor import Tensor, is_batched

NO_MEMORY = "Cannot access data pointer of Tensor that doesn't have storage"


class TrackedTensor(Tensor):
    """A tensor of a level of derivatives."""

    IS_WRAPPER = True

    @property
    def _array(self) -> Any:  # type: ignore[override]
        return FormArray.of(self.wrapped._array)

    @property
    def _version_cell(self) -> list:
        value = self.wrapped
        return [0] if value.is_inference() else version_cell(value)

    @property
    def wrapped(self) -> Tensor:
        """The value."""
        return self.__dict__["value"]

    def is_inference(self) -> bool:
        """False: what the value is outside does not show."""
        return False

    @property
    def is_batch(self) -> bool:
        """Whether the value is batched."""
        return is_batched(self.wrapped)

    def again(self) -> "TrackedTensor":
        """The same value outside the graph."""
        return tracked(self.level, self.wrapped, self.is_captured)

    @property
    def data(self) -> Any:
        """The same memory outside every graph."""
        return tracked(self.level, self.wrapped.data, self.is_captured)

    @data.setter
    def data(self, value: Any) -> None:
        raise RuntimeError("mutating directly with `.data` inside functorch transform is not allowed.")

    def is_conj(self) -> bool:
        """Whether it shows conjugates of what lies in memory."""
        return self.wrapped.is_conj()

    def is_neg(self) -> bool:
        """Whether it shows negatives of what lies in memory."""
        return self.wrapped.is_neg()

    def data_ptr(self) -> int:
        """Refused."""
        raise RuntimeError(NO_MEMORY)

    def untyped_storage(self) -> Any:
        """Refused."""
        raise NotImplementedError("Cannot access storage of TensorWrapper")

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        inner = repr(self.wrapped).replace("\n", "\n    ")
        number = -2 if self.level.has_ended else self.level.number
        return f"GradTrackingTensor(lvl={number}, value=\n    {inner}\n)"


TrackedTensor.__name__ = TrackedTensor.__qualname__ = "Tensor"
TrackedTensor.__module__ = "torch"


def tracked(level: Any, value: Tensor, is_captured: bool = False) -> TrackedTensor:
    """A tensor as a level shows it, outside the level's graph; *captured* if its memory is that of a tensor
    from outside that did not enter."""
    made = object.__new__(TrackedTensor)
    made.__dict__.update(level=level, value=value, is_captured=is_captured)
    made._edge = made._meta = None
    return made


def is_own(tensor: Any, level: Any) -> bool:
    """Whether a value is a tensor of this level."""
    return isinstance(tensor, TrackedTensor) and tensor.level is level


def value_of(tensor: Any, level: Any) -> Any:
    """The value of a tensor of this level; anything else as it is."""
    return tensor.wrapped if is_own(tensor, level) else tensor


def live(value: Any) -> Any:
    """A value without the levels that have ended."""
    while isinstance(value, TrackedTensor) and value.level.has_ended:
        value = value.wrapped
    return value


delegate(TrackedTensor)
