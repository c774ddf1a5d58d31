"""With create_graph=True a second pass puts a new tensor into grad, the sum with a history; the old one is
left as it was.

topic: accumulate
features: accumulate, create-graph, warning
rule: torch.Tensor.backward
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
(a * 2.0).backward()
old = a.grad
(a * a).backward(create_graph=True)
replaced = a.grad is not old
name = a.grad.grad_fn.name()
