"""Ops on lists of tensors that PyTorch's optimizers are made of; of these only the extremes and norms.

One node stands for the whole list: it has an edge and an output for each tensor.
"""

import numpy as np

from refgrad.op import calls, op
from refgrad.ops.checks import first_of_equals, together
from refgrad.ops.norms import norm_back, vector_norm


def extreme_back(grads, tensors, bounds, keeps):
    """The gradients of tensors that were compared with numbers: halves where the two are equal."""
    found = []
    for grad, tensor, bound in zip(grads, tensors, bounds, strict=True):
        if grad is not None:
            grad = (grad / 2).where(tensor == bound, grad).masked_fill_(~keeps(tensor, bound), 0)
        found.append(grad)
    return found


def extremes(function, arrays, bounds):
    """Each array's larger or smaller of element and number."""
    if not arrays:
        raise RuntimeError("Tensor list must have at least one tensor.")
    if len(bounds) != len(arrays):
        raise RuntimeError("Tensor list must have same number of elements as scalar list.")
    return tuple(
        [
            first_of_equals(function, *together("arithmetic", array, bound))
            for array, bound in zip(arrays, bounds, strict=True)
        ]
    )


def declare(name, function, keeps):
    """Declare an extreme with one number for all tensors, and with a number for each."""
    op(
        f"_foreach_{name}.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
        self=lambda grads, self, scalar: extreme_back(grads, self, [scalar] * len(self), keeps),
    )(lambda self, scalar: extremes(function, self, [scalar] * len(self)))
    op(
        f"_foreach_{name}.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
        node=f"Foreach{name.capitalize()}Backward1",
        self=lambda grads, self, scalars: extreme_back(grads, self, scalars, keeps),
    )(lambda self, scalars: extremes(function, self, scalars))


declare("maximum", np.maximum, lambda tensor, bound: tensor >= bound)
declare("minimum", np.minimum, lambda tensor, bound: tensor <= bound)


def norms_back(grads, tensors, ord):
    """The gradients of tensors whose norms were taken."""
    return [
        None
        if grad is None
        else norm_back(grad, tensor, ord, calls.linalg_vector_norm(tensor, ord, None, False), (), False)
        for grad, tensor in zip(grads, tensors, strict=True)
    ]


@op(
    "_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
    self=lambda grads, self, ord: norms_back(grads, self, ord),
)
def foreach_norm(self, ord, dtype):
    if not self:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return tuple([vector_norm.kernel(array, ord, None, False, dtype) for array in self])
