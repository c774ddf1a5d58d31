"""With is_grads_batched the first dimension of each gradient counts samples, and of each result.

topic: grad-api
features: is-grads-batched, grad
rule: torch.autograd.grad
source: facts engine 121
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * a
unused = torch.ones(1, requires_grad=True)
g = torch.autograd.grad(b, a, torch.eye(2), is_grads_batched=True, retain_graph=True)
h = torch.autograd.grad(b, [a, b], torch.ones(3, 2), is_grads_batched=True, retain_graph=True)
i = torch.autograd.grad(
    b, [a, unused], torch.ones(3, 2), is_grads_batched=True, retain_graph=True, allow_unused=True
)
j = torch.autograd.grad(
    b, a, torch.ones(3, 3), is_grads_batched=True, retain_graph=True
)  # raises RuntimeError
k = torch.autograd.grad(
    [b, b], a, [torch.eye(2), torch.ones(3, 2)], is_grads_batched=True, retain_graph=True
)  # raises shape
l = torch.autograd.grad(b.sum(), a, is_grads_batched=True, retain_graph=True)  # raises ValueError
m = torch.autograd.grad(b, a, torch.eye(2), is_grads_batched=True)
n = torch.autograd.grad(b, a, torch.eye(2), is_grads_batched=True)  # raises freed-graph
