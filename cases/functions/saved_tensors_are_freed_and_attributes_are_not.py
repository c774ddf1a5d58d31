"""A backward that reads saved_tensors raises on the second pass; one that only reads attributes runs again.

topic: functions
features: custom-function, save-for-backward, freed-graph
rule: torch.autograd.function.FunctionCtx.save_for_backward
"""

import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, read_saved):
        ctx.save_for_backward(x)
        ctx.read_saved = read_saved
        return x * 2.0

    @staticmethod
    def backward(ctx, g):
        if ctx.read_saved:
            print("saved", ctx.saved_tensors)
        return g * 2.0, None


x = torch.tensor([1.0], requires_grad=True)
reads = Scale.apply(x, True)
reads.backward()
reads.backward()  # raises freed-graph
ignores = Scale.apply(x, False)
ignores.backward()
ignores.backward()
