"""A frozen layer passes gradients through to what is below it but collects none itself.

topic: modules
features: module, parameter, requires-grad, sequential
rule: torch.nn.Module.requires_grad_
"""

import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
net[2].requires_grad_(False)
x = torch.tensor([[0.5, -1.0]], requires_grad=True)
net(x).sum().backward()
frozen = net[2].weight.grad
count = sum(p.requires_grad for p in net.parameters())
