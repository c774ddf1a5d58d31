"""The modules of `torch.nn`, a file per family."""

from refgrad.nn.modules.activation import *  # noqa: F403
from refgrad.nn.modules.container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from refgrad.nn.modules.dropout import AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout
from refgrad.nn.modules.linear import Bilinear, Flatten, Identity, Linear, Unflatten
from refgrad.nn.modules.module import Module
