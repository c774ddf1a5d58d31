"""`torch.backends.cudnn`: not there; its flags can be set."""

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether this backend can be used."""
    return False


def version() -> None:
    """No version, as it is not there."""
