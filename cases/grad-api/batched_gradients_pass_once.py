"""With `is_grads_batched` one pass goes through the graph: a hook is called once, with the shape of a sample.

topic: grad-api
features: is_grads_batched, hooks, custom Function, item, vmap
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x**2
seen = []
y.register_hook(lambda grad: seen.append((tuple(grad.shape), grad.dim())))
rows = torch.autograd.grad(y.sin(), x, torch.eye(2), is_grads_batched=True, retain_graph=True)
seen
y.register_hook(lambda grad: grad * 10)
torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True, retain_graph=True)
y.register_hook(lambda grad: print(grad.sum().item()))
torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True, retain_graph=True)  # raises RuntimeError
seen


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        ctx.save_for_backward(value)
        return value * 2

    @staticmethod
    def backward(ctx, grad):
        print(grad.shape, ctx.saved_tensors[0].shape)
        return grad * 2


torch.autograd.grad(Doubled.apply(x), x, torch.eye(2), is_grads_batched=True)
