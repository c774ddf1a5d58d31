"""`torch.random`: seeding, and the state of the default generator."""

import contextlib
from collections.abc import Iterator
from typing import Any

from refgrad.ops.random import Generator, default_generator
from refgrad.tensor import Tensor

__all__ = ["set_rng_state", "get_rng_state", "manual_seed", "seed", "initial_seed", "fork_rng"]


def manual_seed(seed: Any) -> Generator:
    """Start the stream of `seed` and return the default generator.

    Raises:
        ValueError: `seed` is no integer from -2**63 to 2**64 - 1.
    """
    return default_generator.manual_seed(int(seed))  # type: ignore[return-value]


def seed() -> int:
    """Start a stream that cannot be foretold; returns its seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the stream started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator, 5056 bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go on from a state that `get_rng_state` gave.

    Raises:
        TypeError: it is no tensor of bytes.
        RuntimeError: it is no state.
    """
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """Restore the state of the default generator at the end of the block."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
