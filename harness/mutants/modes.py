"""Modes: what grad mode switches, for how long, and who must not notice."""

from harness.mutants import class_of

mutant = class_of("modes", "mode leaks")

LEAVE = "    def __exit__(self, *exception: object) -> None:\n        switch[0](self.prev)\n"

mutant(
    "ignores_no_grad",
    "modes",
    "    state.grad = enabled\n    (GRAD_OFF",
    "    state.grad = enabled = True\n    (GRAD_OFF",
    "Grad mode cannot be switched off.",
)
mutant(
    "no_grad_never_ends",
    "autograd.grad_mode",
    f"        switch[0](False)\n\n{LEAVE}",
    "        switch[0](False)\n\n    def __exit__(self, *exception: object) -> None:\n        pass\n",
    "Grad mode stays off after a `no_grad` block.",
)
mutant(
    "no_grad_ends_all_others",
    "autograd.grad_mode",
    f"        switch[0](False)\n\n{LEAVE}",
    "        switch[0](False)\n\n    def __exit__(self, *exception: object) -> None:\n"
    "        switch[0](True)\n",
    "The end of a nested `no_grad` block switches grad mode on.",
)
mutant(
    "enable_grad_never_ends",
    "autograd.grad_mode",
    f"        switch[0](True)\n\n{LEAVE}",
    "        switch[0](True)\n\n    def __exit__(self, *exception: object) -> None:\n        pass\n",
    "Grad mode stays on after an `enable_grad` block.",
)
mutant(
    "enable_grad_does_nothing",
    "autograd.grad_mode",
    f"        switch[0](True)\n\n{LEAVE}",
    f"        pass\n\n{LEAVE}",
    "`enable_grad` inside `no_grad` does not switch grad mode on.",
)
mutant(
    "set_grad_enabled_waits",
    "autograd.grad_mode",
    "        self.mode = mode\n        switch[0](mode)\n",
    "        self.mode = mode\n",
    "`set_grad_enabled` called as a function does nothing.",
)
mutant(
    "set_grad_enabled_never_ends",
    "autograd.grad_mode",
    f"        switch[0](self.mode)\n\n{LEAVE}",
    "        switch[0](self.mode)\n\n    def __exit__(self, *exception: object) -> None:\n        pass\n",
    "The mode of a `set_grad_enabled` block stays after it.",
)
mutant(
    "decorators_switch_nothing",
    "autograd.grad_mode",
    "        with make():\n            return function(*args, **kwargs)\n",
    "        return function(*args, **kwargs)\n",
    "A decorated function runs in the mode of its caller.",
)
mutant(
    "set_grad_enabled_switches_when_decorating",
    "autograd.grad_mode",
    "        switch[0](self.prev)\n        return super().__call__(function)\n",
    "        return super().__call__(function)\n",
    "Decorating a function with `set_grad_enabled` leaves the mode on for what follows.",
)
mutant(
    "backward_keeps_grad_mode",
    "engine",
    "    if state.grad is not create_graph:\n        modes.set_grad(create_graph)\n    state.task = task\n",
    "    state.task = task\n",
    "Backward runs in the caller's grad mode.",
)
mutant(
    "backward_leaves_its_mode_behind",
    "engine",
    "        if state.grad is not before[0]:\n            modes.set_grad(before[0])\n",
    "",
    "After backward grad mode is what it was inside.",
)
mutant(
    "functions_run_forward_in_the_graph",
    "autograd.function",
    "        modes.set_grad(False)\n        forward, modes.state.forward =",
    "        forward, modes.state.forward =",
    "The forward of a custom Function is recorded.",
)
mutant(
    "functions_leave_grad_mode_off",
    "autograd.function",
    "        finally:\n            modes.set_grad(before)\n            modes.state.forward",
    "        finally:\n            modes.state.forward",
    "Grad mode is off after a custom Function.",
)
mutant(
    "functions_run_backward_outside_the_graph",
    "autograd.function",
    "        modes.set_grad(create_graph)\n        modes.state.node = self\n",
    "        modes.set_grad(False)\n        modes.state.node = self\n",
    "The backward of a custom Function is never recorded.",
)
mutant(
    "functions_record_under_no_grad",
    "autograd.function",
    "        recorded = any(needs) and modes.grad_enabled() and not modes.inference_enabled()\n",
    "        recorded = any(needs)\n",
    "A custom Function is recorded under `no_grad` too.",
)
mutant(
    "records_under_no_grad",
    "call_source",
    "(not GRAD_OFF or state.grad){recipe.op.record_condition()}:",
    "True{recipe.op.record_condition()}:",
    "Ops are recorded under `no_grad` too, but for operands that are leaves or views.",
)
mutant(
    "records_writes_under_no_grad",
    "inplace_source",
    'f"    if {category}({required}) and (not GRAD_OFF or state.grad):",\n'
    '            "        check_inplace(self)",\n',
    'f"    if {category}({required}):",\n            "        check_inplace(self)",\n',
    "In-place ops are recorded, and refused for leaves, under `no_grad` too.",
)
mutant(
    "looking_at_stale_views_switches_grad_on",
    "views",
    "            state.hidden = False\n            modes.set_grad(grad)\n        set_edge(view, node)\n",
    "            state.hidden = False\n        set_edge(view, node)\n",
    "Grad mode is on after a stale view was looked at.",
)
mutant(
    "views_under_no_grad_are_recorded",
    "views",
    "        if not modes.state.grad:\n            return NO_GRAD\n",
    "        if modes.state.grad:\n            return NO_GRAD\n",
    "Views under `no_grad` count as made in grad mode.",
)
mutant(
    "inference_mode_never_ends",
    "autograd.grad_mode",
    "        modes.set_rare(**rare)\n        modes.set_grad(grad)\n",
    "        modes.set_grad(grad)\n",
    "Tensors made after an `inference_mode` block are inference tensors.",
)
