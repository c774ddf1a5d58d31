"""matmul picks its node by the number of dimensions: dot for two vectors, mv for matrix and vector, a
squeezed mm for vector and matrix, mm for two matrices.

topic: engine
features: matmul, dot, mv, grad-fn
rule: torch.matmul
"""

import torch

v = torch.tensor([1.0, 2.0], requires_grad=True)
m = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
dot = v @ v
mv = m @ v
vm = v @ m
mm = m @ m
(dot + mv.sum() + vm.sum() + mm.sum()).backward()
