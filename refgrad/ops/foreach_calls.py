"""`torch._foreach_*`: one call for a list of tensors, made of calls for the single ones.

Calls in place are no more than that. The others record one node for the whole list, which runs the nodes that
the single calls would have recorded. (The extremes, which stand in foreach.py, have formulas of their own.)
"""

from collections.abc import Callable
from typing import Any

from refgrad import errors, modes
from refgrad.call import edges_of, refused
from refgrad.edges import set_edge
from refgrad.graph import FREED, Node, make_edge, start
from refgrad.op import BY_NAME, OPS, calls, composite
from refgrad.tensor import Tensor
from refgrad.views import CALL_FUNCTION


class ForeachNode(Node):
    """Runs a node for each tensor of a list; its edges are those to the first operands, then the second's."""

    __slots__ = ("functions", "operands", "shown_name")
    functions: Any  # the nodes, None for tensors that require no grad; or FREED

    def apply(self, grads, create_graph, needed):
        """The gradients of all first operands, then of all second ones."""
        if self.functions is FREED:
            raise RuntimeError(errors.FREED)
        rows = []
        for node, grad in zip(self.functions, grads, strict=True):
            if node is None or grad is None:
                rows.append([None] * self.operands)
            else:
                rows.append(CALL_FUNCTION[0](node, [grad], create_graph, None))
        return [row[position] for position in range(self.operands) for row in rows]

    def release_saved(self):
        """Let go of what the nodes saved."""
        for node in () if self.functions is FREED else self.functions:
            if node is not None:
                node.release_saved()
        self.functions = FREED

    def name(self):
        """The name that PyTorch shows."""
        return self.shown_name


ForeachNode.__name__, ForeachNode.__module__ = "CppFunction", "builtins"  # PyTorch shows no other name


def together(node_name, results, operands):
    """The results of the single calls, as results of one node with so many operands a tensor."""
    functions = [result._edge if isinstance(result._edge, Node) else None for result in results]
    if any(node is not None for node in functions):
        edges = tuple(
            None if node is None else node._next_edges[position]
            for position in range(operands)
            for node in functions
        )
        outputs = [(result._array.shape, result._array.dtype) for result in results]
        node = start(object.__new__(ForeachNode), edges, *outputs)
        node.functions, node.operands, node.shown_name = functions, operands, node_name
        for number, result in enumerate(results):
            result._edge = make_edge(node, number)
    return tuple(results)


def check_lists(first, *others):
    """Refuse lists that are empty or of different lengths.

    Raises:
        RuntimeError: one is.
    """
    if not first:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for other in others:
        if isinstance(other, (list, tuple)) and len(other) != len(first):
            if other and not isinstance(other[0], Tensor):
                raise RuntimeError("Tensor list must have same number of elements as scalar list.")
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {len(first)} and {len(other)}"
            )


def each(function: Callable, first, *others):
    """The results of the single calls; what is no list is the same for all."""
    check_lists(first, *others)
    columns = [other if isinstance(other, (list, tuple)) else [other] * len(first) for other in others]
    return [function(*row) for row in zip(first, *columns, strict=True)]


def declare(name: str, overload: str, arguments: str, node: str, entry: str = "", operands: int = 0) -> None:
    """Declare the call for a list, and the one in place, which gives the list back.

    `entry` is the op for the single tensors, where that is not found by its name; `operands` how many of its
    operands are differentiated.
    """
    schema = f"{overload and '.' + overload}(Tensor[] self{arguments})"
    operands = operands or (2 if overload == "List" else 1)

    def single():
        of_numbers = OPS.get(f"{name}.Scalar") if overload.startswith("Scalar") else None
        return OPS[entry] if entry else of_numbers or BY_NAME[name][0]

    def plain(first, *others):
        return together(node, each(single().call, first, *others), operands)

    def in_place(first, *others):
        each(single().call_inplace, first, *others)
        return first

    composite(f"_foreach_{name}{schema} -> Tensor[]")(plain)
    composite(f"_foreach_{name}_{schema} -> ()")(in_place)


OF_ONE_OPERAND = """
abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal
round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc
"""
for word in OF_ONE_OPERAND.split():
    declare(word, "", "", f"Foreach{word.title()}Backward0")
for word in ("add", "sub", "mul", "div"):
    title = f"Foreach{word.title()}Backward"
    alpha = ", *, Scalar alpha=1" if word in ("add", "sub") else ""
    declare(word, "Scalar", ", Scalar scalar", f"{title}1Scalar")
    declare(word, "ScalarList", ", Scalar[] scalars", f"{title}1ScalarList")
    declare(word, "List", f", Tensor[] other{alpha}", f"{title}0" if word == "div" else f"{title}0List")
for word in ("maximum", "minimum"):
    declare(word, "List", ", Tensor[] other", f"Foreach{word.title()}Backward0List")
for word in ("addcmul", "addcdiv"):
    title, others = f"Foreach{word.title()}Backward0", ", Tensor[] tensor1, Tensor[] tensor2"
    declare(word, "Scalar", f"{others}, Scalar value=1", f"{title}Scalar", word, 3)
    declare(word, "ScalarList", f"{others}, Scalar[] scalars", f"{title}ScalarList", word, 3)
declare(
    "lerp",
    "ScalarList",  # before the list of tensors, which would refuse a list of numbers
    ", Tensor[] tensors1, Scalar[] weight",
    "ForeachLerpBackward0ScalarList",
    "lerp.Scalar",
    2,
)
declare("lerp", "List", ", Tensor[] tensors1, Tensor[] weights", "ForeachLerpBackward1List", "lerp.Tensor", 3)
declare(
    "lerp", "Scalar", ", Tensor[] tensors1, Scalar weight", "ForeachLerpBackward0Scalar", "lerp.Scalar", 2
)
for word in ("clamp_min", "clamp_max"):
    title = f"Foreach{word.title().replace('_', '')}Backward"
    declare(word, "Scalar", ", Scalar scalar", f"{title}0Scalar", word)
    declare(word, "ScalarList", ", Scalar[] scalars", f"{title}0ScalarList", word)
    declare(word, "List", ", Tensor[] other", f"{title}1List", f"{word}.Tensor")
declare("pow", "Scalar", ", Scalar exponent", "ForeachPowBackward0Scalar", "pow.Tensor_Scalar")
declare("pow", "ScalarList", ", Scalar[] exponent", "ForeachPowBackward1", "pow.Tensor_Scalar")
declare("pow", "List", ", Tensor[] exponent", "ForeachPowBackward0", "pow.Tensor_Tensor")


@composite("_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]")
def foreach_clone(first, memory_format):
    copies = each(lambda tensor: calls.clone(tensor, memory_format=memory_format), first)
    return together("ForeachCloneBackward0", copies, 1)


@composite("_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()")
def foreach_copy_(first, others, non_blocking):
    check_lists(first, others)
    targets, sources = edges_of(first), edges_of(others)
    before = modes.grad_enabled()
    modes.set_grad(False)
    try:
        each(calls.copy_, first, others)
    finally:
        modes.set_grad(before)
    for target, edge in zip(first, targets, strict=True):
        edges = (edge, *sources)
        if before and any(each is not None for each in edges):
            set_edge(target, refused("_foreach_copy_", edges, (target._array.shape, target._array.dtype)))
    return first


@composite("_foreach_zero_(Tensor(a!)[] self) -> ()")
def foreach_zero_(first):
    each(calls.zero_, first)
    return first
