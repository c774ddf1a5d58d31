"""Inside a transform of derivatives reshape is a view in the graph outside, and a linear map is made in steps.

topic: func
features: func, grad, reshape, create_graph
rule: torch.func.grad
source: found by running PyTorch's op table under torch.func.grad
"""

import torch

x = torch.arange(6.0).reshape(2, 3).requires_grad_()
plain = x.t().unsqueeze(0).reshape(3, 2)
through = torch.func.grad(lambda t: (t.t().unsqueeze(0).reshape(3, 2) ** 2).sum())(x)
peak = torch.func.grad(lambda t: t.max() ** 2)(x)
product = torch.func.grad(lambda t: t.prod() ** 2)(x)

w = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
b = torch.tensor([0.5, 1.0], requires_grad=True)
line = torch.func.grad(lambda t: torch.nn.functional.linear(t, w, b).pow(2).sum())(torch.ones(3))
rows = torch.func.grad(lambda w: torch.nn.functional.linear(torch.ones(2, 2, 2, 3), w, b).pow(2).sum())(w)
