"""Views and in-place writes: who is whose view, what may be written, and how a write reaches the base."""

from harness.mutants import class_of

mutant = class_of("views", "view and in-place")

mutant(
    "forgets_how_views_were_made",
    "views",
    "    kind = meta.creation\n    if kind == DEFAULT:\n",
    "    kind = meta.creation\n    if True:\n",
    "Views that must not be written, may.",
)
mutant(
    "keeps_stale_views",
    "views",
    "    if meta.seen_version != version:\n",
    "    if False:\n",
    "The node of a view is not made anew when its base was written.",
)
mutant(
    "leaves_the_base_alone",
    "views",
    "    if meta is None or meta.base is None:\n        set_edge(tensor, node)",
    "    if True:\n        set_edge(tensor, node)",
    "A write to a view does not enter the history of its base.",
)
mutant(
    "writes_to_leaves",
    "views",
    "    if tensor.requires_grad and tensor.is_leaf:\n",
    "    if False:\n",
    "A leaf that requires grad may be written in place.",
)
mutant(
    "writes_to_views_of_leaves",
    "views",
    "        if tensor.requires_grad and meta.base.is_leaf:\n",
    "        if False:\n",
    "A view of a leaf that requires grad may be written in place.",
)
mutant(
    "views_of_views_are_ordinary",
    "views",
    "            meta.creation = above.creation\n",
    "            pass\n",
    "A view of a view that must not be written may be written.",
)
mutant(
    "bases_are_views",
    "views",
    "        meta.base = above.base\n",
    "        meta.base = source\n",
    "The base of a view of a view is that view, not the tensor below.",
)
mutant(
    "outputs_of_splits_are_ordinary",
    "views",
    "    return MULTI_OUTPUT if multiple else DEFAULT\n",
    "    return DEFAULT\n",
    "The outputs of `split` and `unbind` may be written.",
)
mutant(
    "views_without_grad_are_ordinary",
    "views",
    "            return NO_GRAD\n",
    "            return DEFAULT\n",
    "A view that was made under `no_grad` may be written outside.",
)
mutant(
    "writes_pass_the_gradient_by",
    "views",
    "                    part.copy_(gradient)\n",
    "",
    "The gradient of a base is not changed by what a write to a view did.",
)
mutant(
    "nothing_for_a_part_is_nothing_for_it_alone",
    "views",
    "                if gradient is not None:  # None, which only",
    "                outputs[0] = result\n                if gradient is not None:  # None, which only",
    "Where a Function that wrote a view gives None, the rest of the base still gets its gradient.",
)
mutant(
    "nodes_write_into_the_gradient",
    "views",
    "[part.clone(memory_format=contiguous_format)], create_graph",
    "[part], create_graph",
    "The node of a write to a view is given the base's gradient itself, not a copy.",
)
mutant(
    "written_values_get_no_gradient",
    "views",
    "                outputs[i] = gradient\n",
    "                pass\n",
    "What was written into a view gets no gradient.",
)
mutant(
    "writes_cut_off_the_base",
    "views",
    "        edges = (edge_of(base), *node._next_edges[1:])\n",
    "        edges = (None, *node._next_edges[1:])\n",
    "After a write to a view nothing flows to what the base was before.",
)
mutant(
    "writes_begin_at_the_beginning",
    "views",
    "layout._replace(offset=layout.offset - new.base_layout.offset)",
    "layout._replace(offset=0)",
    "A write to a view takes the gradient at the beginning of the base, whatever the view's offset.",
)
mutant(
    "written_views_stay_as_they_are",
    "views",
    "    meta.seen_version = -1  # whoever looked after the write may have renewed it too early\n"
    "    refresh(tensor)\n",
    "    set_edge(tensor, node)\n",
    "A view that was written shows the op that wrote it, not its own place on the new history.",
)
mutant(
    "new_places_are_stale",
    "edges",
    "        meta.seen_version = version_of(tensor)\n",
    "        meta.seen_version = -1\n",
    "A view that got a new place counts as stale at once.",
)
mutant(
    "saves_what_will_be_overwritten",
    "inplace_source",
    'save_input_lines(recipe, "        ", clone_self=True)',
    'save_input_lines(recipe, "        ", clone_self=False)',
    "An in-place op saves its target, not a copy of the old value.",
)
mutant(
    "writes_in_overlapping_memory",
    "call",
    "    if not shared and overlaps_itself(array.shape, array.strides):\n",
    "    if False:\n",
    "A tensor whose elements share memory may be written in place.",
)
mutant(
    "reads_what_it_writes",
    "call",
    "source is not target and partly_overlaps(array, source._array):",
    "source is not target and False:",
    "A tensor may be written from one that overlaps it in part.",
)
mutant(
    "replays_the_first_step_only",
    "views",
    "    return lambda base: second(first(base))\n",
    "    return lambda base: first(base)\n",
    "A view of a view that strides cannot express is made anew by its first step alone.",
    survives="Such views are those of complex and negated tensors; no generated program takes them twice.",
    witness="""\
import torch
z = torch.tensor([1.0 + 2.0j, 3.0 - 1.0j])
x = torch.tensor([1.0 + 0.0j, 2.0 + 0.0j], requires_grad=True)
b = x * z
v = b.conj()
w = v.imag
b.mul_(2.0)
print(w.grad_fn)
print(type(w.grad_fn).__name__, w.grad_fn.next_functions[0][0])
w.sum().backward()
""",
)
mutant(
    "detach_copies",
    "methods",
    "    cell = cell_of_detached(self)\n    made = alias(self, ",
    "    cell = cell_of_detached(self)\n    self = self.clone() if self._array.size else self\n"
    "    made = alias(self, ",
    "`detach()` gives new memory.",
)
mutant(
    "narrow_begins_one_later",
    "ops.views",
    "    return Layout(shape, strides, layout.offset + min(start, size) * layout.strides[dim])",
    "    return Layout(shape, strides, layout.offset)",
    "A slice always begins at the first element.",
)
mutant(
    "transposing_moves_no_strides",
    "ops.views",
    "    return layout.permuted(range(layout.ndim - 1, -1, -1))\n",
    "    return Layout(layout.shape[::-1], contiguous_strides(layout.shape[::-1]), layout.offset)\n",
    "`t()` reads the memory in its old order.",
)
mutant(
    "unsqueezed_strides_are_one",
    "ops.views",
    "    stride = layout.shape[dim] * layout.strides[dim] if dim < layout.ndim else 1\n",
    "    stride = 1\n",
    "The stride of a dimension that `unsqueeze` put in is 1 everywhere.",
)
mutant(
    "expanding_copies_strides",
    "ops.views",
    "        if size[i] in (-1, own):\n            shape[i], strides[i] = own, layout.strides[i - lead]\n",
    "        if size[i] in (-1, own):\n"
    "            shape[i], strides[i] = own, layout.strides[i - lead] if own != 1 else 0\n",
    "Dimensions of size 1 that `expand` leaves alone get stride 0.",
)
mutant(
    "contiguous_always_copies",
    "ops.copying",
    '    if has_format(self, memory_format) or memory_format.name == "preserve_format":\n'
    "        return self\n    return calls.clone(",
    "    return calls.clone(",
    "`contiguous()` copies what is contiguous already.",
)
mutant(
    "casting_to_the_same_type_copies",
    "ops.copying",
    "        not copy\n        and (dtype is None or dtype.numpy is self._array.dtype)\n",
    "        not copy\n        and dtype is None\n",
    "`to(dtype)` copies a tensor that has the dtype already.",
)
