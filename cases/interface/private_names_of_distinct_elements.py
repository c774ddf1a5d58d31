"""Distinct elements have a node that refuses to run, under each of the names behind torch.unique.

topic: interface
features: unique, private-names, not-implemented
rule: torch.unique
"""
import torch

x = torch.tensor([[3.0, 1.0], [1.0, 2.0], [3.0, 1.0]], requires_grad=True)
print(torch._unique(x), torch._unique(x, True, True)[1])
print(torch._unique2(x, return_counts=True), torch._VF.unique_dim(x, 0))
print(torch._unique(x)[0].grad_fn.name(), torch._VF.unique_dim(x, dim=1)[0].grad_fn.name())
torch._unique(x)[0].sum().backward()  # raises NotImplementedError
torch._VF.unique_dim(x)  # raises TypeError
torch._VF.nonsense  # raises AttributeError
torch.unique_dim  # raises AttributeError
resize = __import__(torch.__name__ + ".autograd._functions", fromlist=["Resize"]).Resize.apply
y = resize(x, (2, 3))
print(y, y._is_view())
y.sum().backward()
print(x.grad)
resize(x, (4,))  # raises RuntimeError
