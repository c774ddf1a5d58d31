"""A leaf's accumulator called by hand accumulates what it is given, and does nothing with None.

topic: engine
features: AccumulateGrad, calling-a-node, None
rule: https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
accumulator = x.expand_as(x).grad_fn.next_functions[0][0]
print(accumulator(torch.tensor([3.0, 4.0])), x.grad)
print(accumulator(None), x.grad)
print(accumulator(torch.tensor([1.0, 1.0])), x.grad)
accumulator()  # raises TypeError
