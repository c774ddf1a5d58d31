"""Attention over heads is one op whose gradient cannot be differentiated; without a batch of heads it is made
of plain ops, and its gradient can.

topic: modules
features: attention, double-backward, error
rule: torch.nn.functional.scaled_dot_product_attention
"""

import torch

q = torch.arange(8.0).view(1, 1, 4, 2).div(8).requires_grad_()
one_op = torch.nn.functional.scaled_dot_product_attention(q, q, q)
plain_ops = torch.nn.functional.scaled_dot_product_attention(q[0], q[0], q[0])
g = torch.autograd.grad(plain_ops.sum(), q, create_graph=True)[0]
gg = torch.autograd.grad(g.sum(), q)[0]
h = torch.autograd.grad(one_op.sum(), q, create_graph=True)[0]
hh = torch.autograd.grad(h.sum(), q)[0]  # raises not-differentiable
