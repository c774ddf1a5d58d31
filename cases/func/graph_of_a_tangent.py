"""Value and tangent of a jvp keep the graph of what was captured, and none where grad mode is off outside.

topic: func
features: func, jvp, graph, captured, no-grad
rule: torch.func.jvp
"""

import torch

weight = torch.tensor([2.0, -3.0], requires_grad=True)
x = torch.tensor([1.0, 4.0], requires_grad=True)
direction = torch.ones(2)
value, moved = torch.func.jvp(lambda t: t * t * weight, (x,), (direction,))
moved.sum().backward(retain_graph=True)
value.sum().backward()
with torch.no_grad():
    plain, plain_moved = torch.func.jvp(lambda t: t * weight, (x,), (direction,))
steps = torch.tensor([0.5, 0.25], requires_grad=True)
_, led = torch.func.jvp(lambda t: t**2, (x.detach(),), (steps,))
led.sum().backward()
