"""A view whose base was written and then detached in place has a node that leads nowhere.

topic: views
features: view, detach_, stale, as_strided
rule: torch.Tensor.detach_
"""

import torch

x = torch.ones(4, requires_grad=True)


def stale_view():
    base = x * 2.0
    view = base.view(2, 2)
    base.mul_(1.0)
    base.detach_()
    return view


view = stale_view()
print(view.requires_grad, view._base.requires_grad, view.grad_fn.name(), view.grad_fn.next_functions)
view.sum().backward()
print(x.grad)
