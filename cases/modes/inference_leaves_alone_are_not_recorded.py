"""An inference tensor that requires grad is recorded only in company of a normal tensor, or of a number that becomes one.

topic: modes
features: inference-mode, leaf, recording
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#inference-mode
"""
import torch

with torch.inference_mode():
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    other = torch.tensor([3.0, 4.0])

normal = torch.ones(2, requires_grad=True)
print(leaf * leaf, leaf * other, leaf.exp(), leaf.sum(), torch.cat([leaf, other]))
print(leaf * 2, leaf + normal.detach(), torch.cat([leaf, normal]), leaf**2)
view = leaf.view(2, 1)
print(view.is_inference(), view.requires_grad, view.is_leaf)
leaf * normal  # raises RuntimeError
leaf.sum().backward()  # raises RuntimeError
(leaf * 2).sum().backward()
print(leaf.grad)
with torch.inference_mode():
    print(leaf.resize_(1), normal.resize_(1), normal._version)

normal.resize_(2)  # raises RuntimeError
leaf.resize_(2)  # raises RuntimeError
