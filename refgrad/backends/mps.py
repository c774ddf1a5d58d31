"""`torch.backends.mps`: not there."""


def is_available() -> bool:
    """Whether this backend can be used."""
    return False


def is_built() -> bool:
    """Whether this backend was built."""
    return False
