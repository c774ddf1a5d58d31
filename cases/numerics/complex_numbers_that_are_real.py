"""A complex number without an imaginary part will do where the tensor is real; another is refused as too large.

topic: numerics
features: complex, scalar, activation, saved, error
rule: torch.nn.functional.threshold
"""
import torch

x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
y = torch.threshold(x, 1 + 0j, torch.tensor(3 + 0j))
print(y.grad_fn._saved_threshold)
y.sum().backward()
z = torch.nn.functional.elu(x, 0.5 + 0j) + torch.nn.functional.softplus(x, 2 + 0j)
z.sum().backward()
kept = [type(torch.threshold(x, number, number).grad_fn._saved_threshold) for number in (1.0, 1, True)]
torch.threshold(torch.tensor([1, 2, 3]), 1.5, 2.5)
torch.threshold(x, 1 + 2j, 0)  # raises RuntimeError
