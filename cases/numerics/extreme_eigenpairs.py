"""lobpcg finds a few extreme eigenvalues of a symmetric matrix, their vectors up to sign, and gradients that
can be differentiated.

topic: numerics
features: lobpcg, custom-function, double-backward
rule: torch.lobpcg
"""
import torch

half = torch.arange(36.0, dtype=torch.float64).reshape(6, 6).cos()
A = (half @ half.T + torch.diag(torch.arange(6.0, dtype=torch.float64))).requires_grad_()
guess = torch.eye(6, 2, dtype=torch.float64)

def show(values, vectors):
    print([tensor.detach().round(decimals=3).abs().tolist() for tensor in (values, vectors)])
    return values, vectors

def gradients():
    values, vectors = show(*torch.lobpcg(A, X=guess))
    print(values.grad_fn.name(), vectors.output_nr)
    first = torch.autograd.grad((values * values).sum() + vectors.abs().sum(), A, create_graph=True)[0]
    show(first, torch.autograd.grad((first * first).sum(), A)[0])

gradients()
print(show(*torch.lobpcg(A.detach(), 1, largest=False, X=guess[:, :1]))[1].shape)
print(torch.lobpcg(torch.stack([A, A]).detach(), 2)[1].shape)
torch.lobpcg(A, 3)  # raises ValueError
torch.lobpcg(A.detach()[:4])  # raises AssertionError
torch.lobpcg(A, 1, torch.eye(6, dtype=torch.float64))[0].sum().backward()  # raises ValueError
