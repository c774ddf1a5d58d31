"""After backward only the leaf holds a gradient; grad of the loss and of the two branches is None, with a
warning.

topic: seeds
features: leaf, grad, warning
rule: torch.Tensor.is_leaf, torch.Tensor.grad
source: seeds 001, fragment 5
"""

import torch 

x = torch.tensor(3.0,requires_grad=True)
y1 = x + 1
y2 = 2*x
loss = (y1-y2)**2

loss.backward()
print("loss.grad:", loss.grad)
print("y1.grad:", y1.grad)
print("y2.grad:", y2.grad)
print(x.grad)
