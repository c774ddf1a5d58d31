"""An operation whose operand overlaps the written part is refused; the very same memory is fine.

topic: inplace
features: overlap, inplace, error
rule: https://docs.pytorch.org/docs/stable/tensor_view.html
"""

import torch

t = torch.arange(4.0)
t[1:].add_(t[:-1])  # raises overlap
t[:2].copy_(t[1:3])  # raises overlap
t.add_(t)
t[:2].add_(t[2:])
