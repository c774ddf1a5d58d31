"""backward(inputs=...) accumulates into the named tensors only, and makes a named non-leaf retain its grad.

topic: grad-api
features: backward, inputs, retain-grad
rule: torch.Tensor.backward
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
w = torch.tensor([2.0], requires_grad=True)
y = x * w
z = y * 3.0
z.backward(inputs=[x], retain_graph=True)
z.backward(inputs=[y])
flag = y.retains_grad
z.backward(inputs=[])  # raises RuntimeError
