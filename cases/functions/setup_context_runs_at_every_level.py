"""Inside transforms a custom Function is applied by each level in turn: forward runs once, setup_context for all.

topic: functions
features: functions, func, grad, setup_context
rule: torch.autograd.Function
source: probed on torch 2.13.0
"""

import torch

class Square(torch.autograd.Function):
    @staticmethod
    def forward(x):
        print("forward", x)
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        print("setup_context", inputs, ctx.needs_input_grad)
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        print("backward", grad)
        return 2 * ctx.saved_tensors[0] * grad

x = torch.tensor(3.0)
torch.func.grad(Square.apply)(x)
torch.func.grad(torch.func.grad(Square.apply))(x)
leaf = torch.tensor(2.0, requires_grad=True)
slope = torch.func.grad(Square.apply)(leaf)
slope.backward()
leaf.grad
