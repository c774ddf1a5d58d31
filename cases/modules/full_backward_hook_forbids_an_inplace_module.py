"""A module with a full backward hook gets its input as a view of a hidden Function, so working in place on
it is refused.

topic: modules
features: module-hooks, relu-inplace, view-inplace, sequential
rule: torch.nn.Module.register_full_backward_hook
source: R067, pytorch/pytorch#61519
"""

import torch

net = torch.nn.Sequential(torch.nn.Identity(), torch.nn.ReLU(inplace=True))
h = net[1].register_full_backward_hook(lambda module, grad_input, grad_output: print("hook"))
x = torch.tensor([[1.0, -2.0]], requires_grad=True)
out = net(x * 1.0)  # raises view-inplace
h.remove()
out = net(x * 1.0)
out.sum().backward()
