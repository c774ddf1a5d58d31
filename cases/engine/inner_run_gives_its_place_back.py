"""After a backward inside a hook the outer run and its node are the current ones again.

topic: engine
features: reentrant, current-node, graph-task
rule: torch.autograd.backward
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
z = y.exp()


def hook(grad):
    before = torch._C._current_graph_task_id(), torch._C._current_autograd_node()
    with torch.enable_grad():
        leaf = torch.ones(2, requires_grad=True)
        (leaf * 3.0).sum().backward()
    after = torch._C._current_graph_task_id(), torch._C._current_autograd_node()
    print(before[0] == after[0] >= 0, before[1] is after[1], after[1].name(), leaf.grad.tolist())


y.register_hook(hook)
z.sum().backward()
print(torch._C._current_graph_task_id(), torch._C._current_autograd_node())
