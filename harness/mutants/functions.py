"""Custom Functions: contexts, marks, what backward must return, and where the outputs stand in the graph."""

from harness.mutants import class_of

mutant = class_of("functions", "custom Function rules")

mutant(
    "takes_any_number_of_gradients",
    "autograd.function",
    "        if len(results) != expected:\n            raise RuntimeError(",
    "        results = (*results, *[None] * expected)[:expected]\n        if False:\n"
    "            raise RuntimeError(",
    "A backward may return too few or too many gradients.",
)
mutant(
    "refuses_trailing_nones",
    "autograd.function",
    "        if len(results) > expected and all(result is None for result in results[expected:]):\n",
    "        if False:\n",
    "A backward that returns more None than there were arguments is refused.",
)
mutant(
    "takes_gradients_of_numbers",
    "autograd.function",
    "            if not is_tensor:\n                if result is not None:\n",
    "            if not is_tensor:\n                if False:\n",
    "A gradient for an argument that is no tensor is dropped in silence.",
)
mutant(
    "takes_gradients_that_are_none",
    "autograd.function",
    '                raise RuntimeError(f"expected Variable or None (got {type_name(result)})")\n',
    "                gradients.append(None)\n",
    "What a backward returns that is no tensor counts as None.",
)
mutant(
    "every_input_needs_grad",
    "autograd.function",
    "        self.needs_input_grad = needs\n",
    "        self.needs_input_grad = is_tensor\n",
    "`ctx.needs_input_grad` is True for every tensor.",
)
mutant(
    "dirty_inputs_stay_where_they_are",
    "autograd.function_outputs",
    "    if is_dirty:\n        return rebased(ctx, tensor, number, is_input, count)\n",
    "    if False:\n        return rebased(ctx, tensor, number, is_input, count)\n",
    "An input that was marked as dirty is treated as an input returned as it is.",
)
mutant(
    "everything_is_differentiable",
    "autograd.function_outputs",
    "isinstance(x, Tensor) and not contains(fixed, x) and x._can_require_grad() for x",
    "isinstance(x, Tensor) and x._can_require_grad() for x",
    "`mark_non_differentiable` is ignored.",
)
mutant(
    "masks_require_grad",
    "autograd.function_outputs",
    "isinstance(x, Tensor) and not contains(fixed, x) and x._can_require_grad() for x",
    "isinstance(x, Tensor) and not contains(fixed, x) for x",
    "Outputs of integer type require grad unless they are marked.",
)
mutant(
    "inputs_are_returned_as_they_are",
    "autograd.function_outputs",
    "    if is_input:\n        tensor = returned_as_is(ctx, tensor)\n    set_edge(",
    "    if is_input:\n        tensor = alias(tensor, version_cell(tensor))\n    set_edge(",
    "An input that forward returns is no view of itself.",
)
mutant(
    "dirty_inputs_may_be_kept",
    "autograd.function_outputs",
    "        raise RuntimeError(NOT_RETURNED)\n",
    "        pass\n",
    "An input that was marked as dirty need not be returned.",
)
mutant(
    "views_of_functions_are_ordinary",
    "autograd.function_outputs",
    "            tensor._meta.creation = views.MULTI_OUTPUT if multiple else views.CUSTOM_FUNCTION\n",
    "            pass\n",
    "A view that a custom Function returned may be written.",
)
mutant(
    "every_save_counts",
    "autograd.function",
    "        self.to_save = tensors\n",
    "        self.to_save = (self.to_save or ()) + tensors\n",
    "`save_for_backward` called twice keeps both.",
)
mutant(
    "saved_tensors_come_backwards",
    "autograd.function_outputs",
    "    ctx._kept_values = tuple(saved)\n",
    "    ctx._kept_values = tuple(saved[::-1])\n",
    "`saved_tensors` come in the reverse order.",
)
mutant(
    "setup_context_gets_a_tuple",
    "autograd.function",
    "                cls.setup_context(ctx, args, output)\n",
    "                cls.setup_context(ctx, args[::-1], output)\n",
    "`setup_context` gets the inputs in the reverse order.",
)
mutant(
    "nodes_of_functions_have_other_names",
    "autograd.function",
    'cls._backward_cls = type(f"{name}Backward", ',
    'cls._backward_cls = type(f"{name}Backward0", ',
    "The node of a custom Function is called like that of an op.",
)
mutant(
    "materialize_cannot_be_switched",
    "autograd.function",
    "        self._fills_in_zeros = value\n",
    "        self._fills_in_zeros = True\n",
    "`ctx.set_materialize_grads` does nothing.",
)
mutant(
    "leaves_may_be_dirty",
    "autograd.function_outputs",
    "    if is_leaf and tensor.requires_grad:\n",
    "    if False:\n",
    "A leaf that requires grad may be marked as dirty.",
)
mutant(
    "outputs_share_one_number",
    "autograd.function_outputs",
    "        tensor = returned_as_is(ctx, tensor)\n    set_edge(tensor, make_edge(ctx, number))\n",
    "        tensor = returned_as_is(ctx, tensor)\n    set_edge(tensor, make_edge(ctx, 0))\n",
    "All outputs of a custom Function are its first one.",
)
mutant(
    "single_gradients_are_lists",
    "autograd.function",
    "self._per_tensor(results if isinstance(results, tuple) else (results,))",
    "self._per_tensor(results if isinstance(results, tuple) else (results, results))",
    "A backward that returns one gradient counts as returning two.",
)
mutant(
    "inputs_that_need_none_keep_their_edges",
    "autograd.function",
    "        edges = tuple(edge_of(tensor) for tensor in tensors) if recorded else ()\n",
    "        edges = tuple(edge_of(tensor) for tensor in tensors if tensor.requires_grad) if recorded "
    "else ()\n",
    "Inputs that require no grad have no place among the edges of the node.",
)
