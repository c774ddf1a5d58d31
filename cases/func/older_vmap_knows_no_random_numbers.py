"""Batched gradients and Jacobians in one batch refuse random numbers, with a text of their own.

topic: func
features: vmap, random, jacobian
rule: torch.autograd.functional.jacobian
source: aten/src/ATen/LegacyVmapMode.h
"""

import torch
import torch.nn.functional as F
from torch._vmap_internals import _vmap
from torch.autograd.functional import jacobian

x = torch.tensor([1.0, 2.0], requires_grad=True)
xs = torch.tensor([[0.25, 0.5], [0.75, 1.0]])
_vmap(lambda v: v * torch.rand(2))(xs)  # raises RuntimeError
_vmap(torch.bernoulli)(xs)  # raises RuntimeError
_vmap(F.dropout)(xs)  # raises RuntimeError
_vmap(lambda v: v.clone().normal_())(xs)  # raises RuntimeError
jacobian(lambda v: v * torch.rand(2), x, vectorize=True, strategy="forward-mode")  # raises RuntimeError


class Noisy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad * torch.rand(2)


y = Noisy.apply(x)
torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)  # raises RuntimeError
