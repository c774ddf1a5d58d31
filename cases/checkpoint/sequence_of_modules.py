"""checkpoint_sequential checkpoints all segments but the last.

topic: checkpoint
features: checkpoint, modules
rule: torch.utils.checkpoint.checkpoint_sequential
"""

import torch
from torch.utils.checkpoint import checkpoint_sequential

x = torch.tensor(1.0, requires_grad=True)


def say(name, function):
    def run(t):
        print(name)
        return function(t)

    return run


steps = [say("sin", torch.sin), say("exp", torch.exp), say("cos", torch.cos), say("tanh", torch.tanh)]
y = checkpoint_sequential(steps, 2, x, use_reentrant=False)
y.backward()
