"""set_ on a detached alias raises the shared version, so the view's node is rebuilt as AsStridedBackward0.

topic: views
features: view, set, version-counter, detach
rule: https://docs.pytorch.org/docs/stable/tensor_view.html
source: R030, pytorch/pytorch#97500
"""

import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
y = x * 1.0
v = y.view(-1)
before = type(v.grad_fn).__name__
v.detach().set_(torch.tensor([7.0, 8.0]))
after = type(v.grad_fn).__name__
version = v._version
v.sum().backward()
