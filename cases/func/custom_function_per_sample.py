"""A custom Function in a grad within a vmap runs under the vmap, by its rule for it, and needs one.

topic: func
features: func, vmap, grad, Function, setup_context, generate_vmap_rule
rule: torch.func.vmap
source: Extending torch.func with autograd.Function
"""

import torch
from torch.func import grad, jacrev, vmap

class Generated(torch.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x):
        print("forward", x.shape, x.requires_grad)
        return x * x
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        print("backward", g.shape, x.requires_grad)
        return 2 * x * g

class Written(Generated):
    generate_vmap_rule = False
    @staticmethod
    def vmap(info, in_dims, x):
        print("vmap", info, in_dims, x.shape)
        return Written.apply(x), in_dims[0]

class Without(Generated):
    generate_vmap_rule = False

class Old(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        return g

xs = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
by_rule = vmap(grad(lambda x: Generated.apply(x).sum()))(xs)
by_hand = vmap(grad(lambda x: Written.apply(x).sum()))(xs)
rows = vmap(jacrev(Written.apply))(xs)
vmap(grad(lambda x: Without.apply(x).sum()))(xs)  # raises RuntimeError
vmap(grad(lambda x: Old.apply(x).sum()))(xs)  # raises RuntimeError
ys = xs.clone().requires_grad_()
outside = vmap(grad(lambda y: Written.apply(y).sum()))(ys)
