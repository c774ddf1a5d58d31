"""A hook prints the gradient of each branch on its way, later-made branch first, and retain_grad keeps that
of the loss.

topic: seeds
features: hooks, retain-grad
rule: torch.Tensor.register_hook, torch.Tensor.retain_grad
source: seeds 001, fragment 6
"""

import torch 

# 正向传播
x = torch.tensor(3.0,requires_grad=True)
y1 = x + 1
y2 = 2*x
loss = (y1-y2)**2

# 非叶子节点梯度显示控制
y1.register_hook(lambda grad: print('y1 grad: ', grad))
y2.register_hook(lambda grad: print('y2 grad: ', grad))
loss.retain_grad()

# 反向传播
loss.backward()
print("loss.grad:", loss.grad)
print("x.grad:", x.grad)
