"""Any importable module that stands in for torch: `--engine module:NAME`."""

import importlib
import os
import sys
from contextlib import suppress
from typing import Any

from harness.engines.base import Engine, EngineError


class ModuleEngine(Engine):
    """An engine that is a module with torch's names."""

    def __init__(self, module: str | Any):
        if isinstance(module, str):
            module = imported(module)
        self._module = module
        self.name = getattr(module, "__name__", "module")
        self._tensor_type = super().tensor_type

    @property
    def module(self) -> Any:
        return self._module

    @property
    def tensor_type(self) -> type:
        return self._tensor_type


def imported(name: str) -> Any:
    """Import a module by name, from the current directory too; says what went wrong if it fails."""
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise EngineError(
            f"engine module:{name} cannot be imported ({error}); install it, or run where it can be found"
        ) from None
    except SyntaxError as error:
        where = f"{error.filename}:{error.lineno}"
        raise EngineError(f"engine module:{name} is not valid Python: {where}: {error.msg}") from None
    except SystemExit as end:
        raise EngineError(f"engine module:{name} ends the process (SystemExit: {end}) on import") from None
    except Exception as error:
        raise EngineError(f"engine module:{name} fails while it is imported: {error!r}") from None
    finally:
        with suppress(ValueError):
            sys.path.remove(os.getcwd())
