"""The source of a node's `apply`: unpack everything that was saved, then run the formulas that are wanted."""

from refgrad.recipe import Formula, Recipe

# See `layout.lies_oddly`: ops lay out what is computed from such a gradient as PyTorch does, NumPy does not.
ODD_GRADIENT = "g_grad.ndim > 1 and 1 in g_grad.shape and lies_oddly(g_grad)"

# Ops do not round a number beside such a gradient to its type, raw arithmetic would.
REDUCED_GRADIENT = "(REDUCED and kind in REDUCED)"


def numbers_apart(formulas: list[Formula]) -> str:
    """What else makes a gradient odd for formulas that compute with numbers."""
    return f" or {REDUCED_GRADIENT}" if any(formula.has_numbers for formula in formulas) else ""


def apply_source(recipe: Recipe) -> str:
    """The source of a node's `apply`: unpack everything that was saved, run the wanted formulas."""
    lines = ["def apply(node, grads, create_graph, needed):"]
    lines += ["    create_graph = create_graph or DUALS"]  # tangents are carried by ops, not by raw arrays
    lines += fast_lines(recipe)
    add = lines.append
    listed = any(recipe.is_list(target) for target in recipe.targets)
    for name in recipe.saved_inputs:
        add(f"    {name} = node.s_{name}")
        add(f"    if {name}.__class__ is Tensor:")
        add(f"        cell = {name}._version_cell")
        stale = f"cell is not None and cell[0] != node.v_{name}"
        if name in recipe.targets and not listed:
            edge = f"node._next_edges[{recipe.targets.index(name)}]"
            stale += f" or {name}._edge is None and {edge} is not None"
        add(f"        if {stale}: {name} = unpack(node, {name!r})")
        other = f"{name} is not None and {name}.__class__ not in WRAPPED"
        add(f"    elif {other}: {name} = unpack(node, {name!r})")
    for name in recipe.saved_results:
        add(f"    {name} = node.s_{name}")
        add(f"    if {name}.__class__ is not ndarray or node.c_{name}[0] != node.v_{name} or create_graph:")
        add(f"        {name} = unpack(node, {name!r})")
    for name in recipe.plain:
        add(f"    {name} = node.p_{name}")
    uses_grads = any("grads" in formula.parameters for formula in recipe.formulas)
    if uses_grads:
        add("    if all(g is None for g in grads): return [None] * len(node._next_edges)")
    else:
        add("    grad = grads[0]")
        add("    if grad is None: return [None] * len(node._next_edges)")
    body = list_formula_lines(recipe) if listed else single_formula_lines(recipe)
    # See note [Numbers in formulas].
    lines += ["    if create_graph: call.enter_formula()", "    try:"]
    lines += [f"    {line}" for line in body]
    lines += ["    finally:", "        if create_graph: call.leave_formula()"]
    return "\n".join(lines) + "\n"


def fast_lines(recipe: Recipe) -> list[str]:
    """Code for the common case: plain arithmetic on raw arrays of one type, nothing written since, all asked.

    Whatever else turns up leaves for the code below, which does everything in PyTorch's order.
    """
    formulas, count = recipe.formulas, len(recipe.targets)
    if (
        not formulas
        or any(not f.raw or "grad" not in f.parameters for f in formulas)
        or len(formulas) != count
    ):
        return []
    lines = ["    grad = grads[0]", "    while grad is not None and not create_graph and needed is None:"]
    lines += ["        g_grad = grad._array", "        kind = g_grad.dtype"]
    lines += [f"        if {ODD_GRADIENT}{numbers_apart(formulas)}: break"]
    edges = ", ".join(f"edge{i}" for i in range(count))
    lines += [f"        {edges}{',' if count == 1 else ''} = node._next_edges"]
    for i, formula in enumerate(formulas):
        position = recipe.targets.index(formula.targets[0])
        lines += [f"        if edge{position} is None: result_{position} = None", "        else:"]
        for name in dict.fromkeys(formula.parameters):
            lines += [f"            {line}" for line in fast_operand_lines(recipe, name)]
        result = f"result_{position}"
        lines += [f"            {result} = formula{i}({raw_arguments(recipe, formula)})"]
        lines += [f"            if {result} is g_grad: {result} = grad"]
        lines += [f"            elif {result}.__class__ is not ndarray: {result} = asarray({result})"]
    lines += [f"        return [{', '.join(f'result_{i}' for i in range(count))}]"]
    return lines


def fast_operand_lines(recipe: Recipe, name: str) -> list[str]:
    """Code that gets one operand of a formula in the common case, or breaks off."""
    if name in recipe.plain:
        return [f"{name} = node.p_{name}"]
    if name in recipe.saved_results:
        return [
            f"g_{name} = node.s_{name}",
            f"if g_{name}.__class__ is not ndarray: break",
            f"if node.c_{name}[0] != node.v_{name} or g_{name}.dtype is not kind: break",
            apart_line(name, "break"),
        ]
    if name not in recipe.saved_inputs:
        return []
    detached = ""
    if name in recipe.targets:
        detached = f" or {name}._edge is None and edge{recipe.targets.index(name)} is not None"
    number = f"if ({name}.__class__ is float or {name}.__class__ is int) and not {REDUCED_GRADIENT}: "
    number += f"g_{name} = kind.type({name})"
    return [
        f"{name} = node.s_{name}",
        f"if {name}.__class__ is Tensor:",
        f"    g_{name} = {name}._array",
        f"    cell = {name}._version_cell",
        f"    if g_{name}.dtype is not kind: break",
        f"    if cell is not None and cell[0] != node.v_{name}{detached}: break",
        f"    {apart_line(name, 'break')}",
        *([f"el{number}"] if recipe.op.promote else []),
        "else: break",
    ]


def apart_line(name: str, action: str) -> str:
    """Code that leaves an operand to the ops when it lies otherwise in memory than the gradient.

    The result would lie as NumPy likes, which is not as PyTorch does.
    """
    test = f"g_{name}.ndim > 1 and g_{name}.strides != g_grad.strides and call.lie_apart(g_{name}, g_grad)"
    return f"if {test}: {action}"


def wanted(position: int) -> str:
    """The test whether the gradient for an edge is asked for."""
    edge = f"edge{position}"
    asked = f"(needed is None or call.takes_part({edge}, needed))"
    return f"{edge} is not None and {edge} is not NOWHERE and {asked}"


def in_order(formulas: list[Formula]) -> list[tuple[int, Formula]]:
    """Formulas with their numbers as PyTorch runs them: by the names of what they are for.

    The nodes that they make are numbered so, and the next backward goes by these numbers.
    """
    return sorted(enumerate(formulas), key=lambda each: ", ".join(each[1].targets))


def single_formula_lines(recipe: Recipe) -> list[str]:
    """Code for inputs that are single tensors: one edge for each target."""
    count = len(recipe.targets)
    edges = ", ".join(f"edge{i}" for i in range(count))
    lines = [f"    {edges}{',' if count == 1 else ''} = node._next_edges"]
    lines += [f"    {' = '.join(f'result_{i}' for i in range(count))} = None"]
    raw_formulas = [f for f in recipe.formulas if f.raw and "grad" in f.parameters]
    if raw_formulas:
        lines += raw_preparation(recipe, raw_formulas)
    for i, formula in in_order(recipe.formulas):
        positions = [recipe.targets.index(target) for target in formula.targets]
        if len(positions) > 1:
            flags = ", ".join(wanted(position) for position in positions)
            lines.append(f"    flags = ({flags},)")
            lines.append("    if any(flags):")
            mask = "flags" if "needs_input_grad" in formula.parameters else None
            outs = ", ".join(f"result_{position}" for position in positions)
            lines.append(f"        {outs} = formula{i}({call_arguments(recipe, formula, mask)})")
            for place, position in enumerate(positions):
                lines.append(f"        if not flags[{place}]: result_{position} = None")
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
    """Code that decides whether formulas may run on raw arrays: plain arithmetic, one type, no graph."""
    lines = [
        "    raw = not create_graph",
        "    if raw:",
        "        g_grad = grad._array",
        "        kind = g_grad.dtype",
        f"        raw = not ({ODD_GRADIENT}{numbers_apart(formulas)})",
    ]
    for name in dict.fromkeys(p for f in formulas for p in f.parameters):
        if name in recipe.saved_inputs:
            lines += [
                f"        if {name}.__class__ is Tensor:",
                f"            g_{name} = {name}._array",
                f"            raw = raw and g_{name}.dtype is kind",
                f"            {apart_line(name, 'raw = False')}",
                f"        elif {name} is not None:",
                f"            if {name}.__class__ in WRAPPED and not isinstance({name}, complex) and not "
                f"{REDUCED_GRADIENT}: g_{name} = kind.type({name})",
                "            else: raw = False",
            ]
        elif name in recipe.saved_results:
            lines += [
                f"        if {name}.__class__ is ndarray:",
                f"            g_{name} = {name}",
                f"            raw = raw and {name}.dtype is kind",
                f"            {apart_line(name, 'raw = False')}",
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
    lines = ["    results = []", "    edges = node._next_edges"]
    for i, target in enumerate(recipe.targets):
        number = next(k for k, f in enumerate(recipe.formulas) if target in f.targets)
        arguments = call_arguments(recipe, recipe.formulas[number])
        if recipe.is_list(target):
            if len(recipe.targets) == 1:
                nobody = "all(edge is None or edge is NOWHERE for edge in edges)"
                lines.append(f"    if {nobody}: return [None] * len(edges)")
            lines.append(f"    results.extend(formula{number}({arguments}))")
        else:
            lines.append(
                f"    results.append(formula{number}({arguments}) if edges[{i}] is not None and edges[{i}] "
                "is not NOWHERE else None)"
            )
    lines.append("    return results")
    return lines
