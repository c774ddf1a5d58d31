"""Formulas at awkward points: ties, bounds, zeros, repeated indices."""

from harness.mutants import class_of

mutant = class_of("formulas", "formulas at awkward points")

mutant(
    "relu_passes_at_zero",
    "ops.unary",
    "    return np.where(self <= number_in(threshold, self.dtype), ",
    "    return np.where(self < number_in(threshold, self.dtype), ",
    "The gradient of relu at zero is one.",
)
mutant(
    "abs_slopes_at_zero",
    "ops.unary",
    '@op("abs(Tensor self) -> Tensor", promote="same", self=lambda grad, self: grad * self.sgn())',
    '@op("abs(Tensor self) -> Tensor", promote="same", self=lambda grad, self: grad * (2 * (self >= 0) - 1))',
    "The gradient of abs at zero is one.",
)
mutant(
    "abs_in_place_slopes_at_zero",
    "ops.unary",
    '    node="AbsBackward0",\n    self=lambda grad, self: grad * self.sgn(),\n',
    '    node="AbsBackward0",\n    self=lambda grad, self: grad * (2 * (self >= 0) - 1),\n',
    "The gradient of `abs_` at zero is one.",
)
mutant(
    "clamp_stops_at_its_bounds",
    "ops.selection",
    "        inside = (self >= min).logical_and_(self <= max)\n",
    "        inside = (self > min).logical_and_(self < max)\n",
    "The gradient of clamp at its bounds is zero.",
)
mutant(
    "clamp_stops_at_its_lower_bound",
    "ops.selection",
    "        inside = self >= min\n",
    "        inside = self > min\n",
    "The gradient of clamp at its only bound, the lower one, is zero.",
)
mutant(
    "clamp_stops_at_its_upper_bound",
    "ops.selection",
    "        inside = self <= max\n",
    "        inside = self < max\n",
    "The gradient of clamp at its only bound, the upper one, is zero.",
)
mutant(
    "the_first_maximum_takes_all",
    "ops.reductions",
    "    return self.new_zeros(self.shape).masked_fill_(mask, grad / mask.sum())\n",
    "    return self.new_zeros(self.shape).masked_fill_(mask, grad)\n",
    "Each of several equal maxima of all elements gets the whole gradient.",
)
mutant(
    "ties_share_nothing",
    "ops.reductions",
    "    return (grad / calls.sum__dim_IntList(mask, dims, True)) * mask\n",
    "    return grad * mask\n",
    "Each of several equal elements that amax or amin finds gets the whole gradient.",
)
mutant(
    "the_last_maximum_counts",
    "ops.reductions",
    "        return selected(self, argument, axis, keepdim)\n",
    "        flipped = lambda a, axis, keepdims: a.shape[axis] - 1 - argument(np.flip(a, axis), axis=axis, "
    "keepdims=keepdims)\n        return selected(self, flipped, axis, keepdim)\n",
    "Of several equal extremes along a dimension the last one counts.",
)
mutant(
    "maximum_gives_ties_to_the_first",
    "ops.selection",
    '    "maximum(Tensor self, Tensor other) -> Tensor",\n    promote="arithmetic",\n'
    "    self=lambda grad, self, other: calls.where__self(self == other, grad / 2, grad)",
    '    "maximum(Tensor self, Tensor other) -> Tensor",\n    promote="arithmetic",\n'
    "    self=lambda grad, self, other: calls.where__self(self == other, grad * 1, grad)",
    "Where the operands of maximum are equal, the first one gets the whole gradient.",
)
mutant(
    "minimum_gives_ties_to_the_first",
    "ops.selection",
    '    "minimum(Tensor self, Tensor other) -> Tensor",\n    promote="arithmetic",\n'
    "    self=lambda grad, self, other: calls.where__self(self == other, grad / 2, grad)",
    '    "minimum(Tensor self, Tensor other) -> Tensor",\n    promote="arithmetic",\n'
    "    self=lambda grad, self, other: calls.where__self(self == other, grad * 1, grad)",
    "Where the operands of minimum are equal, the first one gets the whole gradient.",
)
mutant(
    "norm_has_no_slope_at_zero",
    "ops.norms",
    "        return grad * (self / norm).masked_fill_(zeros_of(norm), 0)\n",
    "        return grad * (self / norm)\n",
    "The gradient of the norm of zeros is NaN.",
)
mutant(
    "deviation_has_no_slope_at_zero",
    "ops.statistics",
    "    return (grad / (result * 2)).masked_fill_(calls.eq__Scalar(result, 0), 0)\n",
    "    return grad / (result * 2)\n",
    "The gradient of the standard deviation of equal elements is NaN.",
)
mutant(
    "variance_forgets_the_correction",
    "ops.statistics",
    "    freedom = reduced_count(shape, dim) - correction\n",
    "    freedom = reduced_count(shape, dim)\n",
    "The gradient of the variance along a dimension divides by the number of elements.",
)
mutant(
    "product_divides_by_zero",
    "ops.reductions",
    "    if not in_transform() and self._array.all():  # a transform's tensors have no values to look at\n",
    "    if not in_transform():\n",
    "The gradient of a product with a zero in it is NaN.",
)
mutant(
    "power_of_zero_has_a_slope",
    "ops.binary",
    "    if exponent == 0:\n        return self.new_zeros(self._array.shape)\n",
    "",
    "The gradient of `x ** 0` at zero is NaN.",
)
mutant(
    "repeated_indices_count_once",
    "ops.indexing",
    "calls._index_put_impl_, unwritten_put, indices, grad, True, True\n",
    "calls._index_put_impl_, unwritten_put, indices, grad, False, True\n",
    "An element that was indexed twice gets the last gradient, not the sum.",
)
mutant(
    "gathered_twice_counts_once",
    "ops.scatter",
    "calls.scatter_add_, calls.scatter_add, dim, index, grad\n",
    "calls.scatter_, calls.scatter, dim, index, grad\n",
    "An element that was gathered twice gets the last gradient, not the sum.",
)
mutant(
    "selected_twice_counts_once",
    "ops.index_slices",
    "Tensor.index_add_, Tensor.index_add, dim, index, grad\n",
    "Tensor.index_copy_, Tensor.index_copy, dim, index, grad\n",
    "A slice that was selected twice gets the last gradient, not the sum.",
)
mutant(
    "scattered_values_are_added",
    "ops.scatter",
    '    scatter_into(result, dim, index, src, "scatter_add", np.add.at)\n',
    '    scatter_into(result, dim, index, src, "scatter_add", put_at)\n',
    "`scatter_add` at a repeated index keeps the last value.",
)
mutant(
    "where_gives_to_both",
    "ops.selection",
    "        calls.where__self(condition, 0, grad), other_scalar_type\n",
    "        grad, other_scalar_type\n",
    "The second operand of `where` gets the gradient everywhere.",
)
mutant(
    "leaky_relu_is_steep_at_zero",
    "ops.piecewise",
    "    return np.where(self > 0, grad_output, grad_output * grad_output.dtype.type(negative_slope))\n",
    "    return np.where(self >= 0, grad_output, grad_output * grad_output.dtype.type(negative_slope))\n",
    "The gradient of leaky relu at zero is one.",
)
mutant(
    "mean_divides_by_the_dimensions",
    "ops.reductions",
    "calls.expand(grad, self_sym_sizes) / self_sym_numel,",
    "calls.expand(grad, self_sym_sizes) / max(self_sym_sizes, default=1),",
    "The gradient of a mean divides by the longest dimension.",
)
mutant(
    "sums_restore_the_first_dimension",
    "ops.reductions",
    "        return calls.unsqueeze(reduced, dims[0])\n",
    "        return calls.unsqueeze(reduced, 0)\n",
    "The gradient of a sum along a dimension is spread along the first one.",
)
mutant(
    "cumsum_counts_from_the_start",
    "ops.scans",
    "    return tensor.flip(dim).cumsum(dim).flip(dim)\n",
    "    return tensor.cumsum(dim)\n",
    "The gradient of cumsum sums the elements before, not those after.",
)
mutant(
    "logsumexp_forgets_the_weights",
    "ops.softmax",
    "    return grad * (self - result).exp().conj()\n",
    "    return grad * (self - result).conj()\n",
    "The gradient of logsumexp is not weighted by softmax.",
)
mutant(
    "softmax_overflows",
    "ops.softmax",
    "    return np.subtract(array, np.maximum.reduce(array, axis=axis, keepdims=True))\n",
    "    return np.array(array)\n",
    "Softmax of large numbers overflows.",
)
mutant(
    "division_forgets_the_sign",
    "ops.binary",
    "    return -grad * quotient\n",
    "    return grad * quotient\n",
    "The gradient of a divisor has the wrong sign.",
)
mutant(
    "alpha_is_forgotten",
    "ops.binary",
    "    other=lambda grad, alpha: grad if alpha == 1 else grad * alpha.conjugate(),\n",
    "    other=lambda grad, alpha: grad,\n",
    "The gradient of what `add` scales by alpha is not scaled.",
)
mutant(
    "ignored_targets_count",
    "ops.classification",
    "    counts = target != ignore_index\n    wrong",
    "    counts = target == target\n    wrong",
    "Targets to be ignored count in the loss.",
    "A target that is ignored comes up in one program of 1,500.",
)
