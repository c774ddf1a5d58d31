"""The pack hook is handed the tensor that the call returns, in the order of the names that are saved.

topic: saved
features: saved-tensors-hooks, identity, function
rule: torch.autograd.graph.saved_tensors_hooks
"""

import torch

packed = []
hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t)
x = torch.tensor([[2.0, 0.0], [0.0, 1.0]], requires_grad=True)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        result = t * t
        ctx.save_for_backward(result, t)
        return result

    @staticmethod
    def backward(ctx, grad):
        return grad * 2.0 * ctx.saved_tensors[1]


with hooks:
    e = x.exp()
    values, places = x.max(0)
    u, s, v = torch.linalg.svd(x)
    q = Square.apply(x)
itself = [packed[0] is e, packed[1] is places, packed[2] is s, packed[3] is u, packed[4] is v]
function = [packed[5] is q, packed[6] is x]
q.sum().backward()
