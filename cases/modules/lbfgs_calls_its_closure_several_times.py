"""One step of L-BFGS calls the closure until it has converged; gradients are enabled in it whatever the mode.

topic: modules
features: lbfgs, closure, no-grad
rule: torch.optim.LBFGS
"""

import torch

x = torch.tensor([3.0, -2.0], requires_grad=True)
optimizer = torch.optim.LBFGS([x], lr=1, line_search_fn="strong_wolfe")
calls = []


def closure():
    calls.append(torch.is_grad_enabled())
    optimizer.zero_grad()
    loss = (x * x * torch.tensor([1.0, 4.0])).sum()
    loss.backward()
    return loss


with torch.no_grad():
    first = optimizer.step(closure)
at_rest = x.detach().abs().max() < 1e-3
enabled = all(calls)
