"""The Jacobians that gradcheck once gave to anybody still work, with a warning.

topic: functional
features: gradcheck, jacobian, warning
rule: torch.autograd.gradcheck.gradcheck
"""
import importlib

import torch

x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
y = torch.tensor([[0.5]], dtype=torch.float64, requires_grad=True)

def function(inputs):
    return inputs[0] * 2 + inputs[1], inputs[0].sum()

def checks(name):
    return getattr(importlib.import_module(torch.__name__ + ".autograd.gradcheck"), name)

print(checks("get_numerical_jacobian")(function, (x, y), eps=1e-6))
print(checks("get_numerical_jacobian")(function, (x, y), target=y))
checks("get_numerical_jacobian")(function, (x, y), grad_out=2.0)  # raises ValueError
print(checks("get_analytical_jacobian")((x, y), function((x, y))[0]))
checks("get_analytical_jacobian")((x, y), x * 1j)  # raises ValueError
