"""A reference implementation of PyTorch's eager autograd: `import refgrad as torch` runs a torch script.

The functions are loaded on first use (surface.py), submodules too, so that importing this package costs
little more than importing NumPy.
"""

import importlib as _importlib
import math as _math
import threading as _threading
from importlib.util import find_spec as _find_spec

import numpy as _np

from refgrad import autograd as autograd
from refgrad import dtypes
from refgrad.autograd import enable_grad as enable_grad
from refgrad.autograd import inference_mode as inference_mode
from refgrad.autograd import no_grad as no_grad
from refgrad.autograd import set_grad_enabled as set_grad_enabled
from refgrad.autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from refgrad.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from refgrad.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from refgrad.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from refgrad.layout import Size as Size
from refgrad.modes import is_warn_always_enabled as is_warn_always_enabled
from refgrad.modes import set_warn_always as set_warn_always
from refgrad.op import LOAD as _LOAD
from refgrad.tensor import Tensor
from refgrad.types import Device as _Device
from refgrad.types import MemoryFormat as _MemoryFormat
from refgrad.types import TensorLayout as _TensorLayout
from refgrad.types import channels_last as channels_last
from refgrad.types import channels_last_3d as channels_last_3d
from refgrad.types import contiguous_format as contiguous_format
from refgrad.types import preserve_format as preserve_format
from refgrad.types import sparse_coo as sparse_coo
from refgrad.types import strided as strided

dtype, device, memory_format, layout = dtypes.DType, _Device, _MemoryFormat, _TensorLayout
__version__ = "2.13.0+refgrad"
_LOADING = _threading.RLock()  # two threads may be first

# NumPy warns where PyTorch does not: division by zero, overflow, invalid values.
_np.seterr(all="ignore")
for _dtype in dtypes.ALL:
    globals()[_dtype.name] = _dtype
globals().update(dtypes.ALIASES)
inf, nan, pi, e, newaxis = _math.inf, _math.nan, _math.pi, _math.e, None

_SUBMODULES = frozenset(
    [
        *("_C", "_VF", "_ops", "_vmap_internals", "amp", "backends", "cpu", "cuda", "distributions", "fft"),
        *("func", "linalg", "nn", "optim", "overrides", "random", "return_types", "serialization", "special"),
        *("testing", "utils"),
    ]
)
_FROM_RANDOM = frozenset(
    [
        "Generator",
        "default_generator",
        "get_rng_state",
        "initial_seed",
        "manual_seed",
        "seed",
        "set_rng_state",
    ]
)


_OPERATORS = frozenset(
    f"__{name}__"
    for name in (
        *("torch_function", "add", "radd", "iadd", "sub", "rsub", "isub", "mul", "rmul", "imul", "truediv"),
        *("rtruediv", "itruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow", "matmul", "neg"),
        *("and", "or", "xor", "lshift", "rshift", "invert", "abs", "getitem", "setitem", "len", "contains"),
        *("deepcopy",),
    )
)


def _hide_modules() -> None:
    """Modules of this package that are none of torch's go out of sight: `torch.tensor` is a function."""
    for name, value in list(globals().items()):
        if (
            isinstance(value, type(_np))
            and not name.startswith("_")
            and name not in _SUBMODULES | {"autograd"}
        ):
            globals().pop(name, None)


def is_tensor(obj: object) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


def _load() -> None:
    """Load the functions, unless that has happened, and put those that are no ops into this namespace."""
    if "_find" in globals():
        return
    with _LOADING:
        if "_find" in globals() or "_is_loading" in globals():  # what is loaded asks for it, too
            return
        globals()["_is_loading"] = True
        try:
            surface = _importlib.import_module("refgrad.surface")
            _hide_modules()
            globals().update(surface.public())
            globals()["_find"] = surface.find
        finally:
            del globals()["_is_loading"]


_LOAD.append(_load)


def _first_tensor(cls: type, *args, **kwargs) -> Tensor:
    """Stands for the constructor until the functions are loaded, which replace it."""
    _load()
    made: Tensor = Tensor.__new__(cls, *args, **kwargs)
    return made


def _first_method(cls: type, name: str) -> object:
    """Finds methods of the class until the functions are loaded, which do it then."""
    if name.startswith("__") and name not in _OPERATORS:
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
    _load()
    return getattr(cls, name)


Tensor.__new__ = _first_tensor  # type: ignore[assignment]
type(Tensor).__getattr__ = _first_method


def __getattr__(name: str):
    if name == "__future__":
        return _importlib.import_module("refgrad.__future__")
    if name.startswith("__"):
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
    if "_find" not in globals():
        if name not in _SUBMODULES and name != "tensor" and _find_spec(f"refgrad.{name}") is not None:
            # Asked for by another module of this package, which is loaded before the functions are.
            raise AttributeError(f"module 'torch' has no attribute '{name}'")
        _load()
        if name in globals():
            return globals()[name]
    if name in _SUBMODULES:
        return _importlib.import_module(f"refgrad.{name}")
    if name == "ops":
        return _importlib.import_module("refgrad._ops").ops
    if name == "vmap":
        return _importlib.import_module("refgrad.func").vmap
    if name in _FROM_RANDOM:
        made = getattr(_importlib.import_module("refgrad.random"), name)
    else:
        made = globals()["_find"](name)  # put there by _load
    if made is None:
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
    globals()[name] = made
    return made


_hide_modules()
