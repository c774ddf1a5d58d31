"""The source of the functions that users call: kernel, result, record; of view ops, which move no data."""

from refgrad.recipe import Recipe

# Note [Writes into results of inference tensors]
# Where all arguments are inference tensors and the mode is off, nothing stands between the call and
# PyTorch's kernels, and the writes with which some of them fill their result are counted. So often, by op:
RAW_WRITES = {
    "clone": 1, "_to_copy": 1, "repeat": 1, "abs": 1, "sum": 1, "sum.dim_IntList": 1, "mean": 2,
    "mean.dim": 2, "prod": 1, "max": 1, "min": 1, "max.dim": 2, "min.dim": 2, "amax": 1, "amin": 1, "any": 1,
    "all": 1, "dot": 1, "mv": 1, "diag": 1, "logsumexp": 1, "bernoulli": 1, "nonzero": 1, "nan_to_num": 1,
    "angle": 1, "logical_not": 1, "mse_loss": 2, "std": 1, "var": 1, "std.correction": 1, "var.correction": 1,
    "index_fill.int_Scalar": 2, "index_add": 1, "scatter.src": 1, "scatter.value": 1, "scatter_add": 1,
}  # fmt: skip


def signature(recipe: Recipe) -> str:
    """The parameters of the generated function, with the schema's defaults."""
    parts = []
    for argument in recipe.arguments:
        parts.append(argument.name if argument.default is None else f"{argument.name}={argument.value!r}")
    return ", ".join(parts)


def is_tensor(recipe: Recipe, name: str) -> bool:
    """Whether an argument is a single tensor."""
    return recipe.types[name] == "Tensor"


def array_lines(recipe: Recipe, scalar_call: str = "op.scalar_call") -> list[str]:
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
                    lines.append(f"            return {scalar_call}({tensors[0]}, {name})")
                lines.append(f"        a_{name}, e_{name} = call.operand({name})")
                unknown = f"unknown_operand(op, {', '.join(tensors[:2])})"
                lines.append(f"        if a_{name} is NotImplemented: return {unknown}")
                if promote == "same":
                    lines.append(f"    a_{name} = plain(a_{name})")
            elif argument.optional:
                lines.append(f"    a_{name} = None if {name} is None else plain({name}._array)")
            else:
                if recipe.op.writes and name == "self":  # before it draws random numbers
                    lines.append("    if self.__class__ is not Tensor: call.stop_at_wrapper(self)")
                lines.append(f"    a_{name} = {name}._array")
                if not (recipe.op.writes and name == "self" or name in recipe.op.unresolved):
                    lines.append(f"    if a_{name}.__class__ is not ndarray: a_{name} = plain(a_{name})")
        elif argument.type == "Tensor[]":
            lines.append(f"    a_{name} = [plain(t._array) for t in {name}]")
        elif argument.type == "Tensor?[]":
            lines.append(f"    a_{name} = [None if t is None else plain(t._array) for t in {name}]")
    if promote and promote != "same":
        lines += promotion_lines(recipe, tensors, promote)
    return lines


def promotion_lines(recipe: Recipe, tensors: list[str], promote: str) -> list[str]:
    """Code that promotes unless all operands have one type (for `float`: a floating one)."""
    first, *others = tensors
    floating = "(kind is F32 or kind is F64 or kind.kind in 'fcV')"
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
    brought = "promoted_with_number" if recipe.op.reduced == "number" else "promoted"
    lines.append(
        f"        {names}{',' if len(tensors) == 1 else ''} = {brought}({promote!r}, {', '.join(tensors)})"
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
            found = f"recorded_edge({name}) if not GRAD_OFF or state.grad else None"
            lines.append(f"    if e_{name} is PENDING: e_{name} = {found}")
            conditions.append(f"e_{name} is not None")
            parts.append(f"e_{name}")
        else:
            found = f"call.edges_of({name}) if not GRAD_OFF or state.grad else [None] * len({name})"
            lines.append(f"    e_{name} = {found}")
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
        # See note [In-place ops save a copy of self].
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
        source = name.removesuffix("_sym_strides")
        if source != name and source in recipe.targets and len(recipe.targets) > 1:
            expression = f"{expression} if e_{source} is not None else ()"  # as PyTorch saves them
        lines.append(f"{indent}node.p_{name} = {expression}")
    return lines


def save_result_lines(recipe: Recipe, indent: str, outputs: list[str], kept: str = "{}._array") -> list[str]:
    """Code that stores saved results into the node, each as `kept` says."""
    lines = []
    for name, number in recipe.saved_results.items():
        out = outputs[number]
        lines.append(f"{indent}node.s_{name} = {kept.format(out)}")
        lines.append(f"{indent}node.c_{name} = cell = version_cell({out})")
        lines.append(f"{indent}node.v_{name} = cell[0]")
    return lines


def start_lines(indent: str, edges: str, array: str, several: str = "") -> list[str]:
    """Code that makes the node; `array` names the result; of several results `several` names the tuple."""
    shapes = [f"{indent}node._output_shape = {array}.shape", f"{indent}node._output_dtype = {array}.dtype"]
    if several:
        shapes = [f"{indent}node._output_shape = None"]
        shapes += [
            f"{indent}node._output_pairs = tuple([(x._array.shape, x._array.dtype) for x in {several}])"
        ]
    return [
        f"{indent}node = new(Node)",
        f"{indent}node._next_edges = {edges}",
        *shapes,
        f"{indent}node._order = next(sequence)",
        f"{indent}node._node_hooks = None",
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
        lines += rare_lines(recipe, "    ", "None", "outs" if multiple else "out")
    if recipe.op.name in RAW_WRITES:
        results = "outs" if multiple else "(out,)"
        lines += ["    if self._version_cell.__class__ is InferenceVersion:"]
        lines += [f"        call.count_raw_writes({results}, {RAW_WRITES[recipe.op.name]})"]
    lines += [f"    return {recipe.op.result_wrapper('outs')}" if multiple else "    return out"]
    return "\n".join(lines) + "\n"


def arrange_lines(recipe: Recipe) -> list[str]:
    """Code that lays a pointwise result out as PyTorch does, where NumPy's layout may differ."""
    names = [f"a_{a.name}" for a in recipe.arguments if a.type == "Tensor" and recipe.op.promote]
    if recipe.op.laid_out_by:
        tensors = {a.name for a in recipe.arguments if a.type == "Tensor"}
        names = [f"a_{n}" if n in tensors else n for n in recipe.op.laid_out_by.split(", ")]
    if not names:
        return []
    first, *others = names
    doubts = [f"{first}.ndim > 1 and {first}.strides != r.strides"]
    doubts += [
        f"({name}.strides != {first}.strides if {name}.__class__ is ndarray else {first}.ndim > 1 and "
        f"(not {first}.size or 1 in {first}.shape))"  # no builtin: an argument may be named `min`
        for name in others
    ]
    test = f"r.ndim > 1 and {first}.__class__ is ndarray and ({' or '.join(doubts)})"
    return [f"    if {test}: r = call.arranged(r, {', '.join(names)})"]


def record_lines(recipe: Recipe, multiple: bool, outputs: list[str]) -> list[str]:
    """Code that records the call when grad mode is on and a target requires grad."""
    lines, condition, edges = edge_lines(recipe)
    lines.append(f"    if ({condition}) and (not GRAD_OFF or state.grad){recipe.op.record_condition()}:")
    if "dtype" in recipe.names and not multiple:
        lines.append("        if r.dtype.kind not in 'fcV': raise call.no_gradient_of(r)")
    if recipe.op.real_gradient:
        lines.append(
            f"        if r.dtype.kind == 'c': raise call.no_complex_gradient({recipe.op.function_name!r})"
        )
    kept = [i for i in range(len(outputs)) if recipe.op.is_differentiable(i)]
    if multiple and recipe.op.nondifferentiable and kept == [0]:
        lines += start_lines("        ", edges, "outs[0]._array")
        lines += ["        if outs[0]._array.dtype.kind in 'fcV': outs[0]._edge = node"]
    elif multiple and recipe.op.nondifferentiable:  # the others are no outputs of the node
        lines += [f"        kept = ({', '.join(outputs[i] for i in kept)},)"]
        lines += start_lines("        ", edges, "r", "kept")
        lines += ["        for i, x in enumerate(kept): x._edge = (node, i) if i else node"]
    elif multiple:
        lines += start_lines("        ", edges, "r", "outs")
        lines += ["        for i, x in enumerate(outs):"]
        lines += ["            if x._array.dtype.kind in 'fcV': x._edge = (node, i) if i else node"]
    else:
        lines += start_lines("        ", edges, "r")
        lines += ["        out._edge = node"]
    lines += save_input_lines(recipe, "        ")
    lines += save_result_lines(recipe, "        ", outputs)
    results = "outs" if multiple else "out"
    lines += rare_lines(recipe, "        ", "node", results)
    lines += ["    else:"] if multiple else ["    else:", "        out._edge = None"]
    return lines + rare_lines(recipe, "        ", "None", results)


def rare_lines(recipe: Recipe, indent: str, node: str, results: str, first: str = "") -> list[str]:
    """Code that deals with forward mode, and then with the rare modes, before a call returns."""
    given, kept = ("*outs", "outs") if results == "outs" else (results, f"{results},")
    lines = carry_lines(recipe, indent, results)
    return [*lines, f"{indent}if RARE: {first}{kept} = call.rare_result({node}, {given})"]


def carry_lines(recipe: Recipe, indent: str, results: str) -> list[str]:
    """Code that gives the results their tangents while a level of forward mode is open."""
    if not (recipe.targets or recipe.op.refused or recipe.op.is_view):
        return []
    return [f"{indent}if DUALS: duals.CARRY[0](op, function, ({', '.join(recipe.names)},), {results})"]


def refused_lines(recipe: Recipe, multiple: bool) -> list[str]:
    """Code that records an op without derivative as a node that refuses to run."""
    tensors = [a.name for a in recipe.arguments if a.type == "Tensor"]
    outs = "outs[0]" if multiple else "out"
    lines = ["    out._edge = None"] if not multiple else []
    lines += [f"    edges = tuple([edge_of(t) for t in ({', '.join(tensors)},) if isinstance(t, Tensor)])"]
    if recipe.op.refused.startswith("aten::"):  # a fallback records those that require grad alone
        lines += ["    edges = tuple([edge for edge in edges if edge is not None])"]
    lines += [f"    if {outs}._array.dtype.kind in 'fcV' and any(e is not None for e in edges) and "
              f" (not GRAD_OFF or state.grad):"]  # fmt: skip
    shapes = "*[(x._array.shape, x._array.dtype) for x in outs]" if multiple else "(r.shape, r.dtype)"
    lines += [f"        node = call.refused({recipe.op.refused!r}, edges, {shapes})"]
    if multiple:
        lines += ["        for i, x in enumerate(outs):"]
        lines += ["            if x._array.dtype.kind in 'fcV': x._edge = (node, i) if i else node"]
    else:
        lines += ["        out._edge = node"]
    return lines + rare_lines(recipe, "    ", "None", "outs" if multiple else "out")


def view_source(recipe: Recipe) -> str:
    """The source of the function for a view op: its kernel maps the layout, no data is touched."""
    multiple = recipe.schema.returns[0].type.endswith("[]")
    arguments = ", ".join(["layout_of(self._array)", *recipe.names[1:]])
    replay = recipe.op.replay
    view = f"make_view(self, window, {multiple}{', replay' if replay else ''})"
    lines = [f"def {recipe.op.function_name}({signature(recipe)}):"]
    if replay:
        lines += [f"    replay = lambda base: function(base{''.join(', ' + n for n in recipe.names[1:])})"]
        lines += ["    if self.__class__ is not Tensor: call.stop_at_wrapper(self)"]
        lines += [f"    window = kernel(self._array{''.join(', ' + n for n in recipe.names[1:])})"]
        lines += [f"    out = {view}"]
    elif multiple:
        lines += [f"    layouts = kernel({arguments})"]
        lines += [f"    outs = tuple([{view} for window in windows(self._array, layouts)])"]
    else:
        lines += [f"    window = window_of(self._array, kernel({arguments}))", f"    out = {view}"]
    lines += edge_lines(recipe)[0]
    lines += ["    if e_self is not None and (not GRAD_OFF or state.grad):"]
    lines += start_lines("        ", "(e_self,)", "out._array", "outs" if multiple else "")
    lines += save_input_lines(recipe, "        ")
    if multiple:
        lines += [
            "        for i, x in enumerate(outs):",
            "            call.place_view(x, (node, i) if i else node)",
        ]
    else:
        lines += ["        call.place_view(out, node)"]
    results = "outs" if multiple else "out"
    # See note [Views that are replayed]; the ops that replay always have kept it already.
    arguments = f"({''.join(n + ', ' for n in recipe.names[1:])})"
    keep = "" if replay else f"keep_replay(function, {arguments}, self, {results}); "
    lines += rare_lines(recipe, "        ", "node", results, keep)
    lines += ["    else:", *rare_lines(recipe, "        ", "None", results, keep)]
    lines += [f"    return {results}"]
    return "\n".join(lines) + "\n"
