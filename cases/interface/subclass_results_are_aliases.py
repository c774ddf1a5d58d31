"""A result of a subclass is an alias of what the op gave: AliasBackward0 above the op's node, a view of a plain
tensor.

topic: interface
features: subclass, as_subclass, torch-function
rule: torch.Tensor.as_subclass
"""

import torch


class Named(torch.Tensor):
    pass


x = torch.tensor([1.0, 2.0], requires_grad=True)
s = x.as_subclass(Named)
print(s, s.is_leaf, s._base is x)
y = torch.ones(2) - s * 2
print(type(y), y.grad_fn.name(), y.grad_fn.next_functions[0][0].name())
values, numbers = torch.stack([s, x]).max(dim=0)
pieces = s.unbind()
print(type(values), type(numbers), type(pieces), type(pieces[0]))
same = s.detach().mul_(3.0)
print(type(same), type(torch.Tensor(s)), isinstance(s.new_zeros(2), Named))
y.sum().backward()
print(type(x.grad), f"{s[0]}")
torch.Tensor._make_subclass(Named, torch.tensor([1]), True)  # raises RuntimeError
x.as_subclass(int)  # raises TypeError
