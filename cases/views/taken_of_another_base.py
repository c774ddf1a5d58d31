"""`_view_func` takes a view of another base that lies in memory as its own does; otherwise it gives None.

topic: views
features: view, base, as-strided, conj
rule: https://docs.pytorch.org/docs/stable/tensor_view.html
"""

import torch

base = torch.arange(6.0).reshape(2, 3).clone()
other = (base * 10).requires_grad_()
of_other = base[1]._view_func(other)
print(of_other, of_other._base is other, of_other.grad_fn.name())
pairs = torch.view_as_complex(base.view(3, 2))._view_func(other)
print(pairs, pairs.grad_fn.name())
conjugates = torch.ones(2, dtype=torch.cfloat).conj()
print(conjugates._view_func(torch.tensor([1j, 2j])))
print(base[1]._view_func(torch.ones(3, 2)), base[1]._view_func(base.t().contiguous().t()))
print(base[1]._view_func(torch.zeros(4, 3)[:2]), base._view_func(other), base.detach()._view_func(other))
print(base[1]._view_func_unsafe(torch.ones(6)))
