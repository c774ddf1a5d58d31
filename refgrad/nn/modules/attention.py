"""`MultiheadAttention`."""

from typing import Any

from refgrad import modes
from refgrad.nn import functional as F
from refgrad.nn import init
from refgrad.nn.modules.linear import Linear
from refgrad.nn.modules.making import empty_parameter
from refgrad.nn.modules.module import Module
from refgrad.nn.multihead import canonical
from refgrad.nn.parameter import Parameter
from refgrad.ops.copying import check_device


class NonDynamicallyQuantizableLinear(Linear):
    """The linear layer after attention, under the name that PyTorch shows."""


class MultiheadAttention(Module):
    """Attention of several heads, with learnt projections before and after (Vaswani and others).

    Raises:
        ValueError: a size is not positive.
        AssertionError: `embed_dim` cannot be divided among the heads.
    """

    bias_k: Parameter | None
    bias_v: Parameter | None
    in_proj_bias: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        check_device(device)
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self._make_weights(dtype)
        if bias:
            self.in_proj_bias = empty_parameter(3 * embed_dim, dtype=dtype)
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        self.bias_k = empty_parameter(1, 1, embed_dim, dtype=dtype) if add_bias_kv else None
        self.bias_v = empty_parameter(1, 1, embed_dim, dtype=dtype) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _make_weights(self, dtype: Any) -> None:
        """Make one weight for all three projections, or three."""
        size = self.embed_dim
        if self._qkv_same_embed_dim:
            self.in_proj_weight = empty_parameter(3 * size, size, dtype=dtype)
        else:
            self.q_proj_weight = empty_parameter(size, size, dtype=dtype)
            self.k_proj_weight = empty_parameter(size, self.kdim, dtype=dtype)
            self.v_proj_weight = empty_parameter(size, self.vdim, dtype=dtype)
            self.register_parameter("in_proj_weight", None)
            return
        for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
            self.register_parameter(name, None)

    def _reset_parameters(self) -> None:
        weights = (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        for weight in weights:
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple:
        given = (attn_mask, key_padding_mask)
        is_batched = query.dim() == 3
        key_padding_mask = canonical(key_padding_mask, "key_padding_mask", query.dtype, attn_mask)
        attn_mask = canonical(attn_mask, "attn_mask", query.dtype)
        is_fast = self._takes_fast_path(query, key, value, given)
        swaps = self.batch_first and is_batched
        if swaps:
            query, key, value = swapped(query, key, value)
        result, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal and not is_fast,
        )
        result = result.transpose(1, 0) if swaps else result
        return (result.contiguous() if is_fast else result), weights

    def _takes_fast_path(self, query: Any, key: Any, value: Any, masks: tuple) -> bool:
        """Whether PyTorch computes this by one op of its own: its result is contiguous."""
        if self.training or not self.batch_first or self.num_heads % 2 or query.dim() != 3:
            return False
        if (
            query is not key
            or key is not value
            or any(m is not None and m.is_floating_point() for m in masks)
        ):
            return False
        if self.in_proj_weight is None or self.in_proj_bias is None or self.bias_k is not None:
            return False
        parameters: tuple = (self.in_proj_weight, self.in_proj_bias, self.out_proj.weight, self.out_proj.bias)
        if self.add_zero_attn or query.dtype is not self.in_proj_weight.dtype:
            return False
        return not (modes.grad_enabled() and any(tensor.requires_grad for tensor in (query, *parameters)))


def swapped(query: Any, key: Any, value: Any) -> tuple:
    """The three with batch and sequence exchanged; a key that is the value, projected with it, stays it."""
    is_one, is_pair = query is key, key is value
    query = query.transpose(1, 0)
    key = query if is_one and is_pair else key.transpose(1, 0)
    return query, key, key if is_pair else value.transpose(1, 0)
