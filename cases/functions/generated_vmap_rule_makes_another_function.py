"""With `generate_vmap_rule`, a custom Function under `vmap` is another one, recorded once for the whole batch.

topic: functions
features: custom Function, generate_vmap_rule, vmap, setup_context, grad_fn
rule: torch.autograd.Function
"""

import torch


class Scaled(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(row, factor, number):
        return row * factor * number, row.sum()

    @staticmethod
    def setup_context(ctx, inputs, output):
        row, factor, ctx.number = inputs
        ctx.save_for_backward(row, factor)
        print(row.shape, output[0].shape)

    @staticmethod
    def backward(ctx, grad, of_sum):
        row, factor = ctx.saved_tensors
        print(grad.shape, row.shape, ctx.needs_input_grad)
        return grad * factor * ctx.number + of_sum, grad * row * ctx.number, None


batch = torch.arange(6.0).view(3, 2).requires_grad_()
factor = torch.tensor([2.0, 3.0], requires_grad=True)
out, total = torch.vmap(Scaled.apply, in_dims=(0, None, None))(batch, factor, 2.0)
out.grad_fn.next_functions
(out.sum() + total.sum()).backward()
batch.grad, factor.grad


class Exponential(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


once = torch.vmap(Exponential.apply, in_dims=1)(batch)
twice = torch.vmap(torch.vmap(Exponential.apply))(batch)
slope = torch.autograd.grad(once.sum(), batch, create_graph=True)[0]
slope.sum().backward()
