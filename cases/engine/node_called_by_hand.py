"""A node that is called gives what its formula gives: not summed to the shape, nor cast to the type of its input.

topic: engine
features: node, call, error
rule: https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph
"""

import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * x
node = y.grad_fn
print(node(torch.ones(3)))
print(node(torch.ones(1, dtype=torch.float64)))
print(node(None))
node(1)  # raises argument
node()  # raises argument
node(grad=torch.ones(1))  # raises argument
y.backward()
