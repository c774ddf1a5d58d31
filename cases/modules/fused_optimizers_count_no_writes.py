"""A fused step writes parameters and state without counting; capturable needs another device.

topic: modules
features: optimizer, version-counter, refused
rule: torch.optim.SGD
"""

import torch

w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
w.grad = torch.tensor([1.0, -1.0])
plain = torch.optim.SGD([w], lr=0.5, momentum=0.5)
plain.step()
counted = w._version
fused = torch.optim.SGD([w], lr=0.5, momentum=0.5, fused=True)
fused.step()
fused.step()
versions = (w._version, fused.state[w]["momentum_buffer"]._version)
adam = torch.optim.Adam([w], fused=True)
adam.step()
of_state = {name: value._version for name, value in adam.state[w].items()}
torch.optim.Adam([w], capturable=True).step()  # raises AssertionError
w.grad = None
del plain.param_groups[0]["lr"]
plain.step()  # raises KeyError
