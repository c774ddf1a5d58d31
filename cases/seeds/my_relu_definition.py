"""A Function is a class with a static forward that saves its input and a static backward that masks the
gradient.

topic: seeds
features: custom-function, save-for-backward
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
source: seeds 001, fragment 2
"""

import torch

class MyReLU(torch.autograd.Function):
   
    # 正向传播逻辑
    # 可以用ctx存储一些值供反向传播使用
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    # 反向传播逻辑
    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input
