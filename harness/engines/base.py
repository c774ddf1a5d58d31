"""An engine: a namespace that stands for torch, in which programs run."""

import builtins
import importlib
import linecache
import random
import sys
import warnings
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from harness.engines.beside import beside
from harness.engines.session import END, FULL, QUICK, Missing, OutOfTime, Session, without_collector
from harness.program import Program
from harness.trace import Trace

__all__ = [
    "END",
    "FULL",
    "QUICK",
    "Engine",
    "EngineError",
    "Missing",
    "Name",
    "Named",
    "OutOfTime",
    "Session",
]


class EngineError(Exception):
    """An engine that cannot be used, with what to do."""


class Named(Protocol):
    """What has an engine's name and version."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...


@dataclass(frozen=True)
class Name:
    """An engine that lives elsewhere."""

    name: str
    version: str


class Engine(ABC):
    """A namespace that stands for torch."""

    name = "engine"

    @property
    @abstractmethod
    def module(self) -> Any:
        """What the name `torch` is bound to."""

    @property
    def version(self) -> str:
        return str(getattr(self.module, "__version__", ""))

    @property
    def tensor_type(self) -> type:
        """The type whose instances are observed."""
        found = getattr(self.module, "Tensor", None)
        if isinstance(found, type):
            return found
        try:
            return type(self.module.tensor([1.0]))
        except Exception as error:
            raise EngineError(
                f"engine {self.name}: it has neither a class Tensor nor a working tensor([1.0]) ({error})"
            ) from None

    def memory_of(self, tensor: Any) -> int:
        """A number that tensors have in common exactly when they share their storage; 0 for no memory."""
        return tensor.untyped_storage().data_ptr()

    def unseen(self) -> AbstractContextManager:
        """While it is entered, no `__torch_function__` is called."""
        switch = getattr(getattr(self.module, "_C", None), "DisableTorchFunction", nullcontext)
        return switch()

    def reset(self) -> None:
        """Bring modes and defaults to where a fresh process has them, random numbers to a fixed place."""
        if hasattr(self.module, "manual_seed"):
            self.module.manual_seed(0)
        self.restore()

    def restore(self) -> None:
        """Bring the engine's modes and defaults to where a fresh process has them."""
        torch = self.module
        if hasattr(torch, "set_grad_enabled"):
            torch.set_grad_enabled(True)
        if hasattr(torch, "set_default_dtype") and hasattr(torch, "float32"):
            torch.set_default_dtype(torch.float32)
        if hasattr(torch, "is_anomaly_enabled") and torch.is_anomaly_enabled():
            torch.autograd.set_detect_anomaly(False)
        self.close_dual_level()

    def close_dual_level(self) -> None:
        """End the level of forward mode that a program left open."""
        forward_ad = vars(getattr(self.module, "autograd", self)).get("forward_ad")
        if forward_ad is not None and getattr(forward_ad, "_current_level", -1) >= 0:
            forward_ad.exit_dual_level()

    def run(self, program: Program, look: str = FULL) -> Trace:
        """Run every statement of a program, whatever raises, and observe."""
        self.reset()
        if program.draws_from_python:
            seed_python()
        if program.script is not None:
            filename, text = f"{program.id}.py", program.script
            linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        around = beside(program.file, self.builtins) if program.file else nullcontext()
        with around, without_collector(), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            session = Session(self, program, look, warned)
            try:
                session.run(program.steps, program.phases)
            finally:
                if not program.mentions("torch.compile"):  # which keeps names of its own there
                    session.variables.clear()  # functions of the program refer to it, and it to them
        self.restore()
        return Trace(self.name, self.version, look, session.records, session.missing)

    def resolve(self, name: str) -> Any:
        """The engine's counterpart of a dotted name such as `torch.nn.functional`."""
        found = self.module
        walked = getattr(found, "__name__", self.name)
        for part in name.split(".")[1:]:
            walked = f"{walked}.{part}"
            try:
                found = getattr(found, part)
            except AttributeError:
                try:
                    found = importlib.import_module(walked)
                except ImportError:
                    raise Missing(f"No module named '{name}'", name=name) from None
        return found

    @cached_property
    def builtins(self) -> dict[str, Any]:
        """What a program finds built in: as usual, but `__import__` binds torch to the engine."""
        return dict(vars(builtins), __import__=self.import_function())

    def import_function(self) -> Any:
        ordinary = builtins.__import__

        def import_bound(name: str, globals=None, locals=None, fromlist=(), level=0) -> Any:
            if level == 0 and (name == "torch" or name.startswith("torch.")):
                found = self.resolve(name)
                for part in fromlist or ():  # a module that nobody imported yet, as Python does
                    if part != "*" and not hasattr(found, part):
                        with suppress(Missing):
                            self.resolve(f"{name}.{part}")
                return found if fromlist else self.module
            return ordinary(name, globals, locals, fromlist, level)

        return import_bound


def seed_python() -> None:
    """Bring Python's and NumPy's own random numbers to a fixed state."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
