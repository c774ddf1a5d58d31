"""Hooks: which run, in which order, with which arguments, and what their results do."""

from harness.mutants import class_of

mutant = class_of("hooks", "hook order and arguments")

TENSOR_HOOK = "        for hook in list(hooks.values()):\n            result = hook(grads[number])\n"

mutant(
    "runs_hooks_backwards",
    "hooks",
    TENSOR_HOOK,
    "        for hook in list(hooks.values())[::-1]:\n            result = hook(grads[number])\n",
    "Of several hooks of a tensor the last one runs first.",
)
mutant(
    "ignores_what_hooks_return",
    "hooks",
    "                check_replacement(grads[number], result, hook)\n"
    "                grads[number] = result\n",
    "                check_replacement(grads[number], result, hook)\n",
    "What a tensor's hook returns does not replace the gradient.",
)
mutant(
    "runs_the_first_hook_only",
    "hooks",
    TENSOR_HOOK,
    "        for hook in list(hooks.values())[:1]:\n            result = hook(grads[number])\n",
    "Of several hooks of a tensor only the first one runs.",
)
mutant(
    "hooks_see_the_first_output",
    "hooks",
    "            result = hook(grads[number])\n",
    "            result = hook(grads[0])\n",
    "A hook of a later output of a node is given the gradient of the first one.",
)
mutant(
    "hooks_may_not_remove_themselves",
    "hooks",
    TENSOR_HOOK,
    "        for hook in hooks.values():\n            result = hook(grads[number])\n",
    "A hook that adds or removes hooks of its tensor breaks the run.",
)
mutant(
    "leaves_run_no_hooks",
    "hooks",
    "        registered = [(0, own)] if own else []\n",
    "        registered = []\n",
    "Hooks of leaves do not run.",
)
mutant(
    "calls_no_prehooks",
    "hooks",
    "    for hook in list(node._node_hooks.pre.values()):\n",
    "    for hook in []:\n",
    "Prehooks of nodes do not run.",
)
mutant(
    "runs_prehooks_backwards",
    "hooks",
    "    for hook in list(node._node_hooks.pre.values()):\n",
    "    for hook in list(node._node_hooks.pre.values())[::-1]:\n",
    "Of several prehooks of a node the last one runs first.",
)
mutant(
    "ignores_what_prehooks_return",
    "hooks",
    "            grads = replaced(grads, result, hook)\n",
    "            replaced(grads, result, hook)\n",
    "What a prehook returns does not replace the gradients.",
)
mutant(
    "calls_no_post_hooks",
    "hooks",
    "    for hook in list(node._node_hooks.post.values()):\n",
    "    for hook in []:\n",
    "Hooks of nodes do not run.",
)
mutant(
    "runs_post_hooks_backwards",
    "hooks",
    "    for hook in list(node._node_hooks.post.values()):\n",
    "    for hook in list(node._node_hooks.post.values())[::-1]:\n",
    "Of several hooks of a node the last one runs first.",
)
mutant(
    "ignores_what_post_hooks_return",
    "hooks",
    "            results = replaced(results, result, hook)\n",
    "            replaced(results, result, hook)\n",
    "What a node's hook returns does not replace the gradients of the inputs.",
)
mutant(
    "swaps_the_arguments_of_post_hooks",
    "hooks",
    "        result = hook(tuple(results), tuple(grads))\n",
    "        result = hook(tuple(grads), tuple(results))\n",
    "A node's hook gets the gradients of outputs and inputs exchanged.",
)
mutant(
    "runs_prehooks_before_tensor_hooks",
    "engine",
    "        grads = tensor_hooks(node, grads)\n"
    "        if node._node_hooks is not None and node._node_hooks.pre:\n"
    "            grads = pre_hooks(node, grads)\n",
    "        if node._node_hooks is not None and node._node_hooks.pre:\n"
    "            grads = pre_hooks(node, grads)\n"
    "        grads = tensor_hooks(node, grads)\n",
    "Prehooks of a node run before the hooks of its outputs.",
)
mutant(
    "removed_hooks_still_run",
    "handles",
    "                hooks.pop(self.id, None)\n",
    "                pass\n",
    "`handle.remove()` does nothing.",
)
mutant(
    "hooks_are_removed_once",
    "handles",
    "                hooks.pop(self.id, None)\n",
    "                del hooks[self.id]\n",
    "Removing a hook a second time raises.",
)
mutant(
    "hooks_follow_the_tensor",
    "edges",
    "    if meta.backward_hooks is not None and edge is not None:\n        meta.backward_hooks = None\n",
    "",
    "A hook registered after an in-place write joins those from before it.",
)
mutant(
    "runs_no_accumulate_hooks",
    "engine",
    "    hooks = meta.post_accumulate_hooks\n    if hooks:\n",
    "    hooks = meta.post_accumulate_hooks\n    if False:\n",
    "Post-accumulate-grad hooks do not run.",
)
mutant(
    "gives_accumulate_hooks_the_gradient",
    "hooks",
    "        result = hook(seen)\n",
    "        result = hook(seen.grad)\n",
    "A post-accumulate-grad hook gets the gradient, not the leaf.",
)
mutant(
    "runs_accumulate_hooks_backwards",
    "hooks",
    "    seen = leaf\n    for hook in list(hooks.values()):\n",
    "    seen = leaf\n    for hook in list(hooks.values())[::-1]:\n",
    "Of several post-accumulate-grad hooks of a leaf the last one runs first.",
)
mutant(
    "captures_before_hooks",
    "engine",
    "        if not runs:\n            grads = tensor_hooks(node, grads)\n",
    "",
    "`autograd.grad` gives a gradient without what the input's hooks make of it.",
)
mutant(
    "multi_hooks_run_every_time",
    "autograd.graph",
    "        if modes.state.task.id not in ran:\n",
    "        if True:\n",
    'A multi-grad hook of mode "any" runs for every gradient.',
)
mutant(
    "runs_the_oldest_node_first",
    "ready",
    "        self.heap.append((node._order, node, grads))\n",
    "        self.heap.append((-node._order, node, grads))\n",
    "Of several ready nodes the one that was made first runs first.",
)
