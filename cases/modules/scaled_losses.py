"""A GradScaler leaves out the step of an optimizer whose gradients are infinite, and halves its factor; after
enough good steps it doubles it.

topic: modules
features: grad-scaler, autocast, optimizer
rule: https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
"""

import torch

weight = torch.nn.Parameter(torch.tensor([[0.5, -0.25]]))
optimizer = torch.optim.SGD([weight], lr=0.125)
scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
x = torch.tensor([[1.0, 2.0], [0.5, -1.0]])
early = scaler.step(optimizer)  # raises AssertionError
for number, factor in enumerate([1.0, 1.0, float("inf"), 2.0]):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        output = x @ weight.t()
    scaled = scaler.scale(output.float().pow(2).mean() * factor)
    scaled.backward()
    if number == 1:
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    print(scaled, weight, weight.grad, weight.grad._version, scaler.get_scale(), scaler.state_dict())
scaler.scale(torch.ones(()))
scaler.unscale_(optimizer)
twice = scaler.unscale_(optimizer)  # raises RuntimeError
