"""Forward mode needs vectorize, and knows neither create_graph nor strict.

topic: functional
features: functional, jacobian, forward-mode
rule: torch.autograd.functional.jacobian
source: R185, transforms D5
"""

import torch

x = torch.tensor([1.0, 2.0])
a = torch.autograd.functional.jacobian(lambda v: v**2, x, vectorize=True)
b = torch.autograd.functional.jacobian(lambda v: v**2, x, vectorize=True, strategy="forward-mode")
c = torch.autograd.functional.jacobian(
    lambda v: v**2, x, strategy="forward-mode"
)  # raises NotImplementedError
d = torch.autograd.functional.jacobian(lambda v: v**2, x, strategy="sideways")  # raises AssertionError
e = torch.autograd.functional.jacobian(lambda v: v**2, x, vectorize=True, strict=True)  # raises RuntimeError
f = torch.autograd.functional.jacobian(  # raises NotImplementedError
    lambda v: v**2, x, vectorize=True, strategy="forward-mode", create_graph=True
)
