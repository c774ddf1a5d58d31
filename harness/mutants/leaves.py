"""Leaf status: who is a leaf, who requires grad, who keeps a grad."""

from harness.mutants import class_of

mutant = class_of("leaves", "leaf status")

mutant(
    "calls_every_tensor_a_leaf",
    "tensor",
    "        return self.grad_fn is None\n",
    "        return True\n",
    "Every tensor is a leaf.",
)
mutant(
    "only_what_requires_grad_is_a_leaf",
    "tensor",
    "        return self.grad_fn is None\n",
    "        return self.grad_fn is None and self.requires_grad\n",
    "A tensor that requires no grad is no leaf.",
)
mutant(
    "views_of_leaves_require_nothing",
    "tensor",
    "        return meta.base is not None and meta.base.requires_grad\n",
    "        return False\n",
    "A view whose base came to require grad later does not require grad.",
)
mutant(
    "detach_in_place_keeps_the_flag",
    "methods",
    "        self._meta.requires_grad, self._meta.tangent = False, None\n    self._edge = None\n",
    "        self._meta.requires_grad, self._meta.tangent = True, None\n    self._edge = None\n",
    "`detach_()` of a tensor with metadata leaves its own flag on, which shows once the edge is looked for.",
)
mutant(
    "detach_in_place_keeps_leaves",
    "methods",
    "    set_edge(self, None)\n    if self._meta is not None:\n"
    "        self._meta.requires_grad, self._meta.tangent = False, None\n    self._edge = None\n",
    "    if self.grad_fn is not None:\n        set_edge(self, None)\n        self._edge = None\n",
    "`detach_()` of a leaf leaves it requiring grad.",
)
mutant(
    "views_may_be_detached_in_place",
    "methods",
    "    if self._is_view():\n        raise RuntimeError(DETACH_VIEW)\n",
    "",
    "`detach_()` of a view is not refused.",
)
mutant(
    "any_flag_may_be_cleared",
    "methods",
    "        if not requires_grad:\n            raise RuntimeError(errors.NON_LEAF_FLAG)\n"
    "        return self\n",
    "        return self\n",
    "`requires_grad_(False)` of a tensor that is no leaf is not refused.",
)
mutant(
    "integers_may_require_grad",
    "tensor",
    "        return self.dtype.category >= dtypes.FLOATING\n",
    "        return True\n",
    "Integer tensors may require grad.",
)
mutant(
    "clearing_the_flag_does_nothing",
    "tensor",
    "        meta.requires_grad = value\n        if meta.base is None:\n",
    "        meta.requires_grad = value = True\n        if meta.base is None:\n",
    "`requires_grad_(False)` of a leaf with metadata leaves the flag on.",
)
mutant(
    "deep_copies_lose_the_flag",
    "methods",
    "    memo[id(self)] = new\n    if self.requires_grad:\n",
    "    memo[id(self)] = new\n    if False:\n",
    "A deep copy requires no grad.",
)
mutant(
    "deep_copies_lose_the_grad",
    "methods",
    "    if self._meta is not None and self._meta.grad is not None:\n        new._meta",
    "    if False:\n        new._meta",
    "A deep copy has no `.grad`.",
)
mutant(
    "retains_no_gradients",
    "tensor",
    "        meta_of(self).retains_grad = True\n"
    "        node_hooks(node).retained[self.output_nr] = weakref.ref(self)\n",
    "        pass\n",
    "`retain_grad()` does nothing.",
)
mutant(
    "retained_gradients_stay_behind",
    "edges",
    "        node, number = split_edge(edge)\n"
    "        node_hooks(node).retained[number] = weakref.ref(tensor)\n",
    "",
    "A tensor that retains its grad does so no longer after an in-place write.",
)
mutant(
    "leaves_retain_grad",
    "tensor",
    "        if node is None or self._meta is not None and self._meta.retains_grad:\n            return\n"
    "        meta_of(self).retains_grad = True\n",
    "        meta_of(self).retains_grad = True\n        if node is None:\n            return\n",
    "`retain_grad()` of a leaf makes `retains_grad` True.",
)
mutant(
    "every_output_is_the_first",
    "tensor",
    "        return 0 if edge is None else split_edge(edge)[1]\n",
    "        return 0\n",
    "`output_nr` is always zero.",
)
mutant(
    "leaves_end_in_many_nodes",
    "edges",
    "    node = None if meta.accumulator is None else meta.accumulator()\n",
    "    node = None\n",
    "Each use of a leaf leads to an AccumulateGrad of its own.",
)
mutant(
    "leaves_accumulate_without_the_flag",
    "engine",
    "    if gradient is not None and meta.requires_grad:\n",
    "    if gradient is not None:\n",
    "A leaf whose flag was cleared after the forward still accumulates.",
)
mutant(
    "leaves_may_move_into_the_graph",
    "engine",
    "        if leaf.grad_fn is not None:\n            raise RuntimeError(",
    "        if False:\n            raise RuntimeError(",
    "A leaf that became an interior tensor still accumulates.",
)
mutant(
    "results_require_no_grad",
    "call_source",
    '        lines += ["        out._edge = node"]\n    lines += save_input_lines',
    '        lines += ["        out._edge = node if node._output_shape else NOWHERE"]\n'
    "    lines += save_input_lines",
    "0-dim results lead nowhere.",
)
