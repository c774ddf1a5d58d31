"""Every tensor is an instance of Variable; calling it gives a leaf on the same memory and counter.

topic: leaf
features: variable, detach, version-counter, errors
rule: https://docs.pytorch.org/docs/stable/autograd.html#variable-deprecated
"""
import torch
from torch.autograd import Variable

x = torch.ones(2, requires_grad=True)
print(isinstance(x, Variable), isinstance(x * 2, Variable), isinstance(3, Variable))
y = x * 2
v = Variable(y, requires_grad=True)
print(v is y, v.is_leaf, v.data_ptr() == y.data_ptr(), v._is_view())
v.detach().add_(1)
print(y, y._version, v._version)
print(Variable(), Variable(None, True))
Variable(x, volatile=True)
Variable(3)  # raises argument
Variable(x, _grad_fn=y.grad_fn)  # raises argument
Variable(torch.ones(2).long(), requires_grad=True)  # raises RuntimeError
Variable(x, requires_grad="yes")  # raises argument
