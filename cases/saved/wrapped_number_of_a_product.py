"""A Python factor is saved as a 0-dim tensor of the number's own kind.

topic: saved
features: saved-tensors, wrapped-number, mul
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
by_float = (x * 2.5).grad_fn._saved_other
by_int = (x * 3).grad_fn._saved_other
by_division = (x / 4).grad_fn._saved_other
