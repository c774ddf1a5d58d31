"""A result that a policy kept is given to one second run only, and not if it was written since.

topic: checkpoint
features: selective, version-counter, backward-twice
rule: torch.utils.checkpoint.create_selective_checkpoint_contexts
"""
import torch

selective = torch.utils.checkpoint.create_selective_checkpoint_contexts
keep_sin = [torch.ops.aten.sin.default]
x = torch.tensor([0.5, 1.0], requires_grad=True)
once = torch.utils.checkpoint.checkpoint(
    lambda x: x.sin().cos().exp(), x, use_reentrant=False, context_fn=lambda: selective(keep_sin)
)
once.sum().backward(retain_graph=True)
once.sum().backward(retain_graph=True)  # raises RuntimeError
written = torch.utils.checkpoint.checkpoint(
    lambda x: x.sin().mul_(2).cos().exp(), x, use_reentrant=False, context_fn=lambda: selective(keep_sin)
)
written.sum().backward()  # raises RuntimeError
allowed = torch.utils.checkpoint.checkpoint(
    lambda x: x.sin().mul_(2).cos().exp(), x, use_reentrant=False, context_fn=lambda: selective(keep_sin, True)
)
allowed.sum().backward()
print(x.grad)
calls = []

def other_op(x):
    calls.append(x)
    return x.sin().exp() if len(calls) == 1 else x.tan().exp()

strange = torch.utils.checkpoint.checkpoint(
    other_op, x, use_reentrant=False, context_fn=lambda: selective(keep_sin)
)
strange.sum().backward()  # raises RuntimeError
