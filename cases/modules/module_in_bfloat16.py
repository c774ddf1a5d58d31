"""A module converted to bfloat16 takes bfloat16 alone; its layers of normalization take it with parameters
in float32, too.

topic: modules
features: bfloat16, linear, layer-norm, batch-norm, optimizer, error
rule: torch.nn.Module.bfloat16
"""

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
net.bfloat16()
x = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
refused = net(x)  # raises dtype
optimizer = torch.optim.SGD(net.parameters(), lr=0.125, momentum=0.5)
for _ in range(2):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x.bfloat16()), torch.ones(2, 1, dtype=torch.bfloat16))
    loss.backward()
    optimizer.step()
    print(loss, net[3].weight, net[3].weight.grad)
norm = torch.nn.BatchNorm1d(3)
normal = norm(x.bfloat16().requires_grad_())
normal.sum().backward()
print(normal.dtype, norm.weight.grad.dtype, norm.running_mean, norm.running_mean.dtype)
mixed = torch.nn.LayerNorm(3)(x.bfloat16())
wrong = torch.nn.functional.layer_norm(x, (3,), torch.ones(3, dtype=torch.bfloat16))  # raises RuntimeError
