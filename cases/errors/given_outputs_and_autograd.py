"""A given output is refused by the op inside that writes it, if that op has a derivative; without one it is
written, a copy at the end is followed, and where autograd knows nothing the node cannot go backward.

topic: errors
features: error, out-argument, requires-grad
rule: torch.Tensor.requires_grad
"""

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
square = torch.eye(3).requires_grad_()
place = torch.argmax(x, out=torch.tensor(0))
less = torch.lt(x, 2.0, out=torch.zeros(3, dtype=torch.bool))
same = torch.eq(x, x, out=torch.zeros(3, requires_grad=True))
rank = torch.linalg.matrix_rank(square, out=torch.tensor(0))
torch.outer(x, x, out=torch.zeros(3, 3))  # raises RuntimeError
torch.multiply(x.detach(), 2.0, out=x)  # raises RuntimeError
torch.nanmean(x, out=torch.tensor(0.0))  # raises RuntimeError
torch.linalg.svdvals(square, out=torch.zeros(3))  # raises RuntimeError
torch.fft.fft(x, out=torch.zeros(3, dtype=torch.cfloat))  # raises RuntimeError
middle = torch.quantile(x, 0.5, out=torch.tensor(0.0))
middle.backward()
products = torch.tensordot(square, square, 1, out=torch.zeros(3, 3))
torch.linalg.norm(square, out=x.detach().requires_grad_())  # raises leaf-inplace
step = torch.heaviside(x, x, out=torch.zeros(3))
step.sum().backward()  # raises RuntimeError
torch.softmax(x, 0, out=x)  # raises RuntimeError
torch.ones(3, out=x)  # raises RuntimeError
torch.empty(2, out=x)  # raises RuntimeError
ones = torch.ones(2, out=torch.zeros(3))
