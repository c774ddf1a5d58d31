"""dir() of a node lists what it saved and the methods of every node; hooks of a tensor can be given to it.

topic: interface
features: graph, dir, saved-tensors, register-hook
rule: torch.autograd.graph.Node
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
product = x * torch.tensor([3.0, 4.0])
names = [name for name in dir(product.grad_fn) if not name.startswith("__")]
of_leaf = [name for name in dir(product.grad_fn.next_functions[0][0]) if "__" not in name]
plain = [name for name in dir(product.sum().grad_fn) if name.startswith("_saved")]
seen = []
other = x * 5.0
handle = other.register_hook(lambda grad: seen.append(grad.tolist()))
product.grad_fn._register_hook_dict(other)
product.sum().backward()
product.grad_fn._register_hook_dict(3)  # raises TypeError
type(product.grad_fn)()  # raises TypeError
