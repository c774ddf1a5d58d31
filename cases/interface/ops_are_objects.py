"""Each overload of an op is an object; a dispatch mode is shown every one that runs.

topic: interface
features: ops, dispatch-mode
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-all-torch-api-with-modes
"""
import torch

aten = torch.ops.aten
print(aten.add, aten.add.Tensor, repr(aten.mm.default), aten.mm.default.name(), aten.mm.default.__name__)
print(aten.add.Tensor(torch.ones(2), 2), aten.mul(torch.ones(2), torch.ones(2)), aten.mm is aten.mm)
aten.nonsense  # raises AttributeError
aten.mm.nonsense  # raises AttributeError

class Shown(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        print(op, [arg for arg in args if not isinstance(arg, torch.Tensor)], kwargs)
        return op(*args, **(kwargs or {}))

class Sevens(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        result = op(*args, **(kwargs or {}))
        return torch.full_like(result, 7.0) if op is aten.exp.default else result

x = torch.tensor([[0.5, 1.0]], requires_grad=True)
with Shown() as mode:
    print(torch.utils._python_dispatch._get_current_dispatch_mode() is mode)
    y = torch.add(x, x, alpha=2).sum(1, keepdim=True)
    y.t().mul_(2).view(-1)

with Sevens():
    y = x.exp()

print(y, y.grad_fn._saved_result, torch.utils._python_dispatch._get_current_dispatch_mode())
y.sum().backward()
print(x.grad)
