"""How tensors of subclasses are made: `as_subclass` and `torch.Tensor._make_subclass`."""

from typing import Any

from refgrad import errors
from refgrad.methods import attach
from refgrad.op import calls
from refgrad.ops.from_data import full_type_name
from refgrad.storage import cell_of_detached, version_cell
from refgrad.tensor import Tensor, alias, instance

NO_SUBCLASS = (
    "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure "
    "your class inherits from Tensor."
)


def check_class(cls: Any) -> None:
    """Refuse what is no subclass of `Tensor`.

    Raises:
        TypeError: it is no class, or one of something else.
    """
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {full_type_name(cls)})")
    if not issubclass(cls, Tensor):
        raise TypeError(NO_SUBCLASS)


@attach
def as_subclass(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """An alias of this tensor that is of a subclass, and part of the graph.

    Raises:
        TypeError: the argument is no subclass of `Tensor`.
    """
    if not (args or "cls" in kwargs):
        raise TypeError('as_subclass() missing 1 required positional arguments: "cls"')
    cls = args[0] if args else kwargs["cls"]
    check_class(cls)
    return instance(calls.alias(self), cls)


def make_subclass(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A leaf of a subclass over the memory of `data`; `require_grad` says whether it requires grad.

    Raises:
        TypeError: `cls` is no subclass of `Tensor`, or an argument is of another type.
        RuntimeError: it shall require grad and its type is not differentiable.
    """
    given = dict(zip(("data", "require_grad"), args, strict=False)) | kwargs
    if "data" not in given:
        raise TypeError('_make_subclass() missing 1 required positional arguments: "data"')
    for name, position, kind, shown in (("data", 2, Tensor, "Tensor"), ("require_grad", 3, bool, "bool")):
        if not isinstance(given.get(name, False), (kind, bool) if name == "require_grad" else kind):
            raise TypeError(
                f"_make_subclass(): argument '{name}' (position {position}) must be {shown}, not "
                f"{full_type_name(given[name])}"
            )
    check_class(cls)
    data: Tensor = given["data"]
    cell = cell_of_detached(data)
    new = alias(data, version_cell(data) if cell is None else cell, cls)
    if given.get("require_grad", False):
        if not new._can_require_grad():
            raise RuntimeError(errors.NOT_DIFFERENTIABLE_DTYPE)
        new._set_requires_grad(True)
    return new


def make_wrapper_subclass(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Refused: the dispatcher, which such tensors need, is no part of this project.

    Raises:
        TypeError: the class has no `__torch_dispatch__`, which PyTorch refuses too.
        NotImplementedError: it has one.
    """
    if not hasattr(cls, "__torch_dispatch__"):
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    raise NotImplementedError(
        "wrapper subclasses with __torch_dispatch__ need PyTorch's dispatcher, which refgrad does not have"
    )


Tensor._make_subclass = staticmethod(make_subclass)
Tensor._make_wrapper_subclass = staticmethod(make_wrapper_subclass)
