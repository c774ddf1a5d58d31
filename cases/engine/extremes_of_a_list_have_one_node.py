"""An op on a list of tensors is one node with an edge and an output for each; outputs that are not used send nothing.

topic: engine
features: foreach, saved, next-functions, ties
rule: torch.maximum
"""
import torch

first = torch.tensor([-1.0, 1.0, 2.0], requires_grad=True)
second = torch.tensor([1.0, 2.0], requires_grad=True)
fixed = torch.tensor([3])
a, b, c = torch._foreach_maximum([first, second, fixed], [0.0, 2.0, 5.0])
node = a.grad_fn
print(node is b.grad_fn, b.output_nr, len(node.next_functions), node._saved_scalars, c.requires_grad)
print(node._saved_self[1] is second, node._saved_self[2])
b.sum().backward()
low, high = torch._foreach_minimum([first, second], 1)
print(low.grad_fn._saved_scalar, high)
(low * low).sum().backward()
torch._foreach_maximum([first], [1.0, 2.0])  # raises RuntimeError
torch._foreach_maximum([], 1.0)  # raises RuntimeError
