"""A policy sees each op of the first run with its result, and what it wants kept is given to the second run.

topic: checkpoint
features: selective, policy, ops
rule: torch.utils.checkpoint.create_selective_checkpoint_contexts
"""
import torch

Policy = torch.utils.checkpoint.CheckpointPolicy
seen = []

def policy(context, op, *args, **kwargs):
    seen.append((str(op), context.is_recompute, context.op_output.requires_grad, len(args)))
    return Policy.MUST_SAVE if op is torch.ops.aten.mm.default else Policy.PREFER_RECOMPUTE

def contexts():
    return torch.utils.checkpoint.create_selective_checkpoint_contexts(policy)

x = torch.tensor([[0.5, 1.0], [1.0, 0.25]], requires_grad=True)
noise = iter([1.0, 3.0])
out = torch.utils.checkpoint.checkpoint(lambda x: (x.cos().mm(x) * x).sin(), x, use_reentrant=False, context_fn=contexts)
print(seen)
out.sum().backward()
print(len(seen), x.grad)
kept = torch.utils.checkpoint.create_selective_checkpoint_contexts([torch.ops.aten.sin.default])
y = torch.utils.checkpoint.checkpoint(lambda x: x.sin() * next(noise), x, use_reentrant=False, context_fn=lambda: kept)
y.sum().backward()
print(x.grad)
torch.utils.checkpoint.create_selective_checkpoint_contexts([torch.ops.aten.sin])  # raises ValueError
torch.utils.checkpoint.create_selective_checkpoint_contexts(3)  # raises TypeError
