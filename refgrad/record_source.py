"""The source of *recorders*: functions that record a call whose result comes from elsewhere.

What a `grad` of `torch.func` follows are wrappers. Their results come from the level further out; nodes,
views and writes are those of the op. A recorder does for them what the function that users call does around
its kernel: `perform()` is the kernel, `place_of(x)` the edge of an argument in this graph, None if it has
none.
"""

from refgrad.call_source import save_input_lines, save_result_lines, signature, start_lines
from refgrad.inplace_source import inplace_name
from refgrad.recipe import Recipe

GRAD_MODE = "(not GRAD_OFF or state.grad)"
PAIR = "None if x is None else (x._array.shape, x._array.dtype)"
KEPT = "{}.again()"  # a saved result without its place in the graph, which would make a cycle


def head(recipe: Recipe, name: str) -> list[str]:
    """The first line, and code that finds the edges of the targets."""
    lines = [f"def {name}(perform, place_of, {signature(recipe)}):"]
    for target in recipe.targets:
        each = f"[place_of(t) for t in {target}]" if recipe.is_list(target) else f"place_of({target})"
        lines.append(f"    e_{target} = {each}")
    return lines


def condition(recipe: Recipe) -> str:
    """The test whether a target is followed."""
    return " or ".join(
        f"any(e is not None for e in e_{name})" if recipe.is_list(name) else f"e_{name} is not None"
        for name in recipe.targets
    )


def edges(recipe: Recipe) -> str:
    """Source of the edges of the node."""
    parts = [f"*e_{name}" if recipe.is_list(name) else f"e_{name}" for name in recipe.targets]
    return f"({', '.join(parts)},)"


def refused_edges(recipe: Recipe) -> str:
    """Source of the edges of a node that refuses to run."""
    tensors = ", ".join(a.name for a in recipe.arguments if a.type == "Tensor")
    return f"tuple([e for e in [place_of(t) for t in ({tensors},)] if e is not None])"


def recorder_source(recipe: Recipe) -> str:
    """The recorder of a plain call that is no view."""
    lines = head(recipe, recipe.op.function_name)
    for name in recipe.op.constants:
        refusal = f"call.refuse_gradient({name}, {name!r}, {recipe.op.function_name!r})"
        lines.append(f"    if place_of({name}) is not None: {refusal}")
    multiple = len(recipe.results) > 1 or recipe.schema.returns[0].type.endswith("[]")
    lines.append(f"    {'outs' if multiple else 'out'} = perform()")
    outputs = [f"outs[{i}]" for i in range(len(recipe.results))] if multiple else ["out"]
    if recipe.targets:
        lines.append(f"    if ({condition(recipe)}) and {GRAD_MODE}{recipe.op.record_condition()}:")
        kept = [each for i, each in enumerate(outputs) if recipe.op.is_differentiable(i)]
        several = "outs" if not recipe.op.nondifferentiable else f"({', '.join(kept)},)"
        if recipe.op.real_gradient:
            test = f"{outputs[0]}._array.dtype.kind == 'c'"
            lines += [f"        if {test}: raise call.no_complex_gradient({recipe.op.function_name!r})"]
        if multiple and len(kept) > 1 or recipe.schema.returns[0].type.endswith("[]"):
            lines += [f"        kept = {several}"]
            lines += start_lines("        ", edges(recipe), "", "()")
            lines += [f"        node._output_pairs = tuple([{PAIR} for x in kept])"]
        else:
            lines += start_lines("        ", edges(recipe), f"{kept[0]}._array")
            lines += [f"        kept = ({kept[0]},)"]
        lines += place_lines("        ", "kept")
        lines += save_input_lines(recipe, "        ")
        lines += save_result_lines(recipe, "        ", outputs, KEPT)
    elif recipe.op.refused:
        results = "outs" if multiple else "(out,)"
        lines += [f"    edges = {refused_edges(recipe)}", f"    if edges and {GRAD_MODE}:"]
        shapes = f"*[(x._array.shape, x._array.dtype) for x in {results}]"
        lines += [f"        node = call.refused({recipe.op.refused!r}, edges, {shapes})"]
        lines += place_lines("        ", results)
    lines.append(f"    return {'outs' if multiple else 'out'}")
    return "\n".join(lines) + "\n"


def place_lines(indent: str, results: str) -> list[str]:
    """Code that gives results their place in the graph."""
    return [
        f"{indent}for i, x in enumerate({results}):",
        f"{indent}    if x is not None and x._array.dtype.kind in 'fcV': x._edge = (node, i) if i else node",
    ]


def view_recorder_source(recipe: Recipe) -> str:
    """The recorder of a view op: the views are related to their base, whether it is followed or not."""
    multiple = recipe.schema.returns[0].type.endswith("[]")
    rest = "".join(f", {name}" for name in recipe.names[1:])
    lines = head(recipe, recipe.op.function_name)
    if not recipe.targets:
        lines.append("    e_self = place_of(self)")
    lines.append("    out = perform()")
    each = f"function(base{rest})[i]" if multiple else f"function(base{rest})"
    lines += [f"    for i, x in enumerate({'out' if multiple else '(out,)'}):"]
    replay = f"lambda base, i=i: {each}" if recipe.op.replay else "None"
    lines += [f"        relate(x, self, {multiple}, {replay})"]
    lines += [f"    if e_self is not None and {GRAD_MODE}:"]
    lines += start_lines("        ", "(e_self,)", "out._array", "out" if multiple else "")
    lines += save_input_lines(recipe, "        ")
    lines += [f"        for i, x in enumerate({'out' if multiple else '(out,)'}):"]
    lines += ["            call.place_view(x, (node, i) if i else node)"]
    return "\n".join([*lines, "    return out"]) + "\n"


def inplace_recorder_source(recipe: Recipe) -> str:
    """The recorder of an in-place twin, see inplace_source.py."""
    lines = [*head(recipe, inplace_name(recipe.op)), "    node = None"]
    if recipe.targets:
        category = "self._array.dtype.kind in 'fcV' and " if recipe.op.promote != "same" else ""
        lines += [f"    if {category}({condition(recipe)}) and {GRAD_MODE}:", "        check_inplace(self)"]
        lines += start_lines("        ", edges(recipe), "self._array")
        lines += save_input_lines(recipe, "        ", clone_self=True)
        lines += [f"        node.s_{name} = None" for name in recipe.saved_results]
    else:
        lines += [f"    edges = {refused_edges(recipe)}", f"    if edges and {GRAD_MODE}:"]
        lines += ["        check_inplace(self)"]
        if recipe.op.refused:
            shapes = "(self._array.shape, self._array.dtype)"
            lines += [f"        node = call.refused({recipe.op.refused + '_'!r}, edges, {shapes})"]
    lines += ["    perform()", "    if node is not None:", "        rebase_history(self, node)"]
    lines += save_result_lines(recipe, "        ", ["self"], KEPT)
    for name in recipe.saved_results:
        lines += [f"        if self._is_view(): node.w_{name} = ref(self.grad_fn)"]
    return "\n".join([*lines, "    return self"]) + "\n"


def inplace_view_recorder_source(recipe: Recipe) -> str:
    """The recorder of the in-place twin of a view op."""
    lines = [*head(recipe, inplace_name(recipe.op)), "    node = None"]
    lines += [f"    if ({condition(recipe)}) and {GRAD_MODE}:", "        check_inplace(self)"]
    lines += start_lines("        ", edges(recipe), "self._array")
    lines += save_input_lines(recipe, "        ")
    lines += ["    perform()", "    if node is not None:"]
    lines += ["        node._output_shape = self._array.shape", "        set_edge(self, node)"]
    return "\n".join([*lines, "    return self"]) + "\n"
