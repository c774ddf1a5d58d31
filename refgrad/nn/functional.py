"""`torch.nn.functional`: functions of tensors without state.

What PyTorch writes in Python stands here with its parameters; what it writes in C++ is listed in `NATIVE`
and found on first use.
"""

import importlib
import math
import warnings
from typing import Any

from refgrad.nn.losses import (  # noqa: F401
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from refgrad.nn.native import call_native, native
from refgrad.nn.pooling import (  # noqa: F401
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from refgrad.watchable import watchable

NATIVE = [
    "adaptive_avg_pool1d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "bilinear",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_similarity",
    "elu_",
    "gelu",
    "hardshrink",
    "hardtanh_",
    "leaky_relu_",
    "linear",
    "logsigmoid",
    "one_hot",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "relu_",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu_",
    "softplus",
    "softshrink",
    "threshold_",
]
"""The functions that PyTorch takes from C++."""


LATER = {
    "multihead": "multi_head_attention_forward",
    "grids": "affine_grid fold grid_sample unfold",
    "sequences": "ctc_loss embedding_bag",
    "unpooling": "max_unpool1d max_unpool2d max_unpool3d",
    "resampling": "interpolate upsample upsample_bilinear upsample_nearest",
}
MODULE_OF = {name: module for module, names in LATER.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in MODULE_OF:
        made = globals()[name] = getattr(importlib.import_module(f"refgrad.nn.{MODULE_OF[name]}"), name)
        if not name.startswith("upsample"):
            watchable([made], "torch.nn.functional")
        return made
    if name not in NATIVE:
        raise AttributeError(f"module 'torch.nn.functional' has no attribute '{name}'")
    try:
        function = globals()[name] = native({"logsigmoid": "log_sigmoid"}.get(name, name))
    except NotImplementedError:
        raise AttributeError(f"module 'torch.nn.functional' has no attribute '{name}'") from None
    return function


# Activations


def relu(input: Any, inplace: bool = False) -> Any:
    """The input where it is positive, else 0."""
    return call_native("relu_" if inplace else "relu", input)


def relu6(input: Any, inplace: bool = False) -> Any:
    """The input between 0 and 6."""
    return call_native("relu6_" if inplace else "relu6", input)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """The input where it is positive, else a share of it."""
    return call_native("leaky_relu_" if inplace else "leaky_relu", input, negative_slope)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """The input where it is positive, else `alpha * (exp(input) - 1)`."""
    return call_native("elu_" if inplace else "elu", input, alpha)


def selu(input: Any, inplace: bool = False) -> Any:
    """The scaled `elu` that keeps mean and variance."""
    return call_native("selu_" if inplace else "selu", input)


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """The `elu` with a continuous derivative for every `alpha`."""
    return call_native("celu_" if inplace else "celu", input, alpha)


def silu(input: Any, inplace: bool = False) -> Any:
    """The input times its sigmoid."""
    return call_native("silu_" if inplace else "silu", input)


def mish(input: Any, inplace: bool = False) -> Any:
    """The input times the hyperbolic tangent of its softplus."""
    return call_native("mish_" if inplace else "mish", input)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """The input between two bounds."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return call_native("hardtanh_" if inplace else "hardtanh", input, min_val, max_val)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """The sigmoid made of three straight pieces."""
    return call_native("hardsigmoid_" if inplace else "hardsigmoid", input)


def hardswish(input: Any, inplace: bool = False) -> Any:
    """The input times its `hardsigmoid`."""
    return call_native("hardswish_" if inplace else "hardswish", input)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """The input where it is above a threshold, else a value."""
    return call_native("threshold_" if inplace else "threshold", input, threshold, value)


def rrelu(
    input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Any:
    """The `leaky_relu` with random slopes in training."""
    return call_native("rrelu_" if inplace else "rrelu", input, lower, upper, training)


def glu(input: Any, dim: int = -1) -> Any:
    """One half of the input times the sigmoid of the other."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return native("glu")(input, dim)


def sigmoid(input: Any) -> Any:
    """The logistic function."""
    return input.sigmoid()


def tanh(input: Any) -> Any:
    """The hyperbolic tangent."""
    return input.tanh()


def softsign(input: Any) -> Any:
    """`input / (1 + abs(input))`."""
    return input / (input.abs() + 1)


def tanhshrink(input: Any) -> Any:
    """The input less its hyperbolic tangent."""
    return input - input.tanh()


# Softmax


def implied_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that a softmax without one goes over, with a warning."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X "
        "as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The exponentials, scaled to sum to 1 over a dimension."""
    if dim is None:
        dim = implied_dim("softmax", input.dim(), _stacklevel)
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The softmax of the negated input."""
    if dim is None:
        dim = implied_dim("softmin", input.dim(), _stacklevel)
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The logarithm of the softmax."""
    if dim is None:
        dim = implied_dim("log_softmax", input.dim(), _stacklevel)
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """A random sample of a class, softened by `tau`; `hard` rounds it and keeps the soft gradient."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = -logits.new_zeros(logits.shape).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.max(dim, keepdim=True)[1]
    one_hot = logits.new_zeros(logits.shape).scatter_(dim, chosen, 1.0)
    return one_hot - soft.detach() + soft


# Dropout


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Divide by a power of the mean square of neighbouring channels."""
    ndim = input.dim()
    if ndim < 3:
        gap = " " * 25
        raise ValueError(f"Expected 3D or higher dimensionality {gap}input (got {ndim} dimensions)")
    if input.numel() == 0:
        return input
    around = (size // 2, (size - 1) // 2)
    squares = input.mul(input)
    if ndim == 3:
        padded = pad(squares.unsqueeze(1), (0, 0, *around))
        mean = native("avg_pool2d")(padded, (size, 1), stride=1).squeeze(1)
    else:
        shape = input.size()
        padded = pad(squares.view(shape[0], 1, shape[1], shape[2], -1), (0, 0, 0, 0, *around))
        mean = native("avg_pool3d")(padded, (size, 1, 1), stride=1).squeeze(1).view(shape)
    return input / mean.mul(alpha).add(k).pow(beta)


def check_probability(p: float) -> None:
    """Refuse what is no probability.

    Raises:
        ValueError: with PyTorch's text.
    """
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropped(name: str, input: Any, p: float, training: bool, inplace: bool) -> Any:
    """Call one of the kinds of dropout."""
    check_probability(p)
    return native(name + "_" if inplace else name)(input, p, training)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero elements at random and scale the others up."""
    return dropped("dropout", input, p, training, inplace)


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout that keeps mean and variance of what `selu` gives."""
    return dropped("alpha_dropout", input, p, training, inplace)


def feature_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """`alpha_dropout` of whole channels."""
    return dropped("feature_alpha_dropout", input, p, training, inplace)


CHANNEL_WISE = (
    " Note that dropout{0}d exists to provide channel-wise dropout on inputs with {0} spatial dimension{3}, "
    "a channel dimension, and an optional batch dimension (i.e. {1}D or {2}D inputs)."
)


def channel_note(spatial: int) -> str:
    """What inputs the dropout of channels is for."""
    return CHANNEL_WISE.format(spatial, spatial + 1, spatial + 2, "" if spatial == 1 else "s")


def warn_rank(input: Any, spatial: int) -> None:
    """Warn of an input that has neither of the ranks that the dropout of channels is for."""
    if input.dim() not in (spatial + 1, spatial + 2):
        warnings.warn(
            f"dropout{spatial}d: Received a {input.dim()}-D input to dropout{spatial}d, which is deprecated "
            "and will "
            "result in an error in a future release. To retain the behavior and silence this warning, please "
            "use "
            "dropout instead." + channel_note(spatial),
            stacklevel=3,
        )


def batched_dropout(input: Any, spatial: int, p: float, training: bool, inplace: bool) -> Any:
    """Dropout of channels for an input whose batch dimension may be missing."""
    if input.dim() == spatial + 2:
        return dropped("feature_dropout", input, p, training, inplace)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = dropped("feature_dropout", batch, p, training, inplace)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of sequences."""
    check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input." + channel_note(1)
        )
    return batched_dropout(input, 1, p, training, inplace)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of images."""
    check_probability(p)
    warn_rank(input, 2)
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
            "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. This "
            "behavior will change in a future release to interpret the input as one without a batch "
            "dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please "
            "switch to using dropout1d instead.",
            stacklevel=2,
        )
    return dropped("feature_dropout", input, p, training, inplace)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of volumes."""
    check_probability(p)
    warn_rank(input, 3)
    return batched_dropout(input, 3, p, training, inplace)


# Normalisation


def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Scale the last dimensions to mean 0 and variance 1."""
    return native("layer_norm")(input, normalized_shape, weight, bias, eps, True)


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """Scale the last dimensions to mean square 1."""
    return native("rms_norm")(input, normalized_shape, weight, eps)


def check_values_per_channel(size: Any) -> None:
    """Refuse statistics of a single value.

    Raises:
        ValueError: each channel has one value.
    """
    if size[0] * math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Scale each channel to mean 0 and variance 1 over the batch, or by running statistics."""
    if training:
        check_values_per_channel(input.size())
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return native("batch_norm")(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Scale each channel of each sample to mean 0 and variance 1."""
    if use_input_stats and math.prod(input.size()[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    return native("instance_norm")(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True
    )


def group_norm(
    input: Any,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Any:
    """Scale groups of channels to mean 0 and variance 1."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    size = input.size()
    check_values_per_channel([size[0] * size[1] // num_groups, num_groups, *size[2:]])
    return native("group_norm")(input, num_groups, weight, bias, eps, True)


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """Divide by the norm over a dimension."""
    norm = input.norm(p, dim, keepdim=True)
    if out is None:
        return input / norm.clamp_min(eps).expand_as(input)
    return native("div")(input, norm.clamp_min_(eps).expand_as(input), out=out)


# Embedding and padding


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` at the given numbers."""
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.size(0)
        if (padding_idx > 0 and padding_idx >= rows) or padding_idx < -rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx += rows if padding_idx < 0 else 0
    if max_norm is not None:
        native("embedding_renorm_")(weight.detach(), input.contiguous(), max_norm, norm_type)
    return native("embedding")(weight, input, padding_idx, scale_grad_by_freq, sparse)


def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """The input with elements put around it; the pairs of counts begin with the last dimension."""
    return native("pad")(input, pad, mode, value)
