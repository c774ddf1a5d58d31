"""What is given as an input must be a tensor or an edge to a node; batches of gradients go with tensors alone.

topic: grad-api
features: gradient-edge, inputs, batched, error
rule: torch.autograd.graph.GradientEdge
"""

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
edge = get_gradient_edge(y)
y.sum().backward(inputs="x")  # raises RuntimeError
y.sum().backward(inputs=[x, 3])  # raises RuntimeError
y.sum().backward(inputs=[GradientEdge(3, 0)])  # raises RuntimeError
torch.autograd.grad(y.sum(), GradientEdge(x, 0))  # raises RuntimeError
torch.autograd.grad(y.sum(), GradientEdge(y.grad_fn, None))  # raises argument
torch.autograd.backward(GradientEdge(None, 0))  # raises AttributeError
torch.autograd.grad(edge, x, torch.ones(3))  # raises RuntimeError
torch.autograd.grad(edge, x, torch.ones(3, 3), is_grads_batched=True)  # raises RuntimeError
torch.autograd.grad(y, x, torch.ones(3, 3), is_grads_batched=True)  # raises RuntimeError
print(torch.autograd._calculate_shape(edge, torch.ones(2), False))
torch.autograd.backward(edge, torch.ones(2), inputs=[x])
