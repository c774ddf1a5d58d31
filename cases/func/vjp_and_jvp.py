"""vjp wants a cotangent shaped as the output and jvp a tangent shaped as the input; the wrong structure or
shape is refused.

topic: func
features: func, vjp, jvp
rule: torch.func.vjp, torch.func.jvp
"""

import torch

x = torch.tensor([1.0, 2.0])
v = torch.tensor([1.0, 10.0])
out, pull = torch.func.vjp(lambda t: t**2, x)
a = pull(v)
b = pull(x)
pull(torch.ones(1))  # raises gradient-mismatch
pull((v,))  # raises RuntimeError
value, moved = torch.func.jvp(lambda t: t**2, (x,), (v,))
torch.func.jvp(lambda t: t, (x,), (torch.ones(1),))  # raises RuntimeError
