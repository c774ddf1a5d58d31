"""A hook that an unpack hook, or a custom backward, hangs on the running node is called without its gradients.

topic: hooks
features: unpack-hook, current-node, register-hook
rule: torch.autograd.graph.Node.register_hook
"""
import torch

def late(grad_inputs, grad_outputs):
    print("late", grad_inputs, grad_outputs)
    return tuple(g if g is None else g / 2 for g in grad_inputs)

def unpack(tensor):
    node = torch._C._current_autograd_node()
    print(node.name())
    node.register_hook(late)
    return tensor

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        ctx.register_hook(late)
        return grad * 2

x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
    y = x * x.detach()
    z = x * x.detach()
y.sum().backward(retain_graph=True)
print(x.grad)
y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: print("early", grad_inputs, grad_outputs))
y.sum().backward()
print(x.grad)
print(torch.autograd.grad(z.sum(), x))
Twice.apply(x).sum().backward()
print(x.grad)
