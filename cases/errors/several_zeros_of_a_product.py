"""Where several zeros meet in a scattered product, its gradient cannot be differentiated again.

topic: errors
features: double-backward, scatter, delayed-error
rule: torch.Tensor.scatter_reduce_
"""
import torch

index = torch.tensor([0, 0, 1])
for values in ([0.0, 3.0, 2.0], [0.0, 0.0, 2.0]):
    start = torch.tensor([1.0, 2.0], requires_grad=True)
    source = torch.tensor(values, requires_grad=True)
    product = torch.scatter_reduce(start, 0, index, source, "prod")
    grads = torch.autograd.grad(product.sum(), (start, source), create_graph=True)
    print(grads)
    print(torch.autograd.grad(grads[0].sum(), source, retain_graph=True))

grads[1].sum().backward()  # raises RuntimeError
