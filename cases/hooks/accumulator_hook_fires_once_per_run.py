"""A leaf used twice has one AccumulateGrad node, whose hook fires once per run with the summed gradient.

topic: hooks
features: hooks, accumulate-grad, node-hook
rule: torch.autograd.graph.Node.register_hook
source: R065, pytorch/pytorch#34501
"""

import torch

t = torch.tensor([1.0, 2.0], requires_grad=True)
a = t + t
node = a.grad_fn.next_functions[0][0]
same = node is a.grad_fn.next_functions[1][0]
h = node.register_hook(lambda grad_inputs, grad_outputs: print(grad_inputs, grad_outputs))
a.sum().backward()
