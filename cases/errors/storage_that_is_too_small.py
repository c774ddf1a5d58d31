"""A view beyond its storage is refused with the bytes that it needs and those that there are.

topic: errors
features: as_strided, storage, sizes
rule: torch.as_strided
"""

import torch

x = torch.arange(6.0)
x.as_strided((2, 3), (3, 1), 1)  # raises RuntimeError
x.as_strided((3, 2), (2, 2), 1)  # raises RuntimeError
x.as_strided((4, 2, 2), (1, 1, 2), 3)  # raises RuntimeError
x.double().as_strided((4,), (2,))  # raises RuntimeError
x.as_strided((3,), (2,), 1)
torch.addcmul(torch.ones(2, 1), torch.ones(1, 3), torch.ones(4))  # raises RuntimeError
torch.lerp(torch.ones(3), torch.ones(2, 1), torch.ones(2))  # raises RuntimeError
torch.addcdiv(torch.ones(4), torch.ones(1, 3), torch.ones(3))  # raises RuntimeError
x.clamp_min(torch.tensor(2))
x.clamp(torch.tensor(1), torch.tensor(4))
x.int().clamp_max(torch.tensor(2.5))
