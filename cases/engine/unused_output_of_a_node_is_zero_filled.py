"""unbind's node runs with None for the output that is not used, and fills in the zeros itself.

topic: engine
features: engine, unbind, materialize, hooks
rule: torch.autograd.function.FunctionCtx.set_materialize_grads
"""

import torch

a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
x, y, z = a.unbind()
h = y.grad_fn.register_prehook(lambda grads: print("before", grads))
k = y.grad_fn.register_hook(lambda grads, outputs: print("after", grads))
y.backward(torch.tensor(5.0))
