"""`torch.save` and `torch.load`: pickles in which tensors that share memory go on sharing it.

The files are this package's own, not PyTorch's archives.
"""

import ast
import os
import pickle
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from refgrad import dtypes
from refgrad.methods import Memory
from refgrad.types import Device

WEIGHTS_ONLY = (
    "Weights only load failed. This file can still be loaded, to do so you have two options, \x1b[1mdo those "
    "steps only if you trust the source of the checkpoint\x1b[0m. \n"
    "\t(1) In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from "
    "`False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, "
    "but it can result in arbitrary code execution. Do it only if you got the file from a trusted source.\n"
    "\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the "
    "following error message.\n"
    "\tWeightsUnpickler error: Unsupported global: GLOBAL {0} was not an allowed global by default. Please "
    "use `torch.serialization.add_safe_globals([{0}])` or the "
    "`torch.serialization.safe_globals([{0}])` context manager to allowlist this global if you trust this "
    "class/function.\n\n"
    "Check the documentation of torch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)
NO_PICKLE = (
    "Weights only load failed. In PyTorch 2.6, we changed the default value of the `weights_only` argument "
    "in `torch.load` from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will "
    "likely succeed, but it can result in arbitrary code execution. Do it only if you got the file from a "
    "trusted source.\nPlease file an issue with the following so that we can make `weights_only=True` "
    "compatible with your use case: WeightsUnpickler error: \n\nUnsupported operand {}\n\nCheck the "
    "documentation of torch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)
NO_DEVICE = (
    "Attempting to deserialize object on a {0} device but torch.{1}.is_available() is False. If you are "
    "running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
    "storages to the CPU."
)
NOT_SEEKABLE = (
    "You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like "
    "io.BytesIO and try to load from it instead."
)
SAFE = {
    "collections": {"OrderedDict"},
    "ml_dtypes": {"bfloat16"},
    "numpy": {"ndarray", "dtype"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "refgrad": {"_rebuild_tensor_v2", "_rebuild_from_type_v2"},
    "refgrad.layout": {"size_of"},
    "refgrad.lazy": {"ConjugateArray", "NegativeArray"},
    "refgrad.methods": {"Memory"},
    "refgrad.nn.parameter": {"_rebuild_parameter"},
}


allowed: list[Any] = []
"""What users declared safe: classes and functions, or pairs of one and its name in the file."""


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load` make these classes and functions, too, when it is to make weights only."""
    allowed.extend(item for item in safe_globals if item not in allowed)


def get_safe_globals() -> list[Any]:
    """What was declared safe."""
    return list(allowed)


def clear_safe_globals() -> None:
    """Forget what was declared safe."""
    allowed.clear()


@contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """Declare classes and functions safe for a while."""
    before = get_safe_globals()
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        allowed[:] = before


def full_name(item: Any) -> str:
    """The name by which a pickle asks for a class or function."""
    if isinstance(item, tuple):
        return item[1]
    return f"{item.__module__}.{item.__qualname__}"


class SharingPickler(pickle.Pickler):
    """Writes memory once, however many tensors show it."""

    def reducer_override(self, value: Any) -> Any:
        """Describe memory by its array, which the pickler remembers."""
        return (Memory, (value.root,)) if type(value) is Memory else NotImplemented


def check_location(map_location: Any) -> None:
    """Refuse to put the memory of a file where none is.

    Raises:
        RuntimeError: there is no such device.
        TypeError: it is neither a device, nor a table of them, nor a function.
    """
    if callable(map_location):
        return
    place = map_location.get("cpu", "cpu") if isinstance(map_location, dict) else map_location
    if not isinstance(place, (str, Device)):
        raise TypeError(f"'{type(place).__name__}' object is not callable")
    kind = str(place).partition(":")[0]
    if kind in ("cuda", "xpu"):
        raise RuntimeError(NO_DEVICE.format(kind.upper(), kind))
    if kind not in ("cpu", "meta"):
        raise RuntimeError(
            "don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
            f"{map_location})"
        )


class Unpickler(pickle.Unpickler):
    """Makes whatever a file holds; memory must be wanted where there is some."""

    def __init__(self, file: Any, map_location: Any) -> None:
        super().__init__(file)
        self.map_location = map_location

    def find_class(self, module: str, name: str) -> Any:
        """The class or function behind a name in the file.

        Raises:
            RuntimeError: it is memory that is wanted on a device that does not exist.
        """
        found = super().find_class(module, name)
        if found is Memory and self.map_location is not None:
            check_location(self.map_location)
        return found


class WeightsUnpickler(Unpickler):
    """Makes tensors, numbers, texts and containers, and nothing else."""

    def load(self) -> Any:
        """What the file holds.

        Raises:
            UnpicklingError, EOFError, IndexError, KeyError: it was not written by `save`.
        """
        try:
            return super().load()
        except EOFError:
            raise EOFError from None
        except pickle.UnpicklingError as error:
            text = str(error)
            if text == "unpickling stack underflow":
                raise IndexError("pop from empty list") from None
            if text.startswith("Memo value not found"):
                raise KeyError(int(text.split()[-1])) from None
            if text.startswith("invalid load key"):
                code = ord(ast.literal_eval(text.removeprefix("invalid load key, ").removesuffix(".")))
                raise pickle.UnpicklingError(NO_PICKLE.format(code)) from None
            raise

    def find_class(self, module: str, name: str) -> Any:
        """The class or function behind a name in the file.

        Raises:
            UnpicklingError: it is none of those that tensors and containers need.
        """
        is_dtype = module == dtypes.__name__ and isinstance(getattr(dtypes, name, None), dtypes.DType)
        if is_dtype or name in SAFE.get(module, ()):
            return super().find_class(module, name)
        for item in allowed:
            if full_name(item) == f"{module}.{name}":
                return item[0] if isinstance(item, tuple) else item
        shown = name if module == "builtins" else re.sub("^refgrad", "torch", f"{module}.{name}")
        raise pickle.UnpicklingError(WEIGHTS_ONLY.format(shown))


def opened(file: Any, mode: str) -> AbstractContextManager:
    """A file to read or write, opened when a path is given."""
    return open(file, mode) if isinstance(file, (str, os.PathLike)) else nullcontext(file)


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2, **options: Any) -> None:
    """Write an object with the tensors in it to a path or file.

    Raises:
        AttributeError: it is neither.
        RuntimeError: the path leads into a folder that does not exist.
    """
    is_path = isinstance(f, (str, os.PathLike))
    if not is_path and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    folder = os.path.dirname(f) if is_path else ""
    if folder and not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    with opened(f, "wb") as file:
        SharingPickler(file, max(pickle_protocol, 4)).dump(obj)


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool = True, **options: Any
) -> Any:
    """Read what `save` wrote.

    Raises:
        UnpicklingError: the file holds more than tensors and containers, and `weights_only` is set.
        AttributeError: it is neither a path nor a file in which one can go back.
    """
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "seek"):
        raise AttributeError(f"'{type(f).__name__}' object has no attribute 'seek'. {NOT_SEEKABLE}")
    with opened(f, "rb") as file:
        return (WeightsUnpickler if weights_only else Unpickler)(file, map_location).load()
