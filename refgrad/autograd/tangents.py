"""How a call's results get their tangents: by the op's rule, else by differentiating its backward.

*Rule*: what tangent_rules.py says of an op: LINEAR, the op itself moves tangents; ELEMENTWISE, its gradient
formula does; or a formula of primals (`self_p`), tangents (`self_t`), results and plain arguments.
"""

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

from refgrad import call, dtypes, engine, modes
from refgrad.autograd import tangent_kinks as tangent_kinks  # gives ops their rules
from refgrad.autograd.tangent_rules import (
    ELEMENTWISE,
    LINEAR,
    LOSS,
    REDUCED_APART,
    RULES,
    UNSUPPORTED,
    VOID,
    ZEROED,
)
from refgrad.compiler import NAMESPACE
from refgrad.duals import (
    AFTER_WRITE,
    BEFORE_WRITE,
    CARRY,
    LEVELS,
    Apart,
    dual_view,
    is_enabled,
    remember_result,
    set_tangent,
    tangent_of,
)
from refgrad.edges import edge_of
from refgrad.graph import Node, cut_off, split_edge, start
from refgrad.op import calls
from refgrad.recipe import Recipe
from refgrad.tensor import Tensor, alias, is_batched

REQUEST = (
    "Please file an issue to PyTorch at https://github.com/pytorch/pytorch/issues/new?template="
    "feature-request.yml so that we can prioritize its implementation"
)
NONE, MEAN = 0, 1  # numbers of reductions
OR_WRITE_IT = " or submit a PR adding the implementation to derivatives.yaml"


# The three ways in ------------------------------------------------------------------------------------------


def carry(op: Any, function: Callable, arguments: tuple, output: Any) -> None:
    """Give the results of a plain call, or of a view, their tangents.

    Raises:
        NotImplementedError: an argument has a tangent and the op has no derivative.
    """
    if not is_enabled():
        return
    moving = tangents_among(op, arguments)
    results = output if isinstance(output, tuple) else (output,)
    if not moving or not any(moves(op, number, result) for number, result in enumerate(results)):
        return
    check_supported(op, op.function_name)
    with Apart():
        tangents = tangents_of_results(op, function, arguments, moving, results)
    for number, (result, tangent) in enumerate(zip(results, tangents, strict=True)):
        if tangent is not None and moves(op, number, result):
            tangent.__dict__.pop(VOID, None)
            set_tangent(result, tangent)
            remember(result)


def before_write(op: Any, function: Callable, arguments: tuple) -> tuple | None:
    """What a write in place needs to know of the time before it: the tangent of what is written, those of all
    arguments, and these with a copy of what is written; None when nothing moves.

    Raises:
        NotImplementedError: an argument has a tangent and the op has no derivative.
    """
    if not is_enabled() or arguments[0].dtype.category < dtypes.FLOATING:
        return None
    moving = tangents_among(op, arguments)
    if not moving:
        return None
    name = op.function_name
    check_supported(op, name if name.endswith("_") else name + "_")
    if op.is_view or RULES.get(op.name) in (LINEAR, ZEROED):
        return moving.get("self"), moving, arguments
    copy = arguments[0].clone()
    old = moving.get("self")
    if old is not None:
        moving["self"] = tangent_of(copy)
    return old, moving, (copy, *arguments[1:])


def after_write(op: Any, function: Callable, carried: tuple, written: Tensor) -> None:
    """Give what was written its new tangent: in the memory of the old one, where there is one."""
    old, moving, arguments = carried
    with Apart():
        if op.is_view:
            op.call_inplace(old, *arguments[1:])
            return
        if op.name == "copy_" and old is not None:
            new = old.copy_(moving["src"]) if "src" in moving else old.fill_(0)
        elif RULES.get(op.name) is ZEROED:
            new = old.fill_(0) if op.function_name == "fill_" else old.zero_()
        elif RULES.get(op.name) is LINEAR and op.only_inplace:
            (new,) = linear_write(op, function, arguments, moving)
            if old is None and not is_batched(new) and new._edge is None:
                new._version_cell = None  # zeros that were filled, where PyTorch makes a new tensor
        else:
            again = function if op.only_inplace else op.call
            (new,) = tangents_of_results(op, again, arguments, moving, (written,))
        if old is not None and new is not old and new is not None:
            old.copy_(new)
    if old is None and new is not None:
        new.__dict__.pop(VOID, None)  # zeros that were written to
        set_tangent(written, new, written=True)
    if old is not None or new is not None:
        remember(written)


CARRY.append(carry)
BEFORE_WRITE.append(before_write)
AFTER_WRITE.append(after_write)


def remember(result: Tensor) -> None:
    """Note the tangent of a result for the node that may have saved it."""
    edge = result._edge if result._meta.base is None else result._meta.edge
    if isinstance(edge, (Node, tuple)) and isinstance(node := split_edge(edge)[0], Node):
        remember_result(node, split_edge(edge)[1], result._meta.tangent)


# What moves -------------------------------------------------------------------------------------------------


def recipe_of(op: Any) -> Recipe:
    """The op's recipe, worked out once."""
    found = op.__dict__.get("_recipe")
    if found is None:
        found = op._recipe = Recipe(op)
    return found


def by_name(op: Any, arguments: Sequence) -> dict[str, Any]:
    """The arguments by their names."""
    return dict(zip(recipe_of(op).names, arguments, strict=True))


def moving_names(op: Any) -> list[str]:
    """The arguments whose tangents count."""
    recipe = recipe_of(op)
    if op.refused or op.name in UNSUPPORTED:
        return [name for name in recipe.names if recipe.types[name].startswith("Tensor")]
    return recipe.targets or ["self"]


def tangents_among(op: Any, arguments: tuple) -> dict[str, Any]:
    """The tangents of the arguments that have some; of a list of tensors a list, None for those without."""
    given = by_name(op, arguments)
    found: dict[str, Any] = {}
    for name in moving_names(op):
        value = given[name]
        if isinstance(value, Tensor):
            tangent = tangent_of(value)
            if tangent is not None:
                found[name] = tangent
        elif isinstance(value, (list, tuple)):
            tangents = [tangent_of(each) if isinstance(each, Tensor) else None for each in value]
            if any(tangent is not None for tangent in tangents):
                found[name] = tangents
    return found


def moves(op: Any, number: int, result: Tensor | None) -> bool:
    """Whether a result can have a tangent; one that was not asked for, which is None, has none."""
    return result is not None and op.is_differentiable(number) and result.dtype.category >= dtypes.FLOATING


def check_supported(op: Any, name: str) -> None:
    """Refuse an op that has no derivative for forward mode.

    Raises:
        NotImplementedError: it has none.
    """
    if op.refused:
        kind = op.refused if op.refused.startswith("aten::") else f"aten::{op.refused}"
        twin = "_" if name.endswith("_") and not kind.endswith("_") else ""
        raise NotImplementedError(f"Trying to use forward AD with {kind}{twin} that does not support it.")
    if op.name in UNSUPPORTED:
        raise NotImplementedError(
            f"Trying to use forward AD with {name} that does not support it because it has not been "
            f"implemented yet.\n{REQUEST}{'.' if name.endswith('_') else OR_WRITE_IT}"
        )


# By rule ----------------------------------------------------------------------------------------------------


def tangents_of_results(
    op: Any, function: Callable, arguments: tuple, moving: dict, results: tuple
) -> Sequence[Any]:
    """The tangents of the results, None for those without."""
    if (lead := batched_among(moving)) is not None:
        if op.is_view and op.function_name in lead.OWN_VIEWS:
            return (lead.OWN_VIEWS[op.function_name](lead, *arguments[1:]),)
        return each_sample(
            lead, moving, lambda one: tangents_of_results(op, function, arguments, one, results)
        )
    rule: Any = LINEAR if op.is_view else RULES.get(op.name)
    if rule is None:
        return double_vjp(op, function, arguments, moving, results)
    if rule is LINEAR:
        found = linear(op, function, arguments, moving)
    else:
        with formula_numbers():
            if rule is ELEMENTWISE:
                found = elementwise(op, arguments, moving, results)
            elif rule is LOSS:
                found = loss(op, arguments, moving, results)
            else:
                found = rule(**rule_values(op, rule, arguments, moving, results))
        if found is NotImplemented:
            return double_vjp(op, function, arguments, moving, results)
    found = found if isinstance(found, tuple) else (found,)
    return (*found, *[None] * (len(results) - len(found)))


def linear_write(op: Any, function: Callable, arguments: tuple, moving: dict) -> Sequence[Any]:
    """What a write in place makes of tangents in place of values."""
    if (lead := batched_among(moving)) is not None:
        return each_sample(lead, moving, lambda one: linear_write(op, function, arguments, one))
    return (linear(op, function, arguments, moving),)


def batched_among(moving: dict) -> Any:
    """The first tangent that is batched, None if there is none."""
    for value in moving.values():
        for tangent in value if isinstance(value, list) else (value,):
            if tangent is not None and is_batched(tangent):
                return tangent
    return None


def each_sample(lead: Any, moving: dict, compute: Callable) -> list:
    """`compute(tangents)` for each sample of the batched tangents; its results, batched again."""

    def sample(tangent: Any, at: int) -> Any:
        if isinstance(tangent, list):
            return [sample(each, at) for each in tangent]
        is_ours = tangent is not None and is_batched(tangent) and tangent.level is lead.level
        return (tangent.samples or [tangent.first])[at] if is_ours else tangent

    rows = [
        compute({name: sample(tangent, at) for name, tangent in moving.items()})
        for at in range(len(lead.samples) or 1)
    ]
    if not lead.samples:
        return [None if tangent is None else lead.none_of(tangent) for tangent in rows[0]]
    return [None if column[0] is None else lead.like(list(column)) for column in zip(*rows, strict=True)]


@contextmanager
def formula_numbers() -> Any:
    """Numbers mean in here what they mean in formulas, see note [Numbers in formulas]."""
    inside = call.in_formula()
    call.enter_formula()
    try:
        yield
    finally:
        if not inside:
            call.leave_formula()


def directions(op: Any, arguments: tuple, moving: dict) -> dict[str, Any]:
    """The tangents of all arguments whose tangents count: zeros for those without."""
    given = by_name(op, arguments)
    found: dict[str, Any] = {}
    for name in recipe_of(op).targets or ["self"]:
        value, tangent = given[name], moving.get(name)
        if isinstance(value, (list, tuple)):
            tangents = tangent or [None] * len(value)
            found[name] = [zeros(v) if t is None else t for v, t in zip(value, tangents, strict=True)]
        else:
            found[name] = zeros(value) if tangent is None else tangent
    return found


def zeros(value: Any) -> Any:
    """The tangent of what does not move; None of what is no tensor."""
    if not isinstance(value, Tensor):
        return None
    made = calls.zeros_like(value.detach())
    made.__dict__[VOID] = True
    return made


def primal(value: Any) -> Any:
    """An argument as the formulas of tangents see it."""
    if isinstance(value, (list, tuple)):
        return [primal(each) for each in value]
    if type(value) in call.WRAPPED:
        return call.WRAPPED[type(value)](value)
    return fw_primal(value) if isinstance(value, Tensor) and call.requires(value) else value


class CppFunction(Node):
    """The node between a dual and its primal; PyTorch made it by hand, and its class shows no other name."""

    __slots__ = ()

    def apply(self, grads: list, create_graph: bool, needed: object) -> list:
        """The gradient as it is."""
        return grads

    def name(self) -> str:
        """The name that PyTorch shows."""
        return "torch::autograd::Identity"


CppFunction.__module__ = "builtins"


def fw_primal(tensor: Tensor) -> Tensor:
    """A view of the tensor without its tangent."""
    if LEVELS[-1].primal is not None:
        return LEVELS[-1].primal(tensor)
    view = dual_view(tensor)
    edge = edge_of(tensor) if modes.grad_enabled() else None
    if edge is not None and view._meta is not None:
        array = tensor._array
        call.place_view(view, start(object.__new__(CppFunction), (edge,), (array.shape, array.dtype)))
    return view


def rule_values(op: Any, rule: Callable, arguments: tuple, moving: dict, results: tuple) -> dict[str, Any]:
    """What a rule's parameters ask for, by their names."""
    given, tangents = by_name(op, arguments), directions(op, arguments, moving)
    of_results = dict(zip(recipe_of(op).results, results, strict=False))
    code = rule.__code__
    found = {}
    for parameter in code.co_varnames[: code.co_argcount]:
        name, suffix = parameter[:-2], parameter[-2:]
        if suffix == "_t" and name in given:
            number = type(given[name]) in call.WRAPPED
            found[parameter] = primal(type(given[name])(0)) if number else tangents[name]
        elif suffix == "_p" and name in given:
            found[parameter] = primal(given[name])
        else:
            found[parameter] = given[parameter] if parameter in given else of_results[parameter]
    return found


def linear(op: Any, function: Callable, arguments: tuple, moving: dict) -> Any:
    """What a call makes of tangents in place of values."""
    tangents = directions(op, arguments, moving)
    values = []
    for name, value in by_name(op, arguments).items():
        tangent = tangents.get(name, value)
        values.append(0 if tangent is None and isinstance(value, call.NUMBERS) else tangent)
    return function(*values)


def by_formula(
    op: Any, formula: Any, arguments: tuple, tangent: Tensor, results: tuple, **fixed: Any
) -> Tensor:
    """What a gradient formula of one target makes of a tangent in place of the gradient."""
    recipe, given = recipe_of(op), by_name(op, arguments) | fixed
    values = []
    for parameter in formula.parameters:
        if parameter == "grad":
            values.append(tangent.conj())
        elif parameter in recipe.saved_inputs:
            values.append(primal(given[parameter]))
        elif parameter in recipe.saved_results:
            values.append(results[recipe.saved_results[parameter]])
        else:
            outputs = {"out": results[0], "outs": results}
            values.append(eval(recipe.plain[parameter][1], NAMESPACE, given | outputs))
    return formula.function(*values).conj()


def elementwise(op: Any, arguments: tuple, moving: dict, results: tuple) -> Tensor:
    """The tangent of a pointwise op with one operand."""
    (formula,) = recipe_of(op).formulas
    return by_formula(op, formula, arguments, moving[formula.targets[0]], results)


def loss(op: Any, arguments: tuple, moving: dict, results: tuple) -> Tensor:
    """The tangent of a loss that is pointwise until it is reduced."""
    tangents = directions(op, arguments, moving)
    parts = [
        by_formula(op, formula, arguments, tangents[formula.targets[0]], results, reduction=NONE)
        for formula in recipe_of(op).formulas
        if isinstance(by_name(op, arguments)[formula.targets[0]], Tensor)
    ]
    total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    reduction = by_name(op, arguments)["reduction"]
    if reduction == NONE:
        return total
    total = total.mean() if reduction == MEAN else total.sum()
    # PyTorch has all elements in the memory of the other losses first, so that the tangent is copied there.
    return total if op.name in REDUCED_APART else zeros(results[0]).copy_(total)


# By differentiating the backward ----------------------------------------------------------------------------


def double_vjp(op: Any, function: Callable, arguments: tuple, moving: dict, results: tuple) -> list:
    """The tangents of the results of any op whose backward can be differentiated.

    The backward is linear in its cotangent. Its own backward, run with the tangents of the arguments, is the
    forward derivative.
    """
    wanted = modes.grad_enabled() and any(x.requires_grad for x in tensors_in([arguments, moving]))
    begin = modes.peek_sequence()
    with recorded_plainly():
        stand_ins, pairs = moving_leaves(op, arguments, moving)
        again = [replaced(value, stand_ins) for value in arguments]
        if op.only_inplace:
            again[0] = again[0].clone()
        output = function(*again)
        roots = output if isinstance(output, tuple) else (output,)
        live = [i for i, x in enumerate(roots) if moves(op, i, x) and x.requires_grad and x.numel()]
        cotangents = [leaf_of(zeros(roots[i]).fill_(1)) for i in live]
        gradients = pulled([roots[i] for i in live], cotangents, [x for x, _ in pairs], True)
    ends = [(g, t) for g, (_, t) in zip(gradients, pairs) if g is not None and g.requires_grad]
    found: list = [zeros(x) if moves(op, i, x) else None for i, x in enumerate(results)]
    if ends:
        moved = pulled([g for g, _ in ends], [t.to(g.dtype) for g, t in ends], cotangents, wanted)
        leaves = [x for x in (*cotangents, *(x for x, _ in pairs)) if x.is_leaf]
        ours = {split_edge(edge_of(leaf))[0] for leaf in leaves}
        for i, tangent in zip(live, moved, strict=True):
            if tangent is not None:
                stays = wanted and cut_off(edge_of(tangent), ours, begin) is not None
                found[i] = tangent if stays else alias(tangent)
    return found


def moving_leaves(op: Any, arguments: tuple, moving: dict) -> tuple[dict[int, Tensor], list]:
    """What stands for each argument that moves, by its id, and pairs of it and the tangent.

    It requires grad, and leads on to the argument's own history, but past its hooks.
    """
    given = by_name(op, arguments)
    stand_ins: dict[int, Tensor] = {}
    pairs: list[tuple[Tensor, Tensor]] = []
    for name, tangent in moving.items():
        several = isinstance(tangent, list)
        for value, t in zip(given[name] if several else [given[name]], tangent if several else [tangent]):
            if t is not None and id(value) not in stand_ins:
                stand_ins[id(value)] = fw_primal(value) if value.requires_grad else leaf_of(value)
                pairs.append((stand_ins[id(value)], t))
    return stand_ins, pairs


@contextmanager
def recorded_plainly() -> Any:
    """Grad mode on, and hooks on saved tensors out of the way."""
    before, rare = modes.state.grad, modes.set_rare(saved_tensor_hooks=(), hooks_disabled=None)
    modes.set_grad(True)
    try:
        yield
    finally:
        modes.set_grad(before)
        modes.set_rare(**rare)


def leaf_of(tensor: Tensor) -> Tensor:
    """A leaf over the same memory."""
    leaf = alias(tensor)
    leaf._set_requires_grad(True)
    return leaf


def tensors_in(values: Any) -> list[Tensor]:
    """The tensors in nested lists and dicts."""
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, dict):
        values = list(values.values())
    return [t for value in values for t in tensors_in(value)] if isinstance(values, (list, tuple)) else []


def replaced(value: Any, stand_ins: dict[int, Tensor]) -> Any:
    """An argument for the second call: its stand-in; a copy where the call may write (running averages)."""
    if isinstance(value, (list, tuple)):
        return [replaced(each, stand_ins) for each in value]
    if not isinstance(value, Tensor) or id(value) in stand_ins:
        return stand_ins.get(id(value), value)
    buffer = value.dtype.category >= dtypes.FLOATING and not value.requires_grad
    return value.clone() if buffer else value


def pulled(roots: list[Tensor], cotangents: list, inputs: list[Tensor], create_graph: bool) -> list:
    """The gradients of `inputs`, None where none arrived."""
    if not roots:
        return [None] * len(inputs)
    edges = [edge_of(each) for each in inputs]
    return engine.execute([edge_of(root) for root in roots], cotangents, True, create_graph, edges, False)
