"""jvp of a custom Function is what its own jvp says; its vmap is told where the batch of each tensor is.

topic: func
features: func, jvp, vmap, custom-function
rule: https://docs.pytorch.org/docs/stable/notes/extending.func.html
source: torch/_functorch/autograd_function.py
"""

import torch
from torch.func import jvp, vmap

x = torch.tensor([1.0, 2.0])


class Tripled(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 3


a, b = jvp(Tripled.apply, (x,), (x,))
c, d = jvp(lambda v: Tripled.apply(v) * v, (x,), (x,))


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(x, others):
        return x + others[0]

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def vmap(info, in_dims, x, others):
        print(in_dims)
        return x + others[0], 0


class Wrong(Summed):
    @staticmethod
    def vmap(info, in_dims, x, others):
        return x, 0, 0


e = vmap(Summed.apply)(x, [x, x])
vmap(Wrong.apply)(x, [x, x])  # raises RuntimeError
