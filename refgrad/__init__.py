"""A reference implementation of PyTorch's eager autograd: `import refgrad as torch` runs a torch script.

The names of ops are made on first use (see namespaces.py), submodules are imported on first use, so that importing this
package costs little more than importing NumPy.
"""

import importlib as _importlib

import numpy as _np

from refgrad import autograd, dtypes, engine, methods, modes, namespaces, operators
from refgrad.autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
from refgrad.autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled
from refgrad.autograd.grad_mode import is_grad_enabled, is_inference_mode_enabled
from refgrad.modes import is_warn_always_enabled, set_warn_always
from refgrad.binding import TYPES as _TYPES
from refgrad.binding import register_tensor_type as _register_tensor_type
from refgrad.dtypes import DType as dtype
from refgrad.functional import cdist, chain_matmul, einsum, norm, tensordot, unique, unique_consecutive
from refgrad.layout import Size
from refgrad.printing import set_printoptions
from refgrad.namespaces import make_front as _make_front
from refgrad.ops import (
    activations,
    adaptive_pooling,
    binary,
    binary_functions,
    channel_normalization,
    classification,
    comparison,
    complex_numbers,
    contraction,
    convolution,
    copying,
    creation,
    differences,
    dimensions,
    distances,
    distinct,
    dropout,
    embedding,
    from_data,
    indexing,
    joining,
    losses,
    margins,
    matmul,
    memory,
    normalization,
    norms,
    piecewise,
    padding,
    pairs,
    pooling,
    products,
    reductions,
    rounding,
    scans,
    scatter,
    scatter_reduce,
    selection,
    shapes,
    singular,
    softmax,
    sorting,
    special_functions,
    statistics,
    subscript,
    unary,
    views,
)
from refgrad.ops import random as _random
from refgrad.ops import random_tensors as _random_tensors
from refgrad.ops.from_data import TENSOR_TYPES as _TENSOR_TYPES
from refgrad.ops.from_data import asarray, from_numpy
from refgrad.signatures.shown import is_function as _is_function
from refgrad.storage import UntypedStorage
from refgrad.tensor import Device as device
from refgrad.tensor import Tensor
from refgrad.toplevel import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    finfo,
    frombuffer,
    get_default_dtype,
    iinfo,
    meshgrid,
    set_default_dtype,
    split,
    unravel_index,
)
from refgrad.types import (
    MemoryFormat as memory_format,
)
from refgrad.types import (
    TensorLayout as layout,
)
from refgrad.types import (
    channels_last,
    contiguous_format,
    preserve_format,
    sparse_coo,
    strided,
)

__version__ = "2.13.0+refgrad"

# NumPy warns where PyTorch does not: division by zero, overflow, invalid values.
_np.seterr(all="ignore")
_register_tensor_type(Tensor)
_TYPES.register("Device", device, "torch.device")
_TYPES.register("MemoryFormat", memory_format, "torch.memory_format")
_TYPES.register("Layout", layout, "torch.layout")
_TYPES.register("Storage", UntypedStorage)
_TYPES.make_device = device
for _dtype in dtypes.ALL:
    globals()[_dtype.name] = _dtype
globals().update(dtypes.ALIASES)
globals().update(_TENSOR_TYPES)

_SUBMODULES = frozenset(["_C", "nn", "optim", "utils", "linalg", "random", "func", "special", "testing", "return_types"])

_FROM_RANDOM = frozenset(
    ["Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]
)


# Modules of this package that are none of torch's go out of sight: `torch.tensor` is a function.
for _name, _value in list(globals().items()):
    if isinstance(_value, type(_np)) and not _name.startswith("_") and _name not in _SUBMODULES | {"autograd"}:
        del globals()[_name]


def is_tensor(obj: object) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


def __getattr__(name: str):
    if name in _SUBMODULES:
        return _importlib.import_module(f"refgrad.{name}")
    if name in _FROM_RANDOM:
        return getattr(_importlib.import_module("refgrad.random"), name)
    made = _make_front(name, method=False) if _is_function(name) and not name.startswith("__") else None
    if made is None:
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
    globals()[name] = made
    return made
