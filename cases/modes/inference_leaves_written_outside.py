"""A write to an inference tensor outside inference mode is refused when it is counted, after it was made.

topic: modes
features: inference-mode, in-place, leaf, error
rule: torch.autograd.grad_mode.inference_mode
"""
import torch

with torch.inference_mode():
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    other = torch.tensor([3.0, 4.0])

leaf.mul_(leaf)  # raises RuntimeError
print(leaf)
other.add_(leaf)  # raises RuntimeError
print(other)
torch.add(other, other, out=leaf)  # raises RuntimeError
print(leaf)
leaf.add_(2)  # raises RuntimeError
leaf.add_(torch.ones(2))  # raises RuntimeError
print(leaf, leaf.detach_().requires_grad)
leaf.unsqueeze_(0)  # raises RuntimeError
print(leaf.shape)
with torch.inference_mode():
    inside = torch.ones(2, requires_grad=True)
    print(inside.add_(2), inside.mul_(other))
