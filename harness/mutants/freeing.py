"""Freeing: what is let go of when, and what says so afterwards."""

from harness.mutants import class_of

mutant = class_of("freeing", "freeing")

mutant(
    "forgets_to_free",
    "graph",
    '                setattr(self, "s_" + name, FREED)\n',
    "                pass\n",
    "Saved tensors are kept after backward.",
)
mutant(
    "frees_in_spite_of_retain_graph",
    "engine",
    "        self.keep_graph = keep_graph\n",
    "        self.keep_graph = False\n",
    "`retain_graph=True` is ignored.",
)
mutant(
    "functions_keep_what_they_saved",
    "autograd.function",
    "        self._is_freed = True\n"
    "        if self._kept_values is not ONCE:\n            self._kept_values = ()\n",
    "        pass\n",
    "Custom Functions keep their saved tensors after backward.",
)
mutant(
    "functions_free_in_silence",
    "autograd.function",
    "        if self._is_freed:\n            raise RuntimeError(errors.FREED)\n        found = ",
    "        found = ",
    "`saved_tensors` is empty after backward instead of raising.",
)
mutant(
    "writes_to_views_free_nothing",
    "views",
    "        self.function = FREED\n",
    "        pass\n",
    "The node of a write to a view keeps the op's node after backward.",
)
mutant(
    "create_graph_frees",
    "autograd",
    "    keep = create if retain_graph is None else flag(retain_graph)\n    edges = root_edges(roots)\n",
    "    keep = flag(retain_graph or False)\n    edges = root_edges(roots)\n",
    "`backward(create_graph=True)` frees the graph.",
)
mutant(
    "grad_with_create_graph_frees",
    "autograd",
    "    keep = create if retain_graph is None else flag(retain_graph)\n\n    def run",
    "    keep = flag(retain_graph or False)\n\n    def run",
    "`grad(create_graph=True)` frees the graph.",
)
mutant(
    "a_given_gradient_keeps_the_graph",
    "autograd",
    "[grad_tensors], flag(retain_graph or False), False)",
    "[grad_tensors], True, False)",
    "`backward(gradient)` never frees the graph.",
)
mutant(
    "grad_keeps_the_graph",
    "autograd",
    "        results = run(gradients, keep)\n",
    "        results = run(gradients, True)\n",
    "`autograd.grad` never frees the graph.",
)
mutant(
    "frees_the_first_saved_tensor_only",
    "graph",
    "        for name in self.SAVED:\n            if getattr",
    "        for name in self.SAVED[:1]:\n            if getattr",
    "Of several saved tensors a node lets go of the first one only.",
)
mutant(
    "frees_what_was_never_saved",
    "graph",
    '            if getattr(self, "s_" + name) is not None:\n',
    "            if True:\n",
    "A node that saved nothing counts as freed.",
)
mutant(
    "freed_tensors_are_none",
    "call",
    "    if value is FREED:\n        raise RuntimeError(errors.FREED)\n",
    "    if value is FREED:\n        return None\n",
    "What was freed is None for the formulas.",
)
mutant(
    "frees_before_the_node_runs",
    "engine",
    "            results = node.apply(grads, by_ops, task.needed)\n",
    "            if not task.keep_graph:\n                node.release_saved()\n"
    "            results = node.apply(grads, by_ops, task.needed)\n",
    "Nodes with hooks and those of runs with chosen inputs are freed before they run.",
)
mutant(
    "writes_are_not_seen_as_freed",
    "views",
    "        if self.function is FREED:\n            raise RuntimeError(errors.FREED)\n"
    "        grad = grads[0]\n",
    "        grad = grads[0]\n",
    "A second backward through a write to a view does not say that it was freed.",
)
