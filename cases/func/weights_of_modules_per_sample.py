"""Gradients of a module's weights for each sample are found for the whole batch: convolutions by groups.

topic: func
features: func, vmap, grad, functional_call, convolution, normalization
rule: torch.func.functional_call
source: documentation of torch.func, per-sample gradients
"""

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(0)

def of_each(net, x, of_input=False):
    weights = {name: weight.detach() for name, weight in net.named_parameters()}
    loss = lambda weights, x: (functional_call(net, weights, (x,)) ** 2).sum()
    return vmap(grad(loss, argnums=int(of_input)), in_dims=(None, 0))(weights, x)

line = of_each(nn.Linear(2, 1), torch.randn(4, 2))
image = of_each(nn.Conv2d(2, 4, 3, padding=1), torch.randn(3, 1, 2, 4, 4))
pixels = of_each(nn.Conv2d(2, 4, 3), torch.randn(3, 1, 2, 4, 4), of_input=True)
layer = of_each(nn.LayerNorm(3), torch.randn(4, 3))
batch = of_each(nn.BatchNorm1d(3, track_running_stats=False), torch.randn(2, 4, 3))
table = of_each(nn.Embedding(5, 3), torch.tensor([[0, 1], [4, 4]]))
deep = of_each(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2)), torch.randn(4, 2))
pooled = of_each(nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2)), torch.randn(2, 1, 1, 6, 6))
