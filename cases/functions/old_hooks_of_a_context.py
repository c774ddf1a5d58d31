"""_register_hook hangs a hook into a dict that is given or made; _register_hook_dict takes a tensor only.

topic: functions
features: custom-function, hooks, private-names
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#how-to-use
source: probed
"""
import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


x = torch.ones(1, requires_grad=True)
node = Double.apply(x).grad_fn
for owner in (Double(), node):
    hooks, handle = owner._register_hook(None, print)
    print(type(hooks), type(handle), len(hooks))
    same, _ = owner._register_hook(hooks, print)
    handle.remove()
    print(same is hooks, len(hooks))
    owner._register_hook({}, print)  # raises TypeError
    owner._register_hook(None)  # raises TypeError
Double()._register_hook_dict({})  # raises RuntimeError
node._register_hook_dict(3)  # raises RuntimeError
print(node._get_user_fn() is Double.backward)
