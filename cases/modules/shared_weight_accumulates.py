"""A weight used by two layers of a module is one parameter and gathers both gradients.

topic: modules
features: module, parameter, accumulate
rule: torch.nn.Module
"""

import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([[2.0, 0.0], [1.0, 1.0]]))

    def forward(self, x):
        return torch.tanh(x @ self.w) @ self.w.t()


net = Tied()
x = torch.tensor([[1.0, -0.5]])
net(x).sum().backward()
names = [name for name, _ in net.named_parameters()]
