"""The public functions of the package: loads every family of ops, and gathers what stands beside them.

Loaded on first use of a name that `refgrad/__init__.py` does not have; until then no tensor could need it.
"""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad import (
    functional,
    inquiries,  # noqa: F401 - gives Tensor more methods
    methods,
    namespaces,
    operators,  # noqa: F401 - gives Tensor its operators
    serialization,
    settings,
    subclasses,  # noqa: F401 - gives Tensor those with which subclasses are made
    toplevel,
    watched,
)
from refgrad.amp import autocast_mode
from refgrad.binding import TYPES, register_tensor_type
from refgrad.op import Composite
from refgrad.printing import set_printoptions
from refgrad.signatures.shown import is_function
from refgrad.storage import TypedStorage, UntypedStorage
from refgrad.tensor import Tensor, refuse_writes, wrap
from refgrad.types import Device, MemoryFormat, TensorLayout

families: Any = importlib.import_module("refgrad.ops")  # by this way, for `refgrad.ops` is `torch.ops`
for family in pkgutil.iter_modules(families.__path__):
    importlib.import_module(f"{families.__name__}.{family.name}")

register_tensor_type(Tensor)
refuse_writes()
watched.start()
TYPES.register("Device", Device, "torch.device")
TYPES.register("MemoryFormat", MemoryFormat, "torch.memory_format")
TYPES.register("Layout", TensorLayout, "torch.layout")
TYPES.register("Storage", UntypedStorage)
TYPES.register("Storage", TypedStorage)
TYPES.make_device = Device
TYPES.make_tensor = lambda number: wrap(np.asarray(number))


def public() -> dict[str, Any]:
    """The public names that are no ops."""
    from refgrad.ops import from_data, legacy

    return {
        **PYTHON_FUNCTIONS,
        **legacy.TENSOR_TYPES,
        "asarray": from_data.asarray,
        "from_numpy": from_data.from_numpy,
        "set_printoptions": set_printoptions,
        "_rebuild_tensor_v2": methods.rebuild,
        "_rebuild_from_type_v2": methods.rebuild_subclass,
        **{name: of_method(name) for name in ("detach", "detach_")},
        "stft": importlib.import_module("refgrad.ops.short_time").stft,
        "lobpcg": importlib.import_module("refgrad._lobpcg").lobpcg,
        **autocast_mode.PUBLIC,
        "load": serialization.load,
        "save": serialization.save,
    }


def of_method(name: str) -> Callable:
    """The function of a method that is no op here."""
    entry = Composite(f"{name}(Tensor self) -> Tensor", getattr(Tensor, name))
    return namespaces.front(name, [namespaces.Overload(entry, False)], method=False)


def find(name: str) -> Any:
    """The function behind a public name, or None."""
    return namespaces.make_front(name, method=False) if is_function(name) else None


PYTHON_FUNCTIONS = {
    name: getattr(module, name)
    for module, names in (
        (functional, "cdist chain_matmul einsum lu norm tensordot unique unique_consecutive"),
        (
            toplevel,
            "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod "
            "finfo frombuffer get_default_dtype iinfo meshgrid set_default_dtype split unravel_index",
        ),
        (
            settings,
            "are_deterministic_algorithms_enabled get_default_device get_deterministic_debug_mode "
            "get_float32_matmul_precision get_num_interop_threads get_num_threads "
            "is_deterministic_algorithms_warn_only_enabled is_storage set_default_device "
            "set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision "
            "set_flush_denormal set_num_interop_threads set_num_threads typename "
            "use_deterministic_algorithms",
        ),
    )
    for name in names.split()
}
