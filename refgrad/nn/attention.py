"""`torch.nn.attention`: which ways `scaled_dot_product_attention` may take."""

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from refgrad.ops.attention import Ways


class SDPBackend(enum.Enum):
    """The ways that there are in PyTorch; on the CPU, plain ops and one op ("flash")."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict]:
    """Let attention take only these ways in a block.

    Raises:
        AssertionError: what is given is no way and no list.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    allowed = [backends] if isinstance(backends, SDPBackend) else backends
    before = (Ways.math, Ways.flash)
    Ways.math, Ways.flash = SDPBackend.MATH in allowed, SDPBackend.FLASH_ATTENTION in allowed
    try:
        yield {}
    finally:
        Ways.math, Ways.flash = before
