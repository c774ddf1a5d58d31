"""`torch.backends.openmp`: not there."""


def is_available() -> bool:
    """Whether this backend can be used."""
    return False
