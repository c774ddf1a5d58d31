"""Module.to takes what Tensor.to takes; a device that there is not is refused, unless there is nothing to move.

topic: modules
features: module, dtype, device, error
rule: torch.nn.Module.to
"""

import torch
from torch import nn

net = nn.Sequential(nn.Conv2d(2, 1, 2, bias=False), nn.ReLU())
weight = net[0].weight
net(torch.ones(1, 2, 2, 2)).sum().backward()
net.to(torch.float64, memory_format=torch.channels_last)
same = net[0].weight is weight
net.type("torch.FloatTensor")
net.to("cuda")  # raises AssertionError
net[1].to("cuda")
net.to(torch.float32, "cpu")  # raises TypeError
net.to(torch.int64)  # raises TypeError
net.register_forward_hook()  # raises TypeError
net.get_extra_state()  # raises RuntimeError
