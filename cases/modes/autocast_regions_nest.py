"""A region of autocast may switch it off, or choose another type, and gives back what it found, after an
exception too.

topic: modes
features: autocast, nesting, decorator, exception
rule: torch.autocast
"""

import torch

x = torch.tensor([[1.0, 2.0], [0.5, -1.0]])


@torch.autocast("cpu", dtype=torch.float16)
def squared(y):
    return y @ y


with torch.autocast("cpu"):
    brain = x @ x
    with torch.autocast("cpu", enabled=False):
        single = x @ x
        mixed = x @ brain.float()
        half = squared(x)
    state = (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
try:
    with torch.autocast("cpu"):
        raise KeyError("left by an exception")
except KeyError:
    pass
outside = x @ x
unsupported = torch.autocast("cpu", dtype=torch.float64)
of_cuda = torch.autocast("cuda")
of_nothing = torch.autocast("meta")  # raises RuntimeError
no_text = torch.autocast(3)  # raises ValueError
no_function = torch.autocast("cpu")(outside)  # raises TypeError
print(torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled(), torch.is_autocast_cache_enabled())
