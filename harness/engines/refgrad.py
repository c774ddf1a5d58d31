"""The reference autograd of this repository."""

import refgrad
from harness.engines.base import Engine


class RefgradEngine(Engine):
    """refgrad: the rules of torch.autograd in Python and NumPy."""

    name = "refgrad"
    module = refgrad
