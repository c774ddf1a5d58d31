"""What an in-place view op makes of a view of another dtype is no part of how the view is made again.

topic: views
features: views, view_as_real, transpose_, in-place, as_strided
rule: torch.view_as_real
source: probed on torch 2.13.0, where the gradient comes out transposed
"""

import torch

leaf = torch.ones(3, 3, dtype=torch.complex64, requires_grad=True)
turned = torch.view_as_real(leaf.clone())
turned.transpose_(0, 1)
turned += 1
turned.backward(torch.arange(18.0).view(3, 3, 2))
leaf.grad
conjugate = (leaf * 1).conj()
conjugate.t_()
conjugate.mul_(2j)
conjugate.backward(torch.arange(9.0).view(3, 3) + 0j)
leaf.grad
base = leaf * 1
part = base.imag[0]
part.mul_(2.0)
part.grad_fn.next_functions[0][0].next_functions
rows = base.real.t()
rows.add_(1.0)
rows.grad_fn
base.sum().backward(torch.tensor(1j))
leaf.grad
flat = torch.view_as_real(torch.ones(3, dtype=torch.complex64, requires_grad=True).clone())
flat.t_()
flat += 1
flat.backward(torch.ones(2, 3))  # raises gradient-mismatch
