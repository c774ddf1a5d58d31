"""`torch.backends.mkldnn`: not there; its flags can be set."""

enabled = True
deterministic = False


def is_available() -> bool:
    """Whether this backend can be used."""
    return False
