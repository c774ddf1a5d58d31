"""Broadcasting reduction: gradients brought back to the shape that was broadcast."""

from harness.mutants import class_of

mutant = class_of("broadcasting", "broadcasting reduction")

SUM = "        given, gradient = gradient, widened(gradient).sum(axis=axes, keepdims=True)\n"

mutant(
    "sums_no_broadcast",
    "gradients",
    SUM,
    "        given = gradient\n        gradient = gradient.take([0], axes[0]) if len(axes) == 1 else "
    "gradient[(slice(1),) * gradient.ndim]\n",
    "Of a broadcast dimension of size 1 the first gradient counts, not the sum.",
)
mutant(
    "averages_over_broadcast",
    "gradients",
    SUM,
    "        given, gradient = gradient, gradient.mean(axis=axes, keepdims=True, dtype=gradient.dtype)\n",
    "A broadcast dimension of size 1 gets the mean of the gradients.",
)
mutant(
    "sums_one_dimension_only",
    "gradients",
    SUM,
    "        given, gradient = gradient, gradient.sum(axis=axes[:1], keepdims=True, dtype=gradient.dtype)\n"
    "        gradient = gradient[tuple([slice(n) for n in shape])]\n",
    "Of several broadcast dimensions only the first one is summed; of the others the first gradient counts.",
)
mutant(
    "sums_everything",
    "gradients",
    "        gradient = gradient.sum_to_size(shape)\n",
    "        gradient = gradient.sum().expand(shape)\n",
    "A broadcast operand gets the sum over all elements in each of its own.",
)
mutant(
    "skips_leading_dimensions",
    "ops.reductions",
    "    lead = len(shape) - len(size)\n    dims = ",
    "    lead = len(shape) - len(size)\n"
    "    self = calls.select(self, 0, 0).unsqueeze(0) if lead else self\n    dims = ",
    "Of dimensions that broadcasting put in front the first slice counts, not the sum.",
)
mutant(
    "fits_to_the_first_output",
    "gradients",
    "    shape, dtype = target.forward_outputs[number]\n    if gradient.shape != shape or",
    "    shape, dtype = target.forward_outputs[0]\n    if gradient.shape != shape or",
    "A raw gradient for a later output of a node is fitted to the shape of the first one.",
    "No generated program takes parts of other sizes of which the first has size 1.",
    "import torch\n\nfirst, second = torch.ones(3, requires_grad=True).split([1, 2])\n"
    "(second * torch.tensor([3.0, 4.0])).sum().backward()\n",
)
mutant(
    "fits_tensors_to_the_first_output",
    "gradients",
    "    shape, numpy_dtype = target.forward_outputs[number]\n",
    "    shape, numpy_dtype = target.forward_outputs[0]\n",
    "A gradient for a later output of a node is fitted to the shape of the first one.",
)
mutant(
    "accepts_any_gradient_shape",
    "gradients",
    "        if not expands_to(shape, got):\n",
    "        if False:\n",
    "A gradient of a wrong shape is not refused in the words of the engine.",
)
mutant(
    "leaves_sizes_alone",
    "engine",
    "                    if array.shape != target._output_shape or array.dtype",
    "                    if array.ndim != len(target._output_shape) or array.dtype",
    "A gradient of as many dimensions as its receiver is passed on whatever its sizes.",
)
mutant(
    "leaves_sizes_alone_after_hooks",
    "gradients",
    "                if array.shape != target._output_shape or array.dtype",
    "                if array.ndim != len(target._output_shape) or array.dtype",
    "The same at nodes with hooks and in runs with chosen inputs.",
)
mutant(
    "broadcasts_shapes_from_the_left",
    "layout",
    "    a = (1,) * (ndim - len(first)) + tuple(first)\n",
    "    a = tuple(first) + (1,) * (ndim - len(first))\n",
    "A common shape is found by aligning the first dimensions, not the last.",
)
mutant(
    "expand_gives_back_the_first_slice",
    "ops.views",
    "self=lambda grad, self_sym_sizes: grad.sum_to_size(self_sym_sizes) if self_sym_sizes else grad.sum(),",
    "self=lambda grad, self_sym_sizes: grad.sum_to_size(self_sym_sizes) if self_sym_sizes else grad.mean(),",
    "The gradient of a 0-dim tensor that was expanded is the mean.",
    survives="A 0-dim tensor is expanded, and its gradient looked at, in one program of 1,000.",
)
