"""`torch.nn`: modules, parameters, and what they are made of."""

# ruff: noqa: F401, F403

import importlib
from types import FunctionType
from typing import Any

from refgrad import loaded
from refgrad.nn import functional, init
from refgrad.nn.modules import *
from refgrad.nn.parameter import Buffer, Parameter
from refgrad.watchable import watchable

LATER = {
    "attention": "MultiheadAttention",
    "parallel": "DataParallel",
    "lazy": "LazyConv1d LazyConv2d LazyConv3d LazyLinear UninitializedParameter",
    "lazy_norms": (
        "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyInstanceNorm1d LazyInstanceNorm2d "
        "LazyInstanceNorm3d UninitializedBuffer"
    ),
    "sequences": "CTCLoss EmbeddingBag",
    "unpooling": "MaxUnpool1d MaxUnpool2d MaxUnpool3d",
    "upsampling": "UpsamplingBilinear2d UpsamplingNearest2d",
    "transformer": (
        "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer"
    ),
    "rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
}
MODULE_OF = {name: module for module, names in LATER.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in ("attention", "utils"):
        return importlib.import_module(f"refgrad.nn.{name}")
    if name in MODULE_OF:
        made = globals()[name] = getattr(
            importlib.import_module(f"refgrad.nn.modules.{MODULE_OF[name]}"), name
        )
        return made
    raise AttributeError(f"module 'torch.nn' has no attribute '{name}'")


# What stands in `functional` and is no function of PyTorch's, or one that it does not hand on itself.
UNWATCHED = frozenset(
    (
        *("__getattr__", "batched_dropout", "call_native", "channel_note", "check_probability", "dropped"),
        *("check_values_per_channel", "implied_dim", "native", "sigmoid", "tanh", "warn_rank", "watchable"),
    )
)
watchable(
    [f for n, f in vars(functional).items() if isinstance(f, FunctionType) and n not in UNWATCHED],
    "torch.nn.functional",
)
