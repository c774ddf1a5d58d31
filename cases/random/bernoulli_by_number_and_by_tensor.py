"""bernoulli draws by a probability per element; bernoulli_ takes one number, and its node has a zero
gradient.

topic: random
features: bernoulli, manual-seed
rule: torch.bernoulli
"""

import torch

torch.manual_seed(2)
p = torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0])
drawn = torch.bernoulli(p)
filled = torch.zeros(6).bernoulli_(0.5)
as_bool = torch.empty(4, dtype=torch.bool).bernoulli_()
after = torch.rand(2)
w = torch.ones(3, requires_grad=True)
y = w * 2.0
y.bernoulli_(0.5)
y.sum().backward()
