"""The old range holds its end, if a step meets it, and floating numbers; it says at each call what to use.

topic: interface
features: range, warnings, error
rule: torch.range
"""

import torch

x = torch.range(0, 3)
halves = torch.range(1, 2.2, 0.5)
whole = torch.range(3, 0, -1, dtype=torch.long)
wanted = torch.range(0, 2, requires_grad=True)
(wanted * 2).sum().backward()
one = torch.range(1, 1)
torch.range(0, -1)  # raises RuntimeError
torch.range(0, 3, 0)  # raises RuntimeError
