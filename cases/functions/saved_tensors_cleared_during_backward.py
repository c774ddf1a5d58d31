"""maybe_clear_saved_tensors lets go of what a context saved, unless the run keeps the graph; nothing is left after
an access that clears.

topic: functions
features: custom-function, saved-tensors, maybe_clear_saved_tensors, clear_saved_tensors_on_access, retain_graph
rule: torch.autograd.function.FunctionCtx.save_for_backward
source: probed
"""
import torch


class Clearing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.maybe_clear_saved_tensors()
        return x * 2

    @staticmethod
    def backward(ctx, g):
        print(len(ctx.saved_tensors), ctx.maybe_clear_saved_tensors())
        print(ctx.saved_tensors)
        return g


class Once(torch.autograd.Function):
    clear_saved_tensors_on_access = True

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        print(len(ctx._raw_saved_tensors), ctx.saved_tensors, len(ctx._raw_saved_tensors))
        return g


x = torch.ones(2, requires_grad=True)
y = Clearing.apply(x)
y.grad_fn.maybe_clear_saved_tensors()
print(y.grad_fn.saved_tensors)
y.sum().backward(retain_graph=True)
y.sum().backward()  # raises freed-graph
y.grad_fn.saved_tensors  # raises freed-graph
z = Once.apply(x)
z.sum().backward()
z.grad_fn.saved_tensors  # raises RuntimeError
z.grad_fn._raw_saved_tensors  # raises freed-graph
