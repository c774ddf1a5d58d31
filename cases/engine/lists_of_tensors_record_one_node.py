"""A call for a list of tensors records one node with an edge and an output for each; some calls record nodes
that refuse to run.

topic: engine
features: foreach, graph
rule: torch.addcmul
"""

import torch

a = [torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)]
b = [torch.tensor([2.0, 4.0]), torch.tensor([0.5])]
sums = torch._foreach_addcmul(a, b, b, 0.5)
print(sums[1].grad_fn.name(), sums[1].output_nr, len(sums[1].grad_fn.next_functions))
norms = torch._foreach_norm(a)
print(norms[0].grad_fn.name(), norms)
(sums[0].sum() + norms[1]).backward()
between = torch._foreach_lerp(b, a, 0.5)
torch._foreach_copy_(b, a)
print(b[0].grad_fn.name(), b[1].output_nr)
b[0].sum().backward()  # raises RuntimeError
torch._foreach_pow(a, b[:1])  # raises RuntimeError
