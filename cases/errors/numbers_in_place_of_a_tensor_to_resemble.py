"""to takes a number for a tensor to resemble, and goes by the widest type of its kind; an integer it takes for
the number of a device.

topic: errors
features: to, dtype, numbers, error
rule: torch.Tensor.to
"""

import numpy as np
import torch

x = torch.ones(2, requires_grad=True)
floating = x.to(3.5)
truth = x.to(True)
turned = x.to(2j)
boxed = x.to(np.float32(3))
x.to(3)  # raises RuntimeError
floating.sum().backward()
