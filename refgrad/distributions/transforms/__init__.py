"""Transforms of random variables: functions with an inverse and the logarithm of their slope.

*Domain*, *codomain*: the constraints that hold for what goes in and for what comes out. *Cache*: the last
pair of argument and result, so that the inverse of a result is the argument itself.
"""

from refgrad.distributions.transforms.base import Transform
from refgrad.distributions.transforms.composed import (
    CatTransform,
    ComposeTransform,
    CumulativeDistributionTransform,
    IndependentTransform,
    StackTransform,
    identity_transform,
)
from refgrad.distributions.transforms.elementwise import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from refgrad.distributions.transforms.vectors import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]
