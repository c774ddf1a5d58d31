"""Autocast casts a leaf that requires grad once in a region: its uses share one ToCopyBackward0, and see no
write that comes in between.

topic: modes
features: autocast, cache, graph, in-place
rule: torch.autocast
"""

import torch

x = torch.ones(1, 2)
w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


def cast_of(product):
    return product.grad_fn.next_functions[1][0]


with torch.autocast("cpu"):
    with torch.no_grad():
        unrecorded = x @ w
    first, second = x @ w, x @ w
    shares_a_node = cast_of(first) is cast_of(second)
    with torch.no_grad():
        w.mul_(2.0)
    stale = x @ w
    torch.clear_autocast_cache()
    fresh = x @ w
with torch.autocast("cpu", cache_enabled=False):
    apart = cast_of(x @ w) is cast_of(x @ w)
with torch.autocast("cpu"):
    again = x @ w
(first + second + again).sum().backward()
