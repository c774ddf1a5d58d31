"""What lies beside a program: the modules in its folder, which it imports as under `python FILE`."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any


@contextmanager
def beside(file: str, builtins: dict[str, Any]) -> Iterator[None]:
    """For one run, have the program's folder first on the path, and its modules loaded with these builtins.

    They are forgotten afterwards: each run, of whichever engine, loads its own. What was imported before,
    such as an engine that lies in the folder, stays.
    """
    finder = Beside(os.path.dirname(file), builtins)
    path, arguments = list(sys.path), sys.argv
    sys.path.insert(0, finder.folder)
    sys.argv = [file]
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.argv = arguments
        sys.path[:] = path
        for name in [name for name in sys.modules if name.partition(".")[0] in finder.own]:
            del sys.modules[name]


class Beside(MetaPathFinder):
    """Finds the modules of a folder, and those inside its packages; `own` are the names it answers for."""

    def __init__(self, folder: str, builtins: dict[str, Any]):
        self.folder, self.builtins = folder, builtins
        self.own: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root = name.partition(".")[0]
        if root == name and name in sys.builtin_module_names:
            return None
        if root != name and root not in self.own:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or (root == name and not self.holds(spec)):
            return None
        self.own.add(root)
        if type(spec.loader) is SourceFileLoader:
            spec.loader = BoundLoader(spec.loader.name, spec.loader.path)
            spec.loader.builtins = self.builtins
        return spec

    def holds(self, spec: ModuleSpec) -> bool:
        """Whether a module or package lies in the folder itself, not deeper in it."""
        places = spec.submodule_search_locations or [spec.origin or ""]
        return any(os.path.dirname(place) == self.folder for place in places)


class BoundLoader(SourceFileLoader):
    """Loads a module that finds built in what its program does: an `__import__` that binds torch."""

    builtins: dict[str, Any]

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = self.builtins
        super().exec_module(module)
