"""A context keeps whatever its user sets, even under names that a node could have; only PyTorch's own are refused.

topic: functions
features: function, ctx, errors
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#how-to-use
"""
import torch


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.output_shape, ctx.output_dtype, ctx.next_edges = x.shape[:1], "mine", 4
        ctx._saved, ctx._freed, ctx._materialize = 1, 2, 3
        for name in ("requires_grad", "next_functions", "metadata", "_input_metadata", "saved_tensors"):
            try:
                setattr(ctx, name, None)
            except AttributeError as error:
                print(error)
        return x * 2, x + 1

    @staticmethod
    def backward(ctx, first, second):
        print(ctx.__dict__)
        return first * 2 + second


x = torch.ones(2, 3, requires_grad=True)
a, b = Twice.apply(x)
(a + b).sum().backward()
print(a.grad_fn.requires_grad, (x * 2).grad_fn.requires_grad)
(x * 2).grad_fn.metadata = {}  # raises AttributeError
(x * 2).grad_fn._saved_other = 1  # raises AttributeError
