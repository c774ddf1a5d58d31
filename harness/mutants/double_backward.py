"""Double backward: gradients that must have a history of their own."""

from harness.mutants import class_of

mutant = class_of("double_backward", "double backward")

mutant(
    "detaches_second_order",
    "engine",
    "        self.create_graph = create_graph\n",
    "        self.create_graph = False\n",
    "With `create_graph=True` gradients have no history.",
)
mutant(
    "formulas_run_outside_the_graph",
    "apply_source",
    '        "    raw = not create_graph",\n',
    '        "    raw = True",\n',
    "Plain formulas run on raw arrays although a graph is to be made.",
)
mutant(
    "accumulates_without_history",
    "engine",
    "        meta.grad = clone_like(gradient, leaf)\n",
    "        meta.grad = clone_like(gradient, leaf).detach()\n",
    "A first `.grad` has no history.",
)
mutant(
    "retains_without_history",
    "hooks",
    "                    meta.grad = grads[number].clone(memory_format=contiguous_format)\n",
    "                    meta.grad = grads[number].clone(memory_format=contiguous_format).detach()\n",
    "A retained gradient has no history.",
)
mutant(
    "sums_in_place_in_the_graph",
    "engine",
    "    if (\n        not create_graph\n",
    "    if (\n        True\n",
    "Gradients that meet are summed in place although a graph is to be made.",
)
mutant(
    "once_differentiable_does_not_refuse",
    "autograd.function",
    "        if not before or not any(isinstance(arg, Tensor) and arg.requires_grad for arg in args):\n",
    "        if True:\n",
    "What a backward marked as once differentiable returned can be differentiated, as a constant.",
)
mutant(
    "formulas_count_as_programs",
    "call",
    "    return bool(modes.FORMULA) and threading.get_ident() in modes.FORMULA\n",
    "    return False\n",
    "Numbers in formulas are recorded like numbers in programs: MulBackward0 for MulBackward1.",
)
mutant(
    "tanh_bends_the_other_way",
    "ops.unary",
    "    output=lambda grad, output, grad_output: grad.conj() * (-2 * output.conj() * grad_output),\n",
    "    output=lambda grad, output, grad_output: grad.conj() * (2 * output.conj() * grad_output),\n",
    "The second derivative of tanh has the wrong sign.",
)
mutant(
    "sigmoid_bends_the_other_way",
    "ops.unary",
    "grad.conj() * grad_output * (-2 * output.conj() + 1),",
    "grad.conj() * grad_output * (2 * output.conj() + 1),",
    "The second derivative of sigmoid is wrong.",
    "A second derivative of sigmoid comes up in one program of 800.",
)
mutant(
    "relu_passes_everything_twice",
    "ops.unary",
    "    grad_output=lambda grad, self, threshold: calls.threshold_backward(grad, self, threshold),\n",
    "    grad_output=lambda grad, self, threshold: grad,\n",
    "The second derivative of relu ignores where it is flat.",
)
mutant(
    "writes_to_views_have_no_second_order",
    "views",
    "[part.clone(memory_format=contiguous_format)], create_graph",
    "[part.clone(memory_format=contiguous_format)], False",
    "The gradient of a write to a view has no history.",
)
mutant(
    "fitting_cuts_the_graph",
    "gradients",
    "        gradient = gradient.sum_to_size(shape)\n",
    "        gradient = gradient.detach().sum_to_size(shape)\n",
    "A gradient that was broadcast back has no history.",
)
mutant(
    "saved_results_are_constants",
    "call",
    "        tensor._edge = make_edge(node, number) if view_node is None else view_node\n",
    "        tensor._edge = None\n",
    "In second order saved results are constants: that of exp is zero.",
)
mutant(
    "functions_save_results_as_constants",
    "autograd.function_outputs",
    "        tensor._edge = make_edge(node, kept.number)\n",
    "",
    "In second order an output that a custom Function saved is a constant.",
)
mutant(
    "softmax_bends_less",
    "ops.softmax",
    "        - grad_output * (output * grad).sum((dim,), True)\n",
    "",
    "The second derivative of softmax lacks a term.",
)
mutant(
    "mse_bends_half",
    "ops.losses",
    "    return averaged(calls.mul__Scalar(grad, 2), self, reduction)\n",
    "    return averaged(grad, self, reduction)\n",
    "The second derivative of the squared distance is half of what it should be.",
)
mutant(
    "gelu_bends_more",
    "ops.activations",
    "        return grad * grad_output * (density * 2.0 - self * self * density)\n",
    "        return grad * grad_output * (density * 2.0 + self * self * density)\n",
    "The second derivative of gelu is wrong.",
    "A second derivative of gelu comes up in one program of 700.",
)
mutant(
    "double_backward_of_select_forgets",
    "ops.views",
    "    grad_output=lambda grad, dim, index: grad.select(dim, index),\n",
    "    grad_output=lambda grad, dim, index: grad.select(dim, 0),\n",
    "The second derivative of `select` reads the first slice.",
)
