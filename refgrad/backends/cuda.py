"""`torch.backends.cuda`: not built here."""


class matmul:
    """How products of matrices would be computed."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


def is_built() -> bool:
    """Whether this backend was built."""
    return False
