"""How ops meet the tensors of transforms: the signal that one was met, and the way to make the call again.

Generated code, and the fronts of public names, run straight ahead. A wrapper (func/wrappers.py) has no
memory: asking it for some raises `Batched`, and whoever catches that hands the same call to the transform
that runs, which makes it of what is wrapped: one level further out, of a whole batch, or for each sample.
"""

from collections.abc import Callable, Sequence
from typing import Any

from refgrad import modes
from refgrad.edges import accumulator, edge_of
from refgrad.graph import PENDING, NotImplementedNode, copy_of, start
from refgrad.storage import InferenceVersion, version_cell, version_of
from refgrad.tensor import Tensor, is_batched, is_wrapper


class Batched(Exception):
    """A wrapper was asked for its memory."""


PER_SAMPLE: list[Callable] = []  # func/levels.py puts the function here


def per_sample(function: Callable, args: tuple, kwargs: dict | None = None) -> Any:
    """Hand a call, which raised `Batched`, to the transform that runs."""
    if any(is_inference_leaf(tensor) for tensor in tensors_in(args)):
        return of_inference_leaves(function, args)
    return PER_SAMPLE[0](function, args, kwargs or {})


def apply_per_sample(node: Any, apply: Callable, grads: list) -> Any:
    """`apply(node, grads)`, which raised `Batched`, for each sample; the results cannot be differentiated."""
    saved = {name: getattr(node, f"s_{name}") for name in node.SAVED}
    names = [name for name, value in saved.items() if is_wrapper(value)]
    if not names:
        return per_sample(lambda *some: applied(node, apply, list(some)), tuple(grads))

    def of_sample(*some: Any) -> Any:
        copy: Any = copy_of(node)
        for name, value in zip(names, some[len(grads) :], strict=True):
            is_result = name in node.RESULTS
            setattr(copy, f"s_{name}", value._array if is_result else value)
            setattr(copy, f"v_{name}", version_of(value))
            if is_result:
                setattr(copy, f"c_{name}", version_cell(value))
        return applied(copy, apply, list(some[: len(grads)]))

    arguments = (*grads, *[saved[name] for name in names])
    results = per_sample(of_sample, arguments)
    edges = tuple([edge_of(each) for each in arguments if is_wrapper(each) and each.requires_grad])
    for result in results if edges and modes.grad_enabled() else ():
        if is_wrapper(result):
            refusal: Any = start(
                object.__new__(NotImplementedNode), edges, (result.shape, result._array.dtype)
            )
            refusal.op_name = f"{type(node).__name__} of batched tensors"
            result._edge = refusal
    return results


def applied(node: Any, apply: Callable, grads: list) -> Any:
    """`apply(node, grads)`; where it meets wrappers that wrap others, for each sample again."""
    try:
        return apply(node, grads)
    except Batched:
        return apply_per_sample(node, apply, grads)


# Note [Calls of inference tensors alone]
# An inference tensor may require grad. Outside inference mode a call is recorded for it only where another
# argument is a normal tensor, or a number that PyTorch makes a tensor of: without one nothing of autograd is
# between the call and PyTorch's kernels. A generated function that meets such a leaf stops with `Batched`
# and comes back through `per_sample`, so that nothing is asked where there is none.


def recorded_edge(tensor: Tensor) -> Any:
    """The edge, found on demand, of an argument of a call that may be recorded.

    Raises:
        Batched: it is an inference tensor, and what the call's other arguments are was not looked at.
    """
    if tensor._meta.base is not None:
        return edge_of(tensor)
    if tensor._version_cell.__class__ is InferenceVersion:
        stop_at_inference(tensor)
    return accumulator(tensor)


def stop_at_inference(tensor: Tensor) -> None:
    """Stop a call that meets an inference tensor that requires grad, before anything is recorded or written.

    Raises:
        Batched: it is one, and what the call's other arguments are was not looked at.
    """
    is_inference = tensor._version_cell.__class__ is InferenceVersion
    if is_inference and not modes.state.inference_leaves and modes.grad_enabled():
        raise Batched


def requires(value: Any) -> bool:
    """Whether a value is a tensor that requires grad, in a call that may be recorded.

    Raises:
        Batched: it is an inference tensor, see note [Calls of inference tensors alone].
    """
    if not (isinstance(value, Tensor) and value.requires_grad):
        return False
    stop_at_inference(value)
    return True


def edges_of(tensors: Sequence[Tensor | None]) -> list:
    """The edges of a list of tensors, None for those that require no grad."""
    edges = [None if tensor is None else tensor._edge for tensor in tensors]
    for i, edge in enumerate(edges):
        if edge is PENDING:
            edges[i] = recorded_edge(tensors[i])  # type: ignore[arg-type]
    return edges


def is_inference_leaf(tensor: Tensor) -> bool:
    """Whether a tensor was made in inference mode and requires grad."""
    if is_wrapper(tensor):
        return False
    return tensor._version_cell.__class__ is InferenceVersion and tensor.requires_grad


def stop_at_wrapper(tensor: Tensor) -> None:
    """Stop a function that makes memory after a tensor: of a batched one that is the whole's.

    Raises:
        Batched: it is batched.
    """
    if is_wrapper(tensor):
        raise Batched


def elements_of(tensor: Any) -> Any:
    """The array of a tensor; of a wrapper that of what it wraps in the end."""
    while is_wrapper(tensor):
        tensor = tensor.wrapped
    return tensor._array


def values_of(tensor: Tensor) -> Any:
    """The array of a tensor, where a program may look into it.

    Raises:
        Batched: it may not, since samples differ.
    """
    if is_batched(tensor):
        raise Batched
    return elements_of(tensor)


def tensors_in(args: tuple) -> list[Tensor]:
    """The tensors among arguments, those in lists too."""
    found: list[Tensor] = []
    for value in args:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [each for each in value if isinstance(each, Tensor)]
    return found


def of_inference_leaves(function: Callable, args: tuple) -> Any:
    """Run a generated function that met an inference tensor that requires grad."""
    arguments = function.__globals__["op"].schema.arguments
    is_normal = any(
        argument.is_tensor and value is not None and not isinstance(value, Tensor)
        for argument, value in zip(arguments, args, strict=False)
    ) or not all(tensor.is_inference() for tensor in tensors_in(args))
    state = modes.state
    before = state.grad, state.inference_leaves
    state.inference_leaves = True
    modes.set_grad(is_normal)
    try:
        return function(*args)
    finally:
        state.inference_leaves = before[1]
        modes.set_grad(before[0])


def guarded(source: str, names: list[str]) -> str:
    """The source of a function of these parameters, made to run for each sample where it meets a batched
    tensor."""
    head, _, body = source.partition("\n")
    indented = "\n".join("    " + line for line in body.rstrip("\n").split("\n"))
    arguments = "".join(f"{name}, " for name in names)
    again = f"    except Batched:\n        return per_sample(function, ({arguments}))\n"
    return f"{head}\n    try:\n{indented}\n{again}"
