"""Some gradients of losses and of padding have been written in place once before they are handed out.

topic: numerics
features: binary_cross_entropy, pad, prelu, version-counter
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
"""

import torch

F = torch.nn.functional
x = torch.tensor([0.25, 0.75], requires_grad=True)
y = torch.tensor([0.5, 0.5], requires_grad=True)
logits = F.binary_cross_entropy_with_logits(x, y)
of_logits = torch.autograd.grad(logits, (x, y), create_graph=True)
entropy = F.binary_cross_entropy(x, y)
of_entropy = torch.autograd.grad(entropy, (x, y), create_graph=True)
w = torch.ones(1, 1, 5, requires_grad=True)
wide = F.pad(torch.ones(1, 1, 3, requires_grad=True), (1, 1), "reflect")
p = torch.ones(1, 1, 3, requires_grad=True)
back = torch.autograd.grad(F.pad(p, (1, 1), "reflect"), p, w, create_graph=True)[0]
again = torch.autograd.grad(back.sum(), (p, w))
torch.autograd.grad(torch.dist(x, y, 0), (x, y))  # raises RuntimeError
