"""Outputs out of the graph get zeros in backward, or None with `_materialize_non_diff_grads` off; their metadata is blank.

topic: functions
features: function, materialize, non-differentiable
rule: torch.autograd.function.FunctionCtx.mark_non_differentiable
"""
import torch


class Outputs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, everywhere):
        fixed = x + 1
        ctx.mark_non_differentiable(fixed)
        ctx._materialize_non_diff_grads = everywhere
        return x * 2, fixed, x.long(), "text", x * 3

    @staticmethod
    def backward(ctx, *grads):
        print(grads)
        return grads[0] * 2, None


x = torch.ones(2, requires_grad=True)
for everywhere in (True, False):
    outputs = Outputs.apply(x, everywhere)
    print([(m.shape, m.dtype) for m in outputs[0].grad_fn._input_metadata])
    outputs[0].sum().backward()
Outputs.apply(x, 1)  # raises argument
