"""Inside a transform of derivatives reshape is a view in the graph outside, where elsewhere it is an alias.

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
