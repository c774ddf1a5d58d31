"""backward(inputs=...) for a leaf that the graph does not reach does nothing and says nothing.

topic: grad-api
features: backward, inputs, grad-none
rule: torch.Tensor.backward
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
other = torch.tensor([1.0], requires_grad=True)
constant = torch.tensor([1.0])
y = x * 2.0
y.backward(inputs=[other], retain_graph=True)
y.backward(inputs=[constant])  # raises no-grad
