"""`torch.nn.utils`: clipping gradients, parameters as one vector, and what is loaded on first use."""

import importlib
import types
import warnings
from collections.abc import Iterable
from typing import Any

from refgrad import errors
from refgrad.autograd import no_grad
from refgrad.nn.native import native
from refgrad.nn.parameter import typename
from refgrad.op import calls
from refgrad.tensor import Tensor


def gradients_of(parameters: Any) -> list:
    """The gradients of one tensor or of several, as far as they exist."""
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Any:
    """The norm of several tensors as if they were one vector.

    Raises:
        RuntimeError: it is infinite or NaN and `error_if_nonfinite` is set.
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    with no_grad():
        if not tensors:
            from refgrad.ops.creation import zeros

            return zeros(())
        norms = [vector_norm(tensor, norm_type) for tensor in tensors]
        total = vector_norm(calls.stack([norm.to(norms[0].dtype) for norm in norms]), norm_type)
        if error_if_nonfinite and not total.isfinite():
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
                "cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
                "anyway, set `error_if_nonfinite=False`"
            )
        return total


def vector_norm(tensor: Any, order: float) -> Any:
    """The norm of a tensor's elements."""
    from refgrad import linalg

    return linalg.vector_norm(tensor, order)


def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None
) -> None:
    """Scale gradients whose norm is `total_norm` down to `max_norm`."""
    with no_grad():
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for grad in gradients_of(parameters):
            grad.mul_(factor)


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scale the gradients of all parameters together down to a norm; returns the norm before.

    Raises:
        RuntimeError: the norm is infinite or NaN and `error_if_nonfinite` is set.
    """
    if not isinstance(parameters, Tensor):
        is_generator = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if is_generator and not parameters:
            text = "`parameters` is an empty generator, no gradient clipping will occur."
            warnings.warn(text, stacklevel=2)
    total = get_total_norm(gradients_of(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """The old name of `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Hold every element of the gradients within -clip_value and clip_value.

    Raises:
        RuntimeError: there are none.
    """
    clip_value = float(clip_value)
    with no_grad():
        gradients = gradients_of(parameters)
        if not gradients:
            raise RuntimeError(errors.expected_true("!nested_tensorlist[0].empty()"))
        for grad in gradients:
            if foreach is False:
                grad.clamp_(-clip_value, clip_value)
            else:  # PyTorch does it for all gradients at once, in two writes
                grad.clamp_min_(-clip_value)
                grad.clamp_max_(clip_value)


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """All parameters, flattened, as one vector."""
    return native("cat")([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Let the parameters show consecutive parts of a vector.

    Raises:
        TypeError: `vec` is no tensor.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end


LATER = {
    "spectral_norm": ("old_norms", "spectral_norm"),
    "remove_spectral_norm": ("old_norms", "remove_spectral_norm"),
    "weight_norm": ("old_norms", "weight_norm"),
    "remove_weight_norm": ("old_norms", "remove_weight_norm"),
}


def __getattr__(name: str) -> Any:
    if name in ("clip_grad", "convert_parameters"):  # modules of PyTorch, whose functions are all here
        return importlib.import_module("refgrad.nn.utils")
    if name in ("parametrizations", "parametrize", "prune", "rnn"):
        return importlib.import_module(f"refgrad.nn.utils.{name}")
    if name in LATER:
        module, function = LATER[name]
        return getattr(importlib.import_module(f"refgrad.nn.utils.{module}"), function)
    raise AttributeError(f"module 'torch.nn.utils' has no attribute '{name}'")
