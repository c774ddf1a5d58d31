"""Engines by the way they are named on the command line."""

from harness.engines.base import Engine, EngineError

NAMED = ("torch", "refgrad")


def engine(spec: str) -> Engine:
    """The engine that `torch`, `refgrad` or `module:NAME` names; raises EngineError with what to do."""
    try:
        if spec == "torch":
            from harness.engines.pytorch import TorchEngine

            return TorchEngine()
        if spec == "refgrad":
            from harness.engines.refgrad import RefgradEngine

            return RefgradEngine()
    except ImportError as error:
        raise EngineError(
            f"engine {spec} cannot be imported ({error}); install the project's packages"
        ) from None
    kind, colon, name = spec.partition(":")
    if kind == "module" and name:
        from harness.engines.module import ModuleEngine

        return ModuleEngine(name)
    raise EngineError(f"no engine is called {spec!r}; there are {', '.join(NAMED)} and module:NAME")
