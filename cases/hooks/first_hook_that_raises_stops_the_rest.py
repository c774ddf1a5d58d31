"""When a hook raises, later hooks and the node do not run, and the exception comes out as it is.

topic: hooks
features: hooks, error
rule: torch.Tensor.register_hook
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a + 1.0
h1 = b.register_hook(lambda g: print("first"))
h2 = b.register_hook(lambda g: [].pop())
h3 = b.register_hook(lambda g: print("third"))
b.backward()  # raises IndexError
enabled = torch.is_grad_enabled()
