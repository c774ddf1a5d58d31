"""A seeded linear layer has the same initial weights, loss, gradients and update in every run.

topic: modules
features: module, linear, sgd, mse
rule: torch.nn.Linear
"""

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
x = torch.tensor([[1.0, 2.0, 3.0]])
loss = nn.functional.mse_loss(layer(x), torch.zeros(1, 2))
loss.backward()
optimizer.step()
optimizer.zero_grad()
after = nn.functional.mse_loss(layer(x), torch.zeros(1, 2))
