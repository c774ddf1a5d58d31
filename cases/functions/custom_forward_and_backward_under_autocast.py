"""custom_fwd and custom_bwd run the backward of a Function in the autocast of its forward, or cast its inputs
and run both without.

topic: functions
features: autocast, custom-function
rule: https://docs.pytorch.org/docs/stable/amp.html
"""

import torch


class Product(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x.mm(w)

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        print("backward", torch.is_autocast_enabled("cpu"), grad.dtype)
        return grad.mm(w.t()), x.t().mm(grad)


class InSingle(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x, w):
        print("forward", torch.is_autocast_enabled("cpu"), x.dtype, w.dtype)
        ctx.save_for_backward(x, w)
        return x.mm(w)

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        print("backward", torch.is_autocast_enabled("cpu"), grad.dtype)
        return grad.mm(w.t()), x.t().mm(grad)


w = torch.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True)
for function in (Product, InSingle):
    x = torch.tensor([[1.0, 0.3]], dtype=torch.bfloat16, requires_grad=True)
    with torch.autocast("cpu"):
        y = function.apply(x, w)
    print(y.dtype, y.grad_fn.next_functions)
    y.sum().backward()
    print(x.grad, w.grad)
    w.grad = None
