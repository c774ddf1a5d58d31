"""What an unpack hook gives for a tensor outside the graph is the saved tensor itself, no copy of the handle.

topic: saved
features: unpack-hook, identity, checkpoint
rule: torch.autograd.graph.saved_tensors_hooks
"""
import torch

given = []

def unpack(tensor):
    given.append(tensor)
    return tensor

leaf, fixed = torch.ones(2, requires_grad=True), torch.ones(2)
with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
    y = leaf * fixed
    z = leaf * leaf

print(y.grad_fn._saved_other is given[-1], given[-1] is fixed)
print(z.grad_fn._saved_other is given[-1], z.grad_fn._saved_other.requires_grad)

class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, other):
        ctx.save_for_backward(other)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        print(ctx.saved_tensors[0] is fixed)
        return grad, None

torch.utils.checkpoint.checkpoint(Keep.apply, leaf, fixed, use_reentrant=False).sum().backward()
