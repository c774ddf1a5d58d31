"""A number that half precision cannot hold is refused where memory is filled with it, and overflows in
arithmetic.

topic: numerics
features: float16, bfloat16, overflow, masked-fill, clamp, error
rule: torch.Tensor.masked_fill
"""

import torch

scores = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float16, requires_grad=True)
mask = torch.tensor([True, False, True])
refused = scores.masked_fill(mask, -1e9)  # raises dtype
filled = scores.masked_fill(mask, float("-inf"))
lowest = scores.masked_fill(mask, torch.finfo(torch.float16).min)
clamped = scores.clamp(min=-1e9)  # raises dtype
padded = torch.nn.functional.pad(scores, (1, 0), value=1e9)  # raises dtype
product = scores * -1e9
brain = scores.bfloat16().masked_fill(mask, -1e9)
brain.sum().backward()
