"""torch.tensor of a tensor copies and detaches it with a warning; as_tensor hands back the tensor itself.

topic: copies
features: tensor, as-tensor, warning, detach
rule: torch.tensor, torch.as_tensor
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
copied = torch.tensor(x)
same = torch.as_tensor(x) is x
cast = torch.as_tensor(x, dtype=torch.float64)
cast.sum().backward()
