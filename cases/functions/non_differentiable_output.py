"""An output marked non-differentiable does not require grad; backward still gets a zero gradient in its
place.

topic: functions
features: custom-function, mark-non-differentiable, sort
rule: torch.autograd.function.FunctionCtx.mark_non_differentiable
"""

import torch


class ValueAndRank(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        rank = (x[:, None] > x).sum(1).to(x.dtype)
        ctx.mark_non_differentiable(rank)
        return x * 2.0, rank

    @staticmethod
    def backward(ctx, of_value, of_rank):
        print(of_value, of_rank)
        return of_value * 2.0


x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
value, rank = ValueAndRank.apply(x)
value.sum().backward()
