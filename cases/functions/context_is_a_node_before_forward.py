"""Inside forward the context is already a node: it has its number, its edges, hooks and notes; outputs come later.

topic: functions
features: function, ctx, sequence-nr, hooks
rule: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.Function
"""
import torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print(ctx.name(), since(ctx._sequence_nr()), len(ctx.next_functions), ctx._input_metadata)
        ctx.metadata["note"] = "from forward"
        ctx.register_prehook(lambda grads: print("before", grads))
        ctx.register_hook(lambda inputs, outputs: print("after", inputs, outputs))
        with torch.enable_grad():
            return (x * 3).detach()

    @staticmethod
    def backward(ctx, grad):
        print(ctx.metadata)
        return grad * 3




def counted(first):
    return lambda now=None: (torch.autograd._get_sequence_nr() if now is None else now) - first


since = counted(torch.autograd._get_sequence_nr())
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Scaled.apply(x)
print(since())
y.sum().backward()
with torch.no_grad():
    Scaled.apply(x)
print(since())
