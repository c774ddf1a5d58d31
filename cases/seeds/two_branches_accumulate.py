"""The leaf gathers the gradients of both branches into its grad field.

topic: seeds
features: backward, accumulate, rsub, pow
rule: https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts
source: seeds 001, fragment 4
"""

import torch 

x = torch.tensor(3.0,requires_grad=True)
y1 = x + 1
y2 = 2*x
loss = (y1-y2)**2

loss.backward()
