"""`torch.testing`: comparing results, and making random tensors."""

from refgrad import loaded  # noqa: F401
from refgrad.testing.comparison import assert_allclose, assert_close
from refgrad.testing.creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
