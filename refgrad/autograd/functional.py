"""`torch.autograd.functional`: derivatives of a function of tensors at a point, as products and as matrices.

*Point*: the inputs as new tensors, so that what a function captured is told apart from its arguments.
*Vector*: what a derivative is multiplied by. *Strict*: what does not depend on the point is an error, not a
zero.

Source: `torch.autograd.functional` in PyTorch's docs.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import refgrad
from refgrad import autograd
from refgrad.autograd.grad_mode import enable_grad, is_grad_enabled, set_grad_enabled
from refgrad.tensor import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

OUTPUTS = "outputs of the user-provided function"
STRATEGIES = ("forward-mode", "reverse-mode")
FIXED_OUTPUT = (
    "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode."
)
UNUSED_INPUT = (
    "The output of the user-provided function is independent of input {}. This is not allowed in strict mode."
)
FIXED_GRADIENT = (
    "The gradient with respect to input {} is independent of the inputs of the user-provided function. This "
    "is not allowed in strict mode."
)
FIXED_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to "
    "input {} is independent of the input. This is not allowed in strict mode. You should ensure that your "
    "function is twice differentiable and that the jacobian depends on the inputs (this would be violated "
    "by a linear function for example)."
)
UNUSED_VECTOR = (
    "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the "
    "double backward trick to compute forward mode gradients. This is not allowed in strict mode."
)
UNUSED_IN_JACOBIAN = (
    "The jacobian of the user-provided function is independent of input {}. This is not allowed "
    "in strict mode."
)
UNUSED_VECTOR_OF_JACOBIAN = (
    "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not "
    "allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD."
)
WITHOUT_GRAPH = (
    "The {} of the user-provided function is independent of input {}. This is not allowed in strict "
    "mode when create_graph=True."
)
NEEDS_VECTOR = "The vector v can only be None if the {} a single Tensor with a single element."
FOR_OUTPUT = NEEDS_VECTOR.format("user-provided function returns")
FOR_INPUT = NEEDS_VECTOR.format("input to the user-provided function is")

# Products ---------------------------------------------------------------------------------------------------


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The outputs of `func`, and the vector `v` times its Jacobian, shaped like the inputs.

    Raises:
        RuntimeError: `v` does not fit the outputs, or `strict` and something does not depend on the inputs.
        TypeError: inputs or outputs are neither a tensor nor a tuple of tensors.
    """
    with enable_grad():
        many_inputs, inputs = as_tuple(inputs, "inputs", "vjp")
        point = point_of(inputs, create_graph)
        many_outputs, outputs = evaluate(func, point, "vjp", strict)
        vector = checked_vector(v, "vjp", outputs, many_outputs, create_graph, FOR_OUTPUT)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        gradients = gradients_of(outputs, point, vector, create_graph)
        product = filled(gradients, point, strict, create_graph, UNUSED_INPUT, "jacobian")
    return released(outputs, many_outputs, create_graph), released(product, many_inputs, create_graph)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The outputs of `func`, and its Jacobian times the vector `v`, shaped like the outputs.

    Raises:
        RuntimeError: `v` does not fit the inputs, or `strict` and something does not depend on the inputs.
        TypeError: inputs or outputs are neither a tensor nor a tuple of tensors.
    """
    with enable_grad():
        many_inputs, inputs = as_tuple(inputs, "inputs", "jvp")
        point = point_of(inputs, create_graph)
        vector = checked_vector(v, "jvp", point, many_inputs, create_graph, FOR_INPUT)
        many_outputs, outputs = evaluate(func, point, "jvp", strict)
        cotangents, gradients = linear_gradients(outputs, point)
        if strict:
            demand(gradients, FIXED_GRADIENT)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        tangents = gradients_of(gradients, cotangents, vector, create_graph)
        product = filled(tangents, outputs, strict, create_graph, UNUSED_VECTOR, "jacobian")
    return released(outputs, many_outputs, create_graph), released(product, many_outputs, create_graph)


def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The output of a scalar `func`, and the vector `v` times its Hessian, shaped like the inputs.

    Raises:
        RuntimeError: `func` is not scalar, `v` does not fit the inputs, or `strict` and something does not
            depend on the inputs.
        TypeError: inputs or outputs are neither a tensor nor a tuple of tensors.
    """
    with enable_grad():
        many_inputs, point, vector, outputs, slopes = first_order(
            func, inputs, v, create_graph, strict, "vhp"
        )
    with set_grad_enabled(create_graph or is_grad_enabled()):
        gradients = gradients_of(slopes, point, vector, create_graph)
        product = filled(gradients, point, strict, create_graph, UNUSED_IN_JACOBIAN, "hessian")
    return released(outputs, False, create_graph), released(product, many_inputs, create_graph)


def hvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The output of a scalar `func`, and its Hessian times the vector `v`, shaped like the inputs.

    Raises:
        RuntimeError: `func` is not scalar, `v` does not fit the inputs, or `strict` and something does not
            depend on the inputs.
        TypeError: inputs or outputs are neither a tensor nor a tuple of tensors.
    """
    with enable_grad():
        many_inputs, point, vector, outputs, slopes = first_order(
            func, inputs, v, create_graph, strict, "hvp"
        )
        cotangents = tuple(refgrad.zeros_like(tensor, requires_grad=True) for tensor in point)
        curvature = gradients_of(slopes, point, cotangents, True)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        gradients = gradients_of(curvature, cotangents, vector, create_graph)
        product = filled(gradients, point, strict, create_graph, UNUSED_VECTOR_OF_JACOBIAN, "hessian")
    return released(outputs, False, create_graph), released(product, many_inputs, create_graph)


def first_order(
    func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool, caller: str
) -> tuple[bool, tuple, tuple | None, tuple, tuple]:
    """How Hessian products begin: whether inputs are many; point, vector, output, its gradients."""
    many_inputs, inputs = as_tuple(inputs, "inputs", caller)
    point = point_of(inputs, create_graph)
    vector = checked_vector(v, caller, point, many_inputs, create_graph, FOR_INPUT)
    many_outputs, outputs = evaluate(func, point, caller, strict)
    check_scalar(outputs[0], many_outputs, caller)
    slopes = gradients_of(outputs, point, None, True)
    if strict:
        demand(slopes, FIXED_JACOBIAN)
    return many_inputs, point, vector, outputs, slopes


# Matrices ---------------------------------------------------------------------------------------------------


def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of each output by each input, of shape `output.shape + input.shape`; tuples as `func` has.

    Raises:
        AssertionError: the strategy is none.
        NotImplementedError: a forward strategy without `vectorize`, or with `create_graph`.
        RuntimeError: `strict` and an output does not depend on an input.
        TypeError: inputs or outputs are neither a tensor nor a tuple of tensors.
    """
    if strategy not in STRATEGIES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has '
            'more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use '
            '"reverse-mode".'
        )
    if strategy == "forward-mode":
        refuse_forward(create_graph, strict)
        return forward_jacobian(func, inputs, vectorize)
    with enable_grad():
        many_inputs, inputs = as_tuple(inputs, "inputs", "jacobian")
        point = point_of(inputs, create_graph)
        many_outputs, outputs = evaluate(func, point, "jacobian", strict)
        if not vectorize:
            rows = [
                row_by_row(number, output, point, create_graph, strict)
                for number, output in enumerate(outputs)
            ]
        elif strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
                "together. Please either set `strict=False` or `vectorize=False`."
            )
        else:
            rows = all_rows(outputs, point, create_graph)
        blocks = [released(row, many_inputs, create_graph) for row in rows]
        return tuple(blocks) if many_outputs else blocks[0]


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar `func` by each pair of inputs: the Jacobian of its reverse-mode Jacobian.

    Raises:
        AssertionError: the strategy is none.
        NotImplementedError: a forward strategy without `vectorize`, or with `create_graph`.
        RuntimeError: `func` is not scalar, or `strict` and something does not depend on an input.
        TypeError: inputs or outputs are neither a tensor nor a tuple of tensors.
    """
    many_inputs, inputs = as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in STRATEGIES:
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*point: Tensor) -> Tensor:
        many_outputs, outputs = evaluate(func, point, "hessian", strict)
        check_scalar(outputs[0], many_outputs, "hessian")
        return outputs[0].squeeze()

    def slopes(*point: Tensor) -> tuple:
        if outer_jacobian_strategy == "forward-mode":
            point = tuple(tensor.requires_grad_() for tensor in point)
        found = jacobian(scalar, point, create_graph=True)
        if strict:
            demand(found, FIXED_JACOBIAN)
        return found

    if outer_jacobian_strategy == "forward-mode":
        refuse_forward(create_graph, strict)
        blocks = forward_jacobian(slopes, inputs, vectorize)
    else:
        blocks = jacobian(slopes, inputs, create_graph, strict, vectorize)
    return blocks if many_inputs else blocks[0][0]


def row_by_row(number: int, output: Tensor, point: tuple, create_graph: bool, strict: bool) -> list[Tensor]:
    """The Jacobians of one output by each input, one backward an element.

    Raises:
        RuntimeError: `strict`, and the output or its Jacobian does not depend on an input.
    """
    columns: list[list[Tensor]] = [[] for _ in point]
    for element in range(output.numel()):
        entry = (output.reshape(-1)[element],)
        gradients = gradients_of(entry, point, None, create_graph, keep=True)
        for at, gradient in enumerate(gradients):
            if gradient is None and strict:
                raise RuntimeError(
                    f"Output {number} of the user-provided function is independent of input {at}. This is "
                    "not allowed in strict mode."
                )
            if strict and create_graph and not gradient.requires_grad:
                raise RuntimeError(WITHOUT_GRAPH.format("jacobian", number))
            columns[at].append(refgrad.zeros_like(point[at]) if gradient is None else gradient)
    return [
        refgrad.stack(column, dim=0).view(output.size() + tensor.size())
        for column, tensor in zip(columns, point, strict=True)
    ]


def all_rows(outputs: tuple, point: tuple, create_graph: bool) -> list[list[Tensor]]:
    """The Jacobians of all outputs by each input from one batch of gradients, a unit vector each."""
    sizes = [output.numel() for output in outputs]
    flat = tuple(output.reshape(-1) for output in outputs)
    batches = list(gradients_of(flat, point, basis(outputs, sizes), create_graph, batched=True))
    for at, (batch, tensor) in enumerate(zip(batches, point, strict=True)):
        if batch is None:
            batches[at] = refgrad.zeros_like(tensor).expand((sum(sizes), *tensor.shape))
    parts = [batch.split(sizes, dim=0) for batch in batches]
    return [
        [part[number].view(output.shape + tensor.shape) for part, tensor in zip(parts, point, strict=True)]
        for number, output in enumerate(outputs)
    ]


def refuse_forward(create_graph: bool, strict: bool) -> None:
    """Refuse what the forward strategy cannot do.

    Raises:
        NotImplementedError: `create_graph`.
        RuntimeError: `strict`.
    """
    text = (
        'torch.autograd.functional.jacobian: `{0}=True` and `strategy="forward-mode"` are not supported '
        'together (yet). Please either set `{0}=False` or `strategy="reverse-mode"`.'
    )
    if create_graph:
        raise NotImplementedError(text.format("create_graph"))
    if strict:
        raise RuntimeError(text.format("strict"))


def forward_jacobian(func: Callable, inputs: Any, vectorize: bool) -> Any:
    """The Jacobian column by column: `func` runs once, with a batch of tangents, all unit vectors.

    Raises:
        NotImplementedError: without `vectorize`.
    """
    forward_ad = importlib.import_module("refgrad.autograd.forward_ad")
    vmap = importlib.import_module("refgrad._vmap_internals")._vmap
    many_inputs, inputs = as_tuple(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly "
            "implemented for `vectorize=True`."
        )
    sizes = [tensor.numel() for tensor in inputs]
    ran: list = []

    def moved(units: tuple) -> tuple:
        with forward_ad.dual_level():
            pairs = zip(inputs, units, strict=True)
            point = [forward_ad.make_dual(tensor, unit.view_as(tensor)) for tensor, unit in pairs]
            many_outputs, outputs = as_tuple(func(*point), "outputs", None)
            found = [forward_ad.unpack_dual(output) for output in outputs]
            ran.append((many_outputs, [output for output, _ in found]))
            return tuple(refgrad.zeros_like(value) if way is None else way for value, way in found)

    columns = vmap(moved)(basis(inputs, sizes))
    many_outputs, outputs = ran[0]
    blocks = []
    for column, output in zip(columns, outputs, strict=True):
        parts = column.split(sizes, dim=0)
        row = [
            part.permute(*range(1, part.ndim), 0).reshape((*output.shape, *tensor.shape))
            for part, tensor in zip(parts, inputs, strict=True)
        ]
        blocks.append(row if many_inputs else row[0])
    if not many_outputs:
        return blocks[0]
    return blocks if many_inputs else tuple(blocks)


def basis(tensors: Sequence[Tensor], sizes: list[int]) -> tuple[Tensor, ...]:
    """The unit vectors of the space of all tensors together: for each tensor, its part of every one.

    Raises:
        AssertionError: there is no tensor.
    """
    if not tensors:
        raise AssertionError("Expected at least one tensor")
    parts = []
    start = 0
    for tensor, size in zip(tensors, sizes, strict=True):
        part = tensor.new_zeros(sum(sizes), size)
        part.diagonal(-start).fill_(1)
        parts.append(part)
        start += size
    return tuple(parts)


# Parts ------------------------------------------------------------------------------------------------------


_construct_standard_basis_for = basis  # the name that PyTorch's tests look for


def as_tuple(value: Any, role: str, caller: str | None) -> tuple[bool, tuple]:
    """Whether a value is a tuple, and it as one.

    Raises:
        TypeError: it is neither a tensor nor a tuple of tensors.
    """
    many = isinstance(value, tuple)
    for position, item in enumerate(value if many else (value,)):
        if not isinstance(item, Tensor):
            what = f"value at index {position}" if many else f"given {role}"
            raise TypeError(
                f"The {role} given to {caller} must be either a Tensor or a tuple of Tensors but the {what} "
                f"has type {type(item)}."
            )
    return many, value if many else (value,)


def point_of(inputs: tuple, create_graph: bool, need_graph: bool = True) -> tuple:
    """The inputs as new tensors: views that lead back where a graph is wanted, else leaves."""
    return tuple(
        tensor.view_as(tensor)
        if create_graph and tensor.requires_grad
        else tensor.detach().requires_grad_(need_graph)
        for tensor in inputs
    )


def evaluate(func: Callable, point: tuple, caller: str, strict: bool) -> tuple[bool, tuple]:
    """Whether the function has many outputs, and they as a tuple."""
    many, outputs = as_tuple(func(*point), OUTPUTS, caller)
    if strict:
        demand(outputs, FIXED_OUTPUT)
    return many, outputs


def check_scalar(output: Tensor, many: bool, caller: str) -> None:
    """Refuse a function that is not scalar.

    Raises:
        RuntimeError: it returns a tuple, or more or less than one element.
    """
    if many:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if output.numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {caller} should contain a single element"
        )


def checked_vector(
    v: Any, caller: str, like: tuple, many: bool, create_graph: bool, missing: str
) -> tuple | None:
    """The vector as a tuple that fits `like`; None stands for one where that is a single element.

    Raises:
        RuntimeError: it does not fit.
    """
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(missing)
        return None
    vector = point_of(as_tuple(v, "v", caller)[1], create_graph, False)
    if len(vector) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(vector)}."
            if many
            else "The given v should contain a single Tensor."
        )
    for position, (part, tensor) in enumerate(zip(vector, like, strict=True)):
        if part.size() != tensor.size():
            entry = f"Entry {position} in " if many else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {tensor.size()} but got {part.size()}.")
    return vector


def gradients_of(
    outputs: tuple,
    inputs: tuple,
    vector: tuple | None,
    create_graph: bool,
    keep: bool | None = None,
    batched: bool = False,
) -> tuple:
    """The gradients of those outputs that require grad; None for inputs that they do not depend on."""
    pairs = [
        (output, None if vector is None else vector[at])
        for at, output in enumerate(outputs)
        if output is not None and output.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    roots, gradients = zip(*pairs, strict=True)
    return autograd.grad(
        roots,
        inputs,
        gradients,
        retain_graph=keep,
        create_graph=create_graph,
        allow_unused=True,
        is_grads_batched=batched,
    )


def linear_gradients(outputs: tuple, point: tuple) -> tuple[tuple, tuple]:
    """Zero cotangents, and the gradients that depend on them linearly: differentiated, they give tangents."""
    cotangents = tuple(refgrad.zeros_like(output, requires_grad=True) for output in outputs)
    return cotangents, gradients_of(outputs, point, cotangents, True)


def demand(tensors: Sequence, text: str) -> None:
    """Refuse, in strict mode, tensors that do not depend on what they should.

    Raises:
        RuntimeError: one is missing or does not require grad.
    """
    for position, tensor in enumerate(tensors):
        if tensor is None:
            raise RuntimeError(UNUSED_INPUT.format(position))
        if not tensor.requires_grad:
            raise RuntimeError(text.format(position))


def filled(
    gradients: tuple, like: tuple, strict: bool, create_graph: bool, unused: str, derivative: str
) -> tuple:
    """The gradients, zeros for those that are missing.

    Raises:
        RuntimeError: `strict`, and one is missing, or has no graph though one is wanted.
    """
    found = []
    for position, (gradient, tensor) in enumerate(zip(gradients, like, strict=False)):
        if gradient is None and strict:
            raise RuntimeError(unused.format(position))
        if strict and create_graph and not gradient.requires_grad:
            raise RuntimeError(WITHOUT_GRAPH.format(derivative, position))
        found.append(refgrad.zeros_like(tensor) if gradient is None else gradient)
    return tuple(found)


def released(tensors: Sequence[Tensor], many: bool, create_graph: bool) -> Any:
    """What the caller gets: without history unless it was wanted, and unpacked if it gave one tensor."""
    results = tuple(tensors) if create_graph else tuple(tensor.detach() for tensor in tensors)
    return results if many else results[0]
