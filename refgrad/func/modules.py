"""Modules as functions of their parameters."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from refgrad.nn import Module
from refgrad.tensor import Tensor


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in the place of its parameters and buffers.

    Raises:
        ValueError: the tensors come in no dict, or in several that overlap.
        RuntimeError: `strict`, and names are missing or unknown.
    """
    tensors = merged_dicts(parameter_and_buffer_dicts)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, tensors, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


def merged_dicts(dicts: Any) -> dict[str, Tensor]:
    """One dict of all tensors.

    Raises:
        ValueError: they come in no dict, or in several that overlap.
    """
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    if not all(isinstance(each, dict) for each in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for each in dicts for name in each]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {name: value for each in dicts for name, value in each.items()}


def named_tensors(module: Module) -> dict[str, Tensor]:
    """The parameters and buffers by name; tied ones stand under each of their names."""
    parameters = module.named_parameters(remove_duplicate=False)
    return {**dict(parameters), **dict(module.named_buffers(remove_duplicate=False))}


def untied(module: Module, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors, with those that stand for one name of a tied tensor under its other names, too.

    Raises:
        ValueError: two names of one tensor are to have different ones.
    """
    names: dict[int, list[str]] = {}
    for name, tensor in named_tensors(module).items():
        names.setdefault(id(tensor), []).append(name)
    found = dict(tensors)
    for tied in names.values():
        given = [name for name in tied if name in tensors]
        if len({id(tensors[name]) for name in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(given)}, which are tied. Consider "
                "using tie_weights=False"
            )
        found.update((name, tensors[given[0]]) for name in tied if given)
    return found


@contextmanager
def replaced(module: Module, tensors: dict[str, Tensor], tie_weights: bool, strict: bool) -> Iterator[None]:
    """Inside the block, the module holds other tensors; what it has in their places at the end is put into
    `tensors`."""
    wanted = untied(module, tensors) if tie_weights else tensors
    if strict:
        check_names(module, named_tensors(module), wanted)
    before = swapped(module, wanted)
    try:
        yield
    finally:
        after = swapped(module, before)
        tensors.update((name, after[name]) for name in tensors)


NOTHING: Any = object()  # stands where a module has no such name


def swapped(module: Module, tensors: dict[str, Any]) -> dict[str, Any]:
    """Put tensors where a module holds others by these names; returns what was there.

    Raises:
        AttributeError: there is no such module inside.
        TypeError: one that comes, or goes, is no tensor; then all is as it was.
    """
    before: dict[str, Any] = {}
    try:
        for name, tensor in tensors.items():
            path, _, last = name.rpartition(".")
            before[name] = swapped_one(module.get_submodule(path), last, tensor)
    except Exception:
        swapped(module, before)
        raise
    return before


def swapped_one(module: Module, name: str, tensor: Any) -> Any:
    """Put a tensor where a module holds one, be it a plain attribute; returns what was there."""
    if tensor is not NOTHING and tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    for held in (module._parameters, module._buffers):
        if name in held:
            there = held[name]
            held[name] = tensor
            return there
    there = getattr(module, name, NOTHING)
    if there is not NOTHING and there is not None and not isinstance(there, Tensor):
        raise TypeError(f"attribute `{name}`: {there} is not an instance of torch.Tensor")
    if tensor is not NOTHING:
        setattr(module, name, tensor)
    elif there is not NOTHING:
        delattr(module, name)
    return there


def check_names(module: Module, there: dict, wanted: dict) -> None:
    """Refuse names that are unknown or missing.

    Raises:
        RuntimeError: with all of them.
    """
    unexpected, missing = sorted(wanted.keys() - there.keys()), sorted(there.keys() - wanted.keys())
    text = ""
    for word, names in (("Unexpected", unexpected), ("Missing", missing)):
        if names:
            text += f"\n\t{word} key(s): {', '.join(map(repr, names))}."
    if text:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:{text}")


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of several models of one kind, stacked.

    Raises:
        RuntimeError: there are none, or they differ in class, mode or `requires_grad`.
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(model.training for model in models) or all(not model.training for model in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return (
        {name: stacked_leaf([each[name] for each in parameters], name) for name in parameters[0]},
        {name: stacked_leaf([each[name] for each in buffers], name) for name in buffers[0]},
    )


def stacked_leaf(tensors: list[Tensor], name: str) -> Tensor:
    """A new leaf that holds the stacked tensors."""
    from refgrad import stack

    wanted = tensors[0].requires_grad
    if any(tensor.requires_grad is not wanted for tensor in tensors):
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return stack(tensors).detach().requires_grad_(wanted)
