"""The source of functions that write in place: check, save, write, count up, rebase, save the result."""

from typing import Any

from refgrad.call_source import (
    array_lines,
    edge_lines,
    kernel_arguments,
    save_input_lines,
    save_result_lines,
    signature,
    start_lines,
)
from refgrad.recipe import Recipe

AFTER_WRITE = "if carried is not None: duals.AFTER_WRITE[0](op, function, carried, self)"  # forward mode


def inplace_name(op: Any) -> str:
    """The name of the function that writes in place."""
    return op.function_name if op.only_inplace else op.function_name + "_"


# Note [In-place ops save a copy of self]
# A formula that asks for the overwritten value gets a copy that was taken before the write; the other operand
# is saved as it is, so that `y.mul_(y)` fails in backward. The result is saved after the write has been
# counted, or it would count as written since. What is refused is refused before the write, also by a hook
# that packs an input: value, version and history stay.


def inplace_source(recipe: Recipe) -> str:
    """The source of the in-place twin. Order matters: check, save, write, count up, rebase, save."""
    lines = [f"def {inplace_name(recipe.op)}({signature(recipe)}):", "    node = None"]
    lines += before_lines(recipe)
    if recipe.targets:
        found, _, edges = edge_lines(recipe, inplace=True)
        required = " or ".join(
            f"any([call.requires(t) for t in {name}])" if recipe.is_list(name) else f"call.requires({name})"
            for name in recipe.targets
        )
        category = "self._array.dtype.kind in 'fcV' and " if recipe.op.promote != "same" else ""
        lines += [
            f"    if {category}({required}) and (not GRAD_OFF or state.grad):",
            "        check_inplace(self)",
            *[f"    {line}" for line in found],
        ]
        lines += start_lines("        ", edges, "self._array")
        lines += save_input_lines(recipe, "        ", clone_self=True)
        lines += [f"        node.s_{name} = None" for name in recipe.saved_results]
        if recipe.saved_inputs:
            lines += ["        if RARE: call.rare_result(node)"]
    else:
        lines += refused_inplace_lines(recipe)
    lines += write_lines(recipe)
    if recipe.targets or recipe.op.refused:
        lines += ["    if node is not None:", "        rebase_history(self, node)"]
        lines += save_result_lines(recipe, "        ", ["self"])
        for name in recipe.saved_results:
            lines += [f"        if self._is_view(): node.w_{name} = ref(self.grad_fn)"]
        lines += [f"        {AFTER_WRITE}"]
        if recipe.saved_results or not recipe.saved_inputs:
            lines += ["        if RARE: call.rare_result(node, self)"]
        lines += [f"    el{AFTER_WRITE}"]
    else:
        lines += [f"    {AFTER_WRITE}"]
    lines += ["    return self"]
    return "\n".join(lines) + "\n"


def before_lines(recipe: Recipe) -> list[str]:
    """Code that leaves wrappers to their transforms, and keeps what the new tangent depends on while a level
    of forward mode is open."""
    return [
        "    if self.__class__ is not Tensor: call.stop_at_wrapper(self)",
        f"    carried = duals.BEFORE_WRITE[0](op, function, ({', '.join(recipe.names)},)) if DUALS else None",
    ]


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
            f"        node = call.refused({recipe.op.refused + '_'!r}, tuple(edges), (self._array.shape, "
            "self._array.dtype))",
        ]
    return lines


def inplace_view_source(recipe: Recipe) -> str:
    """The source of the twin of a view op: the tensor itself gets the new layout, and a new node on top."""
    lines = [f"def {inplace_name(recipe.op)}({signature(recipe)}):", "    node = None"]
    lines += before_lines(recipe)
    found, condition, edges = edge_lines(recipe, inplace=True)
    lines += found
    lines += [
        f"    wanted = ({condition}) and (not GRAD_OFF or state.grad)",
        "    if wanted: check_inplace(self)",
    ]
    lines += ["    call.check_write(self, (), True)"]
    arguments = ", ".join(["layout_of(self._array)", *recipe.names[1:]])
    lines += [f"    window = window_of(self._array, kernel({arguments}))"]
    lines += ["    if wanted:"]
    lines += start_lines("        ", edges, "window")
    lines += save_input_lines(recipe, "        ")
    lines += ["    self._array = window", "    count_write(self)", "    if node is not None:"]
    lines += ["        set_edge(self, node)", "        if RARE: call.rare_result(node, self)"]
    lines += [f"    {AFTER_WRITE}"]
    lines += ["    return self"]
    return "\n".join(lines) + "\n"


def write_lines(recipe: Recipe) -> list[str]:
    """Code that runs the kernel of an in-place call and writes its result."""
    op = recipe.op
    checked = () if op.looks_for_overlap else recipe.names[1:]
    sources = ", ".join(n for n in checked if recipe.types[n] == "Tensor")
    lines = [f"    call.check_write(self, ({sources}{',' if sources else ''}), {op.may_overlap})"]
    lines += array_lines(recipe, "op.scalar_call_inplace")
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
