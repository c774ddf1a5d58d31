"""Under `_force_original_view_tracking` a view keeps its steps, and goes them again when its base was written.

topic: views
features: view, replay, as-strided, copy-slices
rule: https://docs.pytorch.org/docs/stable/tensor_view.html
"""

import torch


def names(tensor):
    found, node = [], tensor.grad_fn
    while node is not None:
        found.append(node.name().split("::")[-1])
        node = node.next_functions[0][0] if node.next_functions else None
    return found


leaf = torch.arange(4.0).reshape(2, 2).requires_grad_()
with torch.autograd._force_original_view_tracking(True):
    base = leaf * 1
    column = base.t()[0]
    again = column.view(2, 1)
    part = base.unbind()[1]
outside = column[:1]
base.mul_(2)
print(names(column), names(again), names(outside))
again.mul_(3)
print(names(base), names(column))
with torch.autograd._force_original_view_tracking(False):
    strided = base.t()
base.add_(1)
print(names(strided), torch.autograd.is_view_replay_enabled())
torch.autograd._force_original_view_tracking(True)
zeros = torch.zeros(4)
view = zeros.view(2, 2)[0]
torch.autograd._force_original_view_tracking(False)
view.add_(leaf[0])
print(names(zeros), names(view))
(base.sum() + view.sum() + outside.sum()).backward()
part + 1  # raises RuntimeError
