"""The losses of `torch.nn.functional`: they check and broadcast in Python and leave the rest to the ops.

*Legacy arguments*: `size_average` and `reduce`, from before there was `reduction`.
"""

import math
import warnings
from typing import Any

from refgrad.autograd import no_grad
from refgrad.layout import broadcast_shapes
from refgrad.nn.native import native
from refgrad.op import calls
from refgrad.tensor import Tensor

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


# Reduction


def legacy_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """What the legacy arguments ask for, with a warning."""
    if reduce is not None and not reduce:
        reduction = "none"
    else:
        reduction = "mean" if size_average is None or size_average else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
        stacklevel=4,
    )
    return reduction


def reduction_name(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """The reduction that counts: that of the legacy arguments where one is given."""
    if size_average is None and reduce is None:
        return reduction
    return legacy_reduction(size_average, reduce)


def reduction_number(reduction: str) -> int:
    """The number by which ops know a reduction.

    Raises:
        ValueError: there is no such reduction.
    """
    number = REDUCTIONS.get(reduction)
    if number is None:
        if reduction != "elementwise_mean":
            raise ValueError(f"{reduction} is not a valid value for reduction")
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3
        )
        return REDUCTIONS["mean"]
    return number


def reduced(loss: Any, reduction: str, message: str) -> Any:
    """The loss reduced by its methods.

    Raises:
        ValueError: there is no such reduction, with the given text.
    """
    if reduction not in REDUCTIONS:
        raise ValueError(message)
    return loss if reduction == "none" else getattr(loss, reduction)()


# Distances


def broadcast_pair(input: Any, target: Any) -> tuple:
    """Input and target brought to one shape, with a warning when they differ."""
    if target.size() == input.size():
        return input, target
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This "
        "will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        stacklevel=3,
    )
    shape = broadcast_shapes(input._array.shape, target._array.shape)
    first, second = (t if t._array.shape == shape else t.expand(shape) for t in (input, target))
    return first, second


def weighted(errors: Any, weight: Any, reduction: str) -> Any:
    """Errors times a weight for each, reduced; the mean is over the weights."""
    terms = errors * weight
    if reduction == "mean":
        return terms.sum() / weight.sum()
    return reduced(
        terms, reduction, f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'."
    )


def check_weight(weight: Any, input: Any) -> None:
    """Refuse a weight that has not the shape of the input."""
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")


def mse_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """The squared distance of each pair of elements, reduced."""
    first, second = broadcast_pair(input, target)
    reduction = reduction_name(reduction, size_average, reduce)
    if weight is None:
        return calls.mse_loss(first, second, reduction_number(reduction))
    check_weight(weight, input)
    return weighted((first - second) ** 2, weight, reduction)


def l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """The distance of each pair of elements, reduced."""
    first, second = broadcast_pair(input, target)
    reduction = reduction_name(reduction, size_average, reduce)
    if weight is None:
        return calls.l1_loss(first, second, reduction_number(reduction))
    check_weight(weight, input)
    return weighted((first - second).abs(), weight, reduction)


def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """The distance, squared below `beta`."""
    first, second = broadcast_pair(input, target)
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    if beta == 0.0:
        return calls.l1_loss(first, second, number)
    return native("smooth_l1_loss")(first, second, number, beta)


def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """The distance, squared below `delta`, times `delta` above."""
    first, second = broadcast_pair(input, target)
    if weight is None:
        return native("huber_loss")(first, second, reduction_number(reduction), delta)
    check_weight(weight, input)
    terms = native("huber_loss")(first, second, 0, delta) * weight
    return reduced(
        terms, reduction, f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'."
    )


# Classes


def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The cross entropy of probabilities of one of two classes."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(common_shape(target, weight))
    return calls.binary_cross_entropy(input, target, weight, number)


def common_shape(target: Any, weight: Any) -> tuple:
    """The shape that target and weight broadcast to.

    Raises:
        RuntimeError: there is none.
    """
    try:
        return broadcast_shapes(target._array.shape, weight._array.shape)
    except RuntimeError:
        first, second = target.size(), weight.size()
        at = next(i for i in range(1, len(second) + 1) if second[-i] != 1 and second[-i] != first[-i])
        raise RuntimeError(
            f"Attempting to broadcast a dimension of length {second[-at]} at {-at}! Mismatching argument at "
            f"index 1 had {second}; but expected shape should be broadcastable to {list(first)}"
        ) from None


def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """The cross entropy of the logits of one of two classes."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return calls.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The negative log-probability of the target classes; classes are dimension 1."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    return native("nll_loss_nd")(input, target, weight, number, ignore_index)


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The cross entropy of logits with class numbers, or a probability for each class, as target."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    return native("cross_entropy_loss")(input, target, weight, number, ignore_index, label_smoothing)


def kl_div(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """The divergence of the target from the input's log-probabilities."""
    if size_average is not None or reduce is not None:
        number = reduction_number(legacy_reduction(size_average, reduce))
    elif reduction == "batchmean":
        number = REDUCTIONS["sum"]
    else:
        if reduction == "mean":
            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support "
                "size.'batchmean' divides only by the batch size, and aligns with the KL div "
                "math definition.'mean' will be changed to behave the same as 'batchmean' in the "
                "next major release.",
                stacklevel=2,
            )
        number = reduction_number(reduction)
    loss = native("kl_div")(input, target, number, log_target=log_target)
    return loss / input.size(0) if reduction == "batchmean" and input.dim() else loss


def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The cross entropy of logits of labels, averaged over the labels."""
    reduction = reduction_name(reduction, size_average, reduce)
    log_sigmoid = native("log_sigmoid")
    loss = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    last = input.dim() - 1
    loss = loss.sum(dim=last) / input.size(last)
    if reduction not in REDUCTIONS:
        raise ValueError(reduction + " is not valid")
    return reduced(loss, reduction, "")


def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """By how much other classes come within a margin of the target class."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return native("multi_margin_loss")(input, target, p, margin, weight, number)


def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """By how much other classes come within a margin of several target classes."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    return native("multilabel_margin_loss")(input, target, number)


def soft_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The logistic loss of labels 1 and -1."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    return native("soft_margin_loss")(input, target, number)


# Distributions


def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The negative log-likelihood of counts."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    return native("poisson_nll_loss")(input, target, log_input, full, eps, number)


def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """The negative log-likelihood of normal variables with a variance for each."""
    is_tensor = isinstance(var, Tensor)
    if bool((var < 0).any()) if is_tensor else var < 0:
        raise ValueError("var has negative entry/entries")
    variance = var if is_tensor else var * calls.ones_like(input)
    if variance.size() != input.size():
        variance = fitted_variance(variance, input)
    if reduction not in REDUCTIONS:
        raise ValueError(reduction + " is not valid")
    variance = variance.clone()
    with no_grad():
        variance.clamp_(min=eps)
    loss = 0.5 * (variance.log() + (input - target) ** 2 / variance)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction, "")


def fitted_variance(variance: Any, input: Any) -> Any:
    """A variance for each row, ready to broadcast.

    Raises:
        ValueError: its shape is not that of the input but for one dimension.
    """
    shape, wanted = variance.size(), input.size()
    if wanted[:-1] == shape:
        return variance.unsqueeze(-1)
    if len(shape) == len(wanted) and sum(n for n, m in zip(shape, wanted, strict=True) if n != m) == 1:
        return variance
    raise ValueError("var is of incorrect size")


# Pairs and triples


def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The input where the target is 1, what it lacks of a margin where it is -1."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    return native("hinge_embedding_loss")(input, target, margin, number)


def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """By how much the one that should be higher fails to be so."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return native("margin_ranking_loss")(input1, input2, target, margin, number)


def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """How far from parallel where the target is 1, how far beyond a margin where it is -1."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    return native("cosine_embedding_loss")(input1, input2, target, margin, number)


def check_margin(margin: float) -> None:
    """Refuse a margin that is not positive."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """By how much the negative example fails to be farther from the anchor than the positive one."""
    number = reduction_number(reduction_name(reduction, size_average, reduce))
    check_margin(margin)
    return native("triplet_margin_loss")(anchor, positive, negative, margin, p, eps, swap, number)


def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """`triplet_margin_loss` with any distance."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    check_margin(margin)
    ranks = (anchor.ndim, positive.ndim, negative.ndim)
    if len(set(ranks)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {ranks[0]}D, positive {ranks[1]}D, and negative {ranks[2]}D inputs"
        )
    distance = native("pairwise_distance") if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = calls.minimum(far, distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), reduction, "")
