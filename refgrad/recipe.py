"""Compiles an op's declaration into plain functions, once, on first use.

From one entry come: the node class with its `apply`, the function that users call, and its in-place twin.
They are generated as source, so that the common case runs straight through, and given to `linecache`, so that
tracebacks show them. Names in generated code: `a_x` the array of argument x, `e_x` its edge,
`s_x`/`v_x`/`c_x` the saved value, its version and (of results) its version cell in the node, `p_x` a saved
plain value.
"""

import keyword
import linecache
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from refgrad import call, dtypes, modes
from refgrad.graph import FREED, NOWHERE, PENDING, Node, saved_properties
from refgrad.layout import Layout, layout_of, root_of
from refgrad.lazy import plain
from refgrad.schema import Argument, Schema
from refgrad.storage import INFERENCE, count_write, version_cell, version_of
from refgrad.tensor import AutogradMeta, Tensor, edge_of, set_edge, wrap
from refgrad.views import check_inplace, make_view, rebase_history

RAW_NAMES = {"conj", "conjugate"}  # what a formula may ask of its operands and still be given raw arrays

HIDDEN = "hidden"  # the kind of a saved value that users do not see as `_saved_*`
DERIVED = {
    "sym_sizes": ("SymInt[]", "tuple({0}._array.shape)"),
    "sym_strides": ("SymInt[]", "{0}.stride()"),
    "sym_numel": ("SymInt", "{0}._array.size"),
    "scalar_type": (HIDDEN, "{0}.dtype"),
    "dim": ("int", "{0}._array.ndim"),
    "storage_offset": ("SymInt", "{0}.storage_offset()"),
    "sym_argsize_0": ("SymInt", "{0}._array.shape[0]"),
    "sym_argsize_1": ("SymInt", "{0}._array.shape[1]"),
    "sym_argsize_2": ("SymInt", "{0}._array.shape[2]"),
    "sym_argsize_minus_1": ("SymInt", "{0}._array.shape[-1]"),
    "sym_argsize_minus_2": ("SymInt", "{0}._array.shape[-2]"),
    "sym_sizes_opt": ("SymInt[]", "None if {0} is None else tuple({0}._array.shape)"),
    "options": (HIDDEN, "{0}.dtype"),
    "info": (HIDDEN, "tuple({0}._array.shape)"),
    "args_scalartypes": (HIDDEN, "[t.dtype for t in {0}]"),
    "geometry": (HIDDEN, "layout_of({0}._array)"),
    "args_sizes": (HIDDEN, "[tuple(t._array.shape) for t in {0}]"),
}


class Formula:
    """One gradient formula and what its parameters ask for."""

    def __init__(self, targets: tuple[str, ...], function: Callable):
        code = function.__code__
        self.targets = targets
        self.function = function
        self.parameters = code.co_varnames[: code.co_argcount]
        self.raw = not code.co_freevars and RAW_NAMES.issuperset(code.co_names) and len(targets) == 1


def usable(argument: Argument) -> Argument:
    """The argument under a name that Python code can use: `from` becomes `from_`."""
    return replace(argument, name=argument.name + "_") if keyword.iskeyword(argument.name) else argument


class Recipe:
    """What an entry saves and for whom, worked out from its schema and formulas."""

    def __init__(self, op: Any):
        self.op = op
        self.schema: Schema = op.schema
        self.arguments = tuple([usable(argument) for argument in self.schema.arguments])
        self.names = [argument.name for argument in self.arguments]
        self.types = {argument.name: argument.type for argument in self.arguments}
        self.formulas = [
            Formula(tuple(target.split(", ")), function)
            for target, function in op.formulas.items()
            if function
        ]
        self.targets = [name for name in self.names if any(name in f.targets for f in self.formulas)]
        self.results = [r.name or ("result" if len(self.schema.returns) == 1 else f"result{i}")
                        for i, r in enumerate(self.schema.returns)]  # fmt: skip
        self.saved_inputs: list[str] = []
        self.saved_results: dict[str, int] = {}
        self.plain: dict[str, tuple[str, str]] = {}  # name -> (schema type, expression)
        for formula in self.formulas:
            for parameter in formula.parameters:
                self._classify(parameter)
        self.saved_inputs.sort()

    def _classify(self, parameter: str) -> None:
        if parameter in ("grad", "grads", "needs_input_grad", "node"):
            return
        if parameter in self.types:
            if self.types[parameter].startswith("Tensor"):
                if parameter not in self.saved_inputs:
                    self.saved_inputs.append(parameter)
            else:
                optional = any(a.name == parameter and a.optional for a in self.arguments)
                kind = self.types[parameter]
                unseen = kind == "ScalarType" or kind == "bool" and optional
                self.plain[parameter] = (HIDDEN if unseen else kind, parameter)
        elif parameter in self.results:
            self.saved_results[parameter] = self.results.index(parameter)
        else:
            source = max(
                (name for name in self.names if parameter.startswith(name + "_")), key=len, default=""
            )
            suffix = parameter[len(source) + 1 :]
            if suffix not in DERIVED:
                raise TypeError(
                    f"{self.op.name}: a formula asks for {parameter!r}, which is no argument and no result"
                )
            kind, expression = DERIVED[suffix]
            self.plain[parameter] = (kind, expression.format(source))

    def guard(self, name: str) -> str | None:
        """The one target for whose gradient alone this input is saved; None when it is always saved."""
        users = [formula for formula in self.formulas if name in formula.parameters]
        optional = any(argument.name == name and argument.optional for argument in self.arguments)
        if optional or "backward" in self.op.function_name:
            return None  # as PyTorch's generator of these classes decides
        if len(self.formulas) > 1 and len(users) == 1 and len(users[0].targets) == 1:
            target = users[0].targets[0]
            return target if self.types[target] == "Tensor" else None
        return None

    def is_list(self, name: str) -> bool:
        """Whether an argument is a list of tensors."""
        return self.types[name].endswith("[]")


def build(source: str, name: str, namespace: dict) -> Any:
    """Compile generated source; tracebacks can show its lines."""
    filename = f"<refgrad {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


NAMESPACE = dict(
    np=np, plain=plain, ndarray=np.ndarray, asarray=np.asarray, new=object.__new__, Tensor=Tensor, PENDING=PENDING, NOWHERE=NOWHERE,
    FREED=FREED, edge_of=edge_of, set_edge=set_edge, modes=modes, GRAD_OFF=modes.GRAD_OFF, RARE=modes.RARE,
    FORMULA=modes.FORMULA,
    state=modes.state, sequence=modes.sequence, call=call, promoted=call.promoted, unpack=call.unpack, wrap=wrap,
    F32=dtypes.float32.numpy, F64=dtypes.float64.numpy, WRAPPED=call.WRAPPED, layout_of=layout_of, root_of=root_of,
    Layout=Layout, make_view=make_view, check_inplace=check_inplace, rebase_history=rebase_history,
    AutogradMeta=AutogradMeta, NUMBERS=call.NUMBERS, INFERENCE=INFERENCE, version_of=version_of, version_cell=version_cell,
    count_write=count_write,
)  # fmt: skip


# The node
# -----------------------------------------------------------------------------------------------------------


def node_class(recipe: Recipe, name: str) -> type:
    """The class of the nodes that an op records, with its generated `apply`."""
    slots = []
    for saved in recipe.saved_inputs:
        slots += [f"s_{saved}", f"v_{saved}"]
    for saved in recipe.saved_results:
        slots += [f"s_{saved}", f"v_{saved}", f"c_{saved}"]
    slots += [f"p_{plain}" for plain in recipe.plain]
    edges: dict[str, int] = {}
    for position, target in enumerate(recipe.targets):
        if recipe.is_list(target):
            break
        edges[target] = position
    differentiable = {i for i in range(len(recipe.results)) if recipe.op.is_differentiable(i)}
    namespace = {
        "__slots__": tuple(slots),
        "__module__": "builtins",
        "SAVED": (*recipe.saved_inputs, *recipe.saved_results),
        "PLAIN": {plain: kind for plain, (kind, _) in sorted(recipe.plain.items()) if kind != HIDDEN},
        "RESULTS": {r: (i if i in differentiable else -1) for r, i in recipe.saved_results.items()},
        "EDGES": edges,
        "apply": build(apply_source(recipe), "apply", formula_namespace(recipe, f"{name}.apply")),
    }
    namespace |= saved_properties(namespace["SAVED"], namespace["PLAIN"])
    return type(name, (Node,), namespace)


def formula_namespace(recipe: Recipe, title: str) -> dict:
    """The names that a node's generated code refers to."""
    namespace = dict(NAMESPACE)
    for i, formula in enumerate(recipe.formulas):
        namespace[f"formula{i}"] = formula.function
    return namespace


def apply_source(recipe: Recipe) -> str:
    """The source of a node's `apply`: unpack everything that was saved, then run the formulas that are
    wanted.
    """
    lines = ["def apply(node, grads, create_graph, needed):"]
    add = lines.append
    listed = any(recipe.is_list(target) for target in recipe.targets)
    for name in recipe.saved_inputs:
        add(f"    {name} = node.s_{name}")
        add(f"    if {name}.__class__ is Tensor:")
        add(f"        cell = {name}._version_cell")
        stale = f"cell is not None and cell[0] != node.v_{name}"
        if name in recipe.targets and not listed:
            stale += f" or {name}._edge is None and node.edges[{recipe.targets.index(name)}] is not None"
        add(f"        if {stale}: {name} = unpack(node, {name!r})")
        add(
            f"    elif {name} is not None and {name}.__class__ not in WRAPPED: {name} = unpack(node, "
            f"{name!r})"
        )
    for name in recipe.saved_results:
        add(f"    {name} = node.s_{name}")
        add(f"    if {name}.__class__ is not ndarray or node.c_{name}[0] != node.v_{name} or create_graph:")
        add(f"        {name} = unpack(node, {name!r})")
    for name in recipe.plain:
        add(f"    {name} = node.p_{name}")
    uses_grads = any("grads" in formula.parameters for formula in recipe.formulas)
    if uses_grads:
        add("    if all(g is None for g in grads): return [None] * len(node.edges)")
    else:
        add("    grad = grads[0]")
        add("    if grad is None: return [None] * len(node.edges)")
    body = list_formula_lines(recipe) if listed else single_formula_lines(recipe)
    # See note [Numbers in formulas].
    lines += ["    if create_graph: call.enter_formula()", "    try:"]
    lines += [f"    {line}" for line in body]
    lines += ["    finally:", "        if create_graph: call.leave_formula()"]
    return "\n".join(lines) + "\n"


def wanted(position: int) -> str:
    """The test whether the gradient for an edge is asked for."""
    edge = f"edge{position}"
    return f"{edge} is not None and {edge} is not NOWHERE and (needed is None or call.takes_part({edge}, needed))"


def single_formula_lines(recipe: Recipe) -> list[str]:
    """Code for inputs that are single tensors: one edge for each target."""
    count = len(recipe.targets)
    lines = [f"    {', '.join(f'edge{i}' for i in range(count))}{',' if count == 1 else ''} = node.edges"]
    lines += [f"    {' = '.join(f'result_{i}' for i in range(count))} = None"]
    raw_formulas = [f for f in recipe.formulas if f.raw and "grad" in f.parameters]
    if raw_formulas:
        lines += raw_preparation(recipe, raw_formulas)
    for i, formula in enumerate(recipe.formulas):
        positions = [recipe.targets.index(target) for target in formula.targets]
        if len(positions) > 1:
            flags = ", ".join(wanted(position) for position in positions)
            lines.append(f"    flags = ({flags},)")
            lines.append("    if any(flags):")
            mask = "flags" if "needs_input_grad" in formula.parameters else None
            outs = ", ".join(f"result_{position}" for position in positions)
            lines.append(f"        {outs} = formula{i}({call_arguments(recipe, formula, mask)})")
            continue
        position = positions[0]
        lines.append(f"    if {wanted(position)}:")
        if formula in raw_formulas:
            lines.append("        if raw:")
            lines.append(f"            result_{position} = formula{i}({raw_arguments(recipe, formula)})")
            lines.append(f"            if result_{position} is g_grad: result_{position} = grad")
            lines.append(f"            elif result_{position}.__class__ is not ndarray: ")
            lines[-1] += f"result_{position} = asarray(result_{position})"
            lines.append("        else:")
            lines.append(f"            result_{position} = formula{i}({call_arguments(recipe, formula)})")
        else:
            lines.append(f"        result_{position} = formula{i}({call_arguments(recipe, formula)})")
    lines.append(f"    return [{', '.join(f'result_{i}' for i in range(count))}]")
    return lines


def raw_preparation(recipe: Recipe, formulas: list[Formula]) -> list[str]:
    """Code that decides whether the formulas may run on raw arrays: plain arithmetic, one type, no graph
    wanted.
    """
    lines = [
        "    raw = not create_graph",
        "    if raw:",
        "        g_grad = grad._array",
        "        kind = g_grad.dtype",
    ]
    for name in dict.fromkeys(p for f in formulas for p in f.parameters):
        if name in recipe.saved_inputs:
            lines += [
                f"        if {name}.__class__ is Tensor:",
                f"            g_{name} = {name}._array",
                f"            raw = raw and g_{name}.dtype is kind",
                f"        elif {name} is not None:",
                f"            if {name}.__class__ in WRAPPED and not isinstance({name}, complex): "
                f"g_{name} = kind.type({name})",
                "            else: raw = False",
            ]
        elif name in recipe.saved_results:
            lines += [
                f"        if {name}.__class__ is ndarray:",
                f"            g_{name} = {name}",
                f"            raw = raw and {name}.dtype is kind",
                "        else: raw = False",
            ]
    return lines


def raw_arguments(recipe: Recipe, formula: Formula) -> str:
    """The arguments of a formula that runs on raw arrays."""
    tensors = {"grad", *recipe.saved_inputs, *recipe.saved_results}
    return ", ".join(f"g_{name}" if name in tensors else name for name in formula.parameters)


def call_arguments(recipe: Recipe, formula: Formula, mask: str | None = None) -> str:
    """The arguments of a formula that runs on tensors; numbers become ones that know `conj`."""
    parts = []
    for name in formula.parameters:
        if name == "needs_input_grad":
            parts.append(mask or "None")
        elif name in recipe.saved_results:
            parts.append(f"{name} if {name}.__class__ is not ndarray else unpack(node, {name!r})")
        elif name in recipe.saved_inputs and recipe.op.promote:
            parts.append(f"{name} if {name}.__class__ not in WRAPPED else WRAPPED[{name}.__class__]({name})")
        else:
            parts.append(name)
    return ", ".join(parts)


def list_formula_lines(recipe: Recipe) -> list[str]:
    """Code for ops with a list of tensors among their targets: the list has one edge for each element."""
    lines = ["    results = []", "    edges = node.edges"]
    for i, target in enumerate(recipe.targets):
        number = next(k for k, f in enumerate(recipe.formulas) if target in f.targets)
        arguments = call_arguments(recipe, recipe.formulas[number])
        if recipe.is_list(target):
            lines.append(f"    results.extend(formula{number}({arguments}))")
        else:
            lines.append(
                f"    results.append(formula{number}({arguments}) if edges[{i}] is not None and edges[{i}] "
                "is not NOWHERE else None)"
            )
    lines.append("    return results")
    return lines


# The call
# -----------------------------------------------------------------------------------------------------------


def signature(recipe: Recipe) -> str:
    """The parameters of the generated function, with the schema's defaults."""
    parts = []
    for argument in recipe.arguments:
        parts.append(argument.name if argument.default is None else f"{argument.name}={argument.value!r}")
    return ", ".join(parts)


def is_tensor(recipe: Recipe, name: str) -> bool:
    """Whether an argument is a single tensor."""
    return recipe.types[name] == "Tensor"


def array_lines(recipe: Recipe) -> list[str]:
    """Code that gets the arrays of the arguments, promoted where the entry says so."""
    lines = []
    tensors = [a.name for a in recipe.arguments if a.type == "Tensor"]
    promote = recipe.op.promote
    for argument in recipe.arguments:
        name = argument.name
        if argument.type == "Tensor":
            if promote and len(tensors) > 1:
                lines.append(f"    if {name}.__class__ is Tensor:")
                lines.append(f"        a_{name} = {name}._array")
                lines.append(f"        e_{name} = {name}._edge")
                lines.append("    else:")
                if recipe.op.scalar and name == tensors[1]:
                    number = f"{name}.__class__ in (float, int, complex)"
                    lines.append(f"        if FORMULA and {number} and call.in_formula():")
                    lines.append(f"            return op.scalar_call({tensors[0]}, {name})")
                lines.append(f"        a_{name}, e_{name} = call.operand({name})")
                lines.append(f"        if a_{name} is NotImplemented: return NotImplemented")
                if promote == "same":
                    lines.append(f"    a_{name} = plain(a_{name})")
            elif argument.optional:
                lines.append(f"    a_{name} = None if {name} is None else plain({name}._array)")
            else:
                lines.append(f"    a_{name} = {name}._array")
                if not (recipe.op.writes and name == "self"):
                    lines.append(f"    if a_{name}.__class__ is not ndarray: a_{name} = plain(a_{name})")
        elif argument.type == "Tensor[]":
            lines.append(f"    a_{name} = [t._array for t in {name}]")
        elif argument.type == "Tensor?[]":
            lines.append(f"    a_{name} = [None if t is None else t._array for t in {name}]")
    if promote and promote != "same":
        lines += promotion_lines(recipe, tensors, promote)
    return lines


def promotion_lines(recipe: Recipe, tensors: list[str], promote: str) -> list[str]:
    """Code that promotes unless all operands have one type (for `float`: a floating one)."""
    first, *others = tensors
    floating = "(kind is F32 or kind is F64 or kind.kind in 'fc')"
    lines = [f"    kind = a_{first}.dtype if a_{first}.__class__ is ndarray else None"]
    same = []
    for name in others:
        same.append(
            f"(a_{name}.dtype is kind if a_{name}.__class__ is ndarray else "
            f"a_{name}.__class__ in (float, int) and (kind is F32 or kind is F64))"
        )
    if promote == "float":
        same.insert(0, floating)
    if not same:
        return []
    names = ", ".join(f"a_{name}" for name in tensors)
    lines.append(f"    if kind is None or not ({' and '.join(same)}):")
    if recipe.op.check:
        lines.append(f"        check({', '.join(tensors)})")
    lines.append(
        f"        {names}{',' if len(tensors) == 1 else ''} = promoted({promote!r}, {', '.join(tensors)})"
    )
    return lines


def kernel_arguments(recipe: Recipe) -> str:
    """The arguments of the kernel: arrays for tensors, the values themselves for the rest."""
    return ", ".join(f"a_{a.name}" if a.type.startswith("Tensor") else a.name for a in recipe.arguments)


def kernel_call(recipe: Recipe) -> str:
    """Source that computes the result: by the plain ufunc where that is the same, else by the kernel."""
    run = f"kernel({kernel_arguments(recipe)})"
    tensors = [a.name for a in recipe.arguments if a.type == "Tensor"]
    if not recipe.op.ufunc or recipe.op.promote == "float" and len(tensors) == 1:
        return run
    rest = [f"{a.name} == {a.value!r}" for a in recipe.arguments if a.type != "Tensor"]
    test = " and ".join(["(kind is F32 or kind is F64)", *rest])
    return f"ufunc({', '.join(f'a_{name}' for name in tensors)}) if {test} else {run}"


def edge_lines(recipe: Recipe, inplace: bool = False) -> tuple[list[str], str, str]:
    """Code that finds the edges of the targets; the condition that one requires grad; the tuple of edges."""
    lines, conditions, parts = [], [], []
    for name in recipe.targets:
        kind = recipe.types[name]
        if kind == "Tensor":
            optional = recipe.op.promote or next(a.optional for a in recipe.arguments if a.name == name)
            if recipe.op.promote and sum(a.type == "Tensor" for a in recipe.arguments) > 1 and not inplace:
                pass  # found with the array
            elif optional and name != "self":
                lines.append(f"    e_{name} = {name}._edge if isinstance({name}, Tensor) else None")
            else:
                lines.append(f"    e_{name} = {name}._edge")
            lines.append(f"    if e_{name} is PENDING: e_{name} = edge_of({name}) if not GRAD_OFF or state.grad else None")
            conditions.append(f"e_{name} is not None")
            parts.append(f"e_{name}")
        else:
            lines.append(f"    e_{name} = call.edges_of({name}) if not GRAD_OFF or state.grad else [None] * len({name})")
            conditions.append(f"any(e is not None for e in e_{name})")
            parts.append(f"*e_{name}")
    return lines, " or ".join(conditions), f"({', '.join(parts)},)"


def save_input_lines(recipe: Recipe, indent: str, clone_self: bool = False) -> list[str]:
    """Code that stores what the formulas need into the node, except results."""
    lines = []
    for name in recipe.saved_inputs:
        guard = recipe.guard(name)
        condition = f"e_{guard} is not None and e_{guard} is not NOWHERE" if guard else None
        kind = recipe.types[name]
        if kind.endswith("[]"):
            lines.append(f"{indent}node.s_{name} = tuple({name})")
            lines.append(f"{indent}node.v_{name} = [None if t is None else version_of(t) for t in {name}]")
            continue
        source = f"{name}.clone()" if clone_self and name == "self" else name
        store = [f"saved = {source}", f"node.s_{name} = saved"]
        number = (
            " if saved.__class__ is Tensor or isinstance(saved, Tensor) else None"
            if recipe.op.promote
            else ""
        )
        optional = next(a.optional for a in recipe.arguments if a.name == name)
        number = number or (" if saved is not None else None" if optional else "")
        store.append(f"cell = saved._version_cell{number}")
        store.append(f"node.v_{name} = 0 if cell is None else cell[0]")
        if recipe.op.promote or condition:
            lines.append(f"{indent}if {condition or 'True'}:")
            lines += [f"{indent}    {line}" for line in store]
            lines.append(f"{indent}else: node.s_{name} = None")
        else:
            lines += [f"{indent}{line}" for line in store]
    for name, (_, expression) in recipe.plain.items():
        lines.append(f"{indent}node.p_{name} = {expression}")
    return lines


def save_result_lines(recipe: Recipe, indent: str, outputs: list[str]) -> list[str]:
    """Code that stores saved results into the node."""
    lines = []
    for name, number in recipe.saved_results.items():
        out = outputs[number]
        lines.append(f"{indent}node.s_{name} = {out}._array")
        lines.append(f"{indent}node.c_{name} = cell = version_cell({out})")
        lines.append(f"{indent}node.v_{name} = cell[0]")
    return lines


def start_lines(indent: str, edges: str, array: str, multiple: bool = False) -> list[str]:
    """Code that makes the node; `array` names the result, or with `multiple` the tuple of results is `outs`."""
    shapes = [f"{indent}node.shape = {array}.shape", f"{indent}node.dtype = {array}.dtype"]
    if multiple:
        shapes = [f"{indent}node.shape = None"]
        shapes += [f"{indent}node.others = tuple([(x._array.shape, x._array.dtype) for x in outs])"]
    return [
        f"{indent}node = new(Node)",
        f"{indent}node.edges = {edges}",
        *shapes,
        f"{indent}node.sequence_nr = next(sequence)",
        f"{indent}node.hooks = None",
    ]


def call_source(recipe: Recipe) -> str:
    """The source of the function for the plain call of an op that is no view."""
    lines = [f"def {recipe.op.function_name}({signature(recipe)}):"]
    for name in recipe.op.constants:
        lines.append(f"    if {name} is not None and {name}._edge is not None: call.refuse_gradient(")
        lines[-1] += f"{name}, {name!r}, {recipe.op.function_name!r})"
    lines += array_lines(recipe)
    tensors = ", ".join(a.name for a in recipe.arguments if a.type == "Tensor")
    run = kernel_call(recipe)
    if recipe.op.promote:
        lines += ["    try:", f"        r = {run}", "    except ValueError as error:"]
        lines += [f"        raise call.broadcast_failure(error, {tensors}) from None"]
    else:
        lines += [f"    r = {run}"]
    count = len(recipe.results)
    multiple = count > 1 or recipe.schema.returns[0].type.endswith("[]")
    if multiple:
        lines += ["    outs = tuple([wrap(x if x.__class__ is ndarray else asarray(x)) for x in r])"]
        outputs = [f"outs[{i}]" for i in range(count)]
    else:
        lines += ["    if r.__class__ is not ndarray: r = asarray(r)"]
        lines += arrange_lines(recipe)
        lines += ["    out = new(Tensor)", "    out._array = r"]
        lines += ["    out._version_cell = None", "    out._meta = None"]
        outputs = ["out"]
    if recipe.targets:
        lines += record_lines(recipe, multiple, outputs)
    elif recipe.op.refused:
        lines += refused_lines(recipe, multiple)
    else:
        lines += [] if multiple else ["    out._edge = None"]
        lines += [f"    if RARE: call.rare_result(None, {'*outs' if multiple else 'out'})"]
    lines += [f"    return {recipe.op.result_wrapper('outs')}" if multiple else "    return out"]
    return "\n".join(lines) + "\n"


def arrange_lines(recipe: Recipe) -> list[str]:
    """Code that lays the result of a pointwise op out as PyTorch does when the operands' shapes or strides differ."""
    names = [f"a_{a.name}" for a in recipe.arguments if a.type == "Tensor"]
    if not recipe.op.promote or len(names) < 2:
        return []
    first, *others = names
    differs = " or ".join(
        f"({name}.strides != {first}.strides if {name}.__class__ is ndarray else {first}.ndim > 1 and "
        f"min({first}.shape) < 2)"
        for name in others
    )
    test = f"{first}.__class__ is ndarray and ({differs})"
    return [f"    if {test}: r = call.arranged(r, {', '.join(names)})"]


def record_lines(recipe: Recipe, multiple: bool, outputs: list[str]) -> list[str]:
    """Code that records the call when grad mode is on and a target requires grad."""
    lines, condition, edges = edge_lines(recipe)
    lines.append(f"    if ({condition}) and (not GRAD_OFF or state.grad){recipe.op.record_condition()}:")
    if "dtype" in recipe.names:
        lines.append("        if r.dtype.kind not in 'fc': raise call.no_gradient_of(r)")
    if recipe.op.real_gradient:
        lines.append(f"        if r.dtype.kind == 'c': raise call.no_complex_gradient({recipe.op.function_name!r})")
    lines += start_lines("        ", edges, "r", multiple)
    if multiple:
        skip = recipe.op.nondifferentiable
        test = f" and i not in {set(skip)!r}" if skip else ""
        lines += ["        for i, x in enumerate(outs):"]
        lines += [f"            if x._array.dtype.kind in 'fc'{test}: x._edge = (node, i) if i else node"]
    else:
        lines += ["        out._edge = node"]
    lines += save_input_lines(recipe, "        ")
    lines += save_result_lines(recipe, "        ", outputs)
    if multiple:
        lines += [
            "        if RARE: call.rare_result(node, *outs)",
            "    elif RARE: call.rare_result(None, *outs)",
        ]
    else:
        lines += ["        if RARE: call.rare_result(node, out)"]
        lines += ["    else:", "        out._edge = None", "        if RARE: call.rare_result(None, out)"]
    return lines


def refused_lines(recipe: Recipe, multiple: bool) -> list[str]:
    """Code that records an op without derivative as a node that refuses to run."""
    tensors = [a.name for a in recipe.arguments if a.type == "Tensor"]
    outs = "outs[0]" if multiple else "out"
    lines = ["    out._edge = None"] if not multiple else []
    lines += [f"    edges = tuple([edge_of(t) for t in ({', '.join(tensors)},) if isinstance(t, Tensor)])"]
    if recipe.op.refused.startswith("aten::"):  # a fallback records those that require grad alone
        lines += ["    edges = tuple([edge for edge in edges if edge is not None])"]
    lines += [f"    if {outs}._array.dtype.kind in 'fc' and any(e is not None for e in edges) and "
              f" (not GRAD_OFF or state.grad):"]  # fmt: skip
    lines += [
        f"        node = call.refused({recipe.op.refused!r}, edges, ({outs}._array.shape, "
        f"{outs}._array.dtype))"
    ]
    lines += [f"        {outs}._edge = node"]
    return lines


# Views ------------------------------------------------------------------------------------------------------
# --------


def view_source(recipe: Recipe) -> str:
    """The source of the function for a view op: its kernel maps the layout, no data is touched."""
    multiple = recipe.schema.returns[0].type.endswith("[]")
    arguments = ", ".join(["layout_of(self._array)", *recipe.names[1:]])
    replay = recipe.op.replay
    view = f"make_view(self, window, {multiple}{', replay' if replay else ''})"
    lines = [f"def {recipe.op.function_name}({signature(recipe)}):"]
    if replay:
        lines += [f"    replay = lambda base: function(base{''.join(', ' + n for n in recipe.names[1:])})"]
        lines += [f"    window = kernel(self._array{''.join(', ' + n for n in recipe.names[1:])})"]
        lines += [f"    out = {view}"]
    elif multiple:
        lines += [f"    layouts = kernel({arguments})"]
        lines += [f"    outs = tuple([{view} for window in call.windows(self._array, layouts)])"]
    else:
        lines += [f"    window = call.window_of(self._array, kernel({arguments}))", f"    out = {view}"]
    lines += edge_lines(recipe)[0]
    lines += ["    if e_self is not None and (not GRAD_OFF or state.grad):"]
    lines += start_lines("        ", "(e_self,)", "out._array", multiple)
    lines += save_input_lines(recipe, "        ")
    if multiple:
        lines += [
            "        for i, x in enumerate(outs):",
            "            call.place_view(x, (node, i) if i else node)",
        ]
        lines += ["        if RARE: call.rare_result(node, *outs)"]
    else:
        lines += ["        call.place_view(out, node)", "        if RARE: call.rare_result(node, out)"]
    lines += [f"    return {'outs' if multiple else 'out'}"]
    return "\n".join(lines) + "\n"


# In-place
# -----------------------------------------------------------------------------------------------------------


def inplace_name(op: Any) -> str:
    """The name of the function that writes in place."""
    return op.function_name if op.only_inplace else op.function_name + "_"


def inplace_source(recipe: Recipe) -> str:
    """The source of the in-place twin. Order matters: check, save inputs, write, count up, rebase, save the
    result.
    """
    lines = [f"def {inplace_name(recipe.op)}({signature(recipe)}):", "    node = None"]
    if recipe.targets:
        found, _, edges = edge_lines(recipe, inplace=True)
        required = " or ".join(
            f"any([call.requires(t) for t in {name}])" if recipe.is_list(name) else f"call.requires({name})"
            for name in recipe.targets
        )
        category = "self._array.dtype.kind in 'fc' and " if recipe.op.promote != "same" else ""
        lines += [
            f"    if {category}({required}) and (not GRAD_OFF or state.grad):",
            "        check_inplace(self)",
            *[f"    {line}" for line in found],
        ]
        lines += start_lines("        ", edges, "self._array")
        lines += save_input_lines(recipe, "        ", clone_self=True)
        lines += [f"        node.s_{name} = None" for name in recipe.saved_results]
    else:
        lines += refused_inplace_lines(recipe)
    lines += write_lines(recipe)
    if recipe.targets or recipe.op.refused:
        lines += ["    if node is not None:", "        rebase_history(self, node)"]
        lines += save_result_lines(recipe, "        ", ["self"])
        lines += ["        if RARE: call.rare_result(node, self)"]
    lines += ["    return self"]
    return "\n".join(lines) + "\n"


def refused_inplace_lines(recipe: Recipe) -> list[str]:
    """Code for a write without derivative: still refused where autograd would have to follow it."""
    sources = [name for name in recipe.names if recipe.types[name] == "Tensor"]
    if not recipe.op.refused:
        sources = sources[:1]
    required = " or ".join(f"call.requires({name})" for name in sources)
    lines = [f"    if ({required}) and (not GRAD_OFF or state.grad):", "        check_inplace(self)"]
    if recipe.op.refused:
        tensors = f"({', '.join(sources)},)"
        lines += [
            f"        edges = [edge_of(t) for t in {tensors} if call.requires(t)]",
            f"        node = call.refused({recipe.op.refused + '_'!r}, tuple(edges), (self._array.shape, self._array.dtype))",
        ]
    return lines


def inplace_view_source(recipe: Recipe) -> str:
    """The source of the twin of a view op: the tensor itself gets the new layout, and a new node on top."""
    lines = [f"def {inplace_name(recipe.op)}({signature(recipe)}):", "    node = None"]
    found, condition, edges = edge_lines(recipe, inplace=True)
    lines += found
    lines += [f"    wanted = ({condition}) and (not GRAD_OFF or state.grad)", "    if wanted: check_inplace(self)"]
    lines += ["    call.check_write(self, (), True)"]
    arguments = ", ".join(["layout_of(self._array)", *recipe.names[1:]])
    lines += [f"    window = call.window_of(self._array, kernel({arguments}))"]
    lines += ["    if wanted:"]
    lines += start_lines("        ", edges, "window")
    lines += save_input_lines(recipe, "        ")
    lines += ["    self._array = window", "    count_write(self)", "    if node is not None:"]
    lines += ["        set_edge(self, node)", "        if RARE: call.rare_result(node, self)"]
    lines += ["    return self"]
    return "\n".join(lines) + "\n"


def write_lines(recipe: Recipe) -> list[str]:
    """Code that runs the kernel of an in-place call and writes its result."""
    op = recipe.op
    sources = ", ".join(n for n in recipe.names[1:] if recipe.types[n] == "Tensor")
    lines = [f"    call.check_write(self, ({sources}{',' if sources else ''}), {op.may_overlap})"]
    lines += array_lines(recipe)
    run = f"kernel({kernel_arguments(recipe)})"
    if op.writes:
        return [*lines, f"    {run}", "    count_write(self)"]
    if op.promote:
        lines += [f"    call.check_target(self, ({sources}{',' if sources else ''}))"]
        lines += ["    try:", f"        r = {run}", "    except ValueError as error:"]
        tensors = ", ".join(a.name for a in recipe.arguments if a.type == "Tensor")
        lines += [f"        raise call.broadcast_failure(error, {tensors}) from None"]
    else:
        lines += [f"    r = {run}"]
    cast = ", True" if op.cast_any else ""
    return [*lines, f"    call.write(self, r if r.__class__ is ndarray else asarray(r){cast})"]


def compile_call(op: Any) -> Callable:
    """The function of an op's plain call."""
    recipe = Recipe(op)
    namespace = dict(NAMESPACE)
    namespace["kernel"], namespace["check"], namespace["ufunc"] = op.kernel, op.check, op.ufunc
    namespace["result_wrapper"], namespace["op"] = op.wrapper, op
    if recipe.targets:
        namespace["Node"] = op.node_for(recipe, "plain")
    source = view_source(recipe) if op.is_view else call_source(recipe)
    function = build(source, op.function_name, namespace)
    namespace["function"] = function
    return function


def compile_inplace(op: Any) -> Callable:
    """The function of an op's in-place twin."""
    recipe = Recipe(op)
    namespace = dict(NAMESPACE)
    namespace["kernel"], namespace["check"], namespace["ufunc"] = op.kernel, op.check, op.ufunc
    if recipe.targets:
        namespace["Node"] = op.node_for(recipe, "inplace")
    source = inplace_view_source(recipe) if op.is_view else inplace_source(recipe)
    return build(source, inplace_name(op), namespace)
