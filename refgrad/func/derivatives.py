"""Derivatives as functions of functions: `grad`, `vjp`, `jvp`. Source: `torch.func` in PyTorch's docs."""

import functools
from collections.abc import Callable
from typing import Any

from refgrad import duals, modes
from refgrad.autograd.forward_ad import dual_level
from refgrad.autograd.tangent_rules import MOVED_BY, UNSUPPORTED
from refgrad.autograd.tangents import check_supported
from refgrad.compiler import recorder_of
from refgrad.edges import accumulator, edge_of
from refgrad.func import trees
from refgrad.func.levels import (
    DerivativeLevel,
    checked_aux,
    chosen_arguments,
    entered,
    pulled,
    stack,
    with_arguments,
)
from refgrad.func.tracked_tensor import tracked
from refgrad.graph import NotImplementedNode, split_edge
from refgrad.op import OPS, calls
from refgrad.tensor import Tensor, is_batched

INDEPENDENT = (
    "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
    "allowed with strict=True."
)


def split_aux(name: str, output: Any, has_aux: bool) -> tuple[Any, Any]:
    """The output and the auxiliary output, None when there is to be none.

    Raises:
        RuntimeError: `has_aux` and it is no pair.
    """
    if not has_aux:
        return output, None
    if not isinstance(output, tuple) or len(output) != 2:
        raise RuntimeError(
            f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return output[0], output[1]


def grad_and_value(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """A function that returns the gradients of `func`, which returns a scalar, and its value."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> tuple:
        with DerivativeLevel("grad") as level:
            inputs = entered(level, chosen_arguments(argnums, args))
            output = func(*with_arguments(args, argnums, inputs), **kwargs)
            output, aux = split_aux("grad_and_value(f)(*args)", output, has_aux)
            check_scalar(output)
            leaves, spec = trees.flatten(inputs)
            gradients = pulled([output], leaves, [None])
            if has_aux:
                checked_aux(aux)
            gradient = trees.unflatten([level.leave(each) for each in gradients], spec)
            value = level.leave(output)
            return gradient, (value, trees.mapped(level.leave, aux)) if has_aux else value

    return wrapper


def check_scalar(output: Any) -> None:
    """Refuse an output that has no gradient.

    Raises:
        RuntimeError: it is no tensor, or no scalar.
    """
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
        )
    if output.dim() != 0:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
            f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )


def grad(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """A function that returns the gradients of `func`, which returns a scalar.

    Raises (when called):
        RuntimeError: `func` does not return a scalar tensor, or `argnums` does not choose arguments.
    """
    inner = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = inner(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


# Products with the Jacobian
# -------------------------------------------------------------------------------------


def checked_outputs(name: str, output: Any) -> tuple[list, trees.Spec]:
    """The leaves of what a function returned.

    Raises:
        RuntimeError: there are none, or one is no tensor.
    """
    leaves, spec = trees.flatten(output)
    if not leaves or len(leaves) == 1 and leaves[0] is None:
        raise RuntimeError(
            f"{name}: Expected f to be a function that has non-empty output (got output = {leaves})"
        )
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{name}: expected f(*{'primals'}) to return only tensors, got unsupported type {type(leaf)}"
            )
    return leaves, spec


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """The output of `func`, and a function from cotangents of the output to gradients of the inputs.

    Raises:
        RuntimeError: `func` returns something else than tensors of real or complex numbers.
    """
    return vjp_at(func, primals, tuple(range(len(primals))), has_aux)


def vjp_at(func: Callable, args: tuple, argnums: Any, has_aux: bool = False) -> tuple:
    """As `vjp`, with respect to chosen arguments."""
    with DerivativeLevel("grad") as level:
        inputs = entered(level, chosen_arguments(argnums, args) if args else ())
        output, aux = split_aux("vjp(f, *primals)", func(*with_arguments(args, argnums, inputs)), has_aux)
        outputs, spec = checked_outputs("vjp(f, *primals)", output)
        for leaf in outputs:
            if not (leaf.is_floating_point() or leaf.is_complex()):
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor "
                    f"with dtype {leaf.dtype}"
                )
        outside: dict[int, Any] = {}  # one tensor stays one, output and auxiliary output

        def left(value: Any) -> Any:
            if id(value) not in outside:
                outside[id(value)] = level.leave(value)
            return outside[id(value)]

        if has_aux:
            checked_aux(aux)
            aux = trees.mapped(left, aux)
        seen = trees.unflatten([left(leaf) for leaf in outputs], spec)
    leaves, input_spec = trees.flatten(inputs)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, given_spec = trees.flatten(cotangents)
        if given_spec != spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                f"the function. cotangents: {given_spec.short()}, primal output: {spec.short()}"
            )
        modes.state.pulls += 1
        try:
            graph = modes.grad_enabled() if create_graph is None else create_graph
            gradients = pulled(outputs, leaves, given, None, graph, retain_graph)
        finally:
            modes.state.pulls -= 1
        return trees.unflatten([level.leave(each) for each in gradients], input_spec)

    return (seen, pull, aux) if has_aux else (seen, pull)


class Linear:
    """The derivative of a function at one place, as a map from tangents to tangents.

    It is found by differentiating twice: the vjp is linear in the cotangent, and the vjp of that is the jvp.
    """

    def __init__(self, level: DerivativeLevel, inputs: list, outputs: list):
        self.level = level
        self.outputs = outputs
        self.cotangents = [self.cotangent(output) for output in outputs]
        self.gradients = pulled(outputs, inputs, self.cotangents)
        self.moves = [is_moved(output, inputs) for output in outputs]

    def cotangent(self, output: Tensor) -> Tensor:
        """A cotangent to differentiate with respect to; an output of integers has none."""
        # Any would do, since gradients are linear in them; but some formulas take logarithms of theirs.
        ones = output.detach().new_ones(output.shape)
        return self.level.enter(ones) if ones._can_require_grad() else ones

    def __call__(self, tangents: list) -> list:
        """The tangents of the outputs."""
        return pulled(self.gradients, self.cotangents, tangents, lambda i: self.still(i, tangents))

    def still(self, i: int, tangents: list) -> Tensor:
        """The tangent of an output whose slope is zero: computed as others are, if ops lead there."""
        output = self.outputs[i]
        batched = next((each for each in tangents if is_batched(each)), None)
        if batched is None or not self.moves[i]:
            return calls.zeros_like(output)
        return batched.new_zeros(output.shape, dtype=output.dtype)


def linear_at(func: Callable, args: tuple, argnums: Any, has_aux: bool, level: DerivativeLevel) -> tuple:
    """Run `func` inside a level: its derivative, its outputs, their spec and the auxiliary output."""
    if duals.LEVELS and duals.LEVELS[-1].primal is None:
        duals.refuse_nesting()
    inputs = entered(level, chosen_arguments(argnums, args))
    moved = trees.mapped(lambda leaf: writable(level, leaf), inputs)
    output, aux = split_aux("jvp(f, primals, tangents)", func(*with_arguments(args, argnums, moved)), has_aux)
    if has_aux:
        checked_aux(aux)
    outputs, spec = checked_outputs("jvp(f, primals, tangents)", output)
    for node in nodes_between(outputs, trees.flatten(inputs)[0]):
        check_node_supported(node)
    return Linear(level, trees.flatten(inputs)[0], outputs), outputs, spec, aux


def writable(level: DerivativeLevel, leaf: Tensor) -> Tensor:
    """A leaf as the function of a jvp sees it: the same value, one step on in the graph, can be written."""
    again = tracked(level, leaf.wrapped)
    return recorder_of(calls.clone)(lambda: again, level.place_of, leaf, None)


def nodes_between(outputs: list, inputs: list) -> list:
    """The nodes on the way from outputs to the tensors that came into the level, first made first."""
    ends = {accumulator(each) for each in inputs}
    leads: dict[Any, bool] = dict.fromkeys(ends, True)
    roots = [output.grad_fn for output in outputs if output.requires_grad and output.grad_fn is not None]
    pending = list(roots)
    while pending:
        node = pending[-1]
        below = [each for each, _ in node.next_functions if each is not None]
        ahead = [each for each in below if each not in leads]
        if ahead and node not in leads:
            leads[node] = False
            pending += ahead
            continue
        leads[node] = leads.get(node, False) or any(leads[each] for each in below)
        pending.pop()
    found = [node for node, does in leads.items() if does and node not in ends]
    return sorted(found, key=lambda node: node._order)


def is_moved(output: Tensor, inputs: list) -> bool:
    """Whether in PyTorch an output has a tangent, be it of zeros: ops with one lead there from an input."""
    ends = {accumulator(each) for each in inputs}
    pending = [edge_of(output)] if output.requires_grad else []
    seen = set()
    while pending:
        edge = pending.pop()
        node = None if edge is None else split_edge(edge)[0]
        if node in ends:
            return True
        if node is not None and node not in seen:
            seen.add(node)
            kept = MOVED_BY.get(type(node).__name__)
            pending += node._next_edges if kept is None else node._next_edges[:kept]
    return False


def check_node_supported(node: Any) -> None:
    """Refuse a node of an op that has no derivative for forward mode, as `check_supported` the op.

    Raises:
        NotImplementedError: it has none.
    """
    if type(node) is NotImplementedNode:
        raise NotImplementedError(f"Trying to use forward AD with {node.op_name} that does not support it.")
    for name in sorted(UNSUPPORTED & OPS.keys()):
        op: Any = OPS[name]
        if type(node).__name__ in (op.node, op.inplace_node):
            check_supported(op, op.function_name)


def check_tangents(primals: Any, tangents: Any) -> None:
    """Refuse tangents that do not fit.

    Raises:
        RuntimeError: in structure, kind or shape.
        ValueError: in dtype.
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call "
            "f(*primals)."
        )
    places, spec = trees.flatten(primals)
    directions, other = trees.flatten(tangents)
    if spec != other:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{spec} and tangents with structure {other}"
        )
    for name, leaves in (("primals", places), ("tangents", directions)):
        if not leaves:
            raise RuntimeError(f"jvp(f, primals, tangents): Expected {name} to contain at least one Tensor.")
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise RuntimeError(
                    f"jvp(f, primals, tangents): Expected {name} to only contain Tensors, got {type(leaf)}"
                )
    for place, direction in zip(places, directions, strict=True):
        for name, tensor in (("primal", place), ("tangent", direction)):
            if not (tensor.is_floating_point() or tensor.is_complex()):
                raise ValueError(f"Expected {name} to be floating point or complex, but got: {tensor.dtype}")
        if place.shape != direction.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original "
                f"Tensor, this is not supported. Tensor is of size {list(place.shape)} while the given "
                f"forward gradient is of size {list(direction.shape)}."
            )


def jvp(func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> tuple:
    """The output of `func` at `primals`, and its derivative in the direction of `tangents`.

    Raises:
        RuntimeError: the tangents do not fit, `func` returns something else than tensors, or `strict` and an
            output does not depend on the primals.
    """
    check_tangents(primals, tangents)
    if not stack.levels and not duals.LEVELS:
        return outermost_jvp(func, primals, tangents, strict, has_aux)
    with DerivativeLevel("jvp") as level:
        numbers = tuple(range(len(primals)))
        ways = apart(trees.flatten(tangents)[0], trees.flatten(primals)[0])
        linear, outputs, spec, aux = linear_at(func, primals, numbers, has_aux, level)
        if strict and not all(linear.moves):
            raise RuntimeError(INDEPENDENT)
        directions = linear(ways)
        moved = trees.unflatten([level.leave(each) for each in directions], spec)
        value = trees.unflatten([level.leave(each) for each in outputs], spec)
        aux = trees.mapped(level.leave, aux)
    value = trees.mapped(calls.alias, value)  # the primal part of a dual tensor is a view
    return (value, moved, trees.mapped(calls.alias, aux)) if has_aux else (value, moved)


def apart(tangents: list, primals: list) -> list:
    """The tangents; one that is a primal itself as a copy, since the function may write to its argument."""
    return [way.clone() if any(way is each for each in primals) else way for way in tangents]


def lone_alias(tensor: Tensor) -> Tensor:
    """An alias that takes no part in the tensor's tangent."""
    with duals.Apart():
        view = calls.alias(tensor)
    duals.meta_of(view).whole = duals.APART
    return view


def outermost_jvp(func: Callable, primals: tuple, tangents: Any, strict: bool, has_aux: bool) -> tuple:
    """As `jvp` outside other transforms: with dual tensors, so that ops move tangents by their own rules."""
    name = "jvp(f, primals, tangents)"
    with dual_level():
        duals.LEVELS[-1].primal = lone_alias
        given, spec = trees.flatten(primals)
        places = [lone_alias(each) for each in given]
        for place, way in zip(places, trees.flatten(tangents)[0], strict=True):
            duals.set_tangent(place, way)
        with DerivativeLevel("jvp", records=False) as level:
            inside = [tracked(level, place) for place in places]
            output, aux = split_aux(name, func(*trees.unflatten(inside, spec)), has_aux)
            if has_aux:
                checked_aux(aux)
            outputs, spec = checked_outputs(name, output)
            outputs = [level.leave(each) for each in outputs]
            aux = trees.mapped(level.leave, aux)
            ways = [level.below(duals.tangent_of, (each,), {}) for each in outputs]
    if strict and any(way is None for way in ways):
        raise RuntimeError(INDEPENDENT)
    pairs = zip(outputs, ways, strict=True)
    ways = [calls.zeros_like(each) if way is None else way for each, way in pairs]
    value = trees.unflatten([calls.alias(each) for each in outputs], spec)
    moved = trees.unflatten(ways, spec)
    aux = trees.mapped(calls.alias, aux) if has_aux else None
    return (value, moved, aux) if has_aux else (value, moved)


def linearize(func: Callable, *primals: Any) -> tuple:
    """The output of `func` at `primals`, and its derivative there as a function of tangents.

    Raises (the function, when called):
        RuntimeError: the tangents do not fit.
    """
    with DerivativeLevel("jvp") as level:
        linear, outputs, spec, _ = linear_at(func, primals, tuple(range(len(primals))), False, level)
        value = trees.unflatten([level.leave(each) for each in outputs], spec)

    places, place_spec = trees.flatten(primals)

    def move(*tangents: Any) -> Any:
        given, given_spec = trees.flatten(tangents)
        if given_spec != place_spec:
            raise RuntimeError(
                f"Expected the tangents {given_spec} to have the same argspec as the primals {place_spec}"
            )
        check_alike(given, places)
        directions = linear(given)
        return trees.unflatten([level.leave(each) for each in directions], spec)

    return value, move


def check_alike(tangents: list, primals: list) -> None:
    """Refuse tangents of another shape or type than their primals.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    for number, (tangent, primal) in enumerate(zip(tangents, primals, strict=True)):
        for fact in ("shape", "device", "dtype"):
            one, other = getattr(tangent, fact), getattr(primal, fact)
            if one != other:
                raise RuntimeError(
                    f"tangent:{number} with {fact} {one} in flattened pytree doesn't match the {fact} "
                    f"{other} of the corresponding primal."
                )
