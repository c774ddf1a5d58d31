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
        return dict(dicts)
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


def places(module: Module) -> dict[str, tuple[dict, str]]:
    """Where each parameter and buffer is held: the dict and the key in it."""
    found = {}
    for path, each in module.named_modules(remove_duplicate=False):
        for held in (each._parameters, each._buffers):
            for key in held:
                found[f"{path}.{key}" if path else key] = (held, key)
    return found


@contextmanager
def replaced(module: Module, tensors: dict[str, Tensor], tie_weights: bool, strict: bool) -> Iterator[None]:
    """Inside the block, the module holds other tensors."""
    known = places(module)
    wanted = dict(tensors)
    if tie_weights:
        by_identity = {
            id(known[name][0][known[name][1]]): value for name, value in tensors.items() if name in known
        }
        for name, (held, key) in known.items():
            if held[key] is not None and name not in wanted and id(held[key]) in by_identity:
                wanted[name] = by_identity[id(held[key])]
    if strict:
        check_names(module, known, wanted)
    before = []
    try:
        for name, value in wanted.items():
            if name in known:
                held, key = known[name]
                before.append((held, key, held[key]))
                held[key] = value
        yield
    finally:
        for held, key, value in reversed(before):
            held[key] = value


def check_names(module: Module, known: dict, wanted: dict) -> None:
    """Refuse names that are unknown or missing.

    Raises:
        RuntimeError: with all of them.
    """
    there = {name for name, (held, key) in known.items() if held[key] is not None}
    unexpected, missing = sorted(wanted.keys() - there), sorted(there - wanted.keys())
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
