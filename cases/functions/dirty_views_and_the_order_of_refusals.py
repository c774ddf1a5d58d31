"""A Function that writes to a view is refused as a leaf first, then for its number of outputs, then for the kind of view.

topic: functions
features: custom-function, mark-dirty, view, no-grad, error
rule: torch.autograd.function.FunctionCtx.mark_dirty
"""

import torch


class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, many):
        ctx.mark_dirty(x)
        x.add_(1)
        return (x, x.clone()) if many else x

    @staticmethod
    def backward(ctx, *grads):
        return sum(grads), None


leaf = torch.ones(2, requires_grad=True)
base = leaf.clone()
with torch.no_grad():
    unseen = base[:1]
part = leaf.clone().unbind()[0]
Add.apply(unseen, True)  # raises RuntimeError
Add.apply(unseen, False)  # raises RuntimeError
Add.apply(part, True)  # raises RuntimeError
Add.apply(part, False)  # raises RuntimeError
Add.apply(leaf[:1], True)  # raises RuntimeError
Add.apply(leaf[:1], False)  # raises RuntimeError
