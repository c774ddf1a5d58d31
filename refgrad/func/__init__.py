"""`torch.func`: transforms of functions."""

from refgrad.func import custom  # noqa: F401 - custom Functions ask it
from refgrad.func.batching import vmap
from refgrad.func.derivatives import grad, grad_and_value, jvp, linearize, vjp
from refgrad.func.jacobians import hessian, jacfwd, jacrev
from refgrad.func.modules import functional_call, stack_module_state

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
