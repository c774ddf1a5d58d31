"""With set_materialize_grads(False) an unused output's gradient arrives as None instead of zeros.

topic: functions
features: custom-function, set-materialize-grads
rule: torch.autograd.function.FunctionCtx.set_materialize_grads
"""

import torch


class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2.0, x * 3.0

    @staticmethod
    def backward(ctx, first, second):
        print(first, second)
        total = 0.0
        if first is not None:
            total = total + 2.0 * first
        if second is not None:
            total = total + 3.0 * second
        return total


x = torch.tensor([1.0], requires_grad=True)
double, triple = Pair.apply(x)
double.backward()
double, triple = Pair.apply(x)
(double + triple).backward()
