"""Only tensors given and returned directly take part: one inside a list or dict is cut from the graph.

topic: functions
features: custom-function, list, dict, several-outputs
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""

import torch


class Listed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, others):
        return [x * 2.0], {"key": x * others[0]}, x * 3.0

    @staticmethod
    def backward(ctx, of_list, of_dict, g):
        print(of_list, of_dict, g)
        return g * 3.0, None


x = torch.tensor([1.0], requires_grad=True)
w = torch.tensor([5.0], requires_grad=True)
in_list, in_dict, direct = Listed.apply(x, [w])
flags = [in_list[0].requires_grad, in_dict["key"].requires_grad, direct.requires_grad]
direct.backward()
