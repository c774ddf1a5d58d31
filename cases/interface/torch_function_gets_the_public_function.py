"""`__torch_function__` gets the public function, method or property as it was asked for, and the classes that
have an own one; keyword arguments only if there are some.

topic: interface
features: subclass, torch-function
rule: torch.overrides
"""

import torch


class Logged(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = torch.overrides.resolve_name(func)
        Logged.calls.append((name, [kind.__name__ for kind in types], len(args), kwargs))
        return super().__torch_function__(func, types, args, kwargs)


x = torch.tensor([1.0, -2.0])
s = x.as_subclass(Logged)
results = [torch.add(s, 1), s.add(1, alpha=2), s + 1, 1 - s, x / s, x // s, s**2, -s, x[s > 0]]
functions = [torch.nn.functional.relu(s), torch.einsum("i,i", s, x), torch.split(s, 1), s.split(1)]
s.shape, s.grad, len(s), s.sum().item(), repr(s)
s += 1
s.requires_grad = True
(s * 2).sum().backward()
print(torch.Tensor.grad.__get__ == torch.Tensor.grad.__get__, torch.Tensor.add is Logged.add)
for call in Logged.calls:
    print(call)
