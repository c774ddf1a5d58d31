"""What PyTorch refuses under `vmap`, and what it runs for each sample with a warning."""

import warnings
from typing import Any

_PLEASE = "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."


def of_shape(name: str) -> str:
    """The refusal of an op whose result has another shape for each sample."""
    return (
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"aten::{name}. {_PLEASE}"
    )


REFUSED = {name: of_shape(name) for name in ("_unique2", "unique_consecutive", "unique_dim", "nonzero")}
REFUSED |= {
    "masked_select": "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot "
    f"support this because for each batch this would return a differently shaped Tensor. {_PLEASE}",
    "equal": "Batching rule not implemented for aten::equal. We could not generate a fallback.",
    "allclose": f"vmap over torch.allclose isn't supported yet. {_PLEASE}",
    "as_strided_scatter": "Error: aten::as_strided_scatter requires special handling, and does not yet have "
    "a batching rule. Feel free to file a github issue!",
    "rrelu_with_noise": "vmap: we do not yet support aten::rrelu. Please file an issue",
}
"""Refusals by the name of the function."""

WITHOUT_RULE = """
take put masked_scatter histc renorm index_reduce special_log_ndtr embedding_renorm_
soft_margin_loss multi_margin_loss max_unpool2d max_unpool3d
"""
SLOW = {name: name for name in WITHOUT_RULE.split()}
SLOW |= {"multilabel_margin_loss_forward": "multilabel_margin_loss", "isin": "isin.Tensor_Tensor"}
"""Functions that have no batching rule, by their names, and what the warning calls them."""


def check_allowed(name: str, args: tuple, is_batched: Any) -> None:
    """Refuse what cannot be batched.

    Raises:
        RuntimeError: that is what the function is.
    """
    if name == "masked_select" and not is_batched(args[1]):
        return
    if name in REFUSED:
        raise RuntimeError(REFUSED[name])


def warn_slow(name: str, count: int) -> None:
    """Warn that a function runs once for each sample, where PyTorch does.

    Raises:
        RuntimeError: there are no samples.
    """
    warnings.warn(
        "There is a performance drop because we have not yet implemented the batching rule for "
        f"aten::{SLOW[name]}. Please file us an issue on GitHub so that we can prioritize its "
        "implementation.",
        UserWarning,
        stacklevel=5,
    )
    if not count:
        raise RuntimeError(
            f"Batching rule not implemented for aten::{SLOW[name]}. The fallback path does not support vmap "
            "over dims of size 0."
        )
