"""Without zero_grad the second step moves by the sum of both gradients.

topic: accumulate
features: accumulate, sgd, linear-regression
rule: torch.optim.SGD
"""

import torch

w = torch.tensor([1.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.5)
(w * 2.0).sum().backward()
optimizer.step()
(w * 2.0).sum().backward()
optimizer.step()
optimizer.zero_grad()
