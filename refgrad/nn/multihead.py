"""`multi_head_attention_forward`: attention of several heads, with the projections before and after.

*Padding mask*: which keys of each sample are to be ignored. *Canonical*: a mask of floating type, which is
added to the scores: minus infinity where something is to be ignored.
"""

import math
import warnings
from typing import Any, NamedTuple

from refgrad import dtypes
from refgrad.nn import functional as F
from refgrad.nn.native import native
from refgrad.op import calls
from refgrad.tensor import Tensor


class Masks(NamedTuple):
    """The two masks, canonical or None."""

    attention: Any
    padding: Any

    def with_one_key_more(self) -> "Masks":
        """The masks for a key that was put behind the others."""
        return Masks(*[mask if mask is None else F.pad(mask, (0, 1)) for mask in self])


def require(condition: bool, text: str) -> None:
    """Refuse what does not hold.

    Raises:
        AssertionError: with the text.
    """
    if not condition:
        raise AssertionError(text)


def check_ranks(query: Any, key: Any, value: Any, padding: Any, mask: Any, heads: int) -> bool:
    """Whether there is a batch dimension; refuses ranks that do not go together.

    Raises:
        AssertionError: with PyTorch's text.
    """
    rank = query.dim()
    require(
        rank in (2, 3),
        f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor",
    )
    words = "For batched (3-D) `query`, expected" if rank == 3 else "For unbatched (2-D) `query`, expected"
    require(
        key.dim() == value.dim() == rank,
        f"{words} `key` and `value` to be {rank}-D but found {key.dim()}-D and {value.dim()}-D tensors "
        "respectively",
    )
    if padding is not None:
        require(
            padding.dim() == rank - 1,
            f"{words} `key_padding_mask` to be `None` or {rank - 1}-D but found {padding.dim()}-D tensor "
            "instead",
        )
    if mask is not None:
        require(
            mask.dim() in (2, 3),
            f"{words} `attn_mask` to be `None`, 2-D or 3-D but found {mask.dim()}-D tensor instead",
        )
        if rank == 2 and mask.dim() == 3:
            shape = (heads, query.shape[0], key.shape[0])
            require(mask.shape == shape, f"Expected `attn_mask` shape to be {shape} but got {mask.shape}")
    return rank == 3


def canonical(mask: Any, name: str, kind: Any, other: Any = None) -> Any:
    """A mask in the form in which it is added; `other` is a mask whose type it should share.

    Raises:
        AssertionError: it is neither of truth values nor floating.
    """
    if mask is None:
        return None
    is_floating = mask.is_floating_point()
    require(
        mask.dtype is dtypes.bool_ or is_floating, f"only bool and floating types of {name} are supported"
    )
    if other is not None and mask.dtype is not other.dtype:
        warnings.warn(
            f"Support for mismatched {name} and attn_mask is deprecated. Use same type for both instead.",
            stacklevel=3,
        )
    if is_floating:
        return mask
    return mask.new_zeros(mask.shape, dtype=kind).masked_fill_(mask, -math.inf)


# Projections


def packed(query: Any, key: Any, value: Any, weight: Any, bias: Any) -> tuple:
    """The three projections with weights stacked in one matrix: equal inputs share a product."""
    size = query.size(-1)
    if key is not value:
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        trios = zip((query, key, value), weight.chunk(3), biases, strict=True)
        return tuple(F.linear(*trio) for trio in trios)
    if query is key:
        return shared(query, weight, bias, 3)
    parts, biases = weight.split([size, 2 * size]), (None, None)
    if bias is not None:
        biases = bias.split([size, 2 * size])
    return (F.linear(query, parts[0], biases[0]), *shared(key, parts[1], biases[1], 2))


def shared(input: Any, weight: Any, bias: Any, count: int) -> tuple:
    """Several projections of one input by one product."""
    product = F.linear(input, weight, bias).unflatten(-1, (count, input.size(-1)))
    product = product.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(product[i] for i in range(count))


def separate(inputs: tuple, weights: tuple, bias: Any) -> tuple:
    """The three projections with a weight each.

    Raises:
        AssertionError: shapes do not fit.
    """
    names = ("query", "key", "value")
    size = inputs[0].size(-1)
    for name, weight in zip("qkv", weights, strict=True):
        require(weight is not None, f"use_separate_proj_weight is True but {name}_proj_weight is None")
    for name, weight, input in zip(names, weights, inputs, strict=True):
        shape = (size, input.size(-1))
        require(weight.shape == shape, f"expecting {name} weights shape of {shape}, but got {weight.shape}")
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    for name, part in zip(names, biases, strict=True):
        if part is not None:
            require(part.shape == (size,), f"expecting {name} bias shape of {(size,)}, but got {part.shape}")
    return tuple(F.linear(*trio) for trio in zip(inputs, weights, biases, strict=True))


def projected(query: Any, key: Any, value: Any, packed_weight: Any, weights: Any, bias: Any) -> tuple:
    """Queries, keys and values; `weights` are None where `packed_weight` is to be used.

    Raises:
        AssertionError: shapes do not fit.
    """
    if weights is None:
        require(key.shape == value.shape, f"key shape {key.shape} does not match value shape {value.shape}")
        require(packed_weight is not None, "use_separate_proj_weight is False but in_proj_weight is None")
        return packed(query, key, value, packed_weight, bias)
    require(
        key.shape[:2] == value.shape[:2],
        f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}",
    )
    return separate((query, key, value), weights, bias)


# Masks and what is put behind the keys


def attention_mask(mask: Any, samples: int, targets: int, sources: int) -> Any:
    """The mask with a dimension for the samples.

    Raises:
        RuntimeError: its shape does not fit.
    """
    if mask is None:
        return None
    shape = (targets, sources) if mask.dim() == 2 else (samples, targets, sources)
    if mask.shape != shape:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {shape}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def with_biases(key: Any, value: Any, bias_k: Any, bias_v: Any, static: bool, masks: Masks) -> tuple:
    """Keys and values with a learnt one behind, and the masks for it.

    Raises:
        AssertionError: only one of the two is given.
    """
    if bias_k is None and bias_v is None:
        return key, value, masks
    require(bias_v is not None, "bias_k is set but bias_v is None")
    require(bias_k is not None, "bias_v is set but bias_k is None")
    require(not static, "bias cannot be added to static key.")
    key, value = (
        calls.cat([tensor, bias.repeat(1, key.shape[1], 1)], 0)
        for tensor, bias in ((key, bias_k), (value, bias_v))
    )
    return key, value, masks.with_one_key_more()


def in_heads(tensor: Any, static: Any, name: str, samples: int, size: int) -> Any:
    """A projection as one sample for each head, or the given tensor in its place.

    Raises:
        AssertionError: the given tensor has another shape.
    """
    if static is None:
        return tensor.view(tensor.shape[0], samples, size).transpose(0, 1)
    for dim, expected in ((0, samples), (2, size)):
        require(
            static.size(dim) == expected,
            f"expecting static_{name}.size({dim}) of {expected}, but got {static.size(dim)}",
        )
    return static


def with_zeros(key: Any, value: Any, samples: int, size: int, masks: Masks) -> tuple:
    """Keys and values with zeros behind, and the masks for them."""
    key, value = (calls.cat([tensor, tensor.new_zeros((samples, 1, size))], 1) for tensor in (key, value))
    return key, value, masks.with_one_key_more()


def merged(masks: Masks, batch: int, heads: int, sources: int) -> Any:
    """Both masks as one.

    Raises:
        AssertionError: the padding mask does not fit.
    """
    padding = masks.padding
    if padding is None:
        return masks.attention
    for dim, expected in enumerate((batch, sources)):
        require(
            padding.shape[dim] == expected,
            f"Expected key_padded_mask.shape[{dim}] to be {expected}, but got {padding.shape[dim]}",
        )
    padding = padding.view(batch, 1, 1, sources).expand(-1, heads, -1, -1)
    padding = padding.reshape(batch * heads, 1, sources)
    return padding if masks.attention is None else masks.attention + padding


# Attention


def weighed(query: Any, key: Any, value: Any, mask: Any, dropout_p: float) -> tuple:
    """What attention gives, and its weights."""
    query = query * math.sqrt(1.0 / float(query.shape[-1]))
    key = key.transpose(-2, -1)
    scores = calls.bmm(query, key) if mask is None else native("baddbmm")(mask, query, key)
    weights = F.softmax(scores, dim=-1)
    if dropout_p > 0.0:
        weights = F.dropout(weights, p=dropout_p)
    return calls.bmm(weights, value), weights


def unweighed(query: Any, key: Any, value: Any, mask: Any, options: tuple, batch: int, heads: int) -> Any:
    """What attention gives, by `scaled_dot_product_attention`; (targets, batch, heads, size)."""
    if mask is not None:
        alone = mask.size(0) == 1 and mask.dim() == 3
        mask = mask.unsqueeze(0) if alone else mask.view(batch, heads, -1, key.size(1))
    query, key, value = (t.view(batch, heads, t.size(1), t.size(2)) for t in (query, key, value))
    result = F.scaled_dot_product_attention(query, key, value, mask, *options)
    return result.permute(2, 0, 1, 3)


def head_size(embed_dim: int, expected: int, heads: int) -> int:
    """The size of a head.

    Raises:
        AssertionError: sizes do not fit.
    """
    require(embed_dim == expected, f"was expecting embedding dimension of {expected}, but got {embed_dim}")
    size = embed_dim // heads
    require(size * heads == embed_dim, f"embed_dim {embed_dim} not divisible by num_heads {heads}")
    return size


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads: queries (L, N, E), keys (S, N, Ek), values (S, N, Ev); N may be missing.

    Returns:
        The result (L, N, E), and the weights (N, L, S) or None.

    Raises:
        AssertionError, RuntimeError: shapes do not fit.
    """
    is_batched = check_ranks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = (tensor.unsqueeze(1) for tensor in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    targets, batch, embed_dim = query.shape
    samples = batch * num_heads
    padding = canonical(key_padding_mask, "key_padding_mask", query.dtype, attn_mask)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and padding is None and not need_weights:
        attn_mask = None  # the hint says what it would mask
    else:
        attn_mask = canonical(attn_mask, "attn_mask", query.dtype)
        is_causal = is_causal and padding is None
    size = head_size(embed_dim, embed_dim_to_check, num_heads)
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = projected(query, key, value, in_proj_weight, weights, in_proj_bias)
    masks = Masks(attention_mask(attn_mask, samples, targets, key.shape[0]), padding)
    k, v, masks = with_biases(k, v, bias_k, bias_v, static_k is not None, masks)
    q = q.view(targets, samples, size).transpose(0, 1)
    k, v = in_heads(k, static_k, "k", samples, size), in_heads(v, static_v, "v", samples, size)
    if add_zero_attn:
        k, v, masks = with_zeros(k, v, samples, size, masks)
    mask = merged(masks, batch, num_heads, k.size(1))
    dropout_p = dropout_p if training else 0.0
    if not need_weights:
        result = unweighed(q, k, v, mask, (dropout_p, is_causal), batch, num_heads)
        found = None
    else:
        require(not is_causal or mask is not None, "FIXME: is_causal not implemented for need_weights")
        result, found = weighed(q, k, v, mask, dropout_p)
        result = result.transpose(0, 1)
        found = found.view(batch, num_heads, targets, k.size(1))
        found = found.mean(dim=1) if average_attn_weights else found
    result = F.linear(result.reshape(targets * batch, embed_dim), out_proj_weight, out_proj_bias)
    result = result.view(targets, batch, result.size(1))
    if is_batched:
        return result, found
    return result.squeeze(1), None if found is None else found.squeeze(0)
