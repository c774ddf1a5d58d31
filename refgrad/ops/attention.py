"""Scaled dot product attention, by PyTorch's two ways on the CPU: one op, or made of plain ops.

*Flash*: the one op; it takes four-dimensional batches of heads and no dropout; its gradient has none.
"""

import math

import numpy as np

from refgrad import dtypes
from refgrad.layout import widened
from refgrad.modes import warn_once
from refgrad.op import calls, composite, op
from refgrad.ops.reductions import row_major
from refgrad.tensor import is_wrapper, wrap

LOW = -math.inf
FLASH = "_scaled_dot_product_flash_attention_for_cpu"

NONE_LEFT = (
    "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both "
    "the math kernel and the fused kernels."
)


class Ways:
    """Which ways may be taken; `torch.nn.attention.sdpa_kernel` sets them, for all threads."""

    math = True
    flash = True


# Softmax with rows of which nothing is left


@op(
    "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    node="SafeSoftmaxBackward0",
    self=lambda grad, dim, result, self_scalar_type: calls._softmax_backward_data(
        grad, result, dim, self_scalar_type
    ),
)
def safe_softmax(self, dim, dtype):
    if not self.size:
        return np.zeros(self.shape, self.dtype)
    highest = np.maximum.reduce(self, axis=dim, keepdims=True)
    powers = np.exp(self - np.where(np.isneginf(highest), 0, highest).astype(self.dtype))
    total = np.add.reduce(powers, axis=dim, keepdims=True)
    return row_major(np.divide(powers, np.where(np.isneginf(highest), 1, total).astype(self.dtype)))


# One op


def rounded(array: np.ndarray, kind: np.dtype) -> np.ndarray:
    """The array with no more precision than that of a type."""
    return array if array.dtype == kind else array.astype(kind).astype(array.dtype)


def repeated_heads(array: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Keys or values with as many heads as the queries have."""
    return np.repeat(array, query.shape[1] // array.shape[1], axis=1)


def scores(query, key, is_causal, attn_mask, scale):
    """The scaled products of queries and keys, with what the mask adds."""
    factor = query.dtype.type(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    result = np.matmul(query, key.swapaxes(-1, -2)) * factor
    if attn_mask is not None:
        result += attn_mask
    if is_causal:
        result[..., np.tri(*result.shape[-2:]) == 0] = LOW
    return result, factor


def sequence_first(array: np.ndarray) -> np.ndarray:
    """The array laid out with the sequence before the heads, as PyTorch's kernel writes it."""
    return array.swapaxes(1, 2).copy().swapaxes(1, 2)


def laid_out_like(array: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The array with the order of strides of another."""
    result = np.empty_like(other, array.dtype)
    result[...] = array
    return result


@op(
    f"{FLASH}(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool is_causal=False, *, "
    "Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
    reduced="own",
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    nondifferentiable=(1,),
    constants=("attn_mask",),
    jointly=(
        "query, key, value",
        lambda grad, query, key, value, output, logsumexp, dropout_p, is_causal, attn_mask, scale: (
            calls._scaled_dot_product_flash_attention_for_cpu_backward(
                grad, query, key, value, output, logsumexp, dropout_p, is_causal, attn_mask, scale
            )
        ),
    ),
)
def flash_attention(query, key, value, dropout_p, is_causal, attn_mask, scale):
    kind, given = query.dtype, query
    query, key, value = (widened(array) for array in (query, key, value))
    key, value = repeated_heads(key, query), repeated_heads(value, query)
    products, _ = scores(query, key, is_causal, attn_mask, scale)
    highest = products.max(-1, keepdims=True)
    highest = np.where(np.isneginf(highest), 0, highest).astype(products.dtype)
    powers = np.exp(products - highest)
    total = powers.sum(-1, keepdims=True)
    total = np.where(total == 0, 1, total).astype(products.dtype)
    output = np.matmul(rounded(powers, kind), value) / total
    return laid_out_like(output.astype(kind), given), sequence_first((highest + np.log(total))[..., 0])


@op(
    f"{FLASH}_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, "
    "Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None) "
    "-> (Tensor, Tensor, Tensor)",
    reduced="own",
    refused=f"aten::{FLASH}_backward",
)
def flash_attention_backward(
    grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask, scale
):
    kind, groups = query.dtype, key.shape[:2]
    grad_out, query, key, value, out = (widened(array) for array in (grad_out, query, key, value, out))
    keys, values = repeated_heads(key, query), repeated_heads(value, query)
    products, factor = scores(query, keys, is_causal, attn_mask, scale)
    weights = np.exp(products - logsumexp[..., None])
    own = (out * grad_out).sum(-1, keepdims=True)
    slopes = rounded(weights * (np.matmul(grad_out, values.swapaxes(-1, -2)) - own), kind)
    weights = rounded(weights, kind)
    grad_query = np.matmul(slopes, keys) * factor
    grad_key = np.matmul(slopes.swapaxes(-1, -2), query) * factor
    grad_value = np.matmul(weights.swapaxes(-1, -2), grad_out)
    if groups != query.shape[:2]:
        grad_key, grad_value = (
            grad.reshape(*groups, -1, *grad.shape[2:]).sum(2) for grad in (grad_key, grad_value)
        )
    return tuple([sequence_first(grad.astype(kind)) for grad in (grad_query, grad_key, grad_value)])


def suits_flash(query, key, value, attn_mask, dropout_p, enable_gqa) -> bool:
    """Whether PyTorch takes the one op.

    Raises:
        IndexError: the mask has one dimension.
    """
    shapes = [tensor._array.shape for tensor in (query, key, value)]
    if any(len(shape) != 4 for shape in shapes) or dropout_p > 0:
        return False
    (batch, heads, count, size), (_, key_heads, length, _), _ = shapes
    if any(shape[0] != batch or shape[3] != size or 0 in shape[2:3] for shape in shapes):
        return False
    if key_heads != shapes[2][1] or shapes[2][2] != length:
        return False
    if key_heads != heads and not (enable_gqa and heads % key_heads == 0):
        return False
    if attn_mask is not None and attn_mask.requires_grad:
        return False
    if attn_mask is not None and not fits(attn_mask._array.shape, batch, heads, count, length):
        return False
    return all(tensor._array.strides[-1] == tensor._array.itemsize for tensor in (query, key, value))


def fits(shape: tuple, batch: int, heads: int, count: int, length: int) -> bool:
    """Whether the one op takes a mask of this shape.

    Raises:
        IndexError: it has fewer than two dimensions.
    """
    if len(shape) < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got -2)")
    if shape[-2] not in (1, count) or shape[-1] not in (1, length):
        return False
    return len(shape) == 2 or len(shape) == 4 and shape[0] in (1, batch) and shape[1] in (1, heads)


# Plain ops


def as_addend(mask, dtype):
    """A mask of truth values as what is added: minus infinity where it is false."""
    if mask is None or mask.dtype is not dtypes.bool_:
        return mask
    if is_wrapper(mask):
        return calls.masked_fill__Scalar_(calls.zeros_like(mask, dtype=dtype), calls.logical_not(mask), LOW)
    return wrap(np.where(mask._array, 0, LOW).astype(dtype.numpy))


def with_heads(query, key, value):
    """Keys and values repeated for the heads of the queries.

    Raises:
        RuntimeError: the numbers do not divide.
    """
    heads, key_heads, value_heads = (tensor._array.shape[-3] for tensor in (query, key, value))
    if heads % key_heads or heads % value_heads:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    return [
        calls.repeat_interleave__self_int(tensor, heads // count, -3) if heads != count else tensor
        for tensor, count in ((key, key_heads), (value, value_heads))
    ]


def attention_of_ops(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    """Attention made of plain ops.

    Raises:
        RuntimeError: both a mask and the causal one are asked for.
    """
    kind = query.dtype
    query, key, value = (t.float() if kind in dtypes.HALVES else t for t in (query, key, value))
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if is_causal:
        causal = np.tri(query._array.shape[-2], key._array.shape[-2]) == 1
        attn_mask = as_addend(wrap(causal), query.dtype)
    factor = math.sqrt(abs(1 / math.sqrt(query._array.shape[-1]) if scale is None else scale))
    query = calls.mul__Scalar(query, -factor if scale is not None and scale < 0 else factor)
    if enable_gqa:
        key, value = with_heads(query, key, value)
    weights = calls.matmul(query, calls.mul__Scalar(key.transpose(-2, -1), factor))
    if attn_mask is not None:
        weights = weights.add_(attn_mask)
    weights = calls._safe_softmax(weights, -1, None)
    if dropout_p > 0:
        weights = calls.dropout(weights, dropout_p, True)
    result = calls.matmul(weights, value)
    return result.to(kind) if result.dtype is not kind else result


def check_attention(query, key, value, attn_mask):
    """Refuse operands that do not go together.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    kinds = [tensor.dtype.cpp_name for tensor in (query, key, value)]
    if len(set(kinds)) > 1:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{kinds[0]} key.dtype: {kinds[1]} and value.dtype: {kinds[2]} instead."
        )
    ranks = [tensor._array.ndim for tensor in (query, key, value)]
    if min(ranks) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{ranks[0]} key.dim: {ranks[1]} and value.dim: {ranks[2]} instead."
        )
    if attn_mask is not None and attn_mask.dtype not in (query.dtype, dtypes.bool_, dtypes.float32):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{attn_mask.dtype.cpp_name} and  query.dtype: {kinds[0]} instead."
        )


def refuse_way(query, key, value):
    """Refuse, because the ways that would be left are turned off.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if not Ways.flash:
        raise RuntimeError(NONE_LEFT)
    ranks = [tensor._array.ndim for tensor in (query, key, value)]
    warn_once("Flash attention kernel not used because:")
    if ranks != [4, 4, 4]:
        warn_once(
            "All fused kernels requires query, key and value to be 4 dimensional, but got Query dim: "
            f"{ranks[0]}, Key dim: {ranks[1]}, Value dim: {ranks[2]} instead."
        )
    raise RuntimeError("No available kernel.  Aborting execution.")


@composite(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
    "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor"
)
def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    check_attention(query, key, value, attn_mask)
    takes_flash = (
        Ways.flash
        and query.is_floating_point()
        and suits_flash(query, key, value, attn_mask, dropout_p, enable_gqa)
    )
    if not takes_flash and not Ways.math:
        refuse_way(query, key, value)
    if any(not tensor._array.size for tensor in (query, key, value)):
        # PyTorch keeps the operands in the graph although nothing flows to them.
        total = query.sum() + key.sum() + value.sum()
        shape = (*query._array.shape[:-1], value._array.shape[-1])
        return query.new_zeros(shape) + calls.mul__Scalar(total, 0)
    attn_mask = as_addend(attn_mask, query.dtype)
    if takes_flash:
        return calls._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, dropout_p, is_causal, attn_mask, scale
        )[0]
    return attention_of_ops(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
