"""Batching rules: what an op does for all samples of a batch in one call.

*Whole*: the tensor that holds all samples, the batch dimension among its own. A rule gets the op's function
and its arguments, an `Operand` in the place of each batched tensor, and calls ops on wholes, so that the
graph shows what PyTorch's shows. It returns the result with the batch dimension in front, or a `Moved` that
says where it is. An op without a rule runs once for each sample.
"""

from refgrad.func.rules import (  # noqa: F401 - they register
    decompositions,
    images,
    pointwise,
    positions,
    products,
    randomness,
    reductions,
    shapes,
)
from refgrad.func.rules.decompositions import DECOMPOSED
from refgrad.func.rules.older import OLDER
from refgrad.func.rules.operands import RULES, Moved, Operand, rule

__all__ = ["DECOMPOSED", "OLDER", "RULES", "Moved", "Operand", "rule"]
