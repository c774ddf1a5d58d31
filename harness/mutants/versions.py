"""Version checks: what counts as a write, who shares a counter, and what is checked when."""

from harness.mutants import class_of

mutant = class_of("versions", "version checks")

mutant(
    "counts_no_writes",
    "call",
    "    array[...] = result\n    count_write(target)",
    "    array[...] = result",
    "Writing in place does not count the version up.",
)
mutant(
    "counts_no_fills",
    "inplace_source",
    'return [*lines, f"    {run}", "    count_write(self)"]',
    'return [*lines, f"    {run}"]',
    "Fills and indexed writes do not count the version up.",
)
mutant(
    "counts_every_write_twice",
    "storage",
    "        cell[0] += 1\n",
    "        cell[0] += 2\n",
    "A write counts twice, but for the first one.",
)
mutant(
    "counts_the_first_write_twice",
    "storage",
    "        tensor._version_cell = [1]\n",
    "        tensor._version_cell = [2]\n",
    "The first write to a tensor counts twice.",
)
mutant(
    "checks_no_versions",
    "call",
    "    if now != saved:\n",
    "    if False:\n",
    "A saved input that was written since is used as if it were what was saved.",
)
mutant(
    "checks_no_versions_of_results",
    "call",
    "    if cell[0] != saved:\n",
    "    if False:\n",
    "A saved result that was written since is used as if it were what was saved.",
)
mutant(
    "checks_no_detachment",
    "call",
    "    if node is not None and not isinstance(node, AccumulateGrad) and tensor.grad_fn is None:\n",
    "    if False:\n",
    "A saved tensor that was detached in place is used all the same.",
)
mutant(
    "saves_version_zero",
    "call_source",
    'store.append(f"node.v_{name} = 0 if cell is None else cell[0]")',
    'store.append(f"node.v_{name} = 0")',
    "A tensor that was written before it was saved counts as modified.",
)
mutant(
    "saves_results_at_version_zero",
    "call_source",
    'lines.append(f"{indent}node.v_{name} = cell[0]")',
    'lines.append(f"{indent}node.v_{name} = 0")',
    "The result of an in-place op that saves it counts as modified.",
)
mutant(
    "saves_lists_at_version_zero",
    "call_source",
    "node.v_{name} = [None if t is None else version_of(t) for t in {name}]",
    "node.v_{name} = [None if t is None else 0 for t in {name}]",
    "Tensors of a list (indices) that were written before they were saved count as modified.",
    survives="The index tensors of generated programs are never written before they are used.",
    witness="""\
import torch
where = torch.tensor([0, 1])
where.add_(1)
first = torch.ones(3, requires_grad=True)
first[where].sum().backward()
""",
)
mutant(
    "checks_no_versions_of_lists",
    "call",
    "None if tensor is None else check_saved(tensor, version))",
    "tensor)",
    "Tensors of a saved list (indices) are used as they are now.",
)
mutant(
    "shares_no_versions_with_detached",
    "methods",
    "    made = alias(self, version_cell(self) if cell is None else cell)",
    "    made = alias(self, cell)",
    "A write to what `detach()` gave is not counted for the tensor.",
)
mutant(
    "shares_versions_with_data",
    "methods",
    "    return alias(self, cell_of_detached(self))",
    "    return alias(self, version_cell(self))",
    "A write to `.data` counts for the tensor.",
)
mutant(
    "shares_no_versions_with_views",
    "views",
    "    view._version_cell = version_cell(source)\n",
    "    view._version_cell = list(version_cell(source))\n",
    "A view has a version counter of its own.",
)
mutant(
    "setting_data_resets_the_version",
    "methods",
    "    self._array = value._array\n    if value.is_inference()",
    "    self._array, self._version_cell = value._array, None\n    if value.is_inference()",
    "Assigning to `.data` sets the version counter back.",
)
mutant(
    "marks_no_write_as_dirty",
    "autograd.function_outputs",
    '            raise RuntimeError("mark_dirty can only accept variables, but argument ")\n'
    "        count_write(tensor)",
    '            raise RuntimeError("mark_dirty can only accept variables, but argument ")',
    "`mark_dirty` does not count as a write.",
)
mutant(
    "functions_check_no_versions",
    "autograd.function_outputs",
    "    return call.check_saved(kept, version)",
    "    return kept",
    "What a custom Function saved is not checked for writes.",
)
mutant(
    "functions_check_no_results",
    "autograd.function_outputs",
    "        if kept.cell[0] != version:\n",
    "        if False:\n",
    "An output that a custom Function saved is not checked for writes.",
)
mutant(
    "version_of_a_view_stands_still",
    "storage",
    "    return 0 if cell is None else cell[0]\n",
    "    return 0 if cell is None or tensor._is_view() else cell[0]\n",
    "The version of a view is always shown as zero.",
)
