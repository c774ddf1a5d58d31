"""The modules of `torch.nn`, a file per family."""

# ruff: noqa: F401, F403

from refgrad.nn.modules.activation import *
from refgrad.nn.modules.container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from refgrad.nn.modules.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from refgrad.nn.modules.distance import CosineSimilarity, PairwiseDistance
from refgrad.nn.modules.dropout import (
    AlphaDropout,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    FeatureAlphaDropout,
)
from refgrad.nn.modules.embedding import Embedding
from refgrad.nn.modules.linear import Bilinear, Flatten, Identity, Linear, Unflatten
from refgrad.nn.modules.loss import *
from refgrad.nn.modules.module import Module
from refgrad.nn.modules.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    LocalResponseNorm,
    RMSNorm,
)
from refgrad.nn.modules.padding import *
from refgrad.nn.modules.pooling import *
