"""After set_ on a leaf the hooks of its old AccumulateGrad node never fire again; post-accumulate hooks
still do.

topic: hooks
features: hooks, accumulate-grad, post-accumulate, set
rule: torch.Tensor.register_post_accumulate_grad_hook
source: R056, pytorch/pytorch#139742
"""

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
node = (w * 1.0).grad_fn.next_functions[0][0]
h1 = node.register_hook(lambda grad_inputs, grad_outputs: print("node hook"))
h2 = w.register_post_accumulate_grad_hook(lambda p: print("post-accumulate", p.grad))
w.sum().backward()
with torch.no_grad():
    w.set_(torch.tensor([5.0, 6.0]))
w.sum().backward()
