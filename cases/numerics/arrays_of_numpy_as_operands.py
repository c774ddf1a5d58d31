"""Only division takes a NumPy array on the left; on the right NumPy computes and wraps.

topic: numerics
features: numpy, operators, argument
rule: torch.Tensor
source: probed
"""

import numpy as np
import torch

x = torch.ones(2)
np.ones(2) / x
np.ones(2) * x  # raises TypeError
np.ones(2) - x  # raises TypeError
np.ones(2) < x  # raises TypeError
x - np.ones(2)
x ** np.ones(2)
x == np.ones(2)
[1, 2] / x  # raises TypeError
np.ones(2) / torch.ones(2, requires_grad=True)  # raises RuntimeError
close = torch.isclose(x, x, equal_nan=True)
print(close._version)
