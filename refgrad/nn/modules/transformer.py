"""The layers of transformers, and stacks of them (Vaswani and others)."""

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

from refgrad import modes
from refgrad.modes import warn_once
from refgrad.nn import functional as F
from refgrad.nn import init
from refgrad.nn.modules.activation import GELU, ReLU
from refgrad.nn.modules.attention import MultiheadAttention
from refgrad.nn.modules.container import ModuleList
from refgrad.nn.modules.dropout import Dropout
from refgrad.nn.modules.linear import Linear
from refgrad.nn.modules.making import made
from refgrad.nn.modules.module import Module
from refgrad.nn.modules.normalization import LayerNorm
from refgrad.nn.multihead import canonical
from refgrad.ops.copying import check_device
from refgrad.tensor import Tensor

NESTED = (
    "The PyTorch API of nested tensors is in prototype stage and will change in the near future. We "
    "recommend specifying layout=torch.jagged when constructing a nested tensor, as this layout receives "
    "active development, has better operator coverage, and works with torch.compile."
)
HINT = "(use batch_first for better inference performance)"


def canonical_pair(padding: Any, mask: Any, prefix: str, kind: Any) -> tuple:
    """A padding mask and a mask of attention as they are added to scores; their types should be the same."""
    if padding is not None and mask is not None and padding.dtype is not mask.dtype:
        warnings.warn(
            f"Support for mismatched src_key_padding_mask and {prefix}mask is deprecated. Use same type for "
            "both instead.",
            stacklevel=4,
        )
    padding = canonical(padding, "src_key_padding_mask", kind)
    return padding, canonical(mask, f"{prefix}mask", kind)


def square_mask(size: int, dtype: Any = None) -> Any:
    """Minus infinity above the diagonal: no element sees those behind it."""
    full = made("empty", (size, size), dtype).fill_(-math.inf)
    return full.triu(diagonal=1)


def is_causal_mask(mask: Any, is_causal: bool | None, count: int) -> bool:
    """Whether a mask is the causal one, where nobody said so."""
    if is_causal is not None or mask is None:
        return bool(is_causal)
    square = square_mask(count, mask.dtype)
    return mask.size() == square.size() and bool((mask == square).all())


def length(sequence: Any, batch_first: bool) -> int:
    """The number of elements of a sequence."""
    return sequence.size(1 if batch_first and sequence.dim() == 3 else 0)


def activation_of(name: str) -> Callable:
    """An activation by its name.

    Raises:
        RuntimeError: it is unknown.
    """
    if name not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {name}")
    return getattr(F, name)


class Block(Module):
    """Base of the two layers: what both are made of, in the order in which PyTorch makes it."""

    def __init__(
        self, others: tuple, size: int, heads: int, inner: int, dropout: float, **options: Any
    ) -> None:
        super().__init__()
        kind, bias, norms = options["dtype"], options["bias"], len(others) + 2
        for name in ("self_attn", *others):
            attention = MultiheadAttention(
                size, heads, dropout=dropout, bias=bias, batch_first=options["batch_first"], dtype=kind
            )
            setattr(self, name, attention)
        self.linear1 = Linear(size, inner, bias=bias, dtype=kind)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(inner, size, bias=bias, dtype=kind)
        self.norm_first = options["norm_first"]
        for i in range(1, norms + 1):
            norm = LayerNorm(size, eps=options["layer_norm_eps"], bias=bias, dtype=kind)
            setattr(self, f"norm{i}", norm)
        for i in range(1, norms + 1):
            setattr(self, f"dropout{i}", Dropout(dropout))

    def _residual(self, x: Any, norm: Module, branch: Callable) -> Any:
        """The input plus what a branch makes of it, normalised before or after."""
        return x + branch(norm(x)) if self.norm_first else norm(x + branch(x))

    def _sa_block(self, x: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        attended, _ = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )
        return self.dropout1(attended)

    def _feed(self, x: Any, last: Module) -> Any:
        """Two linear layers with an activation between."""
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(Block):
    """Self attention and a network of two linear layers; (L, N, E), or (N, L, E) with `batch_first`."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        check_device(device)
        options: dict[str, Any] = {
            "layer_norm_eps": layer_norm_eps,
            "batch_first": batch_first,
            "norm_first": norm_first,
        }
        super().__init__((), d_model, nhead, dim_feedforward, dropout, **options, bias=bias, dtype=dtype)
        activation = activation_of(activation) if isinstance(activation, str) else activation
        is_relu = activation is F.relu or isinstance(activation, ReLU)
        is_gelu = activation is F.gelu or isinstance(activation, GELU)
        self.activation_relu_or_gelu = 1 if is_relu else 2 if is_gelu else 0
        self.activation = activation

    def forward(
        self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
    ) -> Any:
        padding, mask = canonical_pair(src_key_padding_mask, src_mask, "src_", src.dtype)
        x = self._residual(src, self.norm1, lambda x: self._sa_block(x, mask, padding, is_causal))
        return self._residual(x, self.norm2, self._ff_block)

    def _ff_block(self, x: Any) -> Any:
        return self._feed(x, self.dropout2)


class TransformerDecoderLayer(Block):
    """Self attention, attention to a memory, and a network of two linear layers."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        check_device(device)
        options: dict[str, Any] = {
            "layer_norm_eps": layer_norm_eps,
            "batch_first": batch_first,
            "norm_first": norm_first,
        }
        sizes = (d_model, nhead, dim_feedforward, dropout)
        super().__init__(("multihead_attn",), *sizes, **options, bias=bias, dtype=dtype)
        self.activation = activation_of(activation) if isinstance(activation, str) else activation

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        x = self._residual(tgt, self.norm1, lambda x: self._sa_block(x, *own))
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = self._residual(x, self.norm2, lambda x: self._mha_block(x, memory, *other))
        return self._residual(x, self.norm3, self._ff_block)

    def _mha_block(
        self, x: Any, mem: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False
    ) -> Any:
        attended, _ = self.multihead_attn(
            x,
            mem,
            mem,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )
        return self.dropout2(attended)

    def _ff_block(self, x: Any) -> Any:
        return self._feed(x, self.dropout3)


def copies(module: Module, count: int) -> ModuleList:
    """So many deep copies of a module."""
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


def why_no_nesting(layer: Any) -> str:
    """Why padded elements of a stack of this layer cannot be left out; empty when they can."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        "encoder_layer.norm_first was True": layer.norm_first,
        f"encoder_layer.self_attn.batch_first was not True{HINT}": not attention.batch_first,
        "encoder_layer.self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        "encoder_layer.self_attn was passed bias=False": attention.in_proj_bias is None,
        "encoder_layer.activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps": (
            layer.norm1.eps != layer.norm2.eps
        ),
        "encoder_layer.self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((text for text, holds in reasons.items() if holds), "")


class TransformerEncoder(Module):
    """A stack of copies of an encoder layer."""

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        reason = why_no_nesting(encoder_layer)
        if enable_nested_tensor and reason:
            warnings.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because {reason}",
                stacklevel=2,
            )
            self.use_nested_tensor = False

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None
    ) -> Any:
        padding, mask = canonical_pair(src_key_padding_mask, mask, "", src.dtype)
        leaves_out = self._leaves_out_padding(src, mask, padding)
        count = length(src, self.layers[0].self_attn.batch_first)
        is_causal = is_causal_mask(mask, is_causal, count)
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        if leaves_out:
            warn_once(NESTED)
            output = output.masked_fill(padding.bool().unsqueeze(-1), 0.0)
        return output if self.norm is None else self.norm(output)

    def _leaves_out_padding(self, src: Any, mask: Any, padding: Any) -> bool:
        """Whether PyTorch takes a nested tensor, from which padding comes back as zeros."""
        first = self.layers[0]
        if not self.use_nested_tensor or first.training or src.dim() != 3:
            return False
        if padding is None or mask is not None:
            return False
        kept = padding == 0
        if self.mask_check and bool((kept.int().diff(dim=1) > 0).any()):
            return False
        tensors = (src, *first.parameters())
        return not (modes.grad_enabled() and any(tensor.requires_grad for tensor in tensors))


class TransformerDecoder(Module):
    """A stack of copies of a decoder layer."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        count = length(tgt, self.layers[0].self_attn.batch_first)
        options = {
            "tgt_mask": tgt_mask,
            "memory_mask": memory_mask,
            "tgt_key_padding_mask": tgt_key_padding_mask,
            "memory_key_padding_mask": memory_key_padding_mask,
            "tgt_is_causal": is_causal_mask(tgt_mask, tgt_is_causal, count),
            "memory_is_causal": memory_is_causal,
        }
        output = tgt
        for layer in self.layers:
            output = layer(output, memory, **options)
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder and a decoder."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        check_device(device)
        order = {"batch_first": batch_first, "norm_first": norm_first, "bias": bias, "dtype": dtype}

        def stack(layer: type, several: type, count: int) -> Module:
            one = layer(*options, **order)
            return several(one, count, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype))

        self.encoder = custom_encoder
        if custom_encoder is None:
            self.encoder = stack(TransformerEncoderLayer, TransformerEncoder, num_encoder_layers)
        self.decoder = custom_decoder
        if custom_decoder is None:
            self.decoder = stack(TransformerDecoderLayer, TransformerDecoder, num_decoder_layers)
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Minus infinity above the diagonal, (sz, sz)."""
        return square_mask(sz, dtype)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
