"""copy.copy and pickle bring a subclass's tensor back as an alias of a leaf, attributes included; deepcopy
wants a class whose `new_empty` gives its own kind.

topic: copies
features: subclass, deepcopy, pickle
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-with-a-tensor-like-type
"""

import copy

import torch


class Named(torch.Tensor):
    pass


class Kept(torch.Tensor):
    def new_empty(self, *args, **kwargs):
        return super().new_empty(*args, **kwargs).as_subclass(Kept)


a = Named([1.0, 2.0]).requires_grad_()
a.label = ["mine"]
b = copy.copy(a)
print(type(b), b.grad_fn.name(), b.label is a.label, b.data_ptr() == a.data_ptr())
function, args = a.__reduce_ex__(2)[:2]
c = function(*args)
print(type(c), c.label, c.is_leaf)
copy.deepcopy(a)  # raises RuntimeError
k = Kept([1.0, 2.0]).requires_grad_()
k.label = ["mine"]
(k * 2).sum().backward()
d = copy.deepcopy(k)
print(type(d), d.label, d.label is k.label, d.grad, d.is_leaf)
