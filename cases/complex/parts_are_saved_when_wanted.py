"""The node of torch.complex saves the part whose gradient is wanted, although it needs neither.

topic: complex
features: complex, saved-tensors
rule: torch.complex
"""

import torch

real = torch.tensor([1.0, 2.0], requires_grad=True)
imag = torch.tensor([3.0, 4.0])
one = torch.complex(real, imag)
print(one.grad_fn._saved_real is real, one.grad_fn._saved_imag)
one.real.sum().backward()
both = torch.complex(real, imag.requires_grad_())
print(both.grad_fn._saved_imag is imag)
