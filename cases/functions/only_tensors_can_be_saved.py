"""save_for_backward takes tensors and None; a number makes apply raise.

topic: functions
features: custom-function, save-for-backward, function-result
rule: torch.autograd.function.FunctionCtx.save_for_backward
"""

import torch


class SaveNone(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        print(ctx.saved_tensors)
        return g


class SaveNumber(SaveNone):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 1.0


x = torch.tensor([1.0], requires_grad=True)
SaveNone.apply(x).backward()
SaveNumber.apply(x)  # raises function-result
