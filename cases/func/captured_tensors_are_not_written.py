"""Inside a transform of derivatives an in-place call must not write to a tensor that did not come in as argument.

topic: func
features: func, grad, jvp, in-place, closures, batch norm
rule: torch.func.grad
source: probed on torch 2.13.0
"""

import torch

captured = torch.zeros(3)
x = torch.tensor([1.0, 2.0, 3.0])

def wrote(x):
    captured.copy_(x)
    return x.sum()

torch.func.grad(wrote)(x)  # raises RuntimeError

def wrote_to_a_view(x):
    captured[0].add_(x[0])
    return x.sum()

torch.func.grad(wrote_to_a_view)(x)  # raises RuntimeError

def assigned(x):
    captured[1] = x[0]
    return x.sum()

torch.func.grad(assigned)(x)  # raises RuntimeError
torch.func.vjp(lambda x: captured.add_(x), x)  # raises RuntimeError
torch.func.jvp(lambda x: captured.mul_(2.0), (x,), (x,))  # raises RuntimeError
torch.func.jacrev(lambda x: captured.add_(x))(x)  # raises RuntimeError
torch.func.jacfwd(lambda x: captured.zero_())(x)  # raises RuntimeError

def outer(x):
    return torch.func.grad(lambda y: (x.mul_(2.0) * y).sum())(x).sum()

torch.func.grad(outer)(x)  # raises RuntimeError
norm = torch.nn.BatchNorm1d(3)
torch.func.grad(lambda x: norm(x).sum())(torch.ones(2, 3))  # raises RuntimeError
print(captured, norm.num_batches_tracked)

def made(x):
    new = torch.zeros(3)
    new[0] = x[0] * 2.0
    new.add_(x)
    copy = captured.clone().add_(x)
    return new.sum() + copy.sum()

torch.func.grad(made)(x)
