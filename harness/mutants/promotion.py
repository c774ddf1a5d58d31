"""Dtype promotion: which type an op computes in, and which type a gradient ends in."""

from harness.mutants import class_of

mutant = class_of("promotion", "dtype promotion")

GROUPS = "    for group in (dimensioned, zero_dim, [of_number(number) for number in numbers]):\n"

mutant(
    "tensors_without_dimensions_count_fully",
    "dtypes",
    GROUPS,
    "    for group in (dimensioned + zero_dim, [], [of_number(number) for number in numbers]):\n",
    "0-dim tensors have the priority of tensors with dimensions.",
)
mutant(
    "tensors_without_dimensions_do_not_count",
    "dtypes",
    GROUPS,
    "    for group in (dimensioned, [] if dimensioned else zero_dim, [of_number(number) for number in "
    "numbers]):\n",
    "0-dim tensors are ignored beside tensors with dimensions.",
)
mutant(
    "later_groups_win",
    "dtypes",
    "            elif found.category > result.category:\n",
    "            elif found.category >= result.category:\n",
    "A 0-dim tensor or number of the same category decides the type.",
)
mutant(
    "numbers_do_not_count",
    "dtypes",
    GROUPS,
    "    for group in (dimensioned, zero_dim):\n",
    "Numbers are ignored: an integer tensor times 0.5 stays integer.",
)
mutant(
    "integers_stay_integers",
    "call",
    '    if word == "float" and common.category < dtypes.FLOATING:\n',
    "    if False:\n",
    "Integers do not become floats where the op needs floats.",
)
mutant(
    "integers_become_doubles",
    "call",
    "        common = dtypes.default()\n",
    "        common = dtypes.float64\n",
    "Integers become float64 where the op needs floats.",
)
mutant(
    "promotes_as_numpy_does",
    "dtypes",
    "    if first.category != second.category:\n        return first\n    if first.category == FLOATING:\n",
    "    if first.category == FLOATING == second.category:\n",
    "int64 and float32 give float64.",
)
mutant(
    "the_first_operand_decides",
    "dtypes",
    "    if first.category < second.category:\n        first, second = second, first\n",
    "",
    "An integer tensor before a floating one gives integers.",
)
mutant(
    "python_floats_are_doubles",
    "dtypes",
    "    if isinstance(number, (float, np.floating)):\n        return default()\n",
    "    if isinstance(number, (float, np.floating)):\n        return float64\n",
    "A Python float makes an integer tensor float64.",
)
mutant(
    "numbers_in_formulas_are_doubles",
    "call",
    "            arrays.append(np.asarray(number_of(operand)).astype(target))\n",
    "            arrays.append(np.asarray(number_of(operand)))\n",
    "Numbers are not brought to the common type.",
)
mutant(
    "raw_gradients_keep_their_type",
    "gradients",
    "    if gradient.dtype is not dtype:\n        gradient = gradient.astype(dtype)\n",
    "",
    "A raw gradient is not cast to the type of its receiver.",
)
mutant(
    "gradients_keep_their_type",
    "gradients",
    "        if gradient.dtype is not dtype:\n            gradient = gradient.to(dtype)\n",
    "",
    "A gradient is not cast to the type of its receiver.",
)
mutant(
    "types_of_raw_gradients_are_not_looked_at",
    "engine",
    "if gradient.shape == target._output_shape and gradient.dtype is target._output_dtype:",
    "if gradient.shape == target._output_shape:",
    "A raw gradient of the right shape is passed on whatever its type.",
)
mutant(
    "types_of_gradients_are_not_looked_at",
    "engine",
    "array = gradient._array\n                    if array.shape != target._output_shape or array.dtype is"
    " not target._output_dtype:\n",
    "array = gradient._array\n                    if array.shape != target._output_shape:\n",
    "A gradient of the right shape is passed on whatever its type.",
)
mutant(
    "floats_may_be_written_into_integers",
    "dtypes",
    "    return source.category <= target.category\n",
    "    return True\n",
    "A floating result may be written in place into an integer tensor.",
)
mutant(
    "grads_of_any_type_may_be_assigned",
    "tensor",
    "        if expected is not None and value.dtype is not expected:\n",
    "        if False:\n",
    "`.grad` may be assigned a tensor of another dtype.",
)
mutant(
    "sums_of_integers_stay_narrow",
    "ops.reductions",
    '    return array.dtype if array.dtype.kind in "fcV" else dtypes.int64.numpy\n',
    "    return array.dtype\n",
    "The sum of bools is a bool, that of int32 is int32.",
)
mutant(
    "comparisons_look_at_the_first_type",
    "ops.checks",
    '    if word == "float" and common.category < dtypes.FLOATING:\n        common = dtypes.default()\n'
    "    return [np.asarray(operand)",
    '    if word == "float" and common.category < dtypes.FLOATING:\n        common = dtypes.default()\n'
    "    common = dtypes.OF_NUMPY[first.dtype] if isinstance(first, np.ndarray) else common\n"
    "    return [np.asarray(operand)",
    "Ops that choose between operands, `where` and `clamp`, compute in the type of the first one.",
)
mutant(
    "means_of_integers_are_floats",
    "ops.reductions",
    "    if kind.category < dtypes.FLOATING:\n        subject",
    "    if kind.category < dtypes.FLOATING:\n        return dtypes.default().numpy\n        subject",
    "The mean of integers is a float instead of an error.",
)
