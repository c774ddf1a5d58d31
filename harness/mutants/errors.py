"""Errors and warnings: those that must come, their kind, and their words."""

from harness.mutants import class_of

mutant = class_of("errors", "error omission and text")

mutant(
    "words_an_error_differently",
    "errors",
    '"Trying to backward through the graph a second time (or',
    '"Trying to backward through the graph again (or',
    "The refusal of a second backward has other words.",
)
mutant(
    "words_the_leaf_error_differently",
    "errors",
    'LEAF_INPLACE = "a leaf Variable that requires grad is being used in an in-place operation."',
    'LEAF_INPLACE = "a leaf variable that requires grad is being used in an in-place operation."',
    "The refusal of a write to a leaf has another capital.",
)
mutant(
    "takes_roots_that_are_no_scalars",
    "autograd",
    "    if Size(shape).numel() != 1:\n",
    "    if False:\n",
    "Backward from a tensor that is no scalar starts with ones.",
)
mutant(
    "takes_gradients_of_another_shape",
    "autograd",
    "    if gradient._array.shape != shape:\n        first, second = places()\n",
    "    if False:\n        first, second = places()\n",
    "Backward takes a gradient of another shape than its root.",
)
mutant(
    "names_the_wrong_shape_first",
    "autograd",
    'has a shape of {Size(gradient._array.shape)} and "\n'
    '            f"output[{second}] has a shape of {Size(shape)}."',
    'has a shape of {Size(shape)} and "\n'
    '            f"output[{second}] has a shape of {Size(gradient._array.shape)}."',
    "The refusal of a gradient's shape names the two shapes in the wrong order.",
)
mutant(
    "raises_another_type_without_grad",
    "autograd",
    '            raise RuntimeError(\n                f"element {index} of tensors does not require grad',
    '            raise ValueError(\n                f"element {index} of tensors does not require grad',
    "Backward from what requires no grad raises a ValueError.",
)
mutant(
    "counts_unused_inputs_from_one",
    "autograd",
    'raise RuntimeError(f"The differentiated Tensor at index {index} {UNUSED}")',
    'raise RuntimeError(f"The differentiated Tensor at index {index + 1} {UNUSED}")',
    "The refusal of an unused input counts from one.",
)
mutant(
    "hooks_may_change_the_size",
    "hooks",
    "        raise RuntimeError(f\"hook '{hook_name(hook)}' has changed the size of value\")\n",
    "        pass\n",
    "A hook may return a gradient of another size.",
)
mutant(
    "hooks_may_change_the_type",
    "hooks",
    "    if after.dtype is not before.dtype:\n",
    "    if False:\n",
    "A hook may return a gradient of another dtype.",
)
mutant(
    "hooks_may_return_anything",
    "hooks",
    "    if not isinstance(after, Tensor):\n        raise TypeError(",
    "    if not isinstance(after, Tensor):\n        raise RuntimeError(",
    "A hook that returns no tensor raises a RuntimeError.",
)
mutant(
    "hooks_have_no_names",
    "hooks",
    '    return getattr(hook, "__name__", "<unknown>")\n',
    '    return "<unknown>"\n',
    "The refusal of what a hook returned does not name the hook.",
)
mutant(
    "numpy_leaves_the_graph",
    "methods",
    "    if not force and self.requires_grad and modes.grad_enabled():\n        raise RuntimeError(",
    "    if False:\n        raise RuntimeError(",
    "`numpy()` of a tensor that requires grad is not refused.",
)
mutant(
    "own_grads_may_be_assigned",
    "tensor",
    "        if value is self:\n",
    "        if False:\n",
    "A tensor may be its own `.grad`.",
)
mutant(
    "grads_of_any_size_may_be_assigned",
    "tensor",
    "        if value._array.shape != self._array.shape:\n",
    "        if False:\n",
    "`.grad` may be assigned a tensor of another size.",
)
mutant(
    "counts_dimensions_from_one",
    "layout",
    'f"at non-singleton dimension {i}"\n            )\n    return tuple(y if x == 1',
    'f"at non-singleton dimension {i + 1}"\n            )\n    return tuple(y if x == 1',
    "The refusal of shapes that do not broadcast counts dimensions from one.",
)
mutant(
    "swaps_the_versions",
    "graph",
    "is at version {now}; expected version {saved} instead.",
    "is at version {saved}; expected version {now} instead.",
    "The refusal of a saved tensor that was written names the two versions in the wrong order.",
)
mutant(
    "names_no_origin",
    "graph",
    'if node is not None else ""\n    if modes.RARE',
    'if node is None else ""\n    if modes.RARE',
    "The refusal of a saved tensor that was written does not say who made it.",
)
mutant(
    "gives_no_hint",
    "graph",
    "expected version {saved} instead. {hint}",
    "expected version {saved} instead.",
    "The refusal of a saved tensor that was written gives no advice.",
)
mutant(
    "words_view_errors_differently",
    "views",
    "is a view and {modified} modified inplace.",
    "is a view and {modified} modified in place.",
    "The refusal of a write to a view has other words.",
)
mutant(
    "retains_grad_of_anything",
    "tensor",
    "        if not self.requires_grad:\n            raise RuntimeError(\"can't retain_grad on",
    "        if False:\n            raise RuntimeError(\"can't retain_grad on",
    "`retain_grad()` of a tensor that requires no grad is not refused.",
)
mutant(
    "hooks_may_hang_anywhere",
    "tensor",
    "        if not self.requires_grad:\n"
    "            raise RuntimeError(\"cannot register a hook on a tensor that doesn't "
    'require gradient")\n        node = ',
    "        node = ",
    "`register_hook` of a tensor that requires no grad is not refused.",
)
mutant(
    "reads_grads_in_silence",
    "tensor",
    "            warnings.warn(NOT_LEAF_GRAD, UserWarning, stacklevel=2)\n",
    "            pass\n",
    "Reading `.grad` of a tensor that is no leaf gives no warning.",
)
mutant(
    "makes_cycles_in_silence",
    "engine",
    "        task.warnings = (errors.CYCLE,)\n",
    "        pass\n",
    "`backward(create_graph=True)` gives no warning.",
)
mutant(
    "indices_may_be_out_of_range",
    "layout",
    "    if not -count <= dim < count:\n",
    "    if False:\n",
    "A dimension out of range is not refused in PyTorch's words.",
)
mutant(
    "words_the_conversion_differently",
    "methods",
    '        raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to '
    'Scalar")\n',
    '        raise ValueError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")\n',
    "`item()` of several elements raises a ValueError.",
)
mutant(
    "broadcasts_targets_of_writes",
    "call",
    "    if shape != target._array.shape:\n        raise RuntimeError(",
    "    if shape != target._array.shape:\n        raise ValueError(",
    "A write that would have to broadcast its target raises a ValueError.",
)
