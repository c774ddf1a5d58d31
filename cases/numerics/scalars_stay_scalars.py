"""Operations on tensors without dimensions give such tensors, forward and backward.

topic: numerics
features: zero-dim, logsigmoid, block_diag, unfold
rule: torch.nn.functional.logsigmoid
"""

import torch

x = torch.tensor(0.5, requires_grad=True)
torch.nn.functional.logsigmoid(x).backward()
blocks = torch.block_diag(x, torch.ones(1, 2), x)
(of_blocks,) = torch.autograd.grad(blocks, x, torch.arange(12.0).view(3, 4))
(of_window,) = torch.autograd.grad(x.unfold(0, 1, 1).sum(), x)
(of_nothing,) = torch.autograd.grad(x.unfold(0, 0, 1).sum(), x)
x.unfold(0, 2, 1)  # raises RuntimeError
