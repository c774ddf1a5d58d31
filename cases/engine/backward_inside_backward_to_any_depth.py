"""Backward nests to any depth, here a thousand deep: modes and errors pass through all of the runs.

topic: engine
features: reentrant, function, grad-mode, error
rule: torch.autograd.backward
"""
import torch


class Down(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, fails):
        ctx.fails = fails
        with torch.enable_grad():
            ctx.inner = x.detach().requires_grad_() - 1
        return ctx.inner.detach()

    @staticmethod
    def backward(ctx, grad):
        if ctx.inner < 0:
            print(torch.is_grad_enabled(), ctx.inner)
            if ctx.fails:
                raise ValueError("at the bottom")
            return grad, None
        with torch.enable_grad():
            Down.apply(ctx.inner, ctx.fails).backward()
        return grad * 2, None


x = torch.tensor(1000.0, requires_grad=True)
Down.apply(x, False).backward()
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    Down.apply(x, False).backward(create_graph=True)
Down.apply(x, True).backward()  # raises ValueError
print(torch.is_grad_enabled(), torch._C._current_graph_task_id())
