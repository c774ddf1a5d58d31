"""Accumulation and aliasing: how gradients meet, and whose memory `.grad` takes."""

from harness.mutants import class_of

mutant = class_of("accumulation", "accumulation and aliasing")

mutant(
    "overwrites_instead_of_adding",
    "engine",
    "    held = meta.grad\n    grad_mode = modes.state.grad\n",
    "    held = None\n    grad_mode = modes.state.grad\n",
    "A second backward replaces `.grad` instead of adding to it.",
)
mutant(
    "copies_no_gradients",
    "engine",
    "references = sys.getrefcount\n",
    "references = lambda thing: 0\n",
    "`.grad` takes a gradient's memory although somebody else holds it.",
)
mutant(
    "copies_every_gradient",
    "engine",
    "elif not grad_mode and references(gradient) <= own_references + 1 and obeys_layout(gradient, leaf):",
    "elif False:",
    "`.grad` is a copy even of a gradient that nobody else holds.",
)
mutant(
    "takes_gradients_of_any_layout",
    "engine",
    "references(gradient) <= own_references + 1 and obeys_layout(gradient, leaf):",
    "references(gradient) <= own_references + 1:",
    "`.grad` lies in memory as the gradient did, not as the leaf does.",
)
mutant(
    "copies_gradients_contiguously",
    "engine",
    "    if is_dense(shape, strides):\n"
    "        return gradient.new_empty_strided(shape, strides).copy_(gradient)",
    "    if False:\n        return gradient.new_empty_strided(shape, strides).copy_(gradient)",
    "A copied gradient is contiguous, however the leaf lies in memory.",
)
mutant(
    "forgets_the_writes_to_gradients",
    "engine",
    "        meta.grad = alias(gradient, version_cell(gradient))\n",
    "        meta.grad = alias(gradient)\n",
    "A `.grad` that takes a gradient's memory begins with a version of its own.",
)
mutant(
    "accumulates_out_of_place",
    "engine",
    "            add_in_place(held, gradient)\n        else:",
    "            meta.grad = held = held + gradient\n        else:",
    "`.grad` becomes a new tensor with every backward, so what was kept of it is left behind.",
)
mutant(
    "accumulates_in_place_with_create_graph",
    "engine",
    "        if grad_mode:\n            meta.grad = held = held + gradient",
    "        if False:\n            meta.grad = held = held + gradient",
    "With `create_graph` the gradient is added in place to a `.grad` that has a history.",
)
mutant(
    "adds_the_old_gradient_to_the_new",
    "engine",
    "            meta.grad = held = held + gradient\n        elif held._edge",
    "            meta.grad = held = gradient + held\n        elif held._edge",
    "With `create_graph` the sum in `.grad` has its operands exchanged.",
)
mutant(
    "counts_no_accumulation",
    "engine",
    "            held.add_(gradient)  # does not fit, and says so\n        count_write(held)",
    "            held.add_(gradient)  # does not fit, and says so",
    "Adding to `.grad` does not count its version up.",
)
mutant(
    "keeps_the_last_gradient_only",
    "engine",
    "                    add_gradient(there, number, gradient, create_graph)",
    "                    there[number] = gradient",
    "Where two gradients meet at a node, the last one to come stays.",
)
mutant(
    "keeps_the_first_gradient_only",
    "engine",
    "                elif gradient is not None:\n                    add_gradient(",
    "                elif gradient is None:\n                    add_gradient(",
    "Where two gradients meet at a node, the first one to come stays.",
)
mutant(
    "adds_in_memory_that_others_hold",
    "engine",
    "        and references(first) == 3  # the list, `first`, the argument\n",
    "",
    "A further gradient is added in place although a hook has kept the first one.",
)
mutant(
    "adds_in_memory_of_other_tensors",
    "engine",
    "        and references(array) == 3  # the tensor, `array`, the argument\n",
    "",
    "A further gradient is added in place although another tensor shows the same memory.",
)
mutant(
    "never_adds_in_place",
    "engine",
    "    if (\n        not create_graph\n",
    "    if (\n        False\n",
    "Gradients that meet are summed in new memory every time.",
)
mutant(
    "counts_no_sums",
    "engine",
    "        np.add(array, gradient._array, out=array)\n        count_write(first)",
    "        np.add(array, gradient._array, out=array)",
    "Adding a further gradient in place does not count as a write.",
)
mutant(
    "retains_the_last_gradient_only",
    "hooks",
    "                    meta.grad = meta.grad + grads[number]",
    "                    meta.grad = grads[number]",
    "A retained gradient is replaced by the next backward, not added to.",
)
mutant(
    "retains_without_copying",
    "hooks",
    "                    meta.grad = grads[number].clone(memory_format=contiguous_format)",
    "                    meta.grad = grads[number]",
    "A retained gradient shares its memory with what flows on.",
)
mutant(
    "retains_in_place",
    "hooks",
    "                    meta.grad = meta.grad + grads[number]",
    "                    meta.grad.add_(grads[number])",
    "A retained gradient is added to in place.",
)
