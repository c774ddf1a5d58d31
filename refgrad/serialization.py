"""`torch.save` and `torch.load`: pickles in which tensors that share memory go on sharing it.

The files are this package's own, not PyTorch's archives.
"""

import pickle
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from refgrad import dtypes
from refgrad.methods import Memory

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
SAFE = {
    "collections": {"OrderedDict"},
    "numpy": {"ndarray", "dtype"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "refgrad": {"_rebuild_tensor"},
    "refgrad.layout": {"Size"},
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


class WeightsUnpickler(pickle.Unpickler):
    """Makes tensors, numbers, texts and containers, and nothing else."""

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
    return nullcontext(file) if hasattr(file, "read" if mode == "rb" else "write") else open(file, mode)


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2, **options: Any) -> None:
    """Write an object with the tensors in it to a path or file."""
    with opened(f, "wb") as file:
        SharingPickler(file, max(pickle_protocol, 4)).dump(obj)


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool = True, **options: Any
) -> Any:
    """Read what `save` wrote.

    Raises:
        UnpicklingError: the file holds more than tensors and containers, and `weights_only` is set.
    """
    with opened(f, "rb") as file:
        return (WeightsUnpickler if weights_only else pickle.Unpickler)(file).load()
