"""The older `vmap`, by which PyTorch runs batched gradients: which ops have a rule there, and which differ.

All other ops run once for each sample, and the results are stacked.
"""

from collections.abc import Callable, Sequence
from typing import Any

from refgrad.func.levels import stack
from refgrad.func.rules.operands import RULES, Operand, whole_in_front
from refgrad.op import calls
from refgrad.tensor import Tensor

COVERED = """
abs acos asin atan ceil cos cosh digamma exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal relu
round rsqrt sigmoid sign sgn sin sinh sqrt tan tanh trunc _conj _neg_view _conj_physical
add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Tensor rsub.Scalar mul.Tensor mul.Scalar div.Tensor
div.Scalar pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar sigmoid_backward threshold_backward
eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor eq.Scalar ne.Scalar lt.Scalar le.Scalar gt.Scalar
ge.Scalar clone _to_copy alias view_as_real view_as_complex
sum sum.dim_IntList trace expand permute select.int slice.Tensor split.Tensor split_with_sizes squeeze
squeeze.dim squeeze.dims transpose.int t unbind.int unfold unsqueeze view _unsafe_view _reshape_alias
as_strided diagonal mm bmm mv dot cat stack
add_.Tensor sub_.Tensor mul_.Tensor div_.Tensor add_.Scalar mul_.Scalar div_.Scalar copy_ fill_.Scalar zero_
"""


def matrix_by_column(function: Callable, self: Any, vec: Any) -> Any:
    """Products of matrices with vectors, each a matrix of one column."""
    if not isinstance(vec, Operand):
        return calls.matmul(self.front(), vec)
    matrices = whole_in_front(self)
    return calls.squeeze__dim(calls.matmul(matrices, calls.unsqueeze(vec.front(), -1)), -1)


def view_backward(function: Callable, grad: Operand, sizes: Sequence[int], *places: int) -> Tensor:
    """The gradient of a view of each sample, written into zeros; inside another `vmap`, by the op."""
    if stack.levels:
        return RULES[function.__name__](function, grad, sizes, *places)
    value, rank = grad.front(), len(sizes)
    result = value.new_empty((value.size(0), *sizes)).zero_()
    if function.__name__ == "diagonal_backward":
        offset, dim1, dim2 = places
        part = calls.diagonal(result, offset, dim1 % rank + 1, dim2 % rank + 1)
    else:
        view = calls.select if function.__name__ == "select_backward" else calls.slice
        part = view(result, places[0] % rank + 1, *places[1:])
    part.copy_(value)
    return result


OLDER = {name: RULES.get(name) for name in COVERED.split()}
OLDER |= {"mv": matrix_by_column}
OLDER |= dict.fromkeys(("select_backward", "slice_backward", "diagonal_backward"), view_backward)
"""Rules of the older `vmap` by the op's full name; None for a pointwise op that has no rule of its own."""
