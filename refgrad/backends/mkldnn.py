"""`torch.backends.mkldnn`: not there; its flags can be set."""

import sys
from contextlib import AbstractContextManager

from refgrad.backends._flags import temporarily

enabled = True
deterministic = False
allow_tf32 = True
fp32_precision = "none"


def is_available() -> bool:
    """Whether this backend can be used."""
    return False


def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = "none"
) -> AbstractContextManager[None]:
    """The flags, for the time of a `with` statement."""
    return temporarily(
        sys.modules[__name__],
        enabled=enabled,
        deterministic=deterministic,
        allow_tf32=allow_tf32,
        fp32_precision=fp32_precision,
    )
