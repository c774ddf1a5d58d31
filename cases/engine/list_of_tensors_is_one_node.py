"""A call for a list of tensors is one node; in place it is a call for each tensor.

topic: engine
features: foreach, next-functions, output-nr
rule: torch.add
"""
import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([3.0, 0.5], requires_grad=True)
fixed = torch.tensor([0.5, 1.0])
first, second = torch._foreach_mul([a, fixed], [fixed, b])
print(first, second, first.grad_fn is second.grad_fn, second.output_nr)
print([node and node.name() for node, _ in first.grad_fn.next_functions])
second.sum().backward()
print(a.grad, b.grad)
grown, kept = torch._foreach_add([a, fixed], [2, 3.0])
print(grown, kept, torch._foreach_exp([a])[0])
copies = [a.clone(), b.clone()]
print(torch._foreach_mul_(copies, 2.0) is copies, copies, copies[0]._version)
(copies[0] * copies[1]).sum().backward()
print(a.grad, b.grad)
torch._foreach_add([a], [a, b])  # raises RuntimeError
torch._foreach_exp([])  # raises RuntimeError
