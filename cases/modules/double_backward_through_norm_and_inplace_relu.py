"""The in-place ReLU writes to the view that the normalisation returned, and the second derivative is still
right.

topic: modules
features: double-backward, instance-norm, relu-inplace, sequential
rule: torch.nn.InstanceNorm1d
source: R044, pytorch/pytorch#10532
"""

import torch

net = torch.nn.Sequential(torch.nn.InstanceNorm1d(1), torch.nn.ReLU(inplace=True)).double()
x = torch.tensor([[[1.0, 2.0, 4.0]]], dtype=torch.float64, requires_grad=True)
g = torch.autograd.grad(net(x).pow(2).sum(), x, create_graph=True)[0]
gg = torch.autograd.grad(g.pow(2).sum(), x)[0]
