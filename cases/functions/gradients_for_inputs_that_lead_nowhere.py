"""A node's hooks see what a custom backward returned, even for an input from which nothing leads on.

topic: functions
features: custom Function, node-hook, view-of-a-leaf
rule: torch.autograd.graph.Node.register_hook
"""

import torch


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, grad):
        return grad * 2.0, grad * 3.0


base = torch.ones(3)
view = base[1:]
base.requires_grad_()
product = Both.apply(view, view)
print(view.requires_grad, view.grad_fn, product.grad_fn.next_functions)
product.grad_fn.register_hook(lambda inputs, outputs: print(inputs))
product.sum().backward()
print(base.grad)
other = torch.ones(2, requires_grad=True)
product = Both.apply(view, other)
print(product.grad_fn.next_functions[0], product.grad_fn.next_functions[1][0].name())
product.sum().backward()
print(other.grad)
