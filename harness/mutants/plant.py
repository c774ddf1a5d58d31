"""Planting a mutant: into a fresh copy of refgrad, or into the functions of a copy that is loaded.

The first is always right and takes half a second. The second takes no time; it is for forks, which are thrown
away, and for changes inside functions. A copy that is *warm* has compiled its ops, so what is read once for
each op cannot be changed in it any more; in a *cold* one it can.
"""

import functools
import gc
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from itertools import zip_longest
from types import CodeType, FunctionType
from typing import Any

from harness.mutants import Mutant

PACKAGE = "refgrad"
# What these do is done once for each op or form of call, and kept.
READ_ONCE = frozenset(
    [
        "apply_source",
        "argument_errors",
        "binding",
        "call_source",
        "compiler",
        "forms",
        "inplace_source",
        "namespaces",
        "op",
        "overloads",
        "recipe",
        "schema",
        "signatures",
    ]
)


class MutantError(Exception):
    """A mutant that does not fit refgrad's sources any more, with what to do."""


class Sources:
    """refgrad's sources with a mutant's text in place."""

    def __init__(self, mutant: Mutant):
        self.module = f"{PACKAGE}.{mutant.module}"
        spec = importlib.util.find_spec(self.module)
        if spec is None or spec.origin is None:
            raise MutantError(f"mutant {mutant.name}: there is no module {self.module}")
        self.path = spec.origin
        with open(self.path, encoding="utf-8") as file:
            self.before = file.read()
        found = self.before.count(mutant.before)
        if found != 1:
            raise MutantError(
                f"mutant {mutant.name}: its text stands {found} times in {self.path}, and must once; "
                f"bring harness/mutants/{mutant.group}.py up to date: {mutant.before!r}"
            )
        self.after = self.before.replace(mutant.before, mutant.after)


# A fresh copy ---------------------------------------------------------------------------------------


class PlantedLoader(SourceFileLoader):
    """Loads a module from a text that differs from its file."""

    def __init__(self, name: str, path: str, text: str):
        super().__init__(name, path)
        self.text = text

    def get_code(self, fullname: str) -> CodeType:
        """The changed text, compiled; neither read from a cache nor written to one."""
        return compile(self.text, self.path, "exec")


class PlantedFinder(MetaPathFinder):
    """Finds the one module that is changed."""

    def __init__(self, sources: Sources):
        self.sources = sources

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module's ordinary spec with another loader."""
        if fullname != self.sources.module:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None:
            spec.loader = PlantedLoader(fullname, self.sources.path, self.sources.after)
        return spec


@contextmanager
def fresh_copy(mutant: Mutant) -> Iterator[Any]:
    """A fresh copy of refgrad with the mutant in it; the ordinary one is back afterwards."""
    sources = Sources(mutant)
    finder = PlantedFinder(sources)
    sys.meta_path.insert(0, finder)
    try:
        with another_copy() as refgrad:
            yield refgrad
    finally:
        sys.meta_path.remove(finder)


@contextmanager
def another_copy() -> Iterator[Any]:
    """A fresh copy of refgrad; the ordinary one is back afterwards."""
    with in_place({}):
        yield loaded()


@contextmanager
def in_place(modules: dict[str, Any]) -> Iterator[None]:
    """Have imports find these modules of a copy of refgrad; the ordinary ones are back afterwards."""
    ordinary = own_modules()
    replace(modules)
    try:
        yield
    finally:
        replace(ordinary)


def own_modules() -> dict[str, Any]:
    """The modules of the copy of refgrad that is in place."""
    return {name: module for name, module in sys.modules.items() if is_ours(name)}


def replace(modules: dict[str, Any]) -> None:
    for name in own_modules():
        del sys.modules[name]
    sys.modules.update(modules)


def is_ours(name: str) -> bool:
    """Whether a module is one of refgrad's."""
    return name.partition(".")[0] == PACKAGE


def loaded() -> Any:
    """refgrad, with its functions in place."""
    import refgrad.compiler  # which ops load on first use
    import refgrad.surface

    return refgrad


# A copy that is loaded ------------------------------------------------------------------------------

CACHE = functools._lru_cache_wrapper
Place = tuple[str, int, str, bytes]
Pairs = list[tuple[CodeType, CodeType]]  # what a function does now, and what it shall do


class Functions:
    """The functions of the copy of refgrad that is in place, by where they stand, and its caches."""

    def __init__(self) -> None:
        self.at: dict[Place, list[FunctionType]] = {}
        self.caches = []
        ours = {id(vars(module)) for module in own_modules().values()}
        gc.unfreeze()  # what is frozen is not listed
        for found in gc.get_objects():
            if type(found) is FunctionType and id(found.__globals__) in ours:
                self.at.setdefault(place_of(found.__code__), []).append(found)
            elif type(found) is CACHE and id(getattr(found.__wrapped__, "__globals__", None)) in ours:
                self.caches.append(found)

    def pairs(self, sources: Sources) -> Pairs:
        """Which functions a mutant changes, and how; none when it changes what ran already."""
        pairs: Pairs = []
        before = compiled(sources.before, sources.path)
        after = compile(sources.after, sources.path, "exec")
        return pairs if self.reaches(before, after, pairs) else []

    def reaches(self, before: CodeType, after: CodeType, pairs: Pairs) -> bool:
        """Collect the codes to swap; False when a part that ran already is changed."""
        if before == after:
            return True
        live = place_of(before) in self.at
        if live:
            if before.co_freevars != after.co_freevars:
                return False
            pairs.append((before, after))
        elif own_parts(before) != own_parts(after):
            return False
        inner = list(zip_longest(inner_codes(before), inner_codes(after)))
        if any(one is None or other is None for one, other in inner):
            return live
        reached = [self.reaches(one, other, pairs) or live for one, other in inner]  # all of them
        return all(reached)

    def swap(self, pairs: Pairs) -> None:
        """Have the functions do what they shall from now on."""
        for before, after in pairs:
            for function in self.at[place_of(before)]:
                function.__code__ = after
        for cache in self.caches:
            cache.cache_clear()


@functools.cache
def compiled(text: str, path: str) -> CodeType:
    """A module's code as it is: the same for many mutants, and known to forks of a process that asked."""
    return compile(text, path, "exec")


def is_read_once(mutant: Mutant, pairs: Pairs) -> bool:
    """Whether a change comes too late for ops that were compiled already."""
    if mutant.module.split(".")[0] in READ_ONCE:
        return True

    def asks(code: CodeType) -> tuple:
        return code.co_varnames[: code.co_argcount], {"conj", "conjugate"}.issuperset(code.co_names)

    # A formula's parameters, and what it may be given, decide how its op is compiled.
    return mutant.module.startswith("ops.") and any(asks(before) != asks(after) for before, after in pairs)


def place_of(code: CodeType) -> Place:
    """What names a function in every copy and process; codes that have run are not equal to others."""
    return code.co_filename, code.co_firstlineno, code.co_qualname, code.co_linetable


def inner_codes(code: CodeType) -> list[CodeType]:
    """The codes of the functions and classes that stand in this one."""
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def own_parts(code: CodeType) -> tuple:
    """What a code does, apart from the codes inside."""
    constants = tuple(repr(each) for each in code.co_consts if not isinstance(each, CodeType))
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants
