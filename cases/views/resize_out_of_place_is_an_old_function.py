"""The old resize makes a view of the same number of elements by a custom Function, and warns.

topic: views
features: resize, resize_as, deprecated, custom-function
rule: torch.Tensor.resize_
source: probed
"""
import torch

x = torch.arange(6.0, requires_grad=True)
y = (x * 1).view(2, 3)
r = y.resize(3, 2)
print(r, r._is_view(), r.grad_fn.name(), r.grad_fn.next_functions[0][0].name())
r.backward(torch.arange(6.0).view(3, 2))
print(x.grad)
print(y.resize_as(torch.ones(6)))
y.resize(4)  # raises RuntimeError
y.resize((3, 2))  # raises RuntimeError
y.resize_as(torch.ones(3))  # raises RuntimeError
y.resize(size=(3, 2))  # raises TypeError
y.resize_as()  # raises TypeError
z = torch.arange(6.0).view(2, 3)
s = z.resize(3, 2)
s[0] = 7.0
print(z, s._is_view(), s._base is z, z.t().resize(2, 3))
w = y.resize(6)
w.mul_(2.0)  # raises RuntimeError
