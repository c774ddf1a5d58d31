"""Compiles an op's declaration into plain functions, once, on first use.

From one entry come the node class with its `apply`, the function that users call, and its in-place twin. They
are generated as source, so that the common case runs straight through, and given to `linecache`, so that
tracebacks show them.
"""

import linecache
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad import call, dtypes, duals, modes, reduced
from refgrad.apply_source import apply_source
from refgrad.call_source import call_source, view_source
from refgrad.edges import edge_of, set_edge
from refgrad.graph import FREED, NOWHERE, PENDING, Node
from refgrad.inplace_source import inplace_name, inplace_source, inplace_view_source
from refgrad.layout import Layout, layout_of, lies_oddly, root_of
from refgrad.lazy import plain
from refgrad.overriding import unknown_operand
from refgrad.recipe import HIDDEN, Recipe
from refgrad.record_source import (
    inplace_recorder_source,
    inplace_view_recorder_source,
    recorder_source,
    view_recorder_source,
)
from refgrad.samples import Batched, guarded, per_sample, recorded_edge
from refgrad.saved import saved_properties
from refgrad.storage import InferenceVersion, count_write, version_cell, version_of, window_of, windows
from refgrad.tensor import AutogradMeta, Tensor, wrap
from refgrad.views import check_inplace, keep_replay, make_view, rebase_history, relate

NAMESPACE = {
    "Batched": Batched,
    "per_sample": per_sample,
    "ref": weakref.ref,
    "np": np,
    "least": min,  # which parameters of ops are called
    "plain": plain,
    "ndarray": np.ndarray,
    "asarray": np.asarray,
    "new": object.__new__,
    "Tensor": Tensor,
    "PENDING": PENDING,
    "NOWHERE": NOWHERE,
    "FREED": FREED,
    "edge_of": edge_of,
    "recorded_edge": recorded_edge,
    "set_edge": set_edge,
    "modes": modes,
    "GRAD_OFF": modes.GRAD_OFF,
    "RARE": modes.RARE,
    "FORMULA": modes.FORMULA,
    "DUALS": modes.DUALS,
    "duals": duals,
    "state": modes.state,
    "sequence": modes.sequence,
    "call": call,
    "promoted": call.promoted,
    "promoted_with_number": reduced.promoted_with_number,
    "unpack": call.unpack,
    "wrap": wrap,
    "F32": dtypes.float32.numpy,
    "F64": dtypes.float64.numpy,
    "WRAPPED": call.WRAPPED,
    "REDUCED": dtypes.REDUCED,
    "layout_of": layout_of,
    "lies_oddly": lies_oddly,
    "root_of": root_of,
    "Layout": Layout,
    "keep_replay": keep_replay,
    "make_view": make_view,
    "relate": relate,
    "check_inplace": check_inplace,
    "rebase_history": rebase_history,
    "AutogradMeta": AutogradMeta,
    "NUMBERS": call.NUMBERS,
    "unknown_operand": unknown_operand,
    "InferenceVersion": InferenceVersion,
    "version_of": version_of,
    "version_cell": version_cell,
    "count_write": count_write,
    "window_of": window_of,
    "windows": windows,
}


COMPILING = threading.RLock()
"""Held while functions of an op are made; another thread would make them too, and other classes of nodes."""


def build(source: str, name: str, namespace: dict, title: str) -> Any:
    """Compile generated source; tracebacks can show its lines, under a title that nothing else has."""
    filename = f"<refgrad {title}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


def node_class(recipe: Recipe, name: str) -> type:
    """The class of the nodes that an op records, with its generated `apply`."""
    slots = []
    for saved in recipe.saved_inputs:
        slots += [f"s_{saved}", f"v_{saved}"]
    for saved in recipe.saved_results:
        slots += [f"s_{saved}", f"v_{saved}", f"c_{saved}", f"w_{saved}"]
    slots += [f"p_{plain}" for plain in recipe.plain]
    edges: dict[str, int] = {}
    for position, target in enumerate(recipe.targets):
        if recipe.is_list(target):
            break
        edges[target] = position
    differentiable = [i for i in range(len(recipe.results)) if recipe.op.is_differentiable(i)]
    namespace = {
        "__slots__": tuple(slots),
        "__module__": "builtins",
        "FUNCTION": recipe.op.function_name,
        "SAVED": (*recipe.saved_inputs, *sorted(recipe.saved_results)),
        "PLAIN": {plain: kind for plain, (kind, _) in sorted(recipe.plain.items()) if kind != HIDDEN},
        "RESULTS": {
            r: (differentiable.index(i) if i in differentiable else -1)
            for r, i in recipe.saved_results.items()
        },
        "EDGES": edges,
        "GUARDS": {
            saved: edges[guard]
            for saved in recipe.saved_inputs
            if (guard := recipe.guard(saved) or "") in edges
        },
        "apply": build(apply_source(recipe), "apply", formula_namespace(recipe), f"{recipe.op.name}: {name}"),
        "__new__": refuse_creation,
    }
    namespace |= saved_properties(namespace["SAVED"], namespace["PLAIN"])
    return type(name, (Node,), namespace)


def refuse_creation(cls: type, *args: object, **kwargs: object) -> Any:
    """Nodes come from ops alone.

    Raises:
        TypeError: always.
    """
    raise TypeError(f"cannot create '{cls.__name__}' instances")


def formula_namespace(recipe: Recipe) -> dict:
    """The names that a node's generated code refers to."""
    namespace = dict(NAMESPACE)
    for i, formula in enumerate(recipe.formulas):
        namespace[f"formula{i}"] = formula.function
    return namespace


def namespace_of(op: Any, recipe: Recipe, use: str) -> dict:
    """The names that the functions of an op refer to."""
    namespace = dict(NAMESPACE)
    reduced.wrap_kernel(namespace, op)
    namespace["check"], namespace["ufunc"], namespace["op"] = op.check, op.ufunc, op
    namespace["result_wrapper"] = op.wrapper
    if recipe.targets:
        namespace["Node"] = op.node_for(recipe, use)
    return namespace


def compile_call(op: Any) -> Callable:
    """The function of an op's plain call."""
    recipe = Recipe(op)
    namespace = namespace_of(op, recipe, "plain")
    source = view_source(recipe) if op.is_view else call_source(recipe)
    source = guarded(source, recipe.names)
    function = namespace["function"] = build(source, op.function_name, namespace, op.name)
    return function


def compile_inplace(op: Any) -> Callable:
    """The function of an op's in-place twin."""
    recipe = Recipe(op)
    namespace = namespace_of(op, recipe, "inplace")
    source = inplace_view_source(recipe) if op.is_view else inplace_source(recipe)
    source, name = guarded(source, recipe.names), inplace_name(op)
    function = namespace["function"] = build(source, name, namespace, f"{op.name} in place")
    return function


def recorder_of(function: Callable) -> Callable:
    """The recorder of a generated function, see record_source.py; generated on first use."""
    namespace: dict = function.__globals__
    if "recorder" not in namespace:
        with COMPILING:
            namespace["recorder"] = compile_recorder(namespace, function.__name__)
    return namespace["recorder"]


def compile_recorder(namespace: dict, name: str) -> Callable:
    """The recorder of the function of this name, which has this namespace."""
    op = namespace["op"]
    recipe = Recipe(op)
    is_twin = name != op.function_name or op.only_inplace
    if is_twin:
        source = inplace_view_recorder_source(recipe) if op.is_view else inplace_recorder_source(recipe)
    else:
        source = view_recorder_source(recipe) if op.is_view else recorder_source(recipe)
    apart = {key: value for key, value in namespace.items() if key != name}
    return build(source, name, apart, f"recorder of {op.name}{' in place' if is_twin else ''}")
