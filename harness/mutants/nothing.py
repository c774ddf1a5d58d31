"""None handling: gradients that are not there, which are not zeros."""

from harness.mutants import class_of

mutant = class_of("nothing", "None handling")

mutant(
    "gives_zeros_for_unused_inputs",
    "engine",
    "    return task.captured\n",
    "    return [given[0] if gradient is None else gradient for gradient in task.captured]\n",
    "`autograd.grad` gives a gradient for inputs that were not reached.",
)
mutant(
    "hands_none_to_functions",
    "autograd.function",
    "        if not self._fills_in_zeros:\n            return grads\n",
    "        if True:\n            return grads\n",
    "A custom Function's backward gets None for outputs without a gradient, not zeros.",
)
mutant(
    "always_fills_in_zeros",
    "autograd.function",
    "        if not self._fills_in_zeros:\n            return grads\n",
    "        if False:\n            return grads\n",
    "`set_materialize_grads(False)` is ignored.",
)
mutant(
    "fills_in_ones",
    "autograd.function",
    "                gradient = wrap(np.zeros(shape, dtype))\n",
    "                gradient = wrap(np.ones(shape, dtype))\n",
    "Outputs without a gradient count as if it were one.",
)
mutant(
    "refuses_hooks_without_result",
    "hooks",
    "            if result is not None:\n                check_replacement(grads[number], result, hook)\n",
    "            if True:\n                check_replacement(grads[number], result, hook)\n",
    "A hook that returns None is refused.",
)
mutant(
    "refuses_prehooks_without_result",
    "hooks",
    "        if result is not None:\n            grads = replaced(",
    "        if True:\n            grads = replaced(",
    "A prehook that returns None is refused.",
)
mutant(
    "nodes_make_zeros_of_none",
    "apply_source",
    'add("    if grad is None: return [None] * len(node._next_edges)")',
    'add("    if grad is None: grad = wrap(np.zeros(*node.forward_outputs[0]))")',
    "A node that is given None passes zeros on.",
)
mutant(
    "none_of_functions_is_zero",
    "autograd.function",
    "                gradients.append(result)\n",
    "                edge = self._next_edges[len(gradients)]\n"
    "                plain = result is None and isinstance(edge, Node)\n"
    "                gradients.append(wrap(np.zeros(*edge.forward_outputs[0])) if plain else result)\n",
    "None from a custom Function's backward counts as zeros.",
)
mutant(
    "unused_inputs_are_allowed",
    "autograd",
    "        if result is None and not allowed:\n",
    "        if False:\n",
    "`autograd.grad` of an input that was not used gives None without being asked.",
)
mutant(
    "materializes_nothing",
    "autograd",
    "        if result is None and materialize_grads:\n",
    "        if False:\n",
    "`materialize_grads=True` leaves None for inputs that were not used.",
)
mutant(
    "keeps_grads_that_are_set_to_none",
    "tensor",
    "            if self._meta is not None:\n                self._meta.grad = None\n",
    "            if self._meta is not None:\n                pass\n",
    "`x.grad = None` leaves the grad as it is.",
)
mutant(
    "lost_parts_count_as_one",
    "ops.views",
    "            grad = given.new_zeros((*sizes[:dim], size, *sizes[dim + 1 :]))\n",
    "            grad = given.new_ones((*sizes[:dim], size, *sizes[dim + 1 :]))\n",
    "The outputs of `split` that were not used count as if they had a gradient of one.",
)
mutant(
    "lost_slices_count_as_one",
    "ops.views",
    "[given.new_zeros(given.shape) if g is None else g for g in grads]",
    "[given.new_ones(given.shape) if g is None else g for g in grads]",
    "The outputs of `unbind` that were not used count as if they had a gradient of one.",
)
mutant(
    "missing_gradients_are_ones",
    "autograd",
    "        elif isinstance(root, Tensor) and not root.requires_grad:\n            found.append(None)\n"
    "        else:\n"
    "            found.append(ones_for(shape, dtype))\n",
    "        else:\n            found.append(wrap(np.ones(shape, dtype.numpy)))\n",
    "A root that is no scalar starts with ones.",
)
