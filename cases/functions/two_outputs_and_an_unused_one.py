"""A Function with two outputs gets a gradient for each, zeros for the one that was not used.

topic: functions
features: custom-function, several-outputs, materialize
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""

import torch


class SumAndDifference(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a + b, a - b

    @staticmethod
    def backward(ctx, of_sum, of_difference):
        print("backward", of_sum, of_difference)
        return of_sum + of_difference, of_sum - of_difference


a = torch.tensor([5.0], requires_grad=True)
b = torch.tensor([3.0], requires_grad=True)
total, difference = SumAndDifference.apply(a, b)
numbers = (total.output_nr, difference.output_nr)
same_node = total.grad_fn is difference.grad_fn
difference.backward()
(total * difference).backward()
