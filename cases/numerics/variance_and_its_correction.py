"""var divides by n minus the correction; at equal numbers var and std both have slope 0, not NaN.

topic: numerics
features: var, std, correction, subgradient
rule: torch.var
"""

import torch

x = torch.tensor([1.0, 2.0, 4.0, 9.0], dtype=torch.float64, requires_grad=True)
sample = x.var()
population = x.var(correction=0)
of_sample = torch.autograd.grad(sample, x)[0]
of_population = torch.autograd.grad(population, x)[0]
equal = torch.tensor([3.0, 3.0], dtype=torch.float64, requires_grad=True)
of_var = torch.autograd.grad(equal.var(), equal)[0]
of_std = torch.autograd.grad(equal.std(), equal)[0]
