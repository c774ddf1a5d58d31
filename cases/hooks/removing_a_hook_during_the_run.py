"""A hook removed by an earlier hook of the same tensor still runs this time, and not the next.

topic: hooks
features: hooks, handle
rule: torch.Tensor.register_hook
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a + 1.0
handles = []


def remove_the_second(g):
    print("first")
    handles[1].remove()


handles.append(b.register_hook(remove_the_second))
handles.append(b.register_hook(lambda g: print("second")))
b.backward()
b.backward()
