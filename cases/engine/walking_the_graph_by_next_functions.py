"""next_functions leads from node to node, holds None where an input needs no gradient, and ends at the
leaf's accumulator.

topic: engine
features: next-functions, grad-fn, accumulate-grad
rule: torch.autograd.graph.Node.next_functions
source: R066, johnmarktaylor91/torchlens#162
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
c = torch.tensor([2.0])
y = (x * c).exp() + c
add = y.grad_fn
exp = add.next_functions[0][0]
constant = add.next_functions[1][0]
mul = exp.next_functions[0][0]
names = [add.name(), exp.name(), mul.name()]
leaf_is_x = mul.next_functions[0][0].variable is x
