"""Flags of a backend, set for the time of a `with` statement."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


@contextmanager
def temporarily(backend: ModuleType, **flags: Any) -> Iterator[None]:
    """Set flags of a backend; what they were is back afterwards."""
    before = {name: getattr(backend, name) for name in flags}
    vars(backend).update(flags)
    try:
        yield
    finally:
        vars(backend).update(before)
