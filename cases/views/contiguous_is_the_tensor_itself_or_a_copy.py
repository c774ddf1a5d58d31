"""contiguous returns the same object when nothing is to be done, and otherwise a copy with a CloneBackward0
node.

topic: views
features: view, contiguous, clone
rule: torch.Tensor.contiguous
"""

import torch

x = torch.arange(4.0).reshape(2, 2).requires_grad_()
same = x.contiguous() is x
copied = x.t().contiguous()
copied.sum().backward()
