"""A NumPy scalar counts as a Python number: it promotes like one, and the gradient flows past it.

topic: copies
features: numpy, promotion, mul
rule: https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

import numpy as np

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * np.float32(3.0)
z = np.float64(2.0) * y
count = torch.tensor([1, 2])
(count * np.float64(1.5)).dtype, (count + np.int8(1)).dtype
z.grad_fn._saved_other
z.sum().backward()
