"""A reference implementation of PyTorch's eager autograd: `import refgrad as torch` runs a torch script."""

import numpy as _np

from refgrad import autograd, methods, namespaces
from refgrad.autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
from refgrad.binding import register_tensor_type as _register_tensor_type
from refgrad.layout import Size
from refgrad.ops import binary, copying, creation, views
from refgrad.tensor import Tensor

_np.seterr(all="ignore")
_register_tensor_type(Tensor)


def __getattr__(name: str):
    made = namespaces.make_front(name, method=False)
    if made is None:
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
    globals()[name] = made
    return made
