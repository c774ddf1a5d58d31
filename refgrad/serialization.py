"""`torch.save` and `torch.load`: pickles in which tensors that share memory go on sharing it.

The files are this package's own, not PyTorch's archives.
"""

import pickle
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from refgrad import dtypes
from refgrad.methods import Memory

WEIGHTS_ONLY = (
    "Weights only load failed. {}.{} is not among the types that are loaded unless weights_only=False is "
    "passed; do that only if you trust the source of the file."
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
        raise pickle.UnpicklingError(WEIGHTS_ONLY.format(module, name))


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
