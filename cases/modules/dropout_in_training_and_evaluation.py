"""A dropout layer draws in training mode and passes its input through in evaluation mode.

topic: modules
features: module, dropout, train, manual-seed
rule: torch.nn.Dropout
"""

import torch
from torch import nn

torch.manual_seed(8)
layer = nn.Dropout(0.5)
x = torch.ones(8, requires_grad=True)
trained = layer(x)
trained.sum().backward()
layer.eval()
evaluated = layer(x)
flag = layer.training
