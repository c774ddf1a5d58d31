"""What an in-place op on a view saved belongs to the op's own node once the view is gone.

topic: saved
features: in-place, view, create_graph, dead-view
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

a = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
b = a.square()
c = b.view_as(b)
c.sigmoid_()
p = torch.autograd.grad(b.sum(), a, create_graph=True)[0]
alive = p.grad_fn.next_functions[0][0].next_functions[1][0].next_functions
print([f and f.name() for f, _ in alive])
a = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
b = a.square()
b.view_as(b).sigmoid_()
p = torch.autograd.grad(b.sum(), a, create_graph=True)[0]
dead = p.grad_fn.next_functions[0][0].next_functions[1][0].next_functions
print([f and f.name() for f, _ in dead])
p.sum().backward()
print(a.grad)
