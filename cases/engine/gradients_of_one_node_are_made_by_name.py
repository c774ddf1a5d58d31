"""A node makes the gradients of its operands in the order of their names, other before self; a second backward
goes through what was made last first.

topic: engine
features: create-graph, order, sequence-number
rule: torch.autograd.graph.Node
"""

import torch

log = []
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([3.0, 0.5], requires_grad=True)
of_x, of_y = torch.autograd.grad((x / y).sum(), (x, y), create_graph=True)
self_is_later = of_x.grad_fn._sequence_nr() > of_y.grad_fn._sequence_nr()
of_x.grad_fn.register_hook(lambda inputs, outputs: print("self"))
of_y.grad_fn.register_hook(lambda inputs, outputs: print("other"))
(of_x + of_y).sum().backward()
again = torch.autograd.grad((x * y).prod(), (x, y), create_graph=True)
second = torch.autograd.grad(again[0].sum() + again[1].sum(), y, create_graph=True)[0]
w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
three = torch.autograd.grad(torch.addmm(w, w * 1.0, w * 2.0).pow(2).sum(), w, create_graph=True)[0]
