"""`torch.backends.mkl`: not there."""

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """Whether this backend can be used."""
    return False
